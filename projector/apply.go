package projector

import "github.com/jobledger/jobledger/events"

// Apply folds rec into j. It cannot fail: records are validated when they are decoded. Its cost depends on what rec
// changes, not on how many pods j has. Job is not safe for concurrent use; its owner is the loop.
func (j *Job) Apply(rec *events.Record) {
	j.Now = rec.Time // before the time so far where the clock stepped, else never
	if rec.Stream == j.Stream {
		j.Head = rec.Sequence
	}
	switch f := rec.Facts.(type) {
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			j.book.Decide(rec, f)
		}
	case *events.GroupSeen:
		j.Group.seen(f)
	case *events.CommandEnded:
		if f.Written != 0 {
			j.ourWrite(f.Written)
		}
		j.book.End(rec, f)
	case *events.PodSeen:
		j.rivalMade(f)
		j.podSeen(rec, f)
	case *events.PodGone:
		j.claimOver(f)
		j.podGone(f.UID)
	case *events.JobSeen:
		j.jobSeen(rec, f)
	case *events.JobGone:
		j.Version = max(j.Version, f.Version) // what was read before is no news
		j.gone()
	case *events.JobRetired:
		j.Retired = true
	case *events.ClockStepped:
		j.shift(f.Step)
	case *events.ControllerStarted:
		j.restarted()
	}
	j.endMetGroup()
	j.lag()
}
