package projector

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
	"github.com/jobledger/jobledger/internal/status"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Retired is a finished Job with which nothing is left to do: what is kept of it until its object is gone (design §3). There may be
// 100,000 of them, so it is small (TestARetiredJobIsSmall).
type Retired struct {
	Ref      events.JobRef
	Version  uint64 // newest resourceVersion
	Finished events.Time
	TTL      int32           // seconds; events.Unset for none
	Head     events.Sequence // its newest record
	now      events.Time     // of its newest record; 0 when that is not known
	place    links[Retired]  // in World.stubs
}

// retire is what is kept of a Job when it retires.
func (j *Job) retire() *Retired {
	r := &Retired{Ref: j.Ref, Version: j.Version, TTL: events.Unset, Head: j.Head, now: j.Now}
	if j.Spec != nil && j.Spec.TTLSecondsAfterFinished != nil {
		r.TTL = *j.Spec.TTLSecondsAfterFinished
	}
	for _, kind := range []string{status.Complete, status.Failed} {
		if c := j.Base.Condition(kind); c != nil && c.Status == "True" {
			r.Finished = c.Since
		}
	}
	return r
}

// Phase is PhaseRetired.
func (r *Retired) Phase() Phase { return PhaseRetired }

// ID is the Job's stream.
func (r *Retired) ID() events.Stream { return events.JobStream(r.Ref.UID) }

// Reference names the Job.
func (r *Retired) Reference() events.JobRef { return r.Ref }

// Time is the time of the Job's newest record; 0 when it was restored from a state.
func (r *Retired) Time() events.Time { return r.now }

// Last is the newest record of the Job's stream.
func (r *Retired) Last() events.Sequence { return r.Head }

// Due is never: no rule asks for anything of a retired Job.
func (r *Retired) Due(events.Time) events.Time { return 0 }

// Apply folds a record.
func (r *Retired) Apply(rec *events.Record) {
	r.now = rec.Time
	if rec.Stream == r.ID() {
		r.Head = rec.Sequence
	}
}

// InFlight is nil: a retired Job has no commands.
func (r *Retired) InFlight(events.CommandID) events.Command { return nil }

// Retrying is nil: a retired Job has no commands.
func (r *Retired) Retrying(events.CommandID) (*commands.Flight, *commands.Retry) { return nil, nil }

// AllRetrying is empty.
func (r *Retired) AllRetrying() []events.CommandID { return nil }

// GaveUp is false.
func (r *Retired) GaveUp(events.CommandID) bool { return false }

// Pod is nil: a retired Job holds no pods.
func (r *Retired) Pod(types.UID) *Pod { return nil }

func (r *Retired) over() bool             { return false } // the World forgets it with its object
func (r *Retired) began() events.Sequence { return 0 }
func (r *Retired) holder() *Job           { return nil }

func (r *Retired) toWire() (*pb.JobState, *pb.StateNames) {
	return &pb.JobState{Stub: &pb.StubState{
			Version: r.Version, Finished: int64(r.Finished), TtlPlusOne: r.TTL + 1, Head: uint64(r.Head),
		}},
		&pb.StateNames{Namespace: r.Ref.Namespace, Name: r.Ref.Name}
}

func retiredFromWire(ref events.JobRef, w *pb.StubState) *Retired {
	return &Retired{
		Ref: ref, Version: w.GetVersion(), Finished: events.Time(w.GetFinished()),
		TTL: w.GetTtlPlusOne() - 1, Head: events.Sequence(w.GetHead()),
	}
}

// keepRetired takes r in, in the place of one that is known already.
func (w *World) keepRetired(r *Retired) {
	if known := w.retired[r.Ref.UID]; known != nil {
		w.stubs.remove(known)
	}
	w.retired[r.Ref.UID] = r
	w.stubs.toEnd(r)
}

func (w *World) dropRetired(r *Retired) {
	delete(w.retired, r.Ref.UID)
	w.stubs.remove(r)
}

// RetiredJobs yields the retired Jobs by UID.
func (w *World) RetiredJobs() iter.Seq[*Retired] {
	return func(yield func(*Retired) bool) {
		for _, uid := range slices.Sorted(maps.Keys(w.retired)) {
			if !yield(w.retired[uid]) {
				return
			}
		}
	}
}
