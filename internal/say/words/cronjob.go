package words

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// cronDetail describes a record about a CronJob in one line; ok is false for other records.
func (n *Names) cronDetail(r *events.Record) (text string, ok bool) {
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		return n.cronJobText(f), true
	case *events.CronJobGone:
		return gone("the CronJob's object", f.Missed), true
	case *events.ZoneRules:
		return fmt.Sprintf("the rules of the time zone %s: %s, %d bytes", f.Name, f.Hash, len(f.TZif)), true
	case *events.RunSeen:
		return runText(f), true
	case *events.RunGone:
		switch {
		case f.Left:
			return "a Job is the CronJob's no longer", true
		case f.Other:
			return gone("another's Job that had the name of one of the CronJob's", f.Missed), true
		}
		return gone("a Job's object", f.Missed), true
	}
	return "", false
}

func (n *Names) cronJobText(f *events.CronJobSeen) string {
	parts := []string{fmt.Sprintf("schedule %q", f.Schedule)}
	if f.TimeZone != nil {
		parts[0] += " in " + *f.TimeZone
	}
	if f.Policy != "" {
		parts = append(parts, f.Policy)
	}
	if f.Suspend {
		parts = append(parts, "suspended")
	}
	if f.Deadline != nil {
		parts = append(parts, fmt.Sprintf("to be started within %d s", *f.Deadline))
	}
	if f.Deleted != 0 {
		parts = append(parts, "being deleted")
	}
	parts = append(parts, fmt.Sprintf("active=%d", len(f.Active)))
	if f.LastSchedule != 0 {
		parts = append(parts, "last due "+n.Zone.due(f.LastSchedule))
	}
	if t := f.Trigger; t != nil {
		parts = append(parts, "a run is asked for by "+t.By)
	}
	return strings.Join(parts, ", ")
}

// due returns a due time with its date. Seconds appear only if they are not 0.
func (z Zone) due(t events.Time) string {
	if t.Second() != t || t.Go().Second() != 0 {
		return z.bare(t, "2006-01-02 15:04:05")
	}
	return z.bare(t, "2006-01-02 15:04")
}

func runText(f *events.RunSeen) string {
	text := "Job " + f.Name
	switch {
	case f.Result != events.ResultNone:
		text += " is " + f.Result.String()
	case f.Deleted != 0:
		text += " is being deleted"
	default:
		text += " has not ended"
	}
	if f.Manual {
		text += ", made by hand"
		if f.By != "" {
			text += " with " + f.By
		}
	}
	return text
}

// cronStep says how a step of a decision changes what is stored about the due times of a CronJob. The step's commands
// are described elsewhere.
func (n *Names) cronStep(c *events.CronStep) string {
	if c == nil {
		return ""
	}
	var parts []string
	for i := range c.Ticks {
		parts = append(parts, n.TickText(&c.Ticks[i]))
	}
	if l := c.Ledger; l != nil && l.Open != 0 {
		parts = append(parts, fmt.Sprintf("%s is due, %s", n.Zone.due(l.Open), HoldText(l.Hold)))
	}
	for _, notice := range c.Notices {
		parts = append(parts, notice.Reason)
	}
	switch k := len(c.Left); k {
	case 0:
	case 1:
		parts = append(parts, "a Job is active no longer")
	default:
		parts = append(parts, fmt.Sprintf("%d Jobs are active no longer", k))
	}
	if len(parts) == 0 {
		return "the ledger goes on"
	}
	return strings.Join(parts, ", ")
}

// TickText says what became of a due time (an instant of the schedule), or of a range of due times, with the times.
func (n *Names) TickText(t *events.Tick) string {
	text := n.Zone.due(t.First)
	if t.Last != t.First {
		text += " to " + n.Zone.due(t.Last)
	}
	switch {
	case t.Fate == events.TickMerged && t.Into != 0:
		text += " merged into " + n.Zone.due(t.Into)
	case t.Fate == events.TickSkipped && t.Into != 0:
		text += " not started, " + n.Zone.due(t.Into) + " was"
	case t.Into != 0:
		text += " " + FateText(t.Fate) + ", that of " + n.Zone.due(t.Into)
	case t.Fate == events.TickUnknown:
		text += " unknown: not watched"
		if t.UnwatchedFrom != 0 {
			text += " from " + n.Zone.Second(t.UnwatchedFrom)
		}
		if t.UnwatchedUntil != 0 {
			text += " to " + n.Zone.Second(t.UnwatchedUntil)
		}
	default:
		text += " " + TickSays(t)
	}
	switch {
	case t.Name == "":
	case t.Fate == events.TickRefused:
		text += ", as " + t.Name + " is that of another due time"
	default:
		text += " as " + t.Name
	}
	return text
}

// TickSays says what became of a due time (an instant of a CronJob's schedule), and whether another controller started
// it.
func TickSays(t *events.Tick) string {
	text := FateText(t.Fate)
	if t.Observed && (t.Fate == events.TickStarted || t.Fate == events.TickAgain) {
		text += " by another controller"
	}
	return text
}

// Undecided is the text for a due time that our controller must start, and about which no record says anything yet.
const Undecided = "nothing was decided about it yet"

// WaitText says why a due time is not started so far, if another controller must start it.
func WaitText(h events.TickHold) string {
	if h == events.NotHeld {
		return "another controller has not started it so far"
	}
	return HoldText(h)
}

// FateText says what became of a due time (an instant of a CronJob's schedule): started, too late, refused, and so on.
func FateText(f events.TickFate) string {
	switch f {
	case events.TickStarted:
		return "started"
	case events.TickMerged:
		return "merged into a later one"
	case events.TickTooLate:
		return "too late"
	case events.TickRefused:
		return "refused"
	case events.TickLost:
		return "lost by the estimate"
	case events.TickUnwatched:
		return "missed while no controller watched"
	case events.TickDeleted:
		return "dropped with its CronJob"
	case events.TickReplaced:
		return "dropped with its schedule"
	case events.TickAgain:
		return "started again"
	case events.TickManual:
		return "made by hand"
	case events.TickTriggered:
		return "triggered"
	case events.TickSkipped:
		return "not started"
	case events.TickUnknown:
		return "unknown: it was not watched"
	}
	return "unknown"
}

// HoldText says why a due time, which our controller must start, does not start now.
func HoldText(h events.TickHold) string {
	switch h {
	case events.NotHeld:
		return "about to start"
	case events.HeldForbid:
		return "held back: a Job of before runs"
	case events.HeldSuspended:
		return "held back: suspended"
	case events.HeldBadZone:
		return "held back: the time zone is unknown"
	case events.HeldNoCreate:
		return "held back: the Job was refused, and is tried again"
	}
	return "unknown"
}
