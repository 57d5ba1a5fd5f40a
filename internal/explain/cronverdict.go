package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/duetimes"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"

	"k8s.io/apimachinery/pkg/types"
)

// verdict is the answer in one line: is it healthy, and if not, why.
func (c *CronCase) verdict() Sentence {
	v := c.readVerdict()
	if c.damage != 0 && c.gone.Record == 0 {
		v.Text = "UNKNOWN since " + c.seen(c.now()) + ", as the log is damaged; until then " + v.Text
	}
	return v
}

func (c *CronCase) readVerdict() Sentence {
	s := &c.State
	switch s.State {
	case history.CronDeleted:
		return say(marks(c.gone), "DELETED, seen at %s", c.seen(c.gone.At))
	case history.CronDeleting:
		return say(marks(c.deletedSeen), "BEING DELETED since %s: it is due no more", c.seen(events.Time(s.Deleted)))
	case history.CronUnseen:
		return say(nil, "UNSEEN: the log knows it only from Jobs that name it")
	case history.CronInvalid:
		return say(c.specMarks(), "NEVER DUE: %s", s.Reason)
	case history.CronSuspended:
		return c.suspendedVerdict()
	case history.CronHeld:
		return c.heldVerdict()
	case history.CronRunning, history.CronWaiting:
	}
	if s.Next == 0 {
		return say(c.specMarks(), "NEVER DUE: the schedule %q has no due time in the next five years", s.Spec.Schedule)
	}
	missed, newest := c.missed()
	switch failed, last := c.failedRuns(); {
	case missed > 0 && c.heldByStranger():
		text, from := c.strangers()
		return say(from, "HELD BACK: %s, the newest due %s, and %s (policy Forbid)", c.inARow(missed), c.in(newest.Last), text)
	case missed > 0:
		_, from := c.became(newest)
		return say(from, "NOT STARTING: %s; the newest, %s: %s", c.inARow(missed), c.in(newest.Last), c.shortFate(newest))
	case failed > 0:
		return c.failingVerdict(failed, last)
	}
	return c.healthyVerdict()
}

// failingVerdict says how many runs failed, and why the newest did.
func (c *CronCase) failingVerdict(failed int, last *cronRun) Sentence {
	text, from := fmt.Sprintf("FAILING: %s failed; %s (%s)", lastRuns(failed), last.Name, c.madeFor(last)), []Mark{last.Ended}
	if job := c.caseOf(last); job != nil {
		line := job.line()
		if _, why, ok := strings.Cut(line.Text, ": "); ok {
			text += ": " + why
		}
		from = append(from, cited(&line)...)
	}
	return say(from, "%s", text)
}

func lastRuns(n int) string {
	if n == 1 {
		return "its last run"
	}
	return fmt.Sprintf("its last %d runs", n)
}

// inARow says how many due times in a row did not start, as far as they were looked at.
func (c *CronCase) inARow(n int) string {
	if n == 1 {
		return "its last due time did not start"
	}
	return fmt.Sprintf("its last %d due times did not start", n)
}

// shortFate is what became of a due time, without why.
func (c *CronCase) shortFate(e *duetimes.Entry) string {
	text, _, _ := strings.Cut(first(c.became(e)), ": ")
	return text
}

func first(text string, _ []Mark) string { return text }

// suspendedVerdict says since when, by whom, and how many due times have passed meanwhile.
func (c *CronCase) suspendedVerdict() Sentence {
	is, by := c.suspendedAt(c.now())
	since, who, m := events.Time(c.State.Created), "", c.added
	if is && by != nil {
		since, who, m = by.At, byManager(by.By), Mark{by.Record, by.At}
	}
	text := fmt.Sprintf("SUSPENDED for %s, since %s%s", words.Span(c.now().Sub(since)), c.seen(since), who)
	if n, more := c.due.Between(since.Go(), c.now().Go()); n > 0 {
		text += ": " + words.Count(n, "due time")
		if more {
			text = strings.TrimSuffix(text, "s") + "s or more"
		}
		text += " passed"
	}
	return say(marks(m), "%s", text)
}

// heldVerdict says what holds the open due time back, and for how long.
func (c *CronCase) heldVerdict() Sentence {
	open := c.State.Due
	at := events.Time(open.At)
	held := words.Span(c.now().Sub(at))
	missed, _ := c.missed()
	also := ""
	if missed > 0 {
		also = fmt.Sprintf("; %s", c.inARow(missed+1))
	}
	m := marks(Mark{events.Sequence(open.Record), events.Time(open.Since)})
	switch open.Hold {
	case events.HeldForbid.String():
		blockers, from := c.blockers()
		return say(append(m, from...), "HELD BACK for %s: due %s, and %s (policy Forbid)%s", held, c.in(at), blockers, also)
	case events.HeldNoCreate.String():
		x := c.refusal(at)
		class := "it does not say why"
		if x != nil {
			class, m = x.Class.String(), append(m, Mark{x.First, x.From}, Mark{x.Last, x.Until})
		}
		return say(m, "STUCK for %s: due %s, and the API server refuses its Job (%s)%s", held, c.in(at), class, also)
	}
	return say(m, "HELD BACK for %s: due %s: %s%s", held, c.in(at), strings.TrimPrefix(open.Says, "held back: "), also)
}

// blockers names the Jobs that keep the next one from starting, and since when the oldest runs.
func (c *CronCase) blockers() (text string, from []Mark) {
	var names []string
	var oldest *cronRun
	for _, r := range c.running() {
		names, from = append(names, r.Name), append(from, r.First)
		if oldest == nil || r.Created < oldest.Created {
			oldest = r
		}
	}
	if oldest == nil {
		return c.strangers()
	}
	text = strings.Join(names[:min(len(names), 3)], ", ")
	if len(names) > 3 {
		text += fmt.Sprintf(" and %d more", len(names)-3)
	}
	return text + " has run for " + words.Span(c.now().Sub(oldest.Created)), from
}

// strangers names the Jobs of status.active that keep the next one from starting, where none of them is known to run. Of one that was the
// CronJob's own and is so no longer the end is not seen: it holds the next one back until it leaves the list (C-109).
func (c *CronCase) strangers() (text string, from []Mark) {
	if n, r := c.stranger(); r != nil {
		return fmt.Sprintf("%s, in status.active, is not its own since %s", n.Name, c.seen(r.Gone.At)), marks(r.First, r.Gone)
	}
	active := c.State.Published.Active
	if len(active) == 0 {
		return "a Job of before runs", nil
	}
	if n := len(active) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more are in status.active", active[0].Name, n), nil
	}
	return active[0].Name + " is in status.active", nil
}

// stranger is the first Job of status.active that was the CronJob's own and is so no longer; nil for none. Of one that began before what was
// read of the CronJob nothing is known.
func (c *CronCase) stranger() (history.RunName, *cronRun) {
	for _, n := range c.State.Published.Active {
		if r := c.run(types.UID(n.UID)); r != nil && r.Left {
			return n, r
		}
	}
	return history.RunName{}, nil
}

// heldByStranger reports whether a Job that is the CronJob's own no longer is all that keeps the next one from starting.
func (c *CronCase) heldByStranger() bool {
	_, r := c.stranger()
	return r != nil && c.State.Spec.Policy == "Forbid" && len(c.running()) == 0
}

// running are its Jobs that have not ended.
func (c *CronCase) running() (out []*cronRun) {
	for _, r := range c.runs {
		if r.Ended.Record == 0 && r.Gone.Record == 0 {
			out = append(out, r)
		}
	}
	return out
}

// refusal is the newest refusal of the Job of a due time; nil for none.
func (c *CronCase) refusal(due events.Time) *duetimes.Refusal {
	for i := len(c.due.Refusals) - 1; i >= 0; i-- {
		if x := &c.due.Refusals[i]; x.Due == due {
			return x
		}
	}
	return nil
}

// missed is how many of the newest due times in a row have no Job, and the entry of the newest of them.
func (c *CronCase) missed() (n int, newest *duetimes.Entry) {
	if newest = c.unstarted(); newest != nil {
		n, _ = c.due.Count(newest)
	}
	for i := len(c.due.Entries) - 1; i >= 0; i-- {
		e := &c.due.Entries[i]
		if !isDue(e) {
			continue
		}
		if e.Job != "" || e.Fate == events.TickStarted || e.Fate == events.TickReplaced || e.Fate == events.TickDeleted {
			break
		}
		count, _ := c.due.Count(e)
		if n += max(count, 1); newest == nil {
			newest = e
		}
	}
	return n, newest
}

// unstarted are the due times that another controller has not started so far; nil where it has had no time to.
func (c *CronCase) unstarted() *duetimes.Entry {
	e := c.due.Unstarted()
	if e == nil || e.First == e.Last && c.now().Sub(e.Last) < lateStart {
		return nil
	}
	return e
}

// failedRuns is how many of its Jobs in a row failed, up to the newest that has ended, and that one.
func (c *CronCase) failedRuns() (n int, newest *cronRun) {
	for _, r := range c.newestRuns() {
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

// healthyVerdict says how many due times started, and how late.
func (c *CronCase) healthyVerdict() Sentence {
	n, late, from := 0, time.Duration(0), []Mark(nil)
	for i := len(c.due.Entries) - 1; i >= 0; i-- {
		e := &c.due.Entries[i]
		if !isDue(e) {
			continue
		}
		if e.Job == "" {
			break
		}
		if n++; len(from) == 0 {
			from = []Mark{{e.Record, e.At}}
		}
		late = max(late, e.Late)
	}
	next := ""
	if at := events.Time(c.State.Next); at != 0 {
		next = "; next " + c.in(at)
	}
	switch {
	case n == 0 && c.due.Seen != nil && c.due.Told == 0 && len(c.due.Entries) == 0:
		return say(marks(c.added), "HEALTHY: it was not due yet since its creation%s", next)
	case n == 0:
		return say(marks(c.added), "HEALTHY: no due time is known that did not start%s", next)
	case n == 1:
		return say(from, "HEALTHY: its last due time started %s late%s", words.Span(late), next)
	}
	return say(from, "HEALTHY: its last %d due times started, at most %s late%s", n, words.Span(late), next)
}

// specMarks is the record that shows the spec as it is.
func (c *CronCase) specMarks() []Mark {
	if n := len(c.due.Changes); n > 0 {
		ch := &c.due.Changes[n-1]
		return []Mark{{ch.Record, ch.At}}
	}
	return marks(c.added)
}
