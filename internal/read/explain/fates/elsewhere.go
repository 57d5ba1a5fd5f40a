package fates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
)

// becameElsewhere says what another controller did about the due times from first to last of entry e, and why, as far
// as records show.
func (f *Fates) becameElsewhere(e *duetimes.Entry, first, last events.Time) (text string, from []explain.Mark) {
	told := explain.Marks(explain.Mark{Record: e.Record, At: e.At})
	switch e.Fate {
	case events.TickStarted, events.TickAgain:
		return f.startedElsewhere(e, told)
	case events.TickUnknown:
		return f.notWatched(e, told)
	case events.TickReplaced:
		text = "dropped: the schedule was changed before it was started"
		if ch := f.droppedBy(e); ch != nil {
			text, told = text+" ("+ChangeText(ch)+")", append(told, ChangeMarks(ch)...)
		}
	case events.TickDeleted:
		text = "dropped: the CronJob was deleted before it was started"
	case 0:
		text = "another controller has not started it so far"
	default:
		text = "not started by the controller that runs it"
	}
	why, from := f.whySkipped(e, first)
	if other, more := f.whySkipped(e, last); other != why {
		why, from = why+", for the first of them; for the last: "+other, append(from, more...)
	}
	text += ": " + why
	if e.Into != 0 {
		text += "; " + f.InZone(e.Into) + " was started"
	}
	return text, append(from, told...)
}

// startedElsewhere says how another controller started the Job for a due time, and what delayed it.
func (f *Fates) startedElsewhere(e *duetimes.Entry, from []explain.Mark) (string, []explain.Mark) {
	text := f.started(e)
	if e.Seen == 0 {
		text += ": status.lastScheduleTime says so, and its Job was not seen"
	}
	if why, more := f.HeldBefore(e); why != "" {
		text, from = text+": "+why, append(more, from...)
	}
	return text, from
}

// notWatched says that the outcome of a due time is unknown, because nobody watched the cluster then.
func (f *Fates) notWatched(e *duetimes.Entry, from []explain.Mark) (string, []explain.Mark) {
	text := "unknown: it was not watched"
	if e.UnwatchedFrom != 0 {
		text += " from " + f.Seen(e.UnwatchedFrom)
	}
	switch {
	case e.UnwatchedUntil != 0:
		text += " to " + f.Seen(e.UnwatchedUntil)
	case e.UnwatchedFrom != 0:
		text += " on"
	}
	if g := f.GapAt(e.First); g != nil {
		if from = append(from, explain.RecordMark(events.Sequence(g.Listing))); g.From != 0 {
			text += ", " + explain.GapWhy(g)
		}
	}
	return text + "; it may have been started, and its Job deleted", from
}

// unknownWhy is the text if no record explains why a due time did not start.
const unknownWhy = "why is not known"

// whySkipped says why another controller did not start the due time due of entry e. It assumes the rules of the
// built-in controller. If the records do not explain it, the text begins with unknownWhy.
func (f *Fates) whySkipped(e *duetimes.Entry, due events.Time) (why string, from []explain.Mark) {
	until, late := f.Due.Until(e, due), ""
	if e.Record == 0 && due == e.Last {
		until = f.Due.Now()
	}
	if d := f.deadlineAt(due); d != nil {
		if end := due.Add(explain.Seconds(*d)); end < until {
			until, late = end, fmt.Sprintf("; by %s startingDeadlineSeconds %d was over", f.Seen(end), *d)
		}
	}
	until = f.droppedAt(e, due, until)
	if d := f.Due.Seen; d != nil && d.Deleted != 0 && due >= d.Deleted {
		return "the CronJob was being deleted since " + f.Seen(d.Deleted), explain.Marks(f.Deleting)
	}
	all, whole := f.Due.Kept(due, until)
	switch {
	case whole:
		why, from = f.KeptText(all)
		return why + late, from
	case due == e.Last && f.Due.Lost(e, due):
		return "lost: of a schedule whose due times are not evenly apart, the estimate of the built-in controller may find none of those that have passed", nil
	case late != "":
		return unknownWhy + late, nil
	}
	return unknownWhy + ": in the records nothing kept it from starting", nil
}

// droppedAt returns the time until which a due time could start. This is until, or earlier if the CronJob was deleted
// or its schedule changed before.
func (f *Fates) droppedAt(e *duetimes.Entry, due, until events.Time) events.Time {
	ends := []events.Time{f.Due.Gone}
	if f.Due.Seen != nil {
		ends = append(ends, f.Due.Seen.Deleted)
	}
	if e.Fate == events.TickReplaced {
		if ch := f.droppedBy(e); ch != nil {
			ends = append(ends, ch.At)
		}
	}
	for _, end := range ends {
		if end > due {
			until = min(until, end)
		}
	}
	return until
}

// KeptText describes what kept a CronJob from starting Jobs: suspensions, and running Jobs under policy Forbid.
func (f *Fates) KeptText(all []duetimes.Kept) (why string, from []explain.Mark) {
	var parts, jobs, listed []string
	for i := range all {
		k := &all[i]
		from = append(from, explain.Mark{Record: k.First.Record, At: k.First.At})
		if k.Until != 0 {
			from = append(from, explain.Mark{Record: k.Last.Record, At: k.Last.At})
		}
		if k.By == events.HeldForbid {
			to := &jobs
			if k.Unseen {
				to = &listed
			}
			if !slices.Contains(*to, k.Job) {
				*to = append(*to, k.Job)
			}
			continue
		}
		before := map[bool]string{true: "before "}[k.Before]
		parts = append(parts, "the CronJob was suspended from "+before+f.Seen(k.From)+f.by(k.First.Record)+until(f, k))
	}
	if len(jobs) > 0 {
		parts = append(parts, f.HoldText(events.HeldForbid, jobs))
	}
	if len(listed) > 0 {
		parts = append(parts, fmt.Sprintf("status.active had %s, whose end no record tells, and the policy is Forbid",
			strings.Join(listed[:min(len(listed), 3)], ", ")))
	}
	return strings.Join(parts, "; "), from
}

// by returns, in brackets, the field manager of the edit that record `changed` shows. It is empty if unknown.
func (f *Fates) by(changed events.Sequence) string {
	for i := range f.Due.Changes {
		if ch := &f.Due.Changes[i]; ch.Record == changed {
			return explain.ByManager(ch.By)
		}
	}
	return ""
}

func until(f *Fates, k *duetimes.Kept) string {
	if k.Until == 0 {
		return " on"
	}
	return " to " + f.Seen(k.Until)
}
