package explain

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// hands is the controller that runs a Job. A log may be written in several modes in turn, so it may change.
type hands uint8

const (
	ourHands    hands = iota + 1 // Jobledger
	otherHands                   // another controller; Jobledger observes the Job
	unseenHands                  // another controller; Jobledger does not observe the Job
)

// reign is the start of a period in which one controller runs the Job.
type reign struct {
	From  Mark
	Hands hands
}

// handsOf returns the controller that runs a Job under settings.
func handsOf(j *projector.Job, s *events.Settings) hands {
	switch {
	case s.Observes(j.ManagedBy):
		return otherHands
	case !j.Managed || !s.Records(j.ManagedBy):
		return unseenHands
	}
	return ourHands
}

// reigned notes the controller that runs the Job after a record. It ignores records after the Job is gone.
func (c *Case) reigned(r *events.Record, s *events.Settings) {
	if c.gone.Record == 0 && c.deletedSeen.Record == 0 {
		c.cronJobsOurs = s.RunsCronJobs()
	}
	if c.folded == nil || !c.folded.Known() || c.gone.Record != 0 {
		return
	}
	if h := handsOf(c.folded, s); len(c.reigns) == 0 || c.reigns[len(c.reigns)-1].Hands != h {
		c.reigns = append(c.reigns, reign{markOf(r), h})
	}
}

// ours reports whether we decide about the Job: decisions of another controller are not in the log.
func (c *Case) ours() bool { return c.hands() == ourHands }

// hands returns the controller that runs the Job at the point of the case, or ran it last.
func (c *Case) hands() hands {
	if n := len(c.reigns); n > 0 {
		return c.reigns[n-1].Hands
	}
	return ourHands
}

// oursAt is ours as of a record.
func (c *Case) oursAt(m Mark) bool {
	was := ourHands
	for i, x := range c.reigns {
		if i > 0 && x.From.Record > m.Record {
			break
		}
		was = x.Hands
	}
	return was == ourHands
}

// oursUntil reports whether the Job was ours from its beginning to a record.
func (c *Case) oursUntil(m Mark) bool {
	for i, x := range c.reigns {
		if (i == 0 || x.From.Record < m.Record) && x.Hands != ourHands {
			return false
		}
	}
	return true
}

// unseen returns since when nobody observes a Job that went on.
func (c *Case) unseen() (Mark, bool) {
	n := len(c.reigns)
	if n < 2 || c.hands() != unseenHands || c.over() {
		return Mark{}, false
	}
	return c.reigns[n-1].From, true
}

// changedHands says which controller ran the Job when, if that changed while it went on.
func (c *JobCase) changedHands() []Sentence {
	var out []Sentence
	for i, x := range c.reigns {
		if i == 0 || c.settled != nil && c.settled.bound() != 0 && x.From.Record > c.settled.bound() {
			continue
		}
		before := c.reigns[i-1].Hands
		switch {
		case x.Hands == ourHands:
			out = append(out, say(marks(x.From), "run by Jobledger since %s, before by %s", c.clock(x.From.At), c.other(before)))
		case before == ourHands:
			out = append(out, say(marks(x.From), "run by %s since %s, before by Jobledger", c.other(x.Hands), c.clock(x.From.At)))
		case x.Hands == otherHands:
			out = append(out, say(marks(x.From), "looked at since %s, not before: %s runs it", c.clock(x.From.At), c.controller()))
		default:
			out = append(out, say(marks(x.From), "not looked at since %s, but for its pods: %s runs it", c.clock(x.From.At), c.controller()))
		}
	}
	return out
}

// other names another controller, and says whether we observed its Jobs.
func (c *JobCase) other(h hands) string {
	switch {
	case h == unseenHands:
		return "another controller, unseen"
	// Ours by name; it is unknown which of several Jobledgers observed the Job.
	case c.Job.ManagedBy == events.ManagedBy:
		return "another Jobledger"
	}
	return c.controller() + ", observed"
}
