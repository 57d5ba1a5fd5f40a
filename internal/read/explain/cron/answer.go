package cron

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Heads (titles) of the sections that only the answer about a CronJob has.
const (
	headRuns   = "RUNS"
	headMissed = "MISSED"
	headByHand = "BY HAND"
	headNext   = "NEXT"
)

// Answer explains the CronJob: it returns a verdict, and the sections that have sentences.
func (c *Case) Answer() explain.Answer {
	j := &c.State
	a := explain.Answer{
		Kind: "cronjob", Namespace: j.Namespace, Name: j.Name, UID: j.UID, AsOf: j.AsOf, Clock: j.Clock,
		LastRecord: j.LastRecord, State: string(j.State), Schedule: c.schedule(),
		Created: j.Created, InPart: j.InPart(), Truncated: j.First == 0, Damaged: uint64(c.Damage),
		Sections: []explain.Section{},
	}
	for _, g := range c.touching() {
		a.Gaps = append(a.Gaps, *g)
	}
	a.PassedOver, a.Unrecorded, a.Begun = c.passedOver(), c.Unrecorded.Versions, c.begunBefore()
	a.Verdict = c.Verdict()
	if c.Gone.Record != 0 {
		s := explain.Say(explain.Marks(c.Deleting, c.Gone), "deleted, seen at %s", c.Seen(c.Gone.At))
		a.Deleted = &s
	}
	a.Add(explain.HeadWhy, c.why()...)
	a.Add(explain.HeadWaits, c.waitsFor()...)
	a.Add(headNext, c.next()...)
	a.Add(explain.HeadEdits, c.edited()...)
	a.Add(explain.HeadRefused, c.refused()...)
	a.Add(headMissed, c.missedText()...)
	a.Add(headRuns, c.runsText()...)
	a.Add(headByHand, c.byHand()...)
	a.Add(explain.HeadRuledOut, c.ruledOut()...)
	a.Add(explain.HeadHistory, c.history()...)
	if c.Gone.Record != 0 { // an answer about a deleted CronJob is about its past: what went wrong comes first
		a.PutFirst(explain.HeadEdits, explain.HeadRefused, headMissed)
	}
	return a
}

// schedule returns the schedule of the CronJob with its zone, policy and deadline: "0 3 * * *" in Europe/Berlin,
// Forbid.
func (c *Case) schedule() string {
	s := &c.State.Spec
	text := fmt.Sprintf("%q", s.Schedule)
	if s.TimeZone != nil {
		text += " in " + *s.TimeZone
	}
	if s.Policy != "" {
		text += ", " + s.Policy
	}
	if s.Deadline != nil {
		text += fmt.Sprintf(", to be started within %d s", *s.Deadline)
	}
	if !c.State.Managed && c.State.State != history.CronUnseen {
		text += ", run by another controller"
	}
	return text
}

// open returns the open due time: the one without an outcome, neither started nor skipped. It returns 0 if there is
// none.
func (c *Case) open() events.Time {
	if c.State.Due == nil {
		return 0
	}
	return events.Time(c.State.Due.At)
}

// why says what holds back the open due time (the one that has neither started nor been skipped), and since when.
func (c *Case) why() []explain.Sentence {
	open := c.State.Due
	if open == nil || open.Hold == "" || c.State.State != history.CronHeld {
		return nil
	}
	at := c.open()
	var out []explain.Sentence
	if !c.State.Managed {
		return explain.Fewer(append(c.keptBack(at), c.blockerTexts(open)...), 4)
	}
	text, sep := "due "+c.At(at)+", and held back ", ""
	var from []explain.Mark
	for _, h := range c.holds(at, open) {
		text += fmt.Sprintf("%sfrom %s on: %s", sep, c.Seen(h.from.At), strings.TrimPrefix(h.says, "held back: "))
		from, sep = append(from, h.from), "; "
	}
	out = append(out, explain.Say(from, "%s", text))
	if x := c.refusal(at); x != nil && open.Hold == events.HeldNoCreate.String() {
		out = append(out, explain.Say([]explain.Mark{{Record: x.First, At: x.From}, {Record: x.Last, At: x.Until}},
			"%s (from %s to %s)", fates.RefusalText(x), c.Seen(x.From), c.Seen(x.Until)))
	}
	return explain.Fewer(append(out, c.blockerTexts(open)...), 4)
}

// hold is a reason for which a due time was held back, such as "Forbid", and the record since which it applied.
type hold struct {
	says string
	from explain.Mark
}

// holds returns the reasons for which the open due time, at, was held back, in order of time. The records that were
// read may begin after the last reason did; its beginning is then taken from open, which the CronJob's state has.
func (c *Case) holds(at events.Time, open *history.OpenDue) (all []hold) {
	for i := range c.Due.Holds {
		if h := &c.Due.Holds[i]; h.Due == at {
			all = append(all, hold{words.HoldText(h.By), explain.Mark{Record: h.Record, At: h.At}})
		}
	}
	begun := hold{open.Says, explain.Mark{Record: events.Sequence(open.Record), At: events.Time(open.Since)}}
	switch n := len(all) - 1; {
	case open.Record == 0:
	case n < 0:
		all = append(all, begun)
	case all[n].says == begun.says && all[n].from.Record > begun.from.Record:
		all[n] = begun
	}
	return all
}

// blockerTexts describes the running Jobs that keep the open due time from starting (concurrencyPolicy Forbid).
func (c *Case) blockerTexts(open *history.OpenDue) (out []explain.Sentence) {
	if open.Hold == events.HeldForbid.String() {
		for _, r := range c.running() {
			out = append(out, c.blocker(r))
		}
	}
	return out
}

// blocker describes a running Job, r, that keeps the next one from starting, and says when its activeDeadlineSeconds
// ends it, if ever.
func (c *Case) blocker(r *croncase.Run) explain.Sentence {
	text, from := fmt.Sprintf("%s, %s, has not ended", r.Name, c.madeFor(r)), []explain.Mark{r.First}
	job := c.caseOf(r)
	if job == nil {
		return explain.Say(from, "%s", text)
	}
	line := verdicts.Line(job)
	ends := ""
	switch start := events.Time(job.Job.Started); {
	case job.Spec == nil:
	case job.Spec.ActiveDeadlineSeconds == nil:
		ends = ". Nothing in its spec ends it: activeDeadlineSeconds is not set"
	case start != 0:
		ends = fmt.Sprintf(". Its activeDeadlineSeconds ends it at %s",
			c.Seen(start.Add(explain.Seconds(*job.Spec.ActiveDeadlineSeconds))))
	}
	return explain.Say(append(from, line.Marks()...), "%s, %s: %s%s", r.Name, c.madeFor(r), line.Passage(), ends)
}

// caseOf returns what the records say about one Job of the CronJob, as of the same point. It returns nil if the log has
// no records of the Job, or if another controller runs the Job and nobody observes it.
func (c *Case) caseOf(r *croncase.Run) *jobcase.Case {
	job, err := ending.Read(c.Ctx, c.Src, events.JobStream(r.Job), c.point())
	c.Miss(c.Src, err)
	if job == nil || job.Job.State == history.StateUnmanaged || job.Job.State == history.StateUnseen {
		return nil
	}
	job.In(c.Zone)
	job.Misses = c.Misses // if a read for this Job fails, the answer about the CronJob says so, too
	return job
}

// point returns the point in the log for which the answer is.
func (c *Case) point() history.Point {
	return history.Point{Sequence: events.Sequence(c.State.AsOf.Sequence), Time: c.Now()}
}

// madeFor says why a Job was created: for which due time, or by which user.
func (c *Case) madeFor(r *croncase.Run) string {
	e := c.entryOf(r)
	switch {
	case e != nil && fates.IsDue(e):
		return "due " + c.InZone(e.First)
	case e != nil && e.Fate == events.TickTriggered:
		return "triggered by " + words.Asker(e.By)
	case e != nil:
		return "made by hand by " + cmp.Or(e.By, explain.UnknownManager)
	case r.MadeFor == 0:
		return "made at " + c.Seen(r.Created)
	}
	return "due " + c.InZone(r.MadeFor)
}

// entryOf returns the due time, with its outcome, for which a Job was created; nil if unknown.
func (c *Case) entryOf(r *croncase.Run) *duetimes.Entry {
	for i := len(c.Due.Entries) - 1; i >= 0; i-- {
		if c.Due.Entries[i].Job == r.Job {
			return &c.Due.Entries[i]
		}
	}
	return nil
}

// waitsFor says what lets the open due time (the one without an outcome) start, and from when it may not start any
// more.
func (c *Case) waitsFor() []explain.Sentence {
	var out []explain.Sentence
	if c.State.State == history.CronSuspended {
		out = append(out, explain.Say(c.specMarks(),
			"spec.suspend to be false: of the due times that have passed by then at most the newest starts"))
		return out
	}
	open := c.State.Due
	if open == nil || open.Hold == "" {
		if missed, _ := c.missed(); missed > 0 && c.heldByStranger() {
			out = append(out, c.strangerToGo())
		}
		return out
	}
	if late := c.tooLate(); late != 0 {
		text := fmt.Sprintf("the next due time: by %s startingDeadlineSeconds %d was over, and this one starts no more",
			c.Seen(late), *c.State.Spec.Deadline)
		return append(out, explain.Say(c.specMarks(), "%s", text))
	}
	switch open.Hold {
	case events.HeldForbid.String():
		if c.heldByStranger() {
			out = append(out, c.strangerToGo())
		} else {
			out = append(out, explain.Say(nil, "the end of that Job: then this due time starts at once"))
		}
	case events.HeldNoCreate.String():
		if len(c.State.Waits) > 0 {
			out = append(out, c.backoff(&c.State.Waits[0]))
		}
	}
	if next := events.Time(c.State.Next); next != 0 && c.unlooked() == "" {
		out = append(out, explain.Say(nil, "not longer than to %s: then it merges into that one", c.At(next)))
	}
	if d := c.State.Spec.Deadline; d != nil {
		if late := c.open().Add(explain.Seconds(*d)); late > c.Now() {
			out = append(out, explain.Say(nil, "not longer than to %s: then startingDeadlineSeconds %d is over, and it is too late", c.Seen(late), *d))
		}
	}
	return out
}

// backoff says when the Job is tried again (wait w), and which failure and which delay this follows from.
func (c *Case) backoff(w *history.Wait) explain.Sentence {
	text, until := fmt.Sprintf("%s, at %s", w.For, c.Seen(events.Time(w.Until))), events.Time(w.Until)
	if w.Record == 0 {
		return explain.Say(nil, "%s", text)
	}
	since := explain.Mark{Record: events.Sequence(w.Record), At: events.Time(w.Since)}
	return explain.Say([]explain.Mark{since}, "%s, a backoff of %s after %s", text, words.Span(until.Sub(since.At)),
		c.Seen(since.At))
}

// strangerToGo returns a sentence for a CronJob whose next start is blocked by a Job in status.active that it no longer
// owns: the block ends when that Job is deleted, or taken out of status.active.
func (c *Case) strangerToGo() explain.Sentence {
	n, r := c.stranger()
	return explain.Say(explain.Marks(r.First, r.Gone),
		"%s to be deleted, or taken out of status.active: its end does not count, as it is not the CronJob's own", n.Name)
}

// next returns a sentence with the next due time; none if there is no next one, or while a due time is held back.
func (c *Case) next() []explain.Sentence {
	if c.State.Next == 0 || c.State.State == history.CronHeld {
		return nil
	}
	return []explain.Sentence{explain.Say(nil, "due %s", c.At(events.Time(c.State.Next)))}
}

// edited lists the edits of the spec, with the field manager of each, the newest first.
func (c *Case) edited() []explain.Sentence {
	var out []explain.Sentence
	for i := len(c.Due.Changes) - 1; i >= 0; i-- {
		ch := &c.Due.Changes[i]
		out = append(out, explain.Say(fates.ChangeMarks(ch), "%s %s", c.Seen(ch.At), c.EditText(ch)))
	}
	return explain.Fewer(out, 3)
}

// refused lists the Jobs that the API server refused at first and that started later. Due times that never started are
// in the section MISSED.
func (c *Case) refused() []explain.Sentence {
	var out []explain.Sentence
	for i := len(c.Due.Refusals) - 1; i >= 0; i-- {
		x := &c.Due.Refusals[i]
		never := slices.ContainsFunc(c.Due.Entries, func(e duetimes.Entry) bool {
			return e.Job == "" && e.First <= x.Due &&
				x.Due <= e.Last
		})
		if x.Due != 0 && (x.Due == c.open() || never) {
			continue
		}
		out = append(out, explain.Say([]explain.Mark{{Record: x.First, At: x.From}, {Record: x.Last, At: x.Until}},
			"%s from %s to %s: %s", x.Job, c.Seen(x.From), c.Seen(x.Until), fates.RefusalText(x)))
	}
	return explain.Fewer(out, 2)
}

// ruledOut says what did not keep due times from starting. It says nothing if records are missing.
func (c *Case) ruledOut() []explain.Sentence {
	switch c.State.State {
	case history.CronHeld, history.CronOverdue, history.CronRunning, history.CronWaiting:
	case history.CronUnseen, history.CronInvalid, history.CronSuspended, history.CronDeleting, history.CronDeleted:
		return nil
	}
	if c.Unrecorded.Versions > 0 || len(c.passedOver()) > 0 {
		return nil // records are missing, so nothing can be ruled out
	}
	if missed, _ := c.missed(); missed == 0 && c.State.State != history.CronHeld {
		return nil
	}
	var out []string
	add := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	// ever reports whether the function `is` returns true for any version of the spec, also for the one before the
	// first edit that the answer covers.
	ever := func(is func(*events.CronJobSeen) bool) bool {
		return slices.ContainsFunc(c.Due.Changes, func(ch duetimes.Change) bool { return is(ch.Before) || is(ch.After) })
	}
	suspended, _ := c.SuspendedAt(c.Now())
	suspends := func(f *events.CronJobSeen) bool { return f.Suspend }
	add(!suspended && !c.wasHeldBy(events.HeldSuspended) && !ever(suspends), "suspension")
	tooLate := slices.ContainsFunc(c.Due.Entries, func(e duetimes.Entry) bool { return e.Fate == events.TickTooLate })
	deadline := c.State.Spec.Deadline != nil || ever(func(f *events.CronJobSeen) bool { return f.Deadline != nil })
	add(!tooLate && !deadline, "a starting deadline")
	add(len(c.Due.Refusals) == 0 && !c.wasHeldBy(events.HeldNoCreate), "a refusal of its Jobs")
	add(len(c.Due.Changes) == 0, "an edit")
	unwatched := func(e duetimes.Entry) bool { return e.Fate == events.TickUnwatched || e.Fate == events.TickUnknown }
	add(len(c.touching()) == 0 && !slices.ContainsFunc(c.Due.Entries, unwatched), "a gap")
	if len(out) == 0 {
		return nil
	}
	return []explain.Sentence{explain.Say(nil, "%s", strings.Join(out, ", "))}
}

// wasHeldBy reports whether a due time was ever held back for reason by. It needs no details of the refusals or of the
// suspension, which the log may lack.
func (c *Case) wasHeldBy(by events.TickHold) bool {
	open := c.State.Due
	return open != nil && open.Hold == by.String() || slices.ContainsFunc(c.Due.Holds, func(h duetimes.Hold) bool { return h.By == by })
}

// touching returns the gaps (times in which nobody watched the cluster) that overlap the time that the answer covers.
func (c *Case) touching() []*history.Gap {
	begin := max(events.Time(c.State.Created), c.Due.Told)
	end := cmp.Or(c.Gone.At, c.Now())
	var out []*history.Gap
	for _, g := range c.Gaps {
		until := events.Time(g.Until)
		if g.From != 0 && events.Time(g.From) < end && (until == 0 || until > begin) && !explain.AtOnce(g) {
			out = append(out, g)
		}
	}
	return out
}

// begunBefore returns "it had been due" if the CronJob had due times before the first watch of the cluster; empty
// otherwise.
func (c *Case) begunBefore() string {
	for _, g := range c.Gaps {
		unwatched := func(e duetimes.Entry) bool {
			return (e.Fate == events.TickUnwatched || e.Fate == events.TickUnknown) && e.First <= events.Time(g.Until)
		}
		if g.From == 0 && slices.ContainsFunc(c.Due.Entries, unwatched) {
			return "it had been due"
		}
	}
	return ""
}

// passedOver returns the times in which the CronJob's namespace was over its log budget, within the time that the
// answer covers.
func (c *Case) passedOver() []history.Passed {
	begin := max(events.Time(c.State.Created), c.Due.Told)
	return c.Passed.Touching(c.State.Namespace, false, begin, cmp.Or(c.Gone.At, c.Now()))
}

// history returns sentences about what the answer may lack: times in which nobody watched, records that are pruned
// (deleted), and older due times.
func (c *Case) history() []explain.Sentence {
	var out []explain.Sentence
	if c.Due.Told != 0 {
		out = append(out, explain.Detail(explain.Say(nil,
			"due times through %s are not looked at here: 'jobledger ticks' has all", c.At(c.Due.Told))))
	}
	if c.State.First == 0 {
		out = append(out, explain.Say(nil, "its first records are no longer in the log, so what happened before is not told"))
	}
	for _, g := range c.touching() {
		end := "and it is not watched yet"
		if g.Until != 0 {
			end = "to " + c.Seen(events.Time(g.Until))
		}
		out = append(out, explain.Say(explain.GapMarks(g), "GAP from %s %s, %s", c.Seen(events.Time(g.From)), end,
			explain.GapWhy(g)))
	}
	for _, p := range c.passedOver() {
		out = append(out, explain.PassedText(&p, c.Seen))
	}
	out = append(out, c.Unrecorded.Sentences("the CronJob and its Jobs")...)
	for _, m := range c.Off {
		out = append(out, explain.Say([]explain.Mark{m},
			"a controller that records no CronJobs began at %s (--cronjobs=false, or no right to list them)", c.Seen(m.At)))
	}
	return out
}

// keptBack says, as far as records show, why the controller of the CronJob, which is not Jobledger, does not start due
// time at yet.
func (c *Case) keptBack(at events.Time) []explain.Sentence {
	all, whole := c.Due.Kept(at, c.Now())
	if !whole {
		return nil
	}
	why, from := c.KeptText(all)
	return []explain.Sentence{explain.Say(from, "due %s, and held back: %s", c.At(at), why)}
}
