package explaintest

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
)

// everything is a log, by stream.
type everything struct {
	of   map[events.Stream][]*events.Record
	jobs []events.Stream // in the order of their first records
	// ours are the decisions by which a Job, or a pod, was to be deleted.
	ours map[types.UID][]order
}

// order is a decision of ours that an object be deleted.
type order struct {
	at     events.Sequence
	time   events.Time
	reason events.Reason
	what   string // "replaced", "history limit", "ttl", "pod"
}

func readAll(ctx context.Context, src history.Source) (*everything, error) {
	e := &everything{of: map[events.Stream][]*events.Record{}, ours: map[types.UID][]order{}}
	for r, err := range src.Read(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if r.Stream.Kind == events.StreamJob && e.of[r.Stream] == nil {
			e.jobs = append(e.jobs, r.Stream)
		}
		e.of[r.Stream] = append(e.of[r.Stream], &r)
		if d, ok := r.Facts.(*events.Decision); ok && r.Kind == events.KindDecided {
			e.orders(&r, d)
		}
	}
	return e, nil
}

func (e *everything) orders(r *events.Record, d *events.Decision) {
	note := func(uid types.UID, s *events.Step, what string) {
		e.ours[uid] = append(e.ours[uid], order{r.Sequence, r.Time, s.Reason, what})
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		for _, command := range s.Commands {
			switch command.Traits().Kind {
			case events.CommandDeletePod:
				note(events.PodOf(command), s, "pod")
			case events.CommandDropFinalizer:
				if drop, ok := command.(*events.DropFinalizer); ok && drop.ThenDelete {
					note(drop.Pod, s, "pod")
				}
			case events.CommandDeleteJob:
				note(types.UID(r.Stream.ID), s, "ttl")
			case events.CommandDeleteRun:
				run, _ := command.(*events.DeleteRun)
				note(run.Job, s, map[bool]string{true: "replaced", false: "history limit"}[run.Replacing])
			}
		}
	}
}

// facts are what the records of one Job say up to a point.
type facts struct {
	at      events.Sequence // 0 for the end of the log
	job     types.UID
	records []*events.Record // of the Job's stream
	all     *everything

	spec     *events.JobSpec
	status   *events.JobStatus // the last that was seen or confirmed; nil for none
	whole    bool              // the log has the Job from its beginning, and no listing in between found what had happened
	gone     events.Sequence
	observed bool // the status is as another controller wrote it
	known    []events.Time
}

func (e *everything) factsOf(s events.Stream, at events.Sequence) *facts {
	f := &facts{at: at, job: types.UID(s.ID), all: e, whole: true}
	for _, own := range e.of {
		for _, r := range own {
			if r.Stream.Kind == events.StreamCronJob {
				f.learnTimes(r)
			}
		}
	}
	for i, r := range e.of[s] {
		if at != 0 && r.Sequence > at {
			break
		}
		f.records = append(f.records, r)
		f.learnTimes(r)
		switch x := r.Facts.(type) {
		case *events.JobSpec:
			f.spec = x
		case *events.JobSeen:
			f.observed = !x.Managed
			if x.Status != nil {
				f.status = x.Status
			}
		case *events.JobGone:
			f.gone = r.Sequence
		case *events.StoredState:
			f.whole = false
		}
		if i == 0 && r.Previous != 0 {
			f.whole = false
		}
	}
	for _, r := range e.of[events.Controller] {
		f.learnTimes(r)
	}
	if s := f.spec; s != nil && s.ActiveDeadlineSeconds != nil {
		for _, t := range f.known {
			f.known = append(f.known, t.Add(time.Duration(min(*s.ActiveDeadlineSeconds, 1<<31))*time.Second))
		}
	}
	return f
}

// backoffs are how long the next pod waits after failures in a row, as settings are by default.
var backoffs = []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second, 600 * time.Second}

// learnTimes takes in all times that a record holds, when a deletion was asked for, and the ends of backoffs.
func (f *facts) learnTimes(r *events.Record) {
	f.known = append(f.known, r.Time)
	walk(reflect.ValueOf(r.Facts), func(t events.Time) { f.known = append(f.known, t) })
	walk(reflect.ValueOf(&r.Evidence), func(t events.Time) { f.known = append(f.known, t) })
	if p, ok := r.Facts.(*events.PodSeen); ok {
		if asked, _ := p.Asked(); asked != 0 {
			f.known = append(f.known, asked)
		}
		for _, d := range backoffs {
			f.known = append(f.known, r.Time.Add(d), p.Finished.Add(d), p.Deleted.Add(d))
			for i := range r.Evidence.Containers {
				f.known = append(f.known, r.Evidence.Containers[i].Finished.Add(d))
			}
		}
	}
}

var timeType = reflect.TypeFor[events.Time]()

func walk(v reflect.Value, take func(events.Time)) {
	switch {
	case !v.IsValid():
	case v.Type() == timeType:
		if v.Int() != 0 {
			take(events.Time(v.Int()))
		}
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), take)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), take)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			walk(v.Index(i), take)
		}
	}
}
