package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// listing is a page of records that is being made.
type listing struct {
	*EventsParams
	src     Source
	query   history.Query
	through events.Sequence // the last record that may be on the page
	names   *words.Names

	nameless error // a read that failed while a name was looked up
	page     RecordsPage
	sizes    []int // bytes of the records on the page
	bytes    int   // their sum
	first    events.Time
}

func newListing(ctx context.Context, src Source, p *EventsParams) *listing {
	l := &listing{EventsParams: p, src: src, query: p.query(), names: history.NamesOf(ctx, src)}
	stream, back, record := l.names.Stream, l.names.Back, l.names.Record
	l.names.Zone = p.texts
	l.names.Stream = func(s events.Stream) iter.Seq2[events.Record, error] { return l.heard(stream(s), nil) }
	l.names.Back = func(s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
		return l.heard(back(s, from), store.ErrPruned)
	}
	l.names.Record = func(at events.Sequence) (events.Record, error) {
		r, err := record(at)
		if !errors.Is(err, history.ErrNoRecord) {
			l.hear(err, store.ErrPruned)
		}
		return r, err
	}
	return l
}

// heard returns the records of a look for a name. Names only stops at an error. A name that damage hides, or pruning,
// is left out; any other error is that of the answer.
func (l *listing) heard(all iter.Seq2[events.Record, error], usual error) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if l.hear(err, usual); !yield(r, err) {
				return
			}
		}
	}
}

func (l *listing) hear(err, usual error) {
	if err != nil && !l.src.Beside(err) && (usual == nil || !errors.Is(err, usual)) {
		l.nameless = fmt.Errorf("look for the name in a record: %w", err)
	}
}

func (p *EventsParams) query() history.Query {
	q := history.Query{From: events.Sequence(p.from), Kinds: p.chosen, Looks: maxLooks}
	if p.Name == "" {
		q.Namespace = p.namespace
	}
	return q
}

// begin finds the end of the log, the times and the object.
func (l *listing) begin(ctx context.Context) error {
	_, head, err := l.src.Head(ctx)
	if err != nil {
		return err
	}
	l.through = head.Sequence
	if at := events.Sequence(l.EventsParams.through); at != 0 {
		l.through = min(at, head.Sequence)
	}
	if l.query.Since, l.query.Until, err = l.span.In(ctx, l.src); err != nil {
		return err
	}
	l.page = RecordsPage{
		AsOf:  history.Place{Sequence: uint64(head.Sequence), Time: recordjson.Instant(head.Time)},
		Since: recordjson.Instant(l.query.Since), Until: recordjson.Instant(l.query.Until),
	}
	if l.Name == "" {
		return nil
	}
	finder := l.src.finder()
	if l.Object, l.place, err = finder.Resolve(ctx, l.place, l.Object); err != nil {
		return err
	}
	streams, err := finder.Jobs(ctx, l.place, l.Object)
	if err != nil {
		return err
	}
	finder.NoteOlder(streams[1:])
	l.query.Stream, l.page.Object = &streams[0], recordsOf(streams[0], l.names.Job(streams[0]))
	return nil
}

func recordsOf(s events.Stream, job events.JobRef) *RecordsOf {
	kind := "job"
	if s.Kind == events.StreamCronJob {
		kind = "cronjob"
	}
	return &RecordsOf{Kind: kind, Namespace: job.Namespace, Name: job.Name, UID: s.ID}
}

// newest fills the page with the last records.
func (l *listing) newest(ctx context.Context) error {
	n := min(l.tail, MaxRecords)
	all, unread := history.Newest(ctx, l.src, l.query, n, l.through)
	var more *history.MoreError
	switch {
	case errors.As(unread, &more):
		l.page.Before = uint64(more.At)
		if !errors.Is(unread, store.ErrCorrupt) {
			unread = nil
		}
	case unread == nil && len(all) == n:
		l.page.Before = uint64(l.before(&all[0]))
	}
	for i := range all {
		l.add(&all[i])
	}
	for l.bytes > pageBytes && len(l.sizes) > 1 {
		l.page.Before = uint64(all[0].Sequence)
		l.drop(0)
		all = all[1:]
	}
	if l.bytes > pageBytes {
		l.page.Before = uint64(l.before(&all[0]))
		l.cut(&all[0])
	}
	if len(all) > 0 {
		l.first = all[0].Time
	}
	return unread
}

// before returns the newest record before r that may be wanted; 0 if there is none.
func (l *listing) before(r *events.Record) events.Sequence {
	at := r.Sequence - 1
	if l.query.Stream != nil {
		at = r.Previous
	}
	if at < l.query.From {
		return 0
	}
	return at
}

// add adds a record to the page.
func (l *listing) add(r *events.Record) {
	if len(l.sizes) == 0 {
		l.first = r.Time
	}
	l.names.Learn(r)
	defer l.names.Forget(r)
	size := 0
	if l.words == NoWords || l.words == Beside {
		line := l.names.RecordJSON(r)
		l.page.Records, size = append(l.page.Records, line), len(line)+besideLine
	}
	if l.words != NoWords {
		said := l.words.Say(l.names, r)
		l.page.Said, size = append(l.page.Said, said), size+said.size()
	}
	l.sizes, l.bytes = append(l.sizes, size), l.bytes+size
}

// Said is a record in words. Its JSON changes only by growing.
type Said struct {
	Sequence  uint64             `json:"sequence"`
	Time      recordjson.Instant `json:"time"`
	Kind      string             `json:"kind"`
	Namespace string             `json:"namespace,omitempty"`
	Object    string             `json:"object"` // name of the pod, Job or CronJob; or "controller"
	Detail    string             `json:"detail"` // what the record says, in one line
	// Trouble: a pod failed, or a command was refused or has no known outcome.
	Trouble bool `json:"trouble,omitempty"`
}

// Words is the parameter words: whether records are also said in words.
type Words string

// The values of Words.
const (
	NoWords Words = ""
	Brief   Words = "brief"  // in the place of the record
	Whole   Words = "whole"  // the same, with every command of a decision and the sentences of its reasons
	Beside  Words = "beside" // brief, beside the record
)

var allWords = []Words{NoWords, Brief, Whole, Beside}

// Say returns a record in words. names must have learned the record.
func (w Words) Say(names *words.Names, r *events.Record) Said {
	said := Said{
		Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time), Kind: r.Kind.String(),
		Namespace: words.Clean(names.Namespace(r)), Object: names.Object(r), Trouble: trouble(r),
	}
	if w == Whole {
		said.Detail = names.DetailWide(r)
	} else {
		said.Detail = names.Detail(r)
	}
	return said
}

func trouble(r *events.Record) bool {
	switch f := r.Facts.(type) {
	case *events.CommandEnded:
		return f.Ending == events.Refused || f.Ending == events.OutcomeUnknown
	case *events.PodSeen:
		return f.Phase == events.PodFailed
	}
	return false
}

// Most bytes of a record on a page beside its own: the line's indent; and the fields of Said, each on a line.
const (
	besideLine = len("    ,\n")
	besideSaid = 256
)

// size returns the most bytes that s takes in an answer: of clean text, JSON escapes at most each character.
func (s *Said) size() int {
	return besideSaid + 2*(len(s.Kind)+len(s.Namespace)+len(s.Object)+len(s.Detail))
}

// drop removes a record from the page.
func (l *listing) drop(at int) {
	l.bytes -= l.sizes[at]
	l.sizes = slices.Delete(l.sizes, at, at+1)
	if len(l.page.Records) > 0 {
		l.page.Records = slices.Delete(l.page.Records, at, at+1)
	}
	if len(l.page.Said) > 0 {
		l.page.Said = slices.Delete(l.page.Said, at, at+1)
	}
}

// cut removes the only record of the page, which is too large for it.
func (l *listing) cut(r *events.Record) {
	l.page.Cut = &CutRecord{Sequence: uint64(r.Sequence), Kind: r.Kind.String(), Bytes: l.bytes}
	l.drop(0)
}

// onward fills the page with the first records.
func (l *listing) onward(ctx context.Context) (unread error) {
	q := l.query
	if q.Through, q.Limit = l.through, l.limit; q.From > q.Through || q.Through == 0 {
		return nil
	}
	next := events.Sequence(0) // 0 until the page is full
	for r, err := range l.src.Records(ctx, q) {
		if next, unread = l.take(&r, err); next != 0 || unread != nil {
			break
		}
	}
	if next <= l.through {
		l.page.Next = uint64(next)
	}
	return unread
}

// take takes the next record, or the error in its place. If the page is full, it returns where the next page begins.
func (l *listing) take(r *events.Record, err error) (next events.Sequence, unread error) {
	var more *history.MoreError
	var bad *store.CorruptError
	switch {
	case errors.As(err, &more):
		return more.At, nil
	case errors.As(err, &bad):
		return bad.Next, err
	case err != nil:
		return 0, err
	}
	l.add(r)
	switch {
	case l.bytes > pageBytes && len(l.sizes) > 1:
		l.drop(len(l.sizes) - 1)
		return r.Sequence, nil
	case l.bytes > pageBytes:
		l.cut(r)
		return r.Sequence + 1, nil
	case len(l.sizes) == l.limit:
		return r.Sequence + 1, nil
	}
	return 0, nil
}

// missing says in which of the times that were asked for the cluster was not watched, or not everything was recorded.
func (l *listing) missing(ctx context.Context) error {
	var moments []events.Time
	for _, t := range []events.Time{l.query.Since, l.query.Until} {
		if t != 0 {
			moments = append(moments, t)
		}
	}
	if len(moments) > 0 {
		gaps, err := history.GapsAt(ctx, l.src, moments...)
		if err != nil && !l.src.Beside(err) {
			return fmt.Errorf("look for times in which no controller watched: %w", err)
		}
		l.page.Gaps = gaps
	}
	since := l.query.Since
	if l.first != 0 && (l.tail > 0 || l.from != 0) {
		since = l.first
	}
	passed, err := history.PassedSince(ctx, l.src, since)
	if err != nil && !l.src.Beside(err) {
		return fmt.Errorf("look for what was passed over: %w", err)
	}
	space := l.query.Namespace
	if l.page.Object != nil {
		space = l.page.Object.Namespace
	}
	l.page.PassedOver = passed.Touching(space, space == "", since, l.query.Until)
	return nil
}

// unknown returns an error if the log has no record at all of the object. That is so only for a UID.
func (l *listing) unknown(ctx context.Context) error {
	if l.query.Stream == nil || len(l.sizes) > 0 || l.page.Next != 0 || l.page.Before != 0 {
		return nil
	}
	for _, err := range l.src.ReadStream(ctx, *l.query.Stream, 0, store.Forward) {
		return err
	}
	return which.Unknown("the log knows no %s", l.Object)
}
