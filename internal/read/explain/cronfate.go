package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// fate says what became of a due time, or of a range of them, and why.
func (f *fates) fate(e *duetimes.Entry) Sentence {
	text, from := f.inWhole(func() (string, []Mark) { return f.became(e) })
	return say(from, "%s: %s", f.whichDue(e), text)
}

// inWhole calls says twice, with quoted messages cut and whole.
func (f *fates) inWhole(says func() (string, []Mark)) (p passage, from []Mark) {
	f.whole = true
	p.whole, _ = says()
	f.whole = false
	p.cut, from = says()
	return p, from
}

// whichDue names a due time, or a range of them.
func (f *fates) whichDue(e *duetimes.Entry) string {
	if e.First == e.Last {
		return f.at(e.First)
	}
	text := "due times"
	if n, ok := f.due.Count(e); ok {
		text = words.Count(n, "due time")
	}
	return fmt.Sprintf("%s from %s to %s", text, f.short(e.First), f.at(e.Last))
}

// became says what became of a due time and why, with the records that show it.
func (f *fates) became(e *duetimes.Entry) (text string, from []Mark) {
	told := Mark{Record: e.Record, At: e.At}
	if e.Observed {
		return f.becameElsewhere(e, e.First, e.Last)
	}
	why, marks := f.cause(e)
	switch e.Fate {
	case 0:
		return f.undecided(e)
	case events.TickStarted, events.TickAgain:
		return f.started(e), []Mark{told}
	case events.TickManual, events.TickTriggered:
		return f.started(e), []Mark{told}
	case events.TickMerged:
		text = "merged into " + f.in(e.Into)
	case events.TickTooLate:
		text = "too late"
		if d := f.deadlineAt(max(e.First, e.At)); d != nil { // the deadline when the fate was found
			text += fmt.Sprintf(": startingDeadlineSeconds is %d", *d)
		}
	case events.TickRefused:
		text = "it never started"
		switch {
		case e.Name != "":
			why = strings.TrimPrefix(why+"; ", "; ") + e.Name + " has the name of its Job, and was made for another due time of that minute"
		case why == "":
			why = "another object has the name of its Job"
		}
	case events.TickLost:
		text = "lost: of a schedule whose due times are not evenly apart, the estimate that the built-in controller makes, too, may find none of those that have passed"
	case events.TickUnwatched:
		text = "no controller watched"
	case events.TickReplaced:
		text = "dropped: the schedule was changed while it was open"
	case events.TickDeleted:
		if text = "dropped: the CronJob was deleted"; why != "" {
			text += " before it was started"
		}
	default:
		text = words.FateText(e.Fate)
	}
	if why != "" {
		text += ": " + why
	}
	return text, append(marks, told)
}

// undecided says what is known about due times that we should start and that have no record.
func (f *fates) undecided(e *duetimes.Entry) (text string, from []Mark) {
	if is, by := f.suspendedAt(e.Last); is {
		if by == nil {
			return "not started: the CronJob is suspended, as far back as the records go", nil
		}
		return fmt.Sprintf("not started: the CronJob was suspended at %s%s", f.seen(by.At), byManager(by.By)), []Mark{{by.Record, by.At}}
	}
	if l := f.due.Ledger; l != nil && l.Open == e.Last && f.asked.Does != "" {
		return fmt.Sprintf("not started so far: %s: asked for at %s, and not answered", f.asked.Does, f.seen(events.Time(f.asked.Since))), f.askedBy
	}
	return words.Undecided, nil
}

// started says which Job started, how late, and who requested it.
func (f *fates) started(e *duetimes.Entry) string {
	text := "started"
	if e.Observed {
		text = "started by another controller"
	}
	switch e.Fate {
	case events.TickAgain:
		text += ", though it had its fate before"
	case events.TickManual:
		text = "made by hand"
		if e.By != "" {
			text += " by " + e.By
		}
	case events.TickTriggered:
		text = "triggered by " + words.Asker(e.By)
	}
	if e.Name != "" {
		text += ", as " + e.Name
	}
	if e.Late != 0 {
		text += ", " + words.Span(e.Late) + " late"
	}
	if e.Seen != 0 {
		text += ", seen " + words.Span(e.Seen) + " after it was due"
	}
	return text
}

// cause says what kept a due time from starting, with the records that show it; empty if the fate says everything.
func (f *fates) cause(e *duetimes.Entry) (why string, from []Mark) {
	switch e.Fate {
	case events.TickUnwatched:
		switch g := f.gapAt(e.First); {
		case g != nil && g.From == 0:
			return "none had before " + f.seen(events.Time(g.Until)), gapMarks(g)
		case g != nil:
			return "from " + f.seen(events.Time(g.From)) + " to " + f.seen(events.Time(g.Until)) + ", " + gapWhy(g), gapMarks(g)
		}
		return "", nil
	case events.TickReplaced:
		held, marks := f.heldBy(e)
		if ch := f.droppedBy(e); ch != nil {
			return strings.TrimSuffix(changeText(ch)+"; "+held, "; "), append(changeMarks(ch), marks...)
		}
		return held, marks
	case events.TickMerged, events.TickTooLate, events.TickRefused, events.TickDeleted:
		return f.heldBy(e)
	default:
		return "", nil
	}
}

// droppedBy returns the change of the schedule that dropped an open due time; nil if unknown.
func (f *fates) droppedBy(e *duetimes.Entry) *duetimes.Change {
	for i := range f.due.Changes {
		if ch := &f.due.Changes[i]; (ch.Record <= e.Record || e.Record == 0) && ch.At >= e.Last && ch.Reschedules() {
			return ch
		}
	}
	return nil
}

// heldBy says what held a due time back while it was open.
func (f *fates) heldBy(e *duetimes.Entry) (why string, from []Mark) {
	var parts []string
	add := func(text string, m ...Mark) {
		if slices.Contains(parts, text) {
			return
		}
		parts, from = append(parts, text), append(from, m...)
	}
	if e.By != "" && e.Fate == events.TickRefused {
		add("a Job of before had not ended, and the policy is Forbid")
	}
	for i := range f.due.Holds {
		h := &f.due.Holds[i]
		said := h.By == events.HeldNoCreate && slices.ContainsFunc(f.due.Refusals, func(x duetimes.Refusal) bool { return x.Due == h.Due })
		if h.Due == e.First && e.First == e.Last && !said {
			add(f.holdText(h.By, h.Active), Mark{h.Record, h.At})
		}
	}
	for i := range f.due.Refusals {
		x := &f.due.Refusals[i]
		if e.Name != "" && x.Class == events.RefusedNameTaken {
			continue // this refusal was for the Job of another due time; the hold above is the better explanation
		}
		if x.Due != 0 && e.First <= x.Due && x.Due <= e.Last {
			text := refusalText(x)
			if f.whole {
				text.cut = text.whole
			}
			add(text.cut, Mark{x.First, x.From}, Mark{x.Last, x.Until})
		}
	}
	if len(parts) == 0 {
		if is, by := f.suspendedAt(e.First); is {
			text, m := "the CronJob was suspended", []Mark(nil)
			if by != nil {
				text, m = fmt.Sprintf("the CronJob was suspended at %s%s", f.seen(by.At), byManager(by.By)), []Mark{{by.Record, by.At}}
			}
			add(text, m...)
		}
	}
	return strings.Join(parts, "; "), from
}

// holdText says what holds a due time back.
func (f *fates) holdText(by events.TickHold, active []string) string {
	switch by {
	case events.HeldForbid:
		if len(active) > 0 {
			return strings.Join(active[:min(len(active), 3)], ", ") + " had not ended, and the policy is Forbid"
		}
		return "a Job of before had not ended, and the policy is Forbid"
	case events.HeldSuspended:
		return "the CronJob was suspended"
	case events.HeldBadZone:
		return "its time zone is unknown"
	case events.HeldNoCreate:
		return "the API server refused its Job"
	case events.NotHeld:
	}
	return words.HoldText(by)
}

func refusalText(x *duetimes.Refusal) passage {
	class := x.Class.String()
	if x.Class == 0 {
		class = "no answer"
	}
	return phrase("the API server refused its Job (%s): %s", class, beginning(says(x.Says)))
}

// suspendedAt reports whether the CronJob was suspended at a time, and which change did that; nil if unknown.
func (f *fates) suspendedAt(t events.Time) (is bool, by *duetimes.Change) {
	seen := f.due.SeenAt(t)
	if seen == nil {
		return false, nil
	}
	for i := len(f.due.Changes) - 1; i >= 0; i-- {
		if ch := &f.due.Changes[i]; ch.At <= t && ch.Before.Suspend != ch.After.Suspend {
			if ch.After.Suspend == seen.Suspend {
				by = ch
			}
			break
		}
	}
	return seen.Suspend, by
}

// deadlineAt returns startingDeadlineSeconds at a time; nil if it was unset.
func (f *fates) deadlineAt(t events.Time) *int64 {
	if seen := f.due.SeenAt(t); seen != nil {
		return seen.Deadline
	}
	return nil
}

// gapAt returns the gap that contains a time; nil for none.
func (f *fates) gapAt(t events.Time) *history.Gap {
	for _, g := range f.gaps {
		if from, until := events.Time(g.From), events.Time(g.Until); from <= t && (until == 0 || t <= until.Add(time.Second)) {
			return g
		}
	}
	return nil
}

// gapWhy says why nobody watched.
func gapWhy(g *history.Gap) string {
	switch {
	case g.Reason == events.ListingGap.String():
		return "because the log had no room"
	case g.Reason == events.ListingRelisted.String():
		return "because the watch was lost"
	case g.Orderly:
		return "because the controller had been stopped"
	}
	return "because the controller was not running: it had not stopped in good order"
}

// changeText lists the fields that changed, and the field manager.
func changeText(ch *duetimes.Change) string {
	return strings.Join(words.CronChanges(ch.Before, ch.After), ", ") + byManager(ch.By)
}

// byManager returns " (field manager NAME)" of an edit; empty if unknown.
func byManager(e *events.Edit) string {
	if name := managerOf(e); name != "" {
		return " (" + name + ")"
	}
	return ""
}

func managerOf(e *events.Edit) string {
	if e == nil || e.Manager == "" {
		return ""
	}
	return "field manager " + e.Manager
}

// changeMarks returns the records of an edit: the version before it, if it is kept, and the version after it.
func changeMarks(ch *duetimes.Change) []Mark {
	is := Mark{ch.Record, ch.At}
	if ch.Was.Record == 0 {
		return []Mark{is}
	}
	return []Mark{{ch.Was.Record, ch.Was.At}, is}
}
