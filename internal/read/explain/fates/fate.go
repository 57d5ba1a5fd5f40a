package fates

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Fate returns a sentence that says what became of the due time of entry e, or of its range of due times, and why.
func (f *Fates) Fate(e *duetimes.Entry) explain.Sentence {
	text, from := f.InWhole(func() (string, []explain.Mark) { return f.Became(e) })
	return explain.Say(from, "%s: %s", f.whichDue(e), text)
}

// InWhole calls says twice: for the text with quoted messages cut, and for the text with whole messages. It returns
// both.
func (f *Fates) InWhole(says func() (string, []explain.Mark)) (p explain.Passage, from []explain.Mark) {
	f.whole = true
	p.Whole, _ = says()
	f.whole = false
	p.Cut, from = says()
	return p, from
}

// whichDue names the due time of entry e, or its range: "3 due times from 10:00 to 12:00".
func (f *Fates) whichDue(e *duetimes.Entry) string {
	if e.First == e.Last {
		return f.At(e.First)
	}
	text := "due times"
	if n, ok := f.Due.Count(e); ok {
		text = words.Count(n, "due time")
	}
	return fmt.Sprintf("%s from %s to %s", text, f.Short(e.First), f.At(e.Last))
}

// Became says what became of the due time of entry e, and why, and returns the records that prove it.
func (f *Fates) Became(e *duetimes.Entry) (text string, from []explain.Mark) {
	told := explain.Mark{Record: e.Record, At: e.At}
	if e.Observed {
		return f.becameElsewhere(e, e.First, e.Last)
	}
	why, marks := f.cause(e)
	switch e.Fate {
	case 0:
		return f.undecided(e)
	case events.TickStarted, events.TickAgain:
		return f.started(e), []explain.Mark{told}
	case events.TickManual, events.TickTriggered:
		return f.started(e), []explain.Mark{told}
	case events.TickMerged:
		text = "merged into " + f.InZone(e.Into)
	case events.TickTooLate:
		text = "too late"
		// Name the deadline that was in force when the controller decided.
		if d := f.deadlineAt(max(e.First, e.At)); d != nil {
			text += fmt.Sprintf(": startingDeadlineSeconds is %d", *d)
		}
	case events.TickRefused:
		text = "it never started"
		switch {
		case e.Name != "":
			why = strings.TrimPrefix(why+"; ", "; ") + e.Name +
				" has the name of its Job, and was made for another due time of that minute"
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

// undecided says what is known about due times for which our controller has not decided yet whether to start a Job.
func (f *Fates) undecided(e *duetimes.Entry) (text string, from []explain.Mark) {
	if is, by := f.SuspendedAt(e.Last); is {
		if by == nil {
			return "not started: the CronJob is suspended, as far back as the records go", nil
		}
		return fmt.Sprintf("not started: the CronJob was suspended at %s%s", f.Seen(by.At), explain.ByManager(by.By)),
			[]explain.Mark{{Record: by.Record, At: by.At}}
	}
	if l := f.Due.Ledger; l != nil && l.Open == e.Last && f.Asked.Does != "" {
		return fmt.Sprintf("not started so far: %s: asked for at %s, and not answered", f.Asked.Does,
			f.Seen(events.Time(f.Asked.Since))), f.AskedBy
	}
	return words.Undecided, nil
}

// started says which Job was created for a due time, how late, and who asked for it.
func (f *Fates) started(e *duetimes.Entry) string {
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

// cause says what kept a due time from starting, and returns the records that prove it. It is empty if the outcome
// alone says enough.
func (f *Fates) cause(e *duetimes.Entry) (why string, from []explain.Mark) {
	switch e.Fate {
	case events.TickUnwatched:
		switch g := f.GapAt(e.First); {
		case g != nil && g.From == 0:
			return "none had before " + f.Seen(events.Time(g.Until)), explain.GapMarks(g)
		case g != nil:
			return "from " + f.Seen(events.Time(g.From)) + " to " + f.Seen(events.Time(g.Until)) + ", " + explain.GapWhy(g),
				explain.GapMarks(g)
		}
		return "", nil
	case events.TickReplaced:
		held, marks := f.heldBy(e)
		if ch := f.droppedBy(e); ch != nil {
			return strings.TrimSuffix(ChangeText(ch)+"; "+held, "; "), append(ChangeMarks(ch), marks...)
		}
		return held, marks
	case events.TickMerged, events.TickTooLate, events.TickRefused, events.TickDeleted:
		return f.heldBy(e)
	default:
		return "", nil
	}
}

// droppedBy returns the change of the schedule after which a waiting due time did not count any more; nil if unknown.
func (f *Fates) droppedBy(e *duetimes.Entry) *duetimes.Change {
	for i := range f.Due.Changes {
		if ch := &f.Due.Changes[i]; (ch.Record <= e.Record || e.Record == 0) && ch.At >= e.Last && ch.Reschedules() {
			return ch
		}
	}
	return nil
}

// heldBy says what held a due time back before it was started or skipped.
func (f *Fates) heldBy(e *duetimes.Entry) (why string, from []explain.Mark) {
	var parts []string
	add := func(text string, m ...explain.Mark) {
		if slices.Contains(parts, text) {
			return
		}
		parts, from = append(parts, text), append(from, m...)
	}
	if e.By != "" && e.Fate == events.TickRefused {
		add("a Job of before had not ended, and the policy is Forbid")
	}
	for i := range f.Due.Holds {
		h := &f.Due.Holds[i]
		said := h.By == events.HeldNoCreate && slices.ContainsFunc(f.Due.Refusals,
			func(x duetimes.Refusal) bool { return x.Due == h.Due })
		if h.Due == e.First && e.First == e.Last && !said {
			add(f.HoldText(h.By, h.Active), explain.Mark{Record: h.Record, At: h.At})
		}
	}
	for i := range f.Due.Refusals {
		x := &f.Due.Refusals[i]
		if e.Name != "" && x.Class == events.RefusedNameTaken {
			// If a Job was created for this due time, a refusal because its name was taken is of another due time. The
			// reasons above explain this one better.
			continue
		}
		if x.Due != 0 && e.First <= x.Due && x.Due <= e.Last {
			text := RefusalText(x)
			if f.whole {
				text.Cut = text.Whole
			}
			add(text.Cut, explain.Mark{Record: x.First, At: x.From}, explain.Mark{Record: x.Last, At: x.Until})
		}
	}
	if len(parts) == 0 {
		if is, by := f.SuspendedAt(e.First); is {
			text, m := "the CronJob was suspended", []explain.Mark(nil)
			if by != nil {
				text, m = fmt.Sprintf("the CronJob was suspended at %s%s", f.Seen(by.At), explain.ByManager(by.By)),
					[]explain.Mark{{Record: by.Record, At: by.At}}
			}
			add(text, m...)
		}
	}
	return strings.Join(parts, "; "), from
}

// HoldText says what holds a due time back: reason by. active names the running Jobs.
func (f *Fates) HoldText(by events.TickHold, active []string) string {
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

// RefusalText says that the API server refused to create a Job, and quotes its message.
func RefusalText(x *duetimes.Refusal) explain.Passage {
	class := x.Class.String()
	if x.Class == 0 {
		class = "no answer"
	}
	return explain.Phrase("the API server refused its Job (%s): %s", class, explain.Beginning(explain.Says(x.Says)))
}

// SuspendedAt reports whether the CronJob was suspended at a time, and by which change; by is nil if that is unknown.
func (f *Fates) SuspendedAt(t events.Time) (is bool, by *duetimes.Change) {
	seen := f.Due.SeenAt(t)
	if seen == nil {
		return false, nil
	}
	for i := len(f.Due.Changes) - 1; i >= 0; i-- {
		if ch := &f.Due.Changes[i]; ch.At <= t && ch.Before.Suspend != ch.After.Suspend {
			if ch.After.Suspend == seen.Suspend {
				by = ch
			}
			break
		}
	}
	return seen.Suspend, by
}

// deadlineAt returns startingDeadlineSeconds at time t; nil if it was not set then.
func (f *Fates) deadlineAt(t events.Time) *int64 {
	if seen := f.Due.SeenAt(t); seen != nil {
		return seen.Deadline
	}
	return nil
}

// GapAt returns the gap (a time in which nobody watched the cluster) that contains time t; nil if there is none.
func (f *Fates) GapAt(t events.Time) *history.Gap {
	for _, g := range f.Gaps {
		if from, until := events.Time(g.From), events.Time(g.Until); from <= t && (until == 0 ||
			t <= until.Add(time.Second)) {
			return g
		}
	}
	return nil
}

// ChangeText lists the fields that an edit of a CronJob changed, and the field manager that made the edit.
func ChangeText(ch *duetimes.Change) string {
	return strings.Join(words.CronChanges(ch.Before, ch.After), ", ") + explain.ByManager(ch.By)
}

// ChangeMarks returns the records that prove an edit: of the version before it (if the log has it), and of the version
// after it.
func ChangeMarks(ch *duetimes.Change) []explain.Mark {
	is := explain.Mark{Record: ch.Record, At: ch.At}
	if ch.Was.Record == 0 {
		return []explain.Mark{is}
	}
	return []explain.Mark{{Record: ch.Was.Record, At: ch.Was.At}, is}
}
