package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Passed is a time in which a namespace was over its log budget (how much log it may fill in an hour). Meanwhile some
// changes of its objects got no record: they were passed over. Its JSON changes only by adding fields.
type Passed struct {
	Namespace string             `json:"namespace,omitempty"` // absent if it is about nodes and namespaces
	From      recordjson.Instant `json:"from"`
	Until     recordjson.Instant `json:"until,omitzero"` // unset while the namespace is still over its budget
	// Went counts the objects that were created and deleted without any record.
	Went []Went `json:"went,omitempty"`
	// Versions counts changes without a record that are counted nowhere else: those of the objects in Went, and a few
	// others. Changes of other objects are counted in the later records of these objects.
	Versions uint64 `json:"versions,omitempty"`
	// Uncounted is the time since which changes without a record are not in the numbers above. They are counted by a
	// later record, or never if the controller ended before it wrote one.
	Uncounted recordjson.Instant `json:"uncountedSince,omitzero"`
	Records   []uint64           `json:"records"` // first and last record about this time
}

// Went is the number of objects of one resource that were created and deleted without a record.
type Went struct {
	Resource string `json:"resource"`
	Objects  uint64 `json:"objects"`
}

// PassedOver collects, from the controller's records, the times in which namespaces were over their log budgets. Give
// each record to Learn. The zero PassedOver is ready to use.
type PassedOver struct {
	All  []*Passed // in the order in which they began
	open map[string]*Passed
}

// Learn processes the next record of the controller: it begins or ends a time in which a namespace is over its log
// budget.
func (p *PassedOver) Learn(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.PassedOver:
		p.count(r, f)
	// A new process counts from 0. What the old process had counted and not recorded stays unknown, so all open times
	// end here.
	case *events.ControllerStarted:
		for _, x := range p.open {
			x.Until = recordjson.Instant(r.Time)
		}
		clear(p.open)
	}
}

func (p *PassedOver) count(r *events.Record, f *events.PassedOver) {
	namespace := r.Evidence.Namespace
	x := p.open[namespace]
	if x == nil {
		x = &Passed{Namespace: namespace, From: recordjson.Instant(f.Since), Records: []uint64{uint64(r.Sequence)}}
		p.All = append(p.All, x)
	}
	for _, g := range f.Went {
		at := slices.IndexFunc(x.Went, func(w Went) bool { return w.Resource == g.Resource.String() })
		if at < 0 {
			at = len(x.Went)
			x.Went = append(x.Went, Went{Resource: g.Resource.String()})
		}
		x.Went[at].Objects += g.Objects
	}
	x.Versions += f.Versions
	if x.Records[len(x.Records)-1] != uint64(r.Sequence) {
		x.Records = append(x.Records[:1], uint64(r.Sequence))
	}
	if f.Open {
		x.Uncounted = recordjson.Instant(r.Time)
		if p.open == nil {
			p.open = map[string]*Passed{}
		}
		p.open[namespace] = x
		return
	}
	x.Until, x.Uncounted = recordjson.Instant(r.Time), 0
	delete(p.open, namespace)
}

// Touching returns the times over the log budget that overlap from..until (0 for no bound) and are about the namespace,
// or about nodes and namespaces. If all is set, it returns those of every namespace. It leaves out times in which every
// change was recorded.
func (p *PassedOver) Touching(namespace string, all bool, from, until events.Time) (out []Passed) {
	for _, x := range p.All {
		switch {
		case !all && x.Namespace != namespace && x.Namespace != "":
		case until != 0 && events.Time(x.From) > until, x.Until != 0 && events.Time(x.Until) < from:
		case len(x.Went) == 0 && x.Versions == 0 && x.Uncounted == 0:
		default:
			out = append(out, *x)
		}
	}
	return out
}

// Text describes the time over the log budget: "namespace ci was over its budget of log. 3012 pods came and went
// without a record (3013 versions)". moment writes times.
func (p *Passed) Text(moment func(events.Time) string) string {
	text := "nodes and namespaces were over their budget of log."
	if p.Namespace != "" {
		text = "namespace " + p.Namespace + " was over its budget of log."
	}
	for i, w := range p.Went {
		switch {
		case i == 0:
			text += " "
		case i == len(p.Went)-1:
			text += " and "
		default:
			text += ", "
		}
		text += words.Count(int(w.Objects), w.Resource)
	}
	switch {
	case len(p.Went) > 0:
		text += fmt.Sprintf(" came and went without a record (%s)", words.Count(int(p.Versions), "version"))
	case p.Versions > 0:
		text += " " + words.Count(int(p.Versions), "version") + " passed over"
	default:
		text += " Nothing is counted"
	}
	switch {
	case p.Uncounted != 0 && p.Until == 0:
		text += "; what was passed over since " + moment(events.Time(p.Uncounted)) + " is not counted yet"
	case p.Uncounted != 0:
		text += "; what was passed over since " + moment(events.Time(p.Uncounted)) + " is counted nowhere, as the controller ended before"
	}
	return text
}

// passedWithin is how far back a reader must look to find out whether a namespace is over its log budget. The
// controller writes a record about such a namespace once a minute, but a busy turn of its loop can delay it.
const passedWithin = 5 * time.Minute

// PassedSince returns the times from since on (0 for all) in which namespaces were over their log budgets. If the log
// is damaged, it returns the error and the times that it can read.
func PassedSince(ctx context.Context, src Source, since events.Time) (*PassedOver, error) {
	from := events.Sequence(0)
	if since != 0 {
		var err error
		if from, err = FirstAt(ctx, src, since.Add(-passedWithin)); err != nil && !src.Beside(err) {
			return nil, err
		}
	}
	var p PassedOver
	var unread error
	for r, err := range PastDamage(ctx, src, events.Controller, from) {
		if src.Beside(err) {
			unread = err
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Learn(&r)
	}
	return &p, unread
}

// PassedAt returns the times over the log budget that have not ended at record at. They are about the namespace, or
// about nodes and namespaces; if all is set, about any namespace. It reads only the controller's records of the 5
// minutes before, because the controller writes one each minute about such a time. If the log is damaged, it returns
// the error and what it can read.
func PassedAt(ctx context.Context, src Source, at Place, namespace string, all bool) (now []Passed, err error) {
	var recent []events.Record
	for r, bad := range src.ReadStream(ctx, events.Controller, events.Sequence(at.Sequence), store.Backward) {
		if errors.Is(bad, store.ErrPruned) {
			break
		}
		if src.Beside(bad) {
			err = bad
			break
		}
		if bad != nil {
			return nil, bad
		}
		if events.Time(at.Time).Sub(r.Time) > passedWithin {
			break
		}
		if recent = append(recent, r); r.Kind == events.KindControllerStarted {
			break
		}
	}
	var p PassedOver
	for i := range slices.Backward(recent) {
		p.Learn(&recent[i])
	}
	return slices.DeleteFunc(p.Touching(namespace, all, 0, 0), func(x Passed) bool { return x.Until != 0 }), err
}
