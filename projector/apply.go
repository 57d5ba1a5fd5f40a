package projector

import "github.com/jobledger/jobledger/events"

// Apply updates the Job's state by one record of the log. It cannot fail: records are validated when they are decoded.
// The cost depends on what rec changes, not on the number of pods. Job is not safe for concurrent use; the loop owns
// it.
func (j *Job) Apply(rec *events.Record) {
	j.Now = rec.Time // only after a clock step is this earlier than before
	if rec.Stream == j.Stream {
		j.Head = rec.Sequence
		j.woken = rec.Kind == events.KindTimerFired || rec.Kind == events.KindJobResumed
	}
	j.meet(rec.Facts)
	switch f := rec.Facts.(type) {
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			j.book.Decide(rec, f)
		}
	case *events.GroupSeen:
		j.groupSeen(f)
	case *events.CommandEnded:
		if f.Written != 0 {
			j.ourWrite(f.Written)
		}
		j.book.End(rec, f)
	case *events.PodSeen:
		if j.met.pod == nil {
			j.rivalMade(f)
		}
		j.met.pod = j.podSeen(rec, f, j.met.pod)
	case *events.PodGone:
		j.claimOver(f)
		j.podGone(j.met.pod)
	case *events.JobSeen:
		j.jobSeen(rec, f)
	case *events.JobGone:
		j.Version = max(j.Version, f.Version) // the deletion may have been seen by a read that is older than j.Version
		j.gone()
	case *events.JobRetired:
		j.Retired = true
	case *events.ClockStepped:
		j.shift(f.Step)
	case *events.TimerFired, *events.JobResumed:
		j.judgeStopped()
	case *events.ControllerStarted:
		j.restarted()
	}
	j.endMetGroup()
	j.lag()
}

// met holds the pod that the record being applied is about, and some facts about the pod from before the record. pod is
// nil if no earlier record showed the pod.
type met struct {
	pod      *Pod
	restarts uint32
	told     bool // an earlier record showed its end or deletion, so its attempt is counted in Tries
	over     bool // the pod had ended before the record
}

// meet looks up the pod that a record is about and stores it in j.met. A record that is not about a pod leaves j.met as
// it was.
func (j *Job) meet(facts events.Facts) {
	uid, ok := events.PodIn(facts)
	if !ok {
		return
	}
	p := j.byUID[uid]
	j.met = met{pod: p}
	if p != nil {
		j.met.restarts, j.met.over = p.Restarts, p.Phase.Terminal()
		j.met.told = (p.Phase.Terminal() || p.Deleted != 0) && string(p.Owner) == j.Stream.ID && j.Stream.Kind == events.StreamJob
	}
}
