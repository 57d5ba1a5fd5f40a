package job

import (
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
)

// changedHands says which controllers ran the Job, and when, if the controller changed before the Job ended.
func (c *Case) changedHands() []explain.Sentence {
	var out []explain.Sentence
	for i, x := range c.Reigns {
		if i == 0 || c.Settled != nil && c.Settled.Bound() != 0 && x.From.Record > c.Settled.Bound() {
			continue
		}
		before := c.Reigns[i-1].Hands
		switch {
		case x.Hands == jobcase.OurHands:
			out = append(out, explain.Say(explain.Marks(x.From), "run by Jobledger since %s, before by %s", c.Clock(x.From.At),
				c.other(before)))
		case before == jobcase.OurHands:
			out = append(out, explain.Say(explain.Marks(x.From), "run by %s since %s, before by Jobledger", c.other(x.Hands),
				c.Clock(x.From.At)))
		case x.Hands == jobcase.OtherHands:
			out = append(out, explain.Say(explain.Marks(x.From), "looked at since %s, not before: %s runs it",
				c.Clock(x.From.At), c.Controller()))
		default:
			out = append(out, explain.Say(explain.Marks(x.From), "not looked at since %s, but for its pods: %s runs it",
				c.Clock(x.From.At), c.Controller()))
		}
	}
	return out
}

// other names the controller that runs the Job instead of this Jobledger, and says whether we observed its Jobs. h says
// who runs the Job.
func (c *Case) other(h jobcase.Hands) string {
	switch {
	case h == jobcase.UnseenHands:
		return "another controller, unseen"
	// Several Jobledgers may have this name (ours), and it is unknown which of them observed the Job: say no more.
	case c.Job.ManagedBy == events.ManagedBy:
		return "another Jobledger"
	}
	return c.Controller() + ", observed"
}

// history lists the gaps (times in which nobody watched) within the Job's life, and says which records are pruned
// (deleted) or damaged.
func (c *Case) history() []explain.Sentence {
	var out []explain.Sentence
	switch {
	case c.Added.Record == 0 && c.Resumed != 0:
		out = append(out, explain.Say(nil, "its first records are damaged, or before damage, so what happened before record %d is not told", c.Resumed))
	case c.NeverSeen():
		out = append(out, explain.Say([]explain.Mark{explain.RecordMark(events.Sequence(c.Job.First))},
			"the log has no version of the Job, so what happened to it before is not told"))
	case c.Added.Record == 0:
		out = append(out, explain.Say([]explain.Mark{explain.RecordMark(events.Sequence(c.Job.First))},
			"its first records are no longer in the log, so what happened before is not told"))
	}
	if had := c.BegunBefore(); had != "" {
		out = append(out, explain.Say(explain.Marks(c.Added), "when it was first seen %s: what came before was not seen",
			had))
	}
	out = append(out, c.changedHands()...)
	for _, g := range c.Touching() {
		from, until := events.Time(g.From), events.Time(g.Until)
		end := "and it is not watched yet"
		if until != 0 {
			end = "to " + c.Moment(until)
		}
		switch {
		case g.From == 0 && until == 0:
			out = append(out, explain.Say(explain.GapMarks(g),
				"GAP: this log begins here, the Job is older, and it is not watched yet"))
			continue
		case g.From == 0:
			out = append(out, explain.Say(explain.GapMarks(g),
				"GAP to %s: this log begins there, and the Job is older. What had happened was found then", c.Moment(until)))
			continue
		}
		why := strings.TrimPrefix(explain.GapWhy(g), "because ")
		out = append(out, explain.Say(explain.GapMarks(g),
			"GAP %s %s: %s. What happened in it was found at its end", c.Moment(from), end, why))
	}
	for _, p := range c.PassedOver() {
		out = append(out, explain.PassedText(&p, c.Moment))
	}
	return append(out, c.Unrecorded.Sentences("the Job and its pods")...)
}
