package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Verdict returns the answer about the CronJob in one line: is it healthy, and if not, why?
func (c *Case) Verdict() explain.Sentence {
	v := c.readVerdict()
	if c.Damage != 0 && c.Gone.Record == 0 {
		v.Prepend("UNKNOWN since " + c.Seen(c.Now()) + ", as the log is damaged; until then ")
	}
	return v
}

func (c *Case) readVerdict() explain.Sentence {
	s := &c.State
	switch s.State {
	case history.CronDeleted:
		by := ""
		if c.Namespace.Record != 0 {
			by = " with its namespace"
		}
		return explain.Say(explain.Marks(c.Namespace, c.Gone), "DELETED%s, seen at %s; %s", by, c.Seen(c.Gone.At),
			explain.ByWhom)
	case history.CronDeleting:
		return explain.Say(explain.Marks(c.Deleting), "BEING DELETED since %s: it is due no more; %s",
			c.Seen(events.Time(s.Deleted)), explain.ByWhom)
	case history.CronUnseen:
		// The log records the Job template before the first version of the CronJob. If it has no Job either, it has the
		// template alone.
		if len(c.Runs) == 0 {
			return explain.Say([]explain.Mark{explain.RecordMark(events.Sequence(s.Last))},
				"NOT SEEN YET: the log has the template of its Jobs alone, and no version of it so far")
		}
		return explain.Say(nil, "UNSEEN: the log knows it only from Jobs that name it")
	case history.CronInvalid:
		return explain.Say(c.specMarks(), "NEVER DUE: %s", s.Reason)
	case history.CronSuspended:
		return c.suspendedVerdict()
	case history.CronHeld:
		return c.heldVerdict()
	case history.CronOverdue, history.CronRunning, history.CronWaiting:
	}
	if s.Next == 0 {
		return explain.Say(c.specMarks(), "NEVER DUE: the schedule %q has no due time in the next five years",
			s.Spec.Schedule)
	}
	missed, newest := c.missed()
	switch {
	case missed > 0 && c.heldByStranger():
		text, from := c.strangers()
		return explain.Say(from, "HELD BACK: %s, the newest due %s, and %s (policy Forbid)", c.inARow(missed),
			c.InZone(newest.Last), text)
	case missed > 0:
		text, from := c.shortFate(newest)
		return explain.Say(from, "NOT STARTING: %s; the newest, %s: %s", c.inARow(missed), c.InZone(newest.Last), text)
	case newest != nil:
		return c.unknownVerdict(newest)
	}
	for _, verdict := range []func() (explain.Sentence, bool){c.unfinishedVerdict, c.starvingVerdict, c.failing,
		c.editedVerdict} {
		if v, ok := verdict(); ok {
			return v
		}
	}
	return c.healthyVerdict()
}

func (c *Case) failing() (v explain.Sentence, ok bool) {
	failed, last := c.failedRuns()
	if failed == 0 {
		return v, false
	}
	return c.failingVerdict(failed, last), true
}

// unknownVerdict returns the verdict that the outcome of the newest due times, e, is unknown.
func (c *Case) unknownVerdict(e *duetimes.Entry) explain.Sentence {
	n, _ := c.Due.Count(e)
	text, from := c.Became(e)
	if e.First != e.Last {
		return explain.Say(from, "UNKNOWN what became of its last %s, from %s to %s: %s", words.Count(max(n, 2), "due time"),
			c.InZone(e.First), c.InZone(e.Last),
			strings.TrimPrefix(text, "unknown: "))
	}
	return explain.Say(from, "UNKNOWN what became of its last due time, %s: %s%s", c.InZone(e.Last),
		strings.TrimPrefix(text, "unknown: "), c.unlooked())
}

func lastRuns(n int) string {
	if n == 1 {
		return "its last run"
	}
	return fmt.Sprintf("its last %d runs", n)
}

// inARow says that the n newest due times, of those that our controller has decided about, did not start.
func (c *Case) inARow(n int) string {
	looked, since := "", c.unlooked()
	if since != "" {
		looked = " that " + explain.Was(n) + " looked at"
	}
	if n == 1 {
		return "its last due time" + looked + " did not start" + since
	}
	return fmt.Sprintf("its last %d due times%s did not start%s", n, looked, since)
}

// unlooked says how many passed due times our controller has not decided about yet: it decides about them together,
// once a minute (C-085). It is empty if there are none.
func (c *Case) unlooked() string {
	e := c.Due.Unstarted()
	if e == nil || e.Observed || e.First == e.Last || !c.young(e) {
		return ""
	}
	if n, ok := c.Due.Count(e); ok {
		return fmt.Sprintf("; %d due times since then were not looked at yet", n)
	}
	return "; those since then were not looked at yet"
}

// shortFate says what became of due time e, without the reason.
func (c *Case) shortFate(e *duetimes.Entry) (text string, from []explain.Mark) {
	text, from = c.Became(e)
	if e.Fate == 0 && !e.Observed {
		return text, from
	}
	text, _, _ = strings.Cut(text, ": ")
	return text, from
}

// suspendedVerdict returns the verdict about a suspended CronJob: since when, by which field manager, and how many due
// times have passed.
func (c *Case) suspendedVerdict() explain.Sentence {
	is, by := c.SuspendedAt(c.Now())
	since, who, m := events.Time(c.State.Created), "", c.Added
	if is && by != nil {
		since, who, m = by.At, explain.ByManager(by.By), explain.Mark{Record: by.Record, At: by.At}
	}
	text := fmt.Sprintf("SUSPENDED for %s, since %s%s", words.Span(c.Now().Sub(since)), c.Seen(since), who)
	if n, more := c.Due.Between(since.Go(), c.Now().Go()); n > 0 {
		text += ": " + words.Count(n, "due time")
		if more {
			text = strings.TrimSuffix(text, "s") + "s or more"
		}
		text += " passed"
	}
	return explain.Say(explain.Marks(m), "%s", text)
}

// heldVerdict returns the verdict that a due time cannot start yet: what holds it back (running Jobs with policy
// Forbid, a failed create, unknown rules of the time zone), and for how long.
func (c *Case) heldVerdict() explain.Sentence {
	open := c.State.Due
	at := events.Time(open.At)
	held := words.Span(c.Now().Sub(at))
	missed, _ := c.missed()
	also := c.unlooked()
	if missed > 1 {
		also = fmt.Sprintf("; %s", c.inARow(missed))
	}
	if late := c.tooLate(); late != 0 {
		also += fmt.Sprintf("; by %s startingDeadlineSeconds %d was over", c.Seen(late), *c.State.Spec.Deadline)
	}
	m := explain.Marks(explain.Mark{Record: events.Sequence(open.Record), At: events.Time(open.Since)})
	switch open.Hold {
	case events.HeldForbid.String():
		blockers, from := c.blockers()
		return explain.Say(append(m, from...), "HELD BACK for %s: due %s, and %s (policy Forbid)%s", held, c.InZone(at),
			blockers, also)
	case events.HeldNoCreate.String():
		x := c.refusal(at)
		class := "it does not say why"
		if x != nil {
			class, m = x.Class.String(), append(m, explain.Mark{Record: x.First, At: x.From}, explain.Mark{Record: x.Last,
				At: x.Until})
		}
		return explain.Say(m, "STUCK for %s: due %s, and the API server refuses its Job (%s)%s", held, c.InZone(at), class,
			also)
	}
	return explain.Say(m, "HELD BACK for %s: due %s: %s%s", held, c.InZone(at), strings.TrimPrefix(open.Says,
		"held back: "), also)
}

// blockers names the running Jobs that keep the next Job from starting, and says since when the oldest runs.
func (c *Case) blockers() (text string, from []explain.Mark) {
	var names []string
	var oldest *croncase.Run
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
	how := " has run for "
	if len(names) > 1 {
		how = " run, the oldest for "
	}
	return text + how + words.Span(c.Now().Sub(oldest.Created)), from
}

// strangers names the Jobs in status.active that keep the next Job from starting, if none of them is known to run. A
// Job that the CronJob no longer owns blocks until it is removed from status.active, because its end is not observed
// (C-109).
func (c *Case) strangers() (text string, from []explain.Mark) {
	if n, r := c.stranger(); r != nil {
		return fmt.Sprintf("%s, in status.active, is not its own since %s", n.Name, c.Seen(r.Gone.At)), explain.Marks(r.First,
			r.Gone)
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

// stranger returns the first Job in status.active that the CronJob owned before and does not own now; nil if there is
// none. It does not find a Job that left the CronJob before the first record that was read.
func (c *Case) stranger() (history.RunName, *croncase.Run) {
	for _, n := range c.State.Published.Active {
		if r := c.Run(types.UID(n.UID)); r != nil && r.Left {
			return n, r
		}
	}
	return history.RunName{}, nil
}

// heldByStranger reports whether the next Job does not start only because of Jobs in status.active that the CronJob no
// longer owns.
func (c *Case) heldByStranger() bool {
	_, r := c.stranger()
	return r != nil && c.State.Spec.Policy == "Forbid" && len(c.running()) == 0
}

// running returns the CronJob's Jobs that have neither ended nor been deleted.
func (c *Case) running() (out []*croncase.Run) {
	for _, r := range c.Runs {
		if r.Ended.Record == 0 && r.Gone.Record == 0 {
			out = append(out, r)
		}
	}
	return out
}

// refusal returns the newest refusal of the API server to create the Job for due time due; nil if there is none.
func (c *Case) refusal(due events.Time) *duetimes.Refusal {
	for i := len(c.Due.Refusals) - 1; i >= 0; i-- {
		if x := &c.Due.Refusals[i]; x.Due == due {
			return x
		}
	}
	return nil
}

// missed counts how many of the newest due times have not started, in a row, and returns the newest of them. A due time
// that may still start does not count. If the outcome of the newest one is unknown, n is 0.
func (c *Case) missed() (n int, newest *duetimes.Entry) {
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
		count, _ := c.Due.Count(e)
		if n += max(count, 1); newest == nil {
			newest = e
		}
	}
	return n, newest
}

// dues returns the passed due times in order: those with a recorded outcome, the open one, and those without a record,
// whose outcome is computed (Untold). The open one is the due time that our controller has looked at and that may still
// start: for example, a running Job (policy Forbid) or a failed create holds it back. There is no open one if the
// CronJob is deleted (Gone) or being deleted (Closed), or if another controller runs it now (Elsewhere).
func (c *Case) dues() []duetimes.Entry {
	all := slices.DeleteFunc(slices.Clone(c.Due.Entries), func(e duetimes.Entry) bool { return !fates.IsDue(&e) })
	if l := c.Due.Ledger; l != nil && l.Open != 0 && !l.Closed && !c.Due.Elsewhere && c.Due.Gone == 0 {
		all = append(all, duetimes.Entry{Tick: events.Tick{First: l.Open, Last: l.Open}})
	}
	return append(all, c.Due.Untold()...)
}

// young reports whether due time e is so recent that it may still start.
func (c *Case) young(e *duetimes.Entry) bool {
	if l := c.Due.Ledger; !e.Observed && !(l != nil && l.Open == e.Last) {
		return c.Now().Sub(e.First) < history.GraceUndecided(c.State.Spec.Deadline)
	}
	return e.First == e.Last && c.Now().Sub(e.Last) < history.Grace(c.State.Spec.Deadline)
}

// startedInARow returns how many of the newest due times have started, in a row, the largest delay among them, and the
// record of the newest one.
func (c *Case) startedInARow() (n int, late time.Duration, from []explain.Mark) {
	all := c.dues()
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		if e.Fate == 0 || e.Fate == events.TickReplaced && n == 0 || e.Fate == events.TickAgain {
			continue // not decided yet, dropped by a change of the schedule, or also in another entry
		}
		if e.Job == "" && e.Fate != events.TickStarted {
			break
		}
		if n++; len(from) == 0 {
			from = explain.Marks(explain.Mark{Record: e.Record, At: e.At})
		}
		late = max(late, e.Late)
	}
	return n, late, from
}

// healthyVerdict returns the verdict HEALTHY: how many of the newest due times have started, and how late.
func (c *Case) healthyVerdict() explain.Sentence {
	n, late, from := c.startedInARow()
	its, looked, next := "its", "", c.nextText()
	if since := c.unlooked(); since != "" {
		its, looked, next = "the", " that "+explain.Was(n)+" looked at", since+next
	}
	if still := c.stillText(); still != "" {
		next += still
	}
	hand, marked := c.handSince(nil)
	next, from = next+hand, append(from, marked...)
	switch {
	case n == 0 && c.Due.Seen != nil && c.Due.Told == 0 && len(c.dues()) == 0:
		return explain.Say(explain.Marks(c.Added), "HEALTHY: it was not due yet since its creation%s", next)
	case n == 0:
		return explain.Say(explain.Marks(c.Added), "HEALTHY: no due time is known that did not start%s", next)
	case n == 1:
		return explain.Say(from, "HEALTHY: %s last due time%s started %s late%s", its, looked, words.Span(late), next)
	}
	return explain.Say(from, "HEALTHY: %s last %d due times%s started, at most %s late%s", its, n, looked,
		words.Span(late), next)
}

// stillText says how many Jobs of the CronJob run, and whether the newest Job replaced the one before it.
func (c *Case) stillText() (text string) {
	if n := len(c.running()); n > 1 {
		text = fmt.Sprintf("; %d of its Jobs run", n)
	}
	if runs := c.scheduledRuns(); len(runs) > 1 && c.replaced(runs[1], runs[0]) {
		text += "; " + runs[1].Name + " was replaced by " + runs[0].Name + " before it ended"
	}
	return text
}

// specMarks returns the record that shows the current spec: that of the newest edit, or else the CronJob's first
// record.
func (c *Case) specMarks() []explain.Mark {
	if n := len(c.Due.Changes); n > 0 {
		ch := &c.Due.Changes[n-1]
		return []explain.Mark{{Record: ch.Record, At: ch.At}}
	}
	return explain.Marks(c.Added)
}

// tooLate returns the time at which startingDeadlineSeconds of the open due time (the one without an outcome) expired;
// 0 if it has not, or is not set.
func (c *Case) tooLate() events.Time {
	d := c.State.Spec.Deadline
	if d == nil || c.open() == 0 {
		return 0
	}
	if late := c.open().Add(explain.Seconds(*d)); late < c.Now() {
		return late
	}
	return 0
}
