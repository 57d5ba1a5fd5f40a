package jobcase

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/projector"
)

// Hands says who runs a Job. This may change, because one log can be written first by a Jobledger that runs Jobs, and
// later by one that only observes them.
type Hands uint8

const (
	OurHands    Hands = iota + 1 // Jobledger
	OtherHands                   // another controller; Jobledger observes the Job
	UnseenHands                  // another controller; Jobledger does not observe the Job
)

// Reign is a period in which the same controller runs a Job: From is its first record.
type Reign struct {
	From  explain.Mark
	Hands Hands
}

// handsOf returns who runs Job j under settings s of the controller.
func handsOf(j *projector.Job, s *events.Settings) Hands {
	switch {
	case s.Observes(j.ManagedBy):
		return OtherHands
	case !j.Managed || !s.Records(j.ManagedBy):
		return UnseenHands
	}
	return OurHands
}

// reigned notes who runs the Job after record r, under settings s. It ignores records after the Job's deletion.
func (c *Case) reigned(r *events.Record, s *events.Settings) {
	if c.Gone.Record == 0 && c.deletedSeen.Record == 0 {
		c.cronJobsOurs = s.RunsCronJobs()
	}
	if c.Folded == nil || !c.Folded.Known() || c.Gone.Record != 0 {
		return
	}
	if h := handsOf(c.Folded, s); len(c.Reigns) == 0 || c.Reigns[len(c.Reigns)-1].Hands != h {
		c.Reigns = append(c.Reigns, Reign{explain.MarkOf(r), h})
	}
}

// Ours reports whether Jobledger runs the Job. If it does not, the log has no decisions about the Job.
func (c *Case) Ours() bool { return c.Reigning() == OurHands }

// Reigning returns who runs the Job at the point of the case; for a Job that is gone, who ran it last.
func (c *Case) Reigning() Hands {
	if n := len(c.Reigns); n > 0 {
		return c.Reigns[n-1].Hands
	}
	return OurHands
}

// OursAt reports whether Jobledger ran the Job at record m.
func (c *Case) OursAt(m explain.Mark) bool {
	was := OurHands
	for i, x := range c.Reigns {
		if i > 0 && x.From.Record > m.Record {
			break
		}
		was = x.Hands
	}
	return was == OurHands
}

// OursUntil reports whether Jobledger ran the Job from its beginning to record m.
func (c *Case) OursUntil(m explain.Mark) bool {
	for i, x := range c.Reigns {
		if (i == 0 || x.From.Record < m.Record) && x.Hands != OurHands {
			return false
		}
	}
	return true
}

// Unseen returns the record since which nobody observes the Job. It returns false if the Job is observed, or had ended
// before.
func (c *Case) Unseen() (explain.Mark, bool) {
	n := len(c.Reigns)
	if n < 2 || c.Reigning() != UnseenHands || c.Over() {
		return explain.Mark{}, false
	}
	return c.Reigns[n-1].From, true
}

// Controller names the controller of a Job that Jobledger does not run.
func (c *Case) Controller() string {
	switch by := c.Job.ManagedBy; by {
	case "", events.BuiltinManagedBy:
		return "the built-in controller"
	default:
		return by
	}
}
