package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
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

// records writes one record with its causes and effects, or a list of records.
func records(ctx context.Context, a *asking) (any, error) {
	if a.values["number"] != "" {
		n, err := number(a.values["number"])
		if err != nil {
			return nil, err
		}
		return a.record(ctx, n)
	}
	set := map[string]string{"words": string(ask.Beside), "tail": strconv.Itoa(mostRecords)}
	if a.values["from"] != "" {
		if _, err := number(a.values["from"]); err != nil {
			return nil, err
		}
		set = map[string]string{"words": string(ask.Beside), "limit": strconv.Itoa(mostRecords)}
	}
	var object []string
	if a.values["object"] != "" {
		object = []string{a.values["object"]}
	}
	_, page, err := put(ctx, a, ask.Events.New(), set, object...)
	if page == nil || len(page.Said) == 0 && page.Next == 0 && page.Before == 0 {
		if err == nil {
			err = which.Unknown("there is no such record")
		}
		return nil, err
	}
	for i := range page.Said {
		a.said(&page.Said[i])
	}
	a.cut(page)
	a.passed(page.PassedOver)
	page.Said = nil // the records stand beside the text
	return page, err
}

// said writes a record as one line.
func (a *asking) said(s *ask.Said) {
	text := fmt.Sprintf("%s %s %s: %s", words.Zone{}.Moment(events.Time(s.Time)), s.Object, s.Kind, s.Detail)
	a.text.line("RECORD", text, s.Sequence)
}

// cut says where the list goes on.
func (a *asking) cut(page *ask.RecordsPage) {
	if c := page.Cut; c != nil {
		a.text.add(fmt.Sprintf("CUT: record %d has %d bytes, and is left out. Ask with number.", c.Sequence, c.Bytes))
	}
	n := len(page.Said)
	if page.Next != 0 {
		a.text.add(fmt.Sprintf("CUT: these are %d; there may be more. Ask with from %d for what follows.", n, page.Next))
	}
	if page.Before != 0 {
		a.text.add(fmt.Sprintf("CUT: these are the newest %d; there may be earlier ones. Ask with from.", n))
	}
}

func number(text string) (events.Sequence, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, which.Wrong("%q is no number of a record", text)
	}
	return events.Sequence(n), nil
}

// one writes a record as one line.
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
