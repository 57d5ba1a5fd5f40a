package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// The heads of sections that only CronJobs have.
const (
	headRuns   = "RUNS"
	headMissed = "MISSED"
	headByHand = "BY HAND"
	headNext   = "NEXT"
)

// Answer explains the CronJob.
func (c *CronAnswer) Answer() Answer {
	j := &c.State
	a := Answer{
		Kind: "cronjob", Namespace: j.Namespace, Name: j.Name, UID: j.UID, AsOf: j.AsOf, Clock: j.Clock, LastRecord: j.LastRecord, State: string(j.State), Schedule: c.schedule(),
		Created: j.Created, InPart: j.InPart(), Truncated: j.First == 0, Damaged: uint64(c.damage), Sections: []Section{},
	}
	for _, g := range c.touching() {
		a.Gaps = append(a.Gaps, *g)
	}
	a.PassedOver, a.Unrecorded, a.Begun = c.passedOver(), c.unrecorded.versions, c.begunBefore()
	a.Verdict = c.verdict()
	if c.gone.Record != 0 {
		s := say(marks(c.deleting, c.gone), "deleted, seen at %s", c.seen(c.gone.At))
		a.Deleted = &s
	}
	a.add(headWhy, c.why()...)
	a.add(headWaits, c.waitsFor()...)
	a.add(headNext, c.next()...)
	a.add(headEdits, c.edited()...)
	a.add(headRefused, c.refused()...)
	a.add(headMissed, c.missedText()...)
	a.add(headRuns, c.runsText()...)
	a.add(headByHand, c.byHand()...)
	a.add(headRuledOut, c.ruledOut()...)
	a.add(headHistory, c.history()...)
	if c.gone.Record != 0 { // a question about a deleted CronJob is about its past
		a.putFirst(headEdits, headRefused, headMissed)
	}
	return a
}

// schedule returns the schedule with its zone, policy and deadline: "0 3 * * *" in Europe/Berlin, Forbid.
func (c *CronAnswer) schedule() string {
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

// open returns the due time that has no fate yet; 0 for none.
func (c *CronAnswer) open() events.Time {
	if c.State.Due == nil {
		return 0
	}
	return events.Time(c.State.Due.At)
}

// why says what holds the open due time back, and since when.
func (c *CronAnswer) why() []Sentence {
	open := c.State.Due
	if open == nil || open.Hold == "" || c.State.State != history.CronHeld {
		return nil
	}
	at := c.open()
	var out []Sentence
	if !c.State.Managed {
		return fewer(append(c.keptBack(at), c.blockerTexts(open)...), 4)
	}
	hold, sep := "due "+c.at(at)+", and held back ", ""
	var from []Mark
	for i := range c.due.Holds {
		if h := &c.due.Holds[i]; h.Due == at {
			hold += fmt.Sprintf("%sfrom %s on: %s", sep, c.seen(h.At), strings.TrimPrefix(words.HoldText(h.By), "held back: "))
			from, sep = append(from, Mark{h.Record, h.At}), "; "
		}
	}
	out = append(out, say(from, "%s", hold))
	if x := c.refusal(at); x != nil && open.Hold == events.HeldNoCreate.String() {
		out = append(out, say([]Mark{{x.First, x.From}, {x.Last, x.Until}}, "%s (from %s to %s)", refusalText(x), c.seen(x.From), c.seen(x.Until)))
	}
	return fewer(append(out, c.blockerTexts(open)...), 4)
}

// blockerTexts describes the Jobs that keep the open due time from starting.
func (c *CronAnswer) blockerTexts(open *history.OpenDue) (out []Sentence) {
	if open.Hold == events.HeldForbid.String() {
		for _, r := range c.running() {
			out = append(out, c.blocker(r))
		}
	}
	return out
}

// blocker describes a running Job that blocks the next due time, and says whether its spec has a deadline.
func (c *CronAnswer) blocker(r *cronRun) Sentence {
	text, from := fmt.Sprintf("%s, %s, has not ended", r.Name, c.madeFor(r)), []Mark{r.First}
	job := c.caseOf(r)
	if job == nil {
		return say(from, "%s", text)
	}
	line := job.line()
	ends := ""
	switch start := events.Time(job.Job.Started); {
	case job.Spec == nil:
	case job.Spec.ActiveDeadlineSeconds == nil:
		ends = ". Nothing in its spec ends it: activeDeadlineSeconds is not set"
	case start != 0:
		ends = fmt.Sprintf(". Its activeDeadlineSeconds ends it at %s", c.seen(start.Add(seconds(*job.Spec.ActiveDeadlineSeconds))))
	}
	return say(append(from, line.marks()...), "%s, %s: %s%s", r.Name, c.madeFor(r), line.passage(), ends)
}

func seconds(n int64) time.Duration { return time.Duration(min(n, 1<<31)) * time.Second }

// caseOf returns the case of a Job at the same point. It is nil if the log has no records of the Job, or if another
// controller runs it unobserved.
func (c *CronAnswer) caseOf(r *cronRun) *Case {
	job, err := Read(c.ctx, c.src, events.JobStream(r.Job), c.point())
	c.miss(c.src, err)
	if job == nil || job.Job.State == history.StateUnmanaged || job.Job.State == history.StateUnseen {
		return nil
	}
	job.In(c.zone)
	job.misses = c.misses // unreadable records of the Job count as unreadable for this answer
	return job
}

// point returns the point of the answer.
func (c *CronAnswer) point() history.Point {
	return history.Point{Sequence: events.Sequence(c.State.AsOf.Sequence), Time: c.now()}
}

// madeFor says why a Job was created: its due time, a trigger, or a user.
func (c *CronAnswer) madeFor(r *cronRun) string {
	e := c.entryOf(r)
	switch {
	case e != nil && isDue(e):
		return "due " + c.in(e.First)
	case e != nil && e.Fate == events.TickTriggered:
		return "triggered by " + words.Asker(e.By)
	case e != nil:
		return "made by hand by " + cmp.Or(e.By, unknownManager)
	case r.MadeFor == 0:
		return "made at " + c.seen(r.Created)
	}
	return "due " + c.in(r.MadeFor)
}

// entryOf returns the entry of a Job; nil for none.
func (c *CronAnswer) entryOf(r *cronRun) *duetimes.Entry {
	for i := len(c.due.Entries) - 1; i >= 0; i-- {
		if c.due.Entries[i].Job == r.Job {
			return &c.due.Entries[i]
		}
	}
	return nil
}

// waitsFor says what lets the open due time start, and what makes it expire without a Job.
func (c *CronAnswer) waitsFor() []Sentence {
	var out []Sentence
	if c.State.State == history.CronSuspended {
		out = append(out, say(c.specMarks(), "spec.suspend to be false: of the due times that have passed by then at most the newest starts"))
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
		text := fmt.Sprintf("the next due time: by %s startingDeadlineSeconds %d was over, and this one starts no more", c.seen(late), *c.State.Spec.Deadline)
		return append(out, say(c.specMarks(), "%s", text))
	}
	switch open.Hold {
	case events.HeldForbid.String():
		if c.heldByStranger() {
			out = append(out, c.strangerToGo())
		} else {
			out = append(out, say(nil, "the end of that Job: then this due time starts at once"))
		}
	case events.HeldNoCreate.String():
		if len(c.State.Waits) > 0 {
			out = append(out, c.backoff(&c.State.Waits[0]))
		}
	}
	if next := events.Time(c.State.Next); next != 0 && c.unlooked() == "" {
		out = append(out, say(nil, "not longer than to %s: then it merges into that one", c.at(next)))
	}
	if d := c.State.Spec.Deadline; d != nil {
		if late := c.open().Add(seconds(*d)); late > c.now() {
			out = append(out, say(nil, "not longer than to %s: then startingDeadlineSeconds %d is over, and it is too late", c.seen(late), *d))
		}
	}
	return out
}

// backoff says when the next try is, and derives it from the failure before.
func (c *CronAnswer) backoff(w *history.Wait) Sentence {
	text, until := fmt.Sprintf("%s, at %s", w.For, c.seen(events.Time(w.Until))), events.Time(w.Until)
	if w.Record == 0 {
		return say(nil, "%s", text)
	}
	since := Mark{events.Sequence(w.Record), events.Time(w.Since)}
	return say([]Mark{since}, "%s, a backoff of %s after %s", text, words.Span(until.Sub(since.At)), c.seen(since.At))
}

// strangerToGo says what ends the block by a Job that the CronJob no longer owns.
func (c *CronAnswer) strangerToGo() Sentence {
	n, r := c.stranger()
	return say(marks(r.First, r.Gone), "%s to be deleted, or taken out of status.active: its end does not count, as it is not the CronJob's own", n.Name)
}

// next returns the next due time.
func (c *CronAnswer) next() []Sentence {
	if c.State.Next == 0 || c.State.State == history.CronHeld {
		return nil
	}
	return []Sentence{say(nil, "due %s", c.at(events.Time(c.State.Next)))}
}

// edited lists the edits of the spec and their field managers, the newest first.
func (c *CronAnswer) edited() []Sentence {
	var out []Sentence
	for i := len(c.due.Changes) - 1; i >= 0; i-- {
		ch := &c.due.Changes[i]
		out = append(out, say(changeMarks(ch), "%s %s", c.seen(ch.At), c.editText(ch)))
	}
	return fewer(out, 3)
}

// editText is changeText, with the fields of the jobTemplate that changed if both templates are kept.
func (c *CronCase) editText(ch *duetimes.Change) passage {
	text := changeText(ch)
	diff := c.templateEdit(ch)
	if len(diff) == 0 {
		return passage{text, text}
	}
	if more := len(diff) - mostDifferences; more > 0 {
		diff = append(diff[:mostDifferences:mostDifferences], phrase("%d more", more))
	}
	before, after, _ := strings.Cut(text, words.TemplateEdited)
	return phrase("%sjobTemplate: %s%s", before, joined(diff, " · "), after)
}

// refused lists the Jobs that the API server refused for some time. Jobs that never started are in the section MISSED.
func (c *CronAnswer) refused() []Sentence {
	var out []Sentence
	for i := len(c.due.Refusals) - 1; i >= 0; i-- {
		x := &c.due.Refusals[i]
		never := slices.ContainsFunc(c.due.Entries, func(e duetimes.Entry) bool { return e.Job == "" && e.First <= x.Due && x.Due <= e.Last })
		if x.Due != 0 && (x.Due == c.open() || never) {
			continue
		}
		out = append(out, say([]Mark{{x.First, x.From}, {x.Last, x.Until}}, "%s from %s to %s: %s", x.Job, c.seen(x.From), c.seen(x.Until), refusalText(x)))
	}
	return fewer(out, 2)
}

// ruledOut says what did not keep due times from starting. It needs a watch without gaps and records.
func (c *CronAnswer) ruledOut() []Sentence {
	switch c.State.State {
	case history.CronHeld, history.CronOverdue, history.CronRunning, history.CronWaiting:
	case history.CronUnseen, history.CronInvalid, history.CronSuspended, history.CronDeleting, history.CronDeleted:
		return nil
	}
	if c.unrecorded.versions > 0 || len(c.passedOver()) > 0 {
		return nil // if records are missing, nothing can be ruled out
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
	ever := func(is func(*events.CronJobSeen) bool) bool { // also before the first edit in the answer
		return slices.ContainsFunc(c.due.Changes, func(ch duetimes.Change) bool { return is(ch.Before) || is(ch.After) })
	}
	suspended, _ := c.suspendedAt(c.now())
	suspends := func(f *events.CronJobSeen) bool { return f.Suspend }
	add(!suspended && !c.wasHeldBy(events.HeldSuspended) && !ever(suspends), "suspension")
	tooLate := slices.ContainsFunc(c.due.Entries, func(e duetimes.Entry) bool { return e.Fate == events.TickTooLate })
	deadline := c.State.Spec.Deadline != nil || ever(func(f *events.CronJobSeen) bool { return f.Deadline != nil })
	add(!tooLate && !deadline, "a starting deadline")
	add(len(c.due.Refusals) == 0 && !c.wasHeldBy(events.HeldNoCreate), "a refusal")
	add(len(c.due.Changes) == 0, "an edit")
	unwatched := func(e duetimes.Entry) bool { return e.Fate == events.TickUnwatched || e.Fate == events.TickUnknown }
	add(len(c.touching()) == 0 && !slices.ContainsFunc(c.due.Entries, unwatched), "a gap")
	if len(out) == 0 {
		return nil
	}
	return []Sentence{say(nil, "%s", strings.Join(out, ", "))}
}

// wasHeldBy reports whether by held a due time back, even if the details were not kept: the refusals of the API server,
// or the edit that suspended the CronJob.
func (c *CronAnswer) wasHeldBy(by events.TickHold) bool {
	return slices.ContainsFunc(c.due.Holds, func(h duetimes.Hold) bool { return h.By == by })
}

// touching returns the gaps that overlap the time of the answer.
func (c *CronAnswer) touching() []*history.Gap {
	begin := max(events.Time(c.State.Created), c.due.Told)
	end := cmp.Or(c.gone.At, c.now())
	var out []*history.Gap
	for _, g := range c.gaps {
		until := events.Time(g.Until)
		if g.From != 0 && events.Time(g.From) < end && (until == 0 || until > begin) && !instant(g) {
			out = append(out, g)
		}
	}
	return out
}

// begunBefore says that the CronJob was due before the first watch; empty otherwise.
func (c *CronAnswer) begunBefore() string {
	for _, g := range c.gaps {
		unwatched := func(e duetimes.Entry) bool {
			return (e.Fate == events.TickUnwatched || e.Fate == events.TickUnknown) && e.First <= events.Time(g.Until)
		}
		if g.From == 0 && slices.ContainsFunc(c.due.Entries, unwatched) {
			return "it had been due"
		}
	}
	return ""
}

// passedOver returns the times within the answer in which the namespace was over its log budget.
func (c *CronAnswer) passedOver() []history.Passed {
	begin := max(events.Time(c.State.Created), c.due.Told)
	return c.passed.Touching(c.State.Namespace, false, begin, cmp.Or(c.gone.At, c.now()))
}

// history lists the gaps of the watch, and what the answer leaves out.
func (c *CronAnswer) history() []Sentence {
	var out []Sentence
	if c.due.Told != 0 {
		out = append(out, detail(say(nil, "due times through %s are not looked at here: 'jobledger ticks' has all", c.at(c.due.Told))))
	}
	if c.State.First == 0 {
		out = append(out, say(nil, "its first records are no longer in the log, so what happened before is not told"))
	}
	for _, g := range c.touching() {
		end := "and it is not watched yet"
		if g.Until != 0 {
			end = "to " + c.seen(events.Time(g.Until))
		}
		out = append(out, say(gapMarks(g), "GAP from %s %s, %s", c.seen(events.Time(g.From)), end, gapWhy(g)))
	}
	for _, p := range c.passedOver() {
		out = append(out, passedText(&p, c.seen))
	}
	out = append(out, c.unrecorded.sentences("the CronJob and its Jobs")...)
	for _, m := range c.off {
		out = append(out, say([]Mark{m}, "a controller that records no CronJobs began at %s (--cronjobs=false, or no right to list them)", c.seen(m.At)))
	}
	return out
}
