package projector

import "github.com/jobledger/jobledger/events"

// Apply folds rec into j. It cannot fail: records are validated when they are decoded. Its cost depends on what rec
// changes, not on how many pods j has. Job is not safe for concurrent use; its owner is the loop.
func (j *Job) Apply(rec *events.Record) {
	j.Now = rec.Time // before the time so far where the clock stepped, else never
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
		j.Version = max(j.Version, f.Version) // what was read before is no news
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

// met is the pod that a record is about, and what was to be known of it before the record; pod is nil for one that is
// new.
type met struct {
	pod      *Pod
	restarts uint32
	told     bool // how its try ended, by a record before
	over     bool // it had ended
}

// meet finds the pod that a record is about. Those about none leave what was met before.
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
