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

// scheduled reports whether a due time started a Job. Jobs that users made or requested say nothing about the schedule.
func (c *CronAnswer) scheduled(r *cronRun) bool {
	if e := c.entryOf(r); e != nil {
		return isDue(e)
	}
	return !r.Manual && r.Due != 0
}

// scheduledRuns returns the Jobs of due times, the newest first.
func (c *CronAnswer) scheduledRuns() []*cronRun {
	return slices.DeleteFunc(c.newestRuns(), func(r *cronRun) bool { return !c.scheduled(r) })
}

// failedRuns returns the number of consecutive failed Jobs of due times up to the newest one that ended, and that Job.
// It is 0 and nil if the newest one completed.
func (c *CronAnswer) failedRuns() (n int, newest *cronRun) {
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

// failingVerdict says how many runs failed, since which edit, and why the newest did.
func (c *CronAnswer) failingVerdict(failed int, last *cronRun) Sentence {
	text, from := phrase("FAILING: %s failed", lastRuns(failed)), []Mark{last.Ended}
	if since, marks := c.failingSince(failed); since.cut != "" {
		text, from = phrase("FAILING %s", since), append(marks, from...)
	}
	text = phrase("%s; %s (%s)", text, last.Name, c.madeFor(last))
	var ended passage
	if job := c.caseOf(last); job != nil {
		line := job.line()
		if strings.Contains(line.Text, ": ") {
			ended = phrase(": %s", because(&line))
		}
		from = append(from, line.marks()...)
	}
	hand, marks := c.handSince(last)
	return say(append(from, marks...), "%s%s%s", text, ended, hand)
}

// failingSince names the edit of the template since which all runs failed, if a run before it succeeded; empty for
// none.
func (c *CronAnswer) failingSince(failed int) (since passage, from []Mark) {
	var edit *duetimes.Change
	for i := range c.due.Changes {
		if ch := &c.due.Changes[i]; ch.Retemplates() && !ch.After.Found {
			edit = ch
		}
	}
	if edit == nil {
		return passage{}, nil
	}
	var first, good *cronRun
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
		return passage{}, nil
	}
	diff := c.templateEdit(edit)
	if len(diff) == 0 {
		diff = c.templateSince(good, first)
	}
	what := slices.Clone(diff[:min(len(diff), 2)])
	if len(what) == 0 {
		what = passages([]string{"jobTemplate"})
	}
	if by := managerOf(edit.By); by != "" {
		what = append(what, passage{by, by})
	}
	return phrase("since the edit of %s (%s): %d of %d failed, %d of %d before succeeded",
			c.seen(edit.At), joined(what, ", "), failed, ended, succeeded, before),
		append(changeMarks(edit), good.Ended)
}

// templateSince returns the differences between the templates of two Jobs, as far as they are kept.
func (c *CronAnswer) templateSince(good, bad *cronRun) []passage {
	was, err := Read(c.ctx, c.src, events.JobStream(good.Job), c.point())
	c.miss(c.src, err)
	is, err := Read(c.ctx, c.src, events.JobStream(bad.Job), c.point())
	c.miss(c.src, err)
	if was == nil || is == nil {
		return nil
	}
	was.misses, is.misses = c.misses, c.misses // records that they cannot read are missing in this answer
	oldSpec, old := was.firstSpec()
	newSpec, now := is.firstSpec()
	return append(passages(specChanges(oldSpec, newSpec)), templateChanges(old, now)...)
}

// templateEdit returns what an edit changed in the Job template, if both versions are among the records that were read.
func (c *CronCase) templateEdit(edit *duetimes.Change) []passage {
	was, is := c.templates[edit.Before.Redacted], c.templates[edit.After.Redacted]
	if was == nil || is == nil {
		return nil
	}
	diff := templateChanges(was, is)
	for i := range diff {
		diff[i] = diff[i].each(func(s string) string {
			return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "template."), "spec."), "containers.")
		})
	}
	return diff
}

// handSince says how the newest manual or triggered run after last ended; empty for none.
func (c *CronAnswer) handSince(last *cronRun) (text string, from []Mark) {
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
		return fmt.Sprintf("; %s, %s, %s", r.Name, c.madeFor(r), how), []Mark{r.Ended}
	}
	return "", nil
}

// leastStarved is the minimum number of consecutive Jobs replaced before their end; a single one may be an accident.
const leastStarved = 2

// starvingVerdict says that no run ends because the next one replaces it; ok is false otherwise.
func (c *CronAnswer) starvingVerdict() (v Sentence, ok bool) {
	starved, longest, from := c.starved(), time.Duration(0), []Mark(nil)
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
	return say(from[:min(len(from), mostCited)], "STARVING: its last %d Jobs that are over did not end: each was replaced when the next one was due (policy Replace%s), the longest after %s",
		n, inferred, words.Span(longest)), true
}

// starved returns the newest consecutive Jobs of due times that were replaced before they ended, the newest first. It
// skips a running Job.
func (c *CronAnswer) starved() (all []*cronRun) {
	var next *cronRun
	for _, r := range c.scheduledRuns() {
		if !c.replaced(r, next) {
			if next == nil && r.Ended.Record == 0 && r.Gone.Record == 0 {
				next = r // it runs
				continue
			}
			break
		}
		all, next = append(all, r), r
	}
	return all
}

// replaced reports whether a Job was deleted before it ended because the next one was due.
func (c *CronAnswer) replaced(r, next *cronRun) bool {
	if c.State.Spec.Policy != "Replace" || r.Ended.Record != 0 || r.Gone.Record == 0 || r.Left || next == nil {
		return false
	}
	apart := next.First.At.Sub(r.Gone.At)
	return max(apart, -apart) < soonReplaced
}

// soonReplaced is the maximum time between the deletion of a replaced Job and the next Job.
const soonReplaced = 10 * time.Second

// leastUnfinished is the minimum number of running Jobs for the verdict that none ends. With two, the second may have
// just begun.
const leastUnfinished = 3

// unfinishedVerdict says that its Jobs pile up and none ends; ok is false otherwise.
func (c *CronAnswer) unfinishedVerdict() (v Sentence, ok bool) {
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
	for _, r := range c.runs {
		if r.Ended.Record != 0 && r.Ended.At > events.Time(oldest.Created) {
			return v, false
		}
	}
	var text passage
	var from []Mark
	for _, r := range c.runs {
		if string(r.Job) != oldest.UID {
			continue
		}
		from = []Mark{r.First}
		if job := c.caseOf(r); job != nil {
			line := job.line()
			text, from = phrase("; %s, the oldest: %s", r.Name, line.passage()), append(from, line.marks()...)
		}
	}
	return say(from, "UNFINISHED: %d of its Jobs have not ended, and none has since the oldest of them began, %s ago%s", n,
		words.Span(c.now().Sub(events.Time(oldest.Created))), text), true
}

// editedVerdict says that the schedule was changed and has had no due time since; ok is false otherwise.
func (c *CronAnswer) editedVerdict() (v Sentence, ok bool) {
	var edit *duetimes.Change
	for i := range c.due.Changes {
		if ch := &c.due.Changes[i]; ch.Reschedules() {
			edit = ch
		}
	}
	if edit == nil {
		return v, false
	}
	text, from, edited := "", changeMarks(edit), changeMarks(edit)
	for _, e := range c.due.All() {
		switch {
		case !isDue(&e) || e.Fate == events.TickAgain:
		case e.Last > edit.At || e.Fate != events.TickReplaced && e.At > edit.At && e.Last+events.Time(time.Second) > edit.At:
			return v, false
		case e.Fate == events.TickReplaced && e.Last <= edit.At:
			text, from = fmt.Sprintf("; the due time that was open then, %s, was dropped", c.in(e.Last)), append(slices.Clone(edited), Mark{e.Record, e.At})
		}
	}
	n, _, started := c.startedInARow()
	switch {
	case n == 1:
		text += "; the last due time before started"
	case n > 1:
		text += fmt.Sprintf("; the last %d due times before started", n)
	}
	return say(append(from, started...), "EDITED at %s: %s; it was not due since%s%s", c.seen(edit.At), changeText(edit), text, c.nextText()), true
}

// nextText says when the CronJob is due next.
func (c *CronAnswer) nextText() string {
	if at := events.Time(c.State.Next); at != 0 {
		return "; next " + c.in(at)
	}
	return ""
}
