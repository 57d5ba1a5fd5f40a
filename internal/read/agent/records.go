package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Limits of the tool records: how many records a list has, and how many later records are searched for effects.
const (
	mostRecords = 40
	mostLooked  = 500 // later records that are searched for effects of a record
)

// recordList is a list of records, as the command events writes it with -o json.
type recordList struct {
	Items []json.RawMessage `json:"items"`
}

// records answers the tool records: with one record and its causes and effects, or with a list of records.
func records(ctx context.Context, a *asking) (any, error) {
	if a.values["number"] != "" {
		n, err := number(a.values["number"])
		if err != nil {
			return nil, err
		}
		return a.record(ctx, n)
	}
	q := history.Query{Limit: mostRecords, Namespace: a.values["namespace"]}
	if kind := a.values["kind"]; kind != "" {
		k, known := events.KindNamed(kind)
		if !known {
			return nil, which.Wrong("there is no kind of record %q", kind)
		}
		q.Kinds = []events.Kind{k}
	}
	if a.values["object"] != "" {
		if err := a.of(ctx, &q); err != nil {
			return nil, err
		}
	}
	all, err := a.chosen(ctx, q)
	if len(all) == 0 {
		if err == nil {
			err = which.Unknown("there is no such record")
		}
		return nil, err
	}
	names, out := history.NamesOf(ctx, a.src), &recordList{}
	for i := range all {
		names.Learn(&all[i])
		a.one("RECORD", names, &all[i])
		out.Items = append(out.Items, json.RawMessage(names.RecordJSON(&all[i])))
	}
	if len(all) == mostRecords {
		next := all[len(all)-1].Sequence + 1
		a.text.add(fmt.Sprintf("CUT: these are %d; there may be more. Ask with from %d for what follows.", mostRecords, next))
	}
	return out, err
}

func number(text string) (events.Sequence, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, which.Wrong("%q is no number of a record", text)
	}
	return events.Sequence(n), nil
}

// of limits the query q to the records of the object that the call of the tool names.
func (a *asking) of(ctx context.Context, q *history.Query) error {
	h, before, err := which.Parse([]string{a.values["object"]})
	if err != nil {
		return err
	}
	place := which.Place{Namespace: q.Namespace, Named: q.Namespace != ""}
	if before != "" {
		if place.Namespace, err = which.OneNamespace([]string{a.values["object"]}, before, q.Namespace); err != nil {
			return err
		}
		place.Named = true
	}
	if place.Namespace == "" {
		place.Namespace = "default"
	}
	finder := &which.Finder{Source: a.src, Note: a.note}
	if h, place, err = finder.Resolve(ctx, place, h); err != nil {
		return err
	}
	streams, err := finder.Jobs(ctx, place, h)
	if err != nil {
		return err
	}
	finder.NoteOlder(streams[1:])
	q.Namespace, q.Stream = "", &streams[0]
	return nil
}

// chosen returns the records of a query: from the number in the argument "from" on, or without it the newest ones.
func (a *asking) chosen(ctx context.Context, q history.Query) (all []events.Record, err error) {
	if a.values["from"] == "" {
		_, head, err := a.src.Head(ctx)
		if err != nil {
			return nil, err
		}
		return history.Newest(ctx, a.src, q, mostRecords, head.Sequence)
	}
	if q.From, err = number(a.values["from"]); err != nil {
		return nil, err
	}
	for r, err := range a.src.Records(ctx, q) {
		if err != nil {
			return all, err
		}
		if all = append(all, r); len(all) == mostRecords {
			break
		}
	}
	return all, nil
}

// one adds record r to the Markdown as one line. label is the beginning of the line: RECORD, LED TO IT (a cause) or IT
// LED TO (an effect).
func (a *asking) one(label string, names *words.Names, r *events.Record) {
	text := fmt.Sprintf("%s %s %s: %s", words.Zone{}.Moment(r.Time), names.Object(r), r.Kind, names.Detail(r))
	a.text.line(label, text, uint64(r.Sequence))
}

// record answers with one record in full, its causes and its effects.
func (a *asking) record(ctx context.Context, n events.Sequence) (any, error) {
	r, err := history.Record(ctx, a.src, n)
	if err != nil {
		return nil, err
	}
	names := history.NamesOf(ctx, a.src)
	a.one("RECORD", names, &r)
	for _, at := range r.Causes {
		cause, err := history.Record(ctx, a.src, at)
		if err != nil {
			a.text.line("LED TO IT, and cannot be read:", err.Error(), uint64(at))
			continue
		}
		a.one("LED TO IT", names, &cause)
	}
	looked := 0
	for x, err := range a.src.ReadStream(ctx, r.Stream, r.Sequence+1, store.Forward) {
		if err != nil {
			a.src.Damage.Note(err)
			break
		}
		if slices.Contains(x.Causes, r.Sequence) {
			a.one("IT LED TO", names, &x)
		}
		if looked++; looked == mostLooked {
			a.text.add(fmt.Sprintf("CUT: what it led to was looked for among the next %d records of its stream.", mostLooked))
			break
		}
	}
	whole := names.RecordJSON(&r)
	a.text.line("WHOLE", string(whole)) // a long record is cut here; the JSON part has all of it
	return json.RawMessage(whole), nil
}
