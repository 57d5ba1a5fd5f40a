package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// recordScreen is the page of one record of the log.
type recordScreen struct {
	line
	Stream           string
	JSON             string
	Causes, Effects  []line
	EffectsCut       bool   // only the next 500 records of the object were searched for effects: there may be more
	Previous         string // address of the previous record about the same object
	Next             string // address of the next record about the same object
	Newer, Older     string // addresses of the next and the previous record of the log, about any object
	AsOfHere, Object string // address of the object's page as of this record, and the object's name
}

// line is a record as one line of a list.
type line struct {
	Sequence             uint64
	Href                 string
	At                   string
	Kind, Detail, Object string
}

// listing is the list of the newest records about an object.
type listing struct {
	Lines []line
	Cut   bool // there are older records, which the list does not show
}

// citedRecord is a record with its whole JSON, as a saved file contains it.
type citedRecord struct {
	line
	JSON string
}

// Limits: mostEffects records are searched for effects (records that a record caused), mostListed are shown in a list,
// and mostCited are contained in a saved file.
const (
	mostEffects = 500
	mostListed  = 200
	mostCited   = 300
)

func (v *view) line(names *words.Names, r *events.Record) line {
	return line{
		Sequence: uint64(r.Sequence), Href: v.recordAt(uint64(r.Sequence)), At: v.zone.Moment(r.Time), Kind: r.Kind.String(), Detail: names.Detail(r),
		Object: words.Clean(names.Object(r)),
	}
}

// record answers with the page of one record.
func record(ctx context.Context, v *view) (*reply, error) {
	o, err := v.form("json")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(v.request.PathValue("record"), 10, 64)
	if err != nil || n == 0 {
		return nil, which.Wrong("%q is no number of a record", v.request.PathValue("record"))
	}
	r, err := history.Record(ctx, v.src, events.Sequence(n))
	if err != nil {
		return nil, err
	}
	names := history.NamesOf(ctx, v.src)
	text := names.RecordJSON(&r)
	if o == "json" {
		return &reply{kind: "application/json", body: append(text, '\n')}, nil
	}
	s := &recordScreen{line: v.line(names, &r), Stream: words.Clean(r.Stream.String()), JSON: indented(text)}
	v.Title = fmt.Sprintf("record %d – %s", n, r.Kind)
	for _, at := range r.Causes {
		cause, err := history.Record(ctx, v.src, at)
		if err != nil {
			s.Causes = append(s.Causes, line{Sequence: uint64(at), Href: v.recordAt(uint64(at)), Detail: words.Clean(err.Error())})
			continue
		}
		s.Causes = append(s.Causes, v.line(names, &cause))
	}
	if err := v.effects(ctx, s, names, &r); err != nil {
		return nil, err
	}
	if r.Previous != 0 {
		s.Previous = v.recordAt(uint64(r.Previous))
	}
	if n > 1 {
		s.Older = v.recordAt(n - 1)
	}
	if r.Sequence < v.head.Sequence {
		s.Newer = v.recordAt(n + 1)
	}
	v.ofObject(s, names, &r)
	v.Record = s
	return v.page()
}

// effects adds to the page the effects of record r: later records about the same object that name r as a cause.
func (v *view) effects(ctx context.Context, s *recordScreen, names *words.Names, r *events.Record) error {
	looked := 0
	for x, err := range v.src.ReadStream(ctx, r.Stream, r.Sequence+1, store.Forward) {
		if err != nil {
			if v.src.Beside(err) {
				return nil
			}
			return fmt.Errorf("look for what a record led to: %w", err)
		}
		if s.Next == "" {
			s.Next = v.recordAt(uint64(x.Sequence))
		}
		if slices.Contains(x.Causes, r.Sequence) {
			s.Effects = append(s.Effects, v.line(names, &x))
		}
		if looked++; looked == mostEffects {
			s.EffectsCut = true
			return nil
		}
	}
	return nil
}

// ofObject adds to the page the address of the object's page as of record r: the state that the object had then.
func (v *view) ofObject(s *recordScreen, names *words.Names, r *events.Record) {
	at := map[string]string{"at": fmt.Sprint(r.Sequence)}
	switch r.Stream.Kind {
	case events.StreamJob:
		if job := names.Job(r.Stream); job.Name != "" {
			at["uid"] = r.Stream.ID
			s.AsOfHere, s.Object = v.to(at, "job", job.Namespace, job.Name), words.Clean(job.Namespace+"/"+job.Name)
		}
	case events.StreamCronJob:
		if job := names.Job(r.Stream); job.Name != "" {
			s.AsOfHere, s.Object = v.to(at, "cronjob", job.Namespace, job.Name), words.Clean(job.Namespace+"/"+job.Name)
		}
	}
}

// withRecords adds the newest records of a stream to the page of its object, and answers with that page.
func (v *view) withRecords(ctx context.Context, s events.Stream) (_ *reply, err error) {
	if v.Object.Records, err = v.listing(ctx, s, v.values.Get("at")); err != nil {
		return nil, err
	}
	return v.page()
}

// listing returns the newest records of a stream (the records about one object). at is the value of ?at=: if it is the
// number of a record, newer records are left out. The list is empty if damage or pruning (deletion of old log files) hides all
// of them; the page names the damage.
func (v *view) listing(ctx context.Context, s events.Stream, at string) (*listing, error) {
	values := map[string]string{"tail": fmt.Sprint(mostListed), "words": string(ask.Brief), "bare": "true"}
	if _, err := strconv.ParseUint(at, 10, 64); err == nil {
		values["through"] = at
	}
	out := &listing{}
	page, err := put(ctx, v, ask.Events.New(), values, s.String())
	switch {
	case page != nil:
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrPruned):
		return out, nil
	default:
		return nil, err
	}
	out.Cut = page.Before != 0
	for i := range page.Said {
		said := &page.Said[i]
		out.Lines = append(out.Lines, line{
			Sequence: said.Sequence, Href: v.recordAt(said.Sequence), At: v.zone.Moment(events.Time(said.Time)),
			Kind: said.Kind, Detail: said.Detail, Object: said.Object,
		})
	}
	return out, nil
}

// citedRecords adds to a saved file the records that the answer cites, at most mostCited of them.
func (v *view) citedRecords(ctx context.Context) error {
	names := history.NamesOf(ctx, v.src)
	for _, n := range slices.Sorted(maps.Keys(v.cited)) {
		if len(v.Object.Cited) == mostCited {
			v.note(fmt.Sprintf("%d records are cited, and the first %d are in this file", len(v.cited), mostCited))
			return nil
		}
		r, err := history.Record(ctx, v.src, events.Sequence(n))
		if err != nil {
			if v.src.Beside(err) {
				continue
			}
			return err
		}
		v.Object.Cited = append(v.Object.Cited, citedRecord{v.line(names, &r), string(names.RecordJSON(&r))})
	}
	return nil
}

// indented returns the JSON of a record with line breaks. It has no invisible characters.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// findScreen is the page with the results of a search.
type findScreen struct {
	Head []string
	Rows []foundRow
}

type foundRow struct {
	Kind, Name, Href, State, Since, What string
	Record                               *cite
}

// find answers with the results of a search for the text in ?q=.
func find(ctx context.Context, v *view) (*reply, error) {
	o, err := v.form("json")
	if err != nil {
		return nil, err
	}
	v.Query = v.values.Get("q")
	v.Title = "find"
	if v.Query == "" && o == "" {
		v.Find, v.Forms = &findScreen{}, nil
		return v.page()
	}
	q := ask.Find.New()
	found, err := put(ctx, v, q, map[string]string{ask.FlagNamespace: v.values.Get("n"), "limit": v.values.Get("limit")}, v.Query)
	switch {
	case found == nil:
		return nil, err
	case o == "json":
		return v.json(found)
	}
	v.Find = v.found(found)
	return v.page()
}
