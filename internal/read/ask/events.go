package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Bounds of a page of records. A longer listing takes several pages.
const (
	UsualRecords = 500     // the default of --limit
	MaxRecords   = 5000    // its upper limit; also of the records of --tail on one page
	maxTail      = 100_000 // the upper limit of --tail
	pageBytes    = 3 << 20 // of the records on a page: with all else, an answer stays below the 4 MiB of the service
	// maxLooks is the number of records that a page looks at. One without a record of a rare kind ends then, after a
	// quarter of a second, and says where the next page begins.
	maxLooks = 50_000
)

// HiddenOfEvents are parameters of Events without a flag of the command.
var HiddenOfEvents = []string{"bare", "through", "words"}

// EventsParams are the parameters of Events. They select records, and a page of them.
type EventsParams struct {
	object
	span          Span
	kinds         []string
	decisions     bool
	from, through uint64
	limit, tail   int
	words         Words
	bare          bool
	chosen        []events.Kind
}

func (p *EventsParams) bind(fs *pflag.FlagSet) {
	p.object.bind(fs)
	fs.Lookup(FlagNamespace).Usage = "only of this namespace; of an object, where it is"
	fs.StringSliceVar(&p.kinds, "kind", nil, "only records of these kinds, such as PodChanged,CommandEnded")
	p.span.BindSince(fs, "only records from this time on")
	p.span.BindUntil(fs, "only records up to this time, likewise")
	fs.Uint64Var(&p.from, "from", 0, "only records from this sequence on")
	fs.IntVar(&p.limit, "limit", UsualRecords, "so many records at most, on one page")
	fs.IntVar(&p.tail, "tail", 0, "only the last so many of the records; all unless given")
	fs.BoolVar(&p.decisions, "decisions", false, "only decisions")
	fs.Uint64Var(&p.through, "through", 0, "only records up to this sequence; with tail, before of a page for the page before it")
	fs.BoolVar(&p.bare, "bare", false, "do not say what may be missing among the records: an earlier page has")
	fs.StringVar((*string)(&p.words), "words", "", "brief: in place of each record what it says; whole: the same, uncut; beside: both")
}

func (p *EventsParams) read(args []string) (err error) {
	p.Object = which.Object{}
	if err := p.object.read(args); err != nil {
		return err
	}
	if p.Kind == which.CronJob && p.Name == "" {
		return which.Wrong("say which CronJob: cronjob/NAME")
	}
	if err := cmp.Or(p.span.Read(p.Zone), NotNegative("tail", p.tail)); err != nil {
		return err
	}
	switch {
	case p.limit < 1 || p.limit > MaxRecords:
		return which.Wrong("--limit %d: must be from 1 to %d", p.limit, MaxRecords)
	case p.tail > maxTail:
		return which.Wrong("--tail %d: at most %d; --from and --since show more", p.tail, maxTail)
	case p.tail > 0 && p.limit != UsualRecords:
		return which.Wrong("--limit is of the first records, and --tail of the last: leave one out")
	case !slices.Contains(allWords, p.words):
		return which.Wrong("words=%s: must be brief, whole or beside", p.words)
	}
	p.chosen, err = ChosenKinds(p.kinds, p.decisions)
	return err
}

// about returns the namespace of the records, or that of the object.
func (p *EventsParams) about() string {
	if p.Name == "" {
		return p.namespace
	}
	return p.object.about()
}

// WantedRecords returns the query of a question for records, without its times and its object. A watch uses it to
// filter later records.
func WantedRecords(q *Asked[RecordsPage]) history.Query { return q.how.(*EventsParams).query() }

// Events lists records of the log, one page at a time.
var Events = &Question[EventsParams, RecordsPage]{
	name: "events", about: "Show the records of the log, of one Job, or of one CronJob", takes: MaybeOne,
	new: func() (*EventsParams, parameters) {
		p := &EventsParams{}
		return p, p
	},
	ask: func(ctx context.Context, src Source, p *EventsParams) (*RecordsPage, error) {
		if p.bare {
			src.Note, src.Behind = func(string) {}, func(string) {}
		}
		l := newListing(ctx, src, p)
		if err := l.begin(ctx); err != nil {
			return nil, err
		}
		var unread error
		if p.tail > 0 {
			unread = l.newest(ctx)
		} else {
			unread = l.onward(ctx)
		}
		page := &l.page
		switch {
		case l.nameless != nil:
			return nil, l.nameless
		case unread != nil && (!src.Beside(unread) || len(l.sizes) == 0 && page.Next == 0 && page.Before == 0):
			return nil, unread // nothing readable is not "no record"
		case unread != nil || p.bare:
			return page, unread
		}
		if err := l.missing(ctx); err != nil {
			return nil, err
		}
		return page, l.unknown(ctx)
	},
}

// RecordsPage is a page of records, in log order. Its JSON changes only by growing.
type RecordsPage struct {
	AsOf   history.Place `json:"asOf"`             // the end of the log
	Object *RecordsOf    `json:"object,omitempty"` // the object that was named
	// Since and Until are the times that --since and --until mean.
	Since recordjson.Instant `json:"since,omitzero"`
	Until recordjson.Instant `json:"until,omitzero"`
	Next  uint64             `json:"next,omitempty"` // --from for the next page; absent at the end of the log
	// Before is set with --tail if there may be earlier records: through for the page before.
	Before uint64     `json:"before,omitempty"`
	Cut    *CutRecord `json:"cut,omitempty"` // left out: the page would have this record alone
	// Gaps lists the times in which the cluster was not watched, of those that contain the time of --since or --until.
	Gaps []*history.Gap `json:"gaps,omitempty"`
	// PassedOver lists the times, from the first record on, in which a namespace was over its budget of log. Versions
	// of objects may have come and gone then without a record.
	PassedOver []history.Passed `json:"passedOver,omitempty"`
	Said       []Said           `json:"said,omitempty"` // with the parameter words
	// Records are the records as 'jobledger events -o json' writes them, one on each line. It stays the last field.
	Records []json.RawMessage `json:"records"`
}

// RecordsOf is the object whose records are listed. Its JSON changes only by growing.
type RecordsOf struct {
	Kind      string `json:"kind"` // "job" or "cronjob"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"` // absent if the log does not have it
	UID       string `json:"uid"`
}

// Stream returns the stream of the records.
func (o *RecordsOf) Stream() events.Stream {
	if o.Kind == "cronjob" {
		return events.Stream{Kind: events.StreamCronJob, ID: o.UID}
	}
	return events.Stream{Kind: events.StreamJob, ID: o.UID}
}

// CutRecord is a record that is larger than a page may be. Its JSON changes only by growing.
type CutRecord struct {
	Sequence uint64 `json:"sequence"`
	Kind     string `json:"kind"`
	Bytes    int    `json:"bytes"`
}

// listed is an answer with a list of lines as its last field. They are written as they are, each on a line of its own.
type listed interface {
	split() (head any, lines []json.RawMessage)
}

// split implements listed.
func (p *RecordsPage) split() (head any, lines []json.RawMessage) {
	empty := *p
	empty.Records = []json.RawMessage{}
	return &empty, p.Records
}
