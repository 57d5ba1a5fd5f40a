package projector

import (
	"iter"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/line"
	"github.com/jobledger/jobledger/internal/subject/status"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Retired is what is kept of a finished Job with no work left, until its object is deleted (design §3). There may be
// 100,000 of them, so it is small (TestARetiredJobIsSmall).
type Retired struct {
	Ref      events.JobRef
	Version  uint64 // newest resourceVersion
	Finished events.Time
	TTL      int32           // seconds; events.Unset for none
	Head     events.Sequence // newest record of the Job
	Settings *events.Settings
	followUp *followUp           // what happened since it retired; nil until the next record, which most never get
	place    line.Links[Retired] // position in the World's list of what to store in a new file (statement.stubs)
}

// Retirement returns the facts of the Job's JobRetired record: how it ended, by its published status.
func (j *Job) Retirement() *events.JobRetired { return RetirementOf(&j.Base) }

// RetirementOf returns the facts of a JobRetired record for a Job with this status. Its result is events.ResultNone if
// the status shows no end.
func RetirementOf(s *status.Status) *events.JobRetired {
	end := endOf(s.Conditions)
	if end == nil {
		return &events.JobRetired{}
	}
	result := events.ResultComplete
	if end.Type == status.Failed {
		result = events.ResultFailed
	}
	return &events.JobRetired{
		Result: result, Reason: events.Reason(end.Reason), Succeeded: s.Succeeded, Failed: s.Failed,
		Started: s.StartTime, Finished: end.Since,
	}
}

// retire returns the Retired (a few fields of the Job) that replaces the Job.
func (j *Job) retire() *Retired {
	r := &Retired{
		Ref: j.Ref, Version: j.Version, Finished: finishTime(j.Base.Conditions), TTL: ttlOf(j.Spec), Head: j.Head, Settings: j.Settings,
	}
	if j.Deleted != 0 && j.Settings.DeleteExpired {
		r.followed().deleted = true
		r.followUp.now = j.Now
	}
	return r
}

// ttlOf returns spec.ttlSecondsAfterFinished; events.Unset for none.
func ttlOf(spec *events.JobSpec) int32 {
	if spec == nil || spec.TTLSecondsAfterFinished == nil {
		return events.Unset
	}
	return *spec.TTLSecondsAfterFinished
}

// finishTime returns the lastTransitionTime of the first condition that says that the Job finished; 0 for none (T-020,
// T-021).
func finishTime(conditions []events.JobCondition) events.Time {
	if end := endOf(conditions); end != nil {
		return end.Since
	}
	return 0
}

// endOf returns the first condition that says that the Job finished; nil for none.
func endOf(conditions []events.JobCondition) *events.JobCondition {
	for i := range conditions {
		if c := &conditions[i]; (c.Type == status.Complete || c.Type == status.Failed) && c.Status == "True" {
			return c
		}
	}
	return nil
}

// Phase returns PhaseRetired: the Job has finished, and no work is left.
func (r *Retired) Phase() Phase { return PhaseRetired }

// Reference names the Job.
func (r *Retired) Reference() events.JobRef { return r.Ref }

// Time returns the time of the newest record since the Job retired (no work was left); 0 for none.
func (r *Retired) Time() events.Time {
	if r.followUp == nil {
		return 0
	}
	return r.followUp.now
}

// Last returns the sequence of the newest record of the Job's stream.
func (r *Retired) Last() events.Sequence { return r.Head }

func (r *Retired) over() bool             { return false } // the World forgets a Retired when its object is deleted
func (r *Retired) began() events.Sequence { return 0 }

func (r *Retired) toWire() (*pb.JobState, *pb.StateNames) {
	names := &pb.StateNames{Namespace: r.Ref.Namespace, Name: r.Ref.Name}
	return &pb.JobState{Stub: &pb.StubState{
		Version: r.Version, Finished: int64(r.Finished), TtlPlusOne: r.TTL + 1, Head: uint64(r.Head), FollowUp: r.followUp.toWire(names),
	}}, names
}

func retiredFromWire(ref events.JobRef, w *pb.StubState, settings *events.Settings) (*Retired, error) {
	r := &Retired{
		Ref: ref, Version: w.GetVersion(), Finished: events.Time(w.GetFinished()),
		TTL: w.GetTtlPlusOne() - 1, Head: events.Sequence(w.GetHead()), Settings: settings,
	}
	return r, r.restoreFollowUp(w.GetFollowUp())
}

// keepRetired adds r to the World, replacing a known Retired of the same Job.
func (w *World) keepRetired(r *Retired) {
	if known := w.retired[r.Ref.UID]; known != nil {
		w.stated.stubs.Remove(known)
	}
	w.retired[r.Ref.UID] = r
	w.stated.stubs.ToEnd(r)
}

func (w *World) dropRetired(r *Retired) {
	delete(w.retired, r.Ref.UID)
	w.stated.stubs.Remove(r)
}

// RetiredJobs yields the retired Jobs (finished, without work left), sorted by UID.
func (w *World) RetiredJobs() iter.Seq[*Retired] {
	return func(yield func(*Retired) bool) {
		for _, uid := range slices.Sorted(maps.Keys(w.retired)) {
			if !yield(w.retired[uid]) {
				return
			}
		}
	}
}
