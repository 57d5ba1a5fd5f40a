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

	"k8s.io/apimachinery/pkg/types"
)

// verdict returns the answer in one line: whether the CronJob is healthy, and if not, why.
func (c *CronAnswer) verdict() Sentence {
	v := c.readVerdict()
	if c.damage != 0 && c.gone.Record == 0 {
		v.after("UNKNOWN since " + c.seen(c.now()) + ", as the log is damaged; until then ")
	}
	return v
}

func (c *CronAnswer) readVerdict() Sentence {
	s := &c.State
	switch s.State {
	case history.CronDeleted:
		return say(marks(c.gone), "DELETED, seen at %s", c.seen(c.gone.At))
	case history.CronDeleting:
		return say(marks(c.deleting), "BEING DELETED since %s: it is due no more", c.seen(events.Time(s.Deleted)))
	case history.CronUnseen:
		if len(c.runs) == 0 { // the Job template is stored before the first version that uses it
			return say([]Mark{record(events.Sequence(s.Last))}, "NOT SEEN YET: the log has the template of its Jobs alone, and no version of it so far")
		}
		return say(nil, "UNSEEN: the log knows it only from Jobs that name it")
	case history.CronInvalid:
		return say(c.specMarks(), "NEVER DUE: %s", s.Reason)
	case history.CronSuspended:
		return c.suspendedVerdict()
	case history.CronHeld:
		return c.heldVerdict()
	case history.CronOverdue, history.CronRunning, history.CronWaiting:
	}
	if s.Next == 0 {
		return say(c.specMarks(), "NEVER DUE: the schedule %q has no due time in the next five years", s.Spec.Schedule)
	}
	missed, newest := c.missed()
	switch {
	case missed > 0 && c.heldByStranger():
		text, from := c.strangers()
		return say(from, "HELD BACK: %s, the newest due %s, and %s (policy Forbid)", c.inARow(missed), c.in(newest.Last), text)
	case missed > 0:
		text, from := c.shortFate(newest)
		return say(from, "NOT STARTING: %s; the newest, %s: %s", c.inARow(missed), c.in(newest.Last), text)
	case newest != nil:
		return c.unknownVerdict(newest)
	}
	for _, verdict := range []func() (Sentence, bool){c.unfinishedVerdict, c.starvingVerdict, c.failing, c.editedVerdict} {
		if v, ok := verdict(); ok {
			return v
		}
	}
	return c.healthyVerdict()
}

func (c *CronAnswer) failing() (v Sentence, ok bool) {
	failed, last := c.failedRuns()
	if failed == 0 {
		return v, false
	}
	return c.failingVerdict(failed, last), true
}

// unknownVerdict says that the fate of the newest due times is unknown.
func (c *CronAnswer) unknownVerdict(e *duetimes.Entry) Sentence {
	n, _ := c.due.Count(e)
	text, from := c.became(e)
	if e.First != e.Last {
		return say(from, "UNKNOWN what became of its last %s, from %s to %s: %s", words.Count(max(n, 2), "due time"), c.in(e.First), c.in(e.Last),
			strings.TrimPrefix(text, "unknown: "))
	}
	return say(from, "UNKNOWN what became of its last due time, %s: %s%s", c.in(e.Last), strings.TrimPrefix(text, "unknown: "), c.unlooked())
}

func lastRuns(n int) string {
	if n == 1 {
		return "its last run"
	}
	return fmt.Sprintf("its last %d runs", n)
}

// inARow says how many consecutive due times did not start, among those that were examined.
func (c *CronAnswer) inARow(n int) string {
	looked, since := "", c.unlooked()
	if since != "" {
		looked = " that " + was(n) + " looked at"
	}
	if n == 1 {
		return "its last due time" + looked + " did not start" + since
	}
	return fmt.Sprintf("its last %d due times%s did not start%s", n, looked, since)
}

// unlooked counts the passed due times that we should start and have not examined yet: they are examined together later
// (C-085). It is empty for none.
func (c *CronAnswer) unlooked() string {
	e := c.due.Unstarted()
	if e == nil || e.Observed || e.First == e.Last || !c.young(e) {
		return ""
	}
	if n, ok := c.due.Count(e); ok {
		return fmt.Sprintf("; %d due times since then were not looked at yet", n)
	}
	return "; those since then were not looked at yet"
}

// shortFate says what became of a due time, without the reason.
func (c *CronAnswer) shortFate(e *duetimes.Entry) (text string, from []Mark) {
	text, from = c.became(e)
	if e.Fate == 0 && !e.Observed {
		return text, from
	}
	text, _, _ = strings.Cut(text, ": ")
	return text, from
}

// suspendedVerdict says since when the CronJob is suspended, by which field manager, and how many due times have
// passed.
func (c *CronAnswer) suspendedVerdict() Sentence {
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
func (c *CronAnswer) heldVerdict() Sentence {
	open := c.State.Due
	at := events.Time(open.At)
	held := words.Span(c.now().Sub(at))
	missed, _ := c.missed()
	also := c.unlooked()
	if missed > 1 {
		also = fmt.Sprintf("; %s", c.inARow(missed))
	}
	if late := c.tooLate(); late != 0 {
		also += fmt.Sprintf("; by %s startingDeadlineSeconds %d was over", c.seen(late), *c.State.Spec.Deadline)
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

// blockers names the Jobs that block the next one, and since when the oldest runs.
func (c *CronAnswer) blockers() (text string, from []Mark) {
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

// strangers names the Jobs of status.active that block the next one when none is known to run. A Job that the CronJob
// no longer owns blocks until it leaves the list: its end is not observed (C-109).
func (c *CronAnswer) strangers() (text string, from []Mark) {
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

// stranger returns the first Job of status.active that the CronJob once owned and no longer owns; nil for none. It
// misses Jobs from before the records that were read.
func (c *CronAnswer) stranger() (history.RunName, *cronRun) {
	for _, n := range c.State.Published.Active {
		if r := c.run(types.UID(n.UID)); r != nil && r.Left {
			return n, r
		}
	}
	return history.RunName{}, nil
}

// heldByStranger reports whether only a Job that the CronJob no longer owns blocks the next one.
func (c *CronAnswer) heldByStranger() bool {
	_, r := c.stranger()
	return r != nil && c.State.Spec.Policy == "Forbid" && len(c.running()) == 0
}

// running returns its Jobs that have not ended.
func (c *CronAnswer) running() (out []*cronRun) {
	for _, r := range c.runs {
		if r.Ended.Record == 0 && r.Gone.Record == 0 {
			out = append(out, r)
		}
	}
	return out
}

// refusal returns the newest refusal of the Job of a due time; nil for none.
func (c *CronAnswer) refusal(due events.Time) *duetimes.Refusal {
	for i := len(c.due.Refusals) - 1; i >= 0; i-- {
		if x := &c.due.Refusals[i]; x.Due == due {
			return x
		}
	}
	return nil
}

// missed counts the newest consecutive due times that did not start, including the open one, and returns the newest of
// them. If the fate of the newest is unknown, n is 0.
func (c *CronAnswer) missed() (n int, newest *duetimes.Entry) {
	all := c.dues()
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		switch {
		case e.Fate == 0 && c.young(e):
			continue
		case e.Fate == events.TickUnknown && newest == nil:
			return 0, e
		case started(e):
			return n, newest
		}
		count, _ := c.due.Count(e)
		if n += max(count, 1); newest == nil {
			newest = e
		}
	}
	return n, newest
}

// dues returns its passed due times in order: those with a fate, the open one, and those without a record.
func (c *CronAnswer) dues() []duetimes.Entry {
	all := slices.DeleteFunc(slices.Clone(c.due.Entries), func(e duetimes.Entry) bool { return !isDue(&e) })
	if l := c.due.Ledger; l != nil && l.Open != 0 && !l.Closed && !c.due.Elsewhere && c.due.Gone == 0 {
		all = append(all, duetimes.Entry{Tick: events.Tick{First: l.Open, Last: l.Open}})
	}
	return append(all, c.due.Untold()...)
}

// young reports whether a due time is so recent that it may still start.
func (c *CronAnswer) young(e *duetimes.Entry) bool {
	if l := c.due.Ledger; !e.Observed && !(l != nil && l.Open == e.Last) {
		return c.now().Sub(e.First) < history.GraceUndecided(c.State.Spec.Deadline)
	}
	return e.First == e.Last && c.now().Sub(e.Last) < history.Grace(c.State.Spec.Deadline)
}

// startedInARow returns the number of newest consecutive due times that started, the maximum lateness, and the newest
// record.
func (c *CronAnswer) startedInARow() (n int, late time.Duration, from []Mark) {
	all := c.dues()
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		if e.Fate == 0 || e.Fate == events.TickReplaced && n == 0 || e.Fate == events.TickAgain {
			continue // due now, dropped by a change of the schedule, or listed by another entry
		}
		if e.Job == "" && e.Fate != events.TickStarted {
			break
		}
		if n++; len(from) == 0 {
			from = marks(Mark{e.Record, e.At})
		}
		late = max(late, e.Late)
	}
	return n, late, from
}

// healthyVerdict says how many due times started, and how late.
func (c *CronAnswer) healthyVerdict() Sentence {
	n, late, from := c.startedInARow()
	its, looked, next := "its", "", c.nextText()
	if since := c.unlooked(); since != "" {
		its, looked, next = "the", " that "+was(n)+" looked at", since+next
	}
	if still := c.stillText(); still != "" {
		next += still
	}
	hand, marked := c.handSince(nil)
	next, from = next+hand, append(from, marked...)
	switch {
	case n == 0 && c.due.Seen != nil && c.due.Told == 0 && len(c.dues()) == 0:
		return say(marks(c.added), "HEALTHY: it was not due yet since its creation%s", next)
	case n == 0:
		return say(marks(c.added), "HEALTHY: no due time is known that did not start%s", next)
	case n == 1:
		return say(from, "HEALTHY: %s last due time%s started %s late%s", its, looked, words.Span(late), next)
	}
	return say(from, "HEALTHY: %s last %d due times%s started, at most %s late%s", its, n, looked, words.Span(late), next)
}

// stillText says how many of its Jobs run, and whether the newest Job replaced the one before it.
func (c *CronAnswer) stillText() (text string) {
	if n := len(c.running()); n > 1 {
		text = fmt.Sprintf("; %d of its Jobs run", n)
	}
	if runs := c.scheduledRuns(); len(runs) > 1 && c.replaced(runs[1], runs[0]) {
		text += "; " + runs[1].Name + " was replaced by " + runs[0].Name + " before it ended"
	}
	return text
}

// specMarks returns the record of the current spec.
func (c *CronAnswer) specMarks() []Mark {
	if n := len(c.due.Changes); n > 0 {
		ch := &c.due.Changes[n-1]
		return []Mark{{ch.Record, ch.At}}
	}
	return marks(c.added)
}

// tooLate returns when the starting deadline of the open due time expired; 0 if it has not, or none is set.
func (c *CronAnswer) tooLate() events.Time {
	d := c.State.Spec.Deadline
	if d == nil || c.open() == 0 {
		return 0
	}
	if late := c.open().Add(seconds(*d)); late < c.now() {
		return late
	}
	return 0
}
