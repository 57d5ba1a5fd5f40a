package explaintest

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// everything has all records of a log, by stream (the records of one object).
type everything struct {
	of    map[events.Stream][]*events.Record
	jobs  []events.Stream       // the Jobs, in the order of their first records
	ours  map[types.UID][]order // by UID of a Job or pod: our decisions to delete it
	crons []events.Stream       // the CronJobs, in the order of their first records
	at    map[events.Sequence]*events.Record
	lists *lists
}

// order is one of our decisions to delete an object.
type order struct {
	at   events.Sequence
	what string // the reason: "replaced", "history limit", "ttl", "pod"
}

func readAll(ctx context.Context, src history.Source) (*everything, error) {
	e := &everything{of: map[events.Stream][]*events.Record{}, ours: map[types.UID][]order{},
		at: map[events.Sequence]*events.Record{}}
	for r, err := range src.Read(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if e.of[r.Stream] == nil {
			switch r.Stream.Kind {
			case events.StreamJob:
				e.jobs = append(e.jobs, r.Stream)
			case events.StreamCronJob:
				e.crons = append(e.crons, r.Stream)
			}
		}
		e.of[r.Stream] = append(e.of[r.Stream], &r)
		e.at[r.Sequence] = &r
		if d, ok := r.Facts.(*events.Decision); ok && r.Kind == events.KindDecided {
			e.orders(&r, d)
		}
	}
	return e, nil
}

func (e *everything) orders(r *events.Record, d *events.Decision) {
	note := func(uid types.UID, what string) {
		e.ours[uid] = append(e.ours[uid], order{r.Sequence, what})
	}
	for _, command := range d.Commands() {
		switch command.Traits().Kind {
		case events.CommandDeletePod:
			note(events.PodOf(command), "pod")
		case events.CommandDropFinalizer:
			if drop, ok := command.(*events.DropFinalizer); ok && drop.ThenDelete {
				note(drop.Pod, "pod")
			}
		case events.CommandDeleteJob:
			note(types.UID(r.Stream.ID), "ttl")
		case events.CommandDeleteRun:
			run, _ := command.(*events.DeleteRun)
			note(run.Job, map[bool]string{true: "replaced", false: "history limit"}[run.Replacing])
		}
	}
}

// facts is what the records of one Job say, up to a point in the log.
type facts struct {
	at      events.Sequence // 0 for the end of the log
	job     types.UID
	records []*events.Record // of the Job's stream
	all     *everything
	whole   bool // the Job's first record is in the log

	// What the API server is known to have stored as the Job's status, and the newest spec, from a fold of the records.
	status struct {
		Succeeded, Failed int32
		FailedIndexes     string
		CompletedIndexes  string
		StartTime         time.Time
		Conditions        []struct {
			Type, Status, Reason string
			Since                time.Time
		}
	}
	spec struct {
		Suspend               bool
		CompletionMode        string
		ActiveDeadlineSeconds *int64
		BackoffLimit          *int32
		Completions           *int32
	}
}

func (e *everything) factsOf(s events.Stream, at events.Sequence, job *history.Job) (*facts, error) {
	f := &facts{at: at, job: types.UID(s.ID), all: e, whole: true}
	for of, text := range map[any][]byte{&f.status: job.Published, &f.spec: job.Spec} {
		if len(text) == 0 {
			continue
		}
		if err := json.Unmarshal(text, of); err != nil {
			return nil, err
		}
	}
	for i, r := range e.of[s] {
		if at != 0 && r.Sequence > at {
			break
		}
		f.records = append(f.records, r)
		f.whole = f.whole && (i > 0 || r.Previous == 0)
	}
	return f, nil
}

var timeType = reflect.TypeFor[events.Time]()

// timesOf returns all times in a record: its own, those in its facts, and the time of a deletion request.
func timesOf(r *events.Record) (all []events.Time) {
	take := func(t events.Time) { all = append(all, t) }
	take(r.Time)
	walk(reflect.ValueOf(r.Facts), take)
	walk(reflect.ValueOf(&r.Evidence), take)
	if p, ok := r.Facts.(*events.PodSeen); ok {
		if asked, _ := p.Asked(); asked != 0 {
			take(asked)
		}
	}
	return all
}

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
