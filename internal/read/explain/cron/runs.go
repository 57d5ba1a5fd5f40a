package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/differs"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// scheduled reports whether a Job was created for a due time, and not because a user created it or asked for it.
func (c *Case) scheduled(r *croncase.Run) bool {
	if e := c.entryOf(r); e != nil {
		return fates.IsDue(e)
	}
	return !r.Manual && r.Due != 0
}

// scheduledRuns returns the Jobs that were created for due times, the newest first.
func (c *Case) scheduledRuns() []*croncase.Run {
	return slices.DeleteFunc(c.newestRuns(), func(r *croncase.Run) bool { return !c.scheduled(r) })
}

// failedRuns returns how many scheduled Jobs have failed in a row, counted back from the newest ended one, and this
// newest one. It returns 0 and nil if the newest ended one completed.
func (c *Case) failedRuns() (n int, newest *croncase.Run) {
	for _, r := range c.scheduledRuns() {
		switch r.Result {
		case events.ResultNone:
			continue
		case events.ResultComplete:
			return n, newest
		case events.ResultFailed:
		}
		if n++; newest == nil {
			newest = r
		}
	}
	return n, newest
}

// failingVerdict returns the verdict that the last Jobs failed: how many (failed), since which edit, and why the newest
// one (last) did.
func (c *Case) failingVerdict(failed int, last *croncase.Run) explain.Sentence {
	text, from := explain.Phrase("FAILING: %s failed", lastRuns(failed)), []explain.Mark{last.Ended}
	if since, marks := c.failingSince(failed); since.Cut != "" {
		text, from = explain.Phrase("FAILING %s", since), append(marks, from...)
	}
	text = explain.Phrase("%s; %s (%s)", text, last.Name, c.madeFor(last))
	var ended explain.Passage
	if job := c.caseOf(last); job != nil {
		line := verdicts.Line(job)
		if strings.Contains(line.Text, ": ") {
			ended = explain.Phrase(": %s", explain.Because(&line))
		}
		from = append(from, line.Marks()...)
	}
	hand, marks := c.handSince(last)
	return explain.Say(append(from, marks...), "%s%s%s", text, ended, hand)
}

// failingSince names the edit of the Job template since which all ended Jobs failed, if Jobs before it succeeded; empty
// otherwise. failed is the number of Jobs that failed in a row.
func (c *Case) failingSince(failed int) (since explain.Passage, from []explain.Mark) {
	var edit *duetimes.Change
	for i := range c.Due.Changes {
		if ch := &c.Due.Changes[i]; ch.Retemplates() && !ch.After.Found {
			edit = ch
		}
	}
	if edit == nil {
		return explain.Passage{}, nil
	}
	var first, good *croncase.Run
	ended, before, succeeded := 0, 0, 0
	for _, r := range c.scheduledRuns() {
		switch {
		case r.Result == events.ResultNone:
		case r.Created.Add(time.Second) > edit.At:
			ended, first = ended+1, r
		default:
			if before++; r.Result == events.ResultComplete {
				if succeeded++; good == nil {
					good = r
				}
			}
		}
	}
	if ended == 0 || ended != failed || succeeded == 0 {
		return explain.Passage{}, nil
	}
	diff := c.TemplateEdit(edit)
	if len(diff) == 0 {
		diff = c.templateSince(good, first)
	}
	what := slices.Clone(diff[:min(len(diff), 2)])
	if len(what) == 0 {
		what = explain.Passages([]string{"jobTemplate"})
	}
	if by := explain.ManagerOf(edit.By); by != "" {
		what = append(what, explain.Passage{Cut: by, Whole: by})
	}
	return explain.Phrase("since the edit of %s (%s): %d of %d failed, %d of %d before succeeded",
			c.Seen(edit.At), explain.Joined(what, ", "), failed, ended, succeeded, before),
		append(fates.ChangeMarks(edit), good.Ended)
}

// templateSince returns the differences between the specs and pod templates of two Jobs, a good and a bad one, as far
// as the log has them.
func (c *Case) templateSince(good, bad *croncase.Run) []explain.Passage {
	was, err := ending.Read(c.Ctx, c.Src, events.JobStream(good.Job), c.point())
	c.Miss(c.Src, err)
	is, err := ending.Read(c.Ctx, c.Src, events.JobStream(bad.Job), c.point())
	c.Miss(c.Src, err)
	if was == nil || is == nil {
		return nil
	}
	was.Misses, is.Misses = c.Misses, c.Misses // a failed read for these Jobs counts for this answer
	oldSpec, old := was.FirstSpec()
	newSpec, now := is.FirstSpec()
	return append(explain.Passages(differs.Specs(oldSpec, newSpec)), differs.Templates(old, now)...)
}

// handSince says how the newest Job ended that a user created or asked for after Job last; empty if there is none. If
// last is nil, it only reports a failed Job.
func (c *Case) handSince(last *croncase.Run) (text string, from []explain.Mark) {
	for _, r := range c.newestRuns() {
		if c.scheduled(r) || r.Result == events.ResultNone || last != nil && r.Created < last.Created {
			continue
		}
		how := "failed"
		if r.Result == events.ResultComplete {
			how = "succeeded"
		}
		if last == nil && how != "failed" {
			return "", nil
		}
		return fmt.Sprintf("; %s, %s, %s", r.Name, c.madeFor(r), how), []explain.Mark{r.Ended}
	}
	return "", nil
}

// leastStarved is how many consecutive Jobs must have been replaced before their end for the verdict STARVING. A single
// one may be an accident.
const leastStarved = 2

// starvingVerdict returns the verdict that no Job comes to its end, because the next one always replaces it. ok is
// false if this is not so.
func (c *Case) starvingVerdict() (v explain.Sentence, ok bool) {
	starved, longest, from := c.starved(), time.Duration(0), []explain.Mark(nil)
	for _, r := range starved {
		longest, from = max(longest, r.Gone.At.Sub(r.Created)), append(from, r.Gone)
	}
	n := len(starved)
	if n < leastStarved {
		return v, false
	}
	inferred := ""
	if !c.State.Managed {
		inferred = ", to judge by what followed"
	}
	return explain.Say(from[:min(len(from), explain.MostCited)],
		"STARVING: its last %d Jobs that are over did not end: each was replaced when the next one was due (policy Replace%s), the longest after %s",
		n, inferred, words.Span(longest)), true
}

// starved returns the newest consecutive scheduled Jobs that were replaced before their end, the newest first. It skips
// a newest Job that still runs.
func (c *Case) starved() (all []*croncase.Run) {
	var next *croncase.Run
	for _, r := range c.scheduledRuns() {
		if !c.replaced(r, next) {
			if next == nil && r.Ended.Record == 0 && r.Gone.Record == 0 {
				next = r // the newest Job still runs, so it cannot be starved: begin with the Job before it
				continue
			}
			break
		}
		all, next = append(all, r), r
	}
	return all
}

// replaced reports whether Job r was deleted for the Job next (concurrencyPolicy Replace): before its own end, and
// within 10 s (soonReplaced) of the first record of next.
func (c *Case) replaced(r, next *croncase.Run) bool {
	if c.State.Spec.Policy != "Replace" || r.Ended.Record != 0 || r.Gone.Record == 0 || r.Left || next == nil {
		return false
	}
	apart := next.First.At.Sub(r.Gone.At)
	return max(apart, -apart) < soonReplaced
}

// soonReplaced is the longest time between the deletion of a Job and the creation of the next one for which the next
// one counts as its replacement.
const soonReplaced = 10 * time.Second

// leastUnfinished is how many Jobs must be running for the verdict UNFINISHED: none of them comes to its end. Of two
// Jobs, the second may have just begun.
const leastUnfinished = 3

// unfinishedVerdict returns the verdict that several Jobs run, and none has ended since the oldest of them began. ok is
// false if this is not so.
func (c *Case) unfinishedVerdict() (v explain.Sentence, ok bool) {
	var oldest *history.Run
	n := 0
	for i := range c.State.Runs {
		if r := &c.State.Runs[i]; r.State == history.StateRunning {
			if n++; oldest == nil || r.Created < oldest.Created {
				oldest = r
			}
		}
	}
	if n < leastUnfinished || events.Time(c.State.Published.LastSuccess) > events.Time(oldest.Created) {
		return v, false
	}
	for _, r := range c.Runs {
		if r.Ended.Record != 0 && r.Ended.At > events.Time(oldest.Created) {
			return v, false
		}
	}
	var text explain.Passage
	var from []explain.Mark
	for _, r := range c.Runs {
		if string(r.Job) != oldest.UID {
			continue
		}
		from = []explain.Mark{r.First}
		if job := c.caseOf(r); job != nil {
			line := verdicts.Line(job)
			text, from = explain.Phrase("; %s, the oldest: %s", r.Name, line.Passage()), append(from, line.Marks()...)
		}
	}
	return explain.Say(from, "UNFINISHED: %d of its Jobs have not ended, and none has since the oldest of them began, %s ago%s", n,
		words.Span(c.Now().Sub(events.Time(oldest.Created))), text), true
}

// editedVerdict returns the verdict that the schedule was edited, and that no due time has come since. ok is false if
// this is not so.
func (c *Case) editedVerdict() (v explain.Sentence, ok bool) {
	var edit *duetimes.Change
	for i := range c.Due.Changes {
		if ch := &c.Due.Changes[i]; ch.Reschedules() {
			edit = ch
		}
	}
	if edit == nil {
		return v, false
	}
	text, from, edited := "", fates.ChangeMarks(edit), fates.ChangeMarks(edit)
	for _, e := range c.Due.All() {
		switch {
		case !fates.IsDue(&e) || e.Fate == events.TickAgain:
		case e.Last > edit.At || e.Fate != events.TickReplaced && e.At > edit.At && e.Last+events.Time(time.Second) > edit.At:
			return v, false
		case e.Fate == events.TickReplaced && e.Last <= edit.At:
			text, from = fmt.Sprintf("; the due time that was open then, %s, was dropped", c.InZone(e.Last)),
				append(slices.Clone(edited), explain.Mark{Record: e.Record, At: e.At})
		}
	}
	n, _, started := c.startedInARow()
	switch {
	case n == 1:
		text += "; the last due time before started"
	case n > 1:
		text += fmt.Sprintf("; the last %d due times before started", n)
	}
	return explain.Say(append(from, started...), "EDITED at %s: %s; it was not due since%s%s", c.Seen(edit.At),
		fates.ChangeText(edit), text, c.nextText()), true
}

// nextText returns the next due time as the end of a sentence: "; next 10:00 …". It is empty if there is none.
func (c *Case) nextText() string {
	if at := events.Time(c.State.Next); at != 0 {
		return "; next " + c.InZone(at)
	}
	return ""
}
