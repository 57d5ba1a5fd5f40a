package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

const (
	// lateAfter is the delay from which an action or observation of Jobledger is reported as late. Reports about pods
	// wait 5 s, a status write up to 4 s, and the API server's times are whole seconds.
	lateAfter = 10 * time.Second
	// lateSlack is the part of the delay that may have another cause.
	lateSlack = 3 * time.Second
	// sameClock is the maximum difference of two clocks that agree, if one is read in whole seconds.
	sameClock = 3 * time.Second
	// mostSought is the maximum number of records read back to find one with an earlier time.
	mostSought = 64
)

// lateness is an action or observation of Jobledger, and the earliest time at which it was possible.
type lateness struct {
	what, after string // "the Job was seen", "it was created (by the API server's clock)"
	from        Mark   // without a record if the time is of another clock
	to          Mark
	own         bool // both times are by our clock
	due         bool // the action was ours alone: records written meanwhile prove that Jobledger was behind
}

func (l *lateness) by() time.Duration { return l.to.At.Sub(l.from.At) }

// clockStep is a jump of our clock.
type clockStep struct {
	Mark
	by time.Duration
}

// late says what Jobledger did or saw late, and why, if the records prove it: it was away, stood still, or was behind.
// About Jobs of another controller it says only what was seen late.
func (c *Case) late() []Sentence {
	all := []lateness{c.seenLate(), c.deadlineLate()}
	for i, t := range c.Tries {
		all = append(all, c.orderedLate(i), c.endSeenLate(t))
	}
	longest := map[string]int{} // one is reported of each sort
	var out []Sentence
	for i := range all {
		if k, known := longest[all[i].after]; !known || all[i].by() > all[k].by() {
			longest[all[i].after] = i
		}
	}
	for i := range all {
		if longest[all[i].after] != i {
			continue
		}
		if s, is := c.lateText(&all[i]); is {
			out = append(out, s)
		}
	}
	return fewer(append(out, c.stepped()...), 3)
}

// lateOf is late for one of the tries.
func (c *Case) lateOf(t *Try) (out []Sentence) {
	for _, l := range []lateness{c.orderedLate(slices.Index(c.Tries, t)), c.endSeenLate(t)} {
		if s, is := c.lateText(&l); is {
			out = append(out, s)
		}
	}
	return out
}

func (c *Case) lateText(l *lateness) (Sentence, bool) {
	why, from := c.whyLate(l)
	if why == "" {
		return Sentence{}, false
	}
	return say(append(marks(l.from, l.to), from...), "%s %s after %s: %s", l.what, words.Span(l.by()), l.after, why), true
}

// whyLate says what delayed Jobledger. It is empty if nothing was late, or no record shows why.
func (c *Case) whyLate(l *lateness) (why string, from []Mark) {
	if l.to.Record == 0 || l.from.At == 0 || l.by() < lateAfter || c.stepBetween(l.from.At, l.to.At) {
		return "", nil
	}
	covers := func(since, until events.Time) bool {
		return min(until, l.to.At).Sub(max(since, l.from.At))+lateSlack >= l.by()
	}
	for _, g := range c.Gaps {
		until := events.Time(g.Until)
		if until == 0 {
			until = l.to.At
		}
		if g.From == 0 || !covers(events.Time(g.From), until) {
			continue
		}
		text := "Jobledger's watch of the cluster was cut"
		switch g.Reason {
		case events.ListingStart.String():
			text = "no Jobledger watched"
		case events.ListingGap.String():
			text = "the log had no room, so that nothing was recorded,"
		}
		return fmt.Sprintf("%s from %s to %s", text, c.clock(events.Time(g.From)), c.clock(until)), gapMarks(g)
	}
	before, known := c.recordBefore(l.to)
	switch {
	case !known:
		return "", nil
	case covers(before.At, l.to.At) && l.own:
		return fmt.Sprintf("Jobledger stood still from %s to %s, and recorded nothing", c.clock(before.At), c.clock(l.to.At)), marks(before, l.to)
	case covers(before.At, l.to.At):
		return fmt.Sprintf("Jobledger recorded nothing from %s to %s: it stood still, or the API server told it nothing", c.clock(before.At), c.clock(l.to.At)),
			marks(before, l.to)
	case l.due && before.At > l.from.At:
		return "Jobledger was behind: it recorded other things meanwhile", marks(before)
	}
	return "", nil
}

// recordBefore returns the newest record, of any stream, that has an earlier time than m.
func (c *Case) recordBefore(m Mark) (Mark, bool) {
	for at := m.Record - 1; at > 0 && m.Record-at <= mostSought; at-- {
		r, err := history.Record(c.ctx, c.src, at)
		if c.miss(c.src, err); err != nil {
			return Mark{}, false
		}
		if r.Time < m.At {
			return markOf(&r), true
		}
	}
	return Mark{}, false
}

// seenLate returns the delay until the Job was first seen.
func (c *Case) seenLate() (l lateness) {
	if c.added.Record == 0 || c.begun != "" || !c.oursUntil(c.added) || !c.serverClockAgrees() {
		return l
	}
	return lateness{
		what: "the Job was seen", after: "it was created (by the API server's clock)",
		from: Mark{At: events.Time(c.Job.Created)}, to: c.added,
	}
}

// serverClockAgrees reports whether the API server's clock agrees with ours: a pod that we created has a creation time
// between our decision and its first observation.
func (c *Case) serverClockAgrees() bool {
	return slices.ContainsFunc(c.Tries, func(t *Try) bool {
		return t.Ordered.Record != 0 && t.Created != 0 && t.Seen.At.Sub(t.Ordered.At) <= sameClock &&
			t.Created >= t.Ordered.At.Add(-sameClock) && t.Created <= t.Seen.At.Add(sameClock)
	})
}

// deadlineLate returns the delay until we failed the Job for its deadline.
func (c *Case) deadlineLate() (l lateness) {
	s := c.settled
	if s == nil || s.Reason != "DeadlineExceeded" || s.Decided.Record == 0 || !c.oursUntil(s.Decided) || c.refusedEver(events.CommandWriteStatus) {
		return l
	}
	due, has := c.deadline()
	if !has {
		return l
	}
	from := Mark{At: max(due, c.startSeen.At)}
	for _, e := range c.edits {
		from.At = max(from.At, e.At.At)
	}
	return lateness{what: "the deadline was acted on", after: "it had passed", from: from, to: s.Decided, own: true, due: true}
}

// deadline returns when the Job's activeDeadlineSeconds expire.
func (c *Case) deadline() (events.Time, bool) {
	if c.Spec == nil || c.Spec.ActiveDeadlineSeconds == nil || c.startTime == 0 {
		return 0, false
	}
	return c.startTime.Add(seconds(*c.Spec.ActiveDeadlineSeconds)), true
}

// refusedEver reports whether the API server refused a command of a kind.
func (c *Case) refusedEver(kind events.CommandKind) bool {
	return slices.ContainsFunc(c.refusals, func(x *refusal) bool { return x.Kind == kind })
}

// orderedLate returns the delay until we asked for the i-th pod. It is zero for a Job with several pods at once: the
// log does not show which pod replaced which.
func (c *Case) orderedLate(i int) (l lateness) {
	t := c.Tries[i]
	if t.Ordered.Record == 0 || t.Index != events.NoIndex || !c.oursUntil(t.Ordered) || c.refusedEver(events.CommandCreatePod) {
		return l
	}
	from, is := c.readyFor(i, t.Ordered)
	if !is {
		return l
	}
	l = lateness{what: "its first pod was asked for", after: "the Job was seen", from: from, to: t.Ordered, own: true}
	if i > 0 {
		l.what, l.after = "the next pod was asked for", "it could be (the one of before had ended, and its backoff was over)"
	}
	return l
}

// readyFor returns from when on we could ask for the i-th pod, judging by the records before until. It is false unless
// the Job has one pod at a time.
func (c *Case) readyFor(i int, until Mark) (from Mark, is bool) {
	if c.Spec == nil || number(c.Spec.Parallelism) != 1 || c.added.Record == 0 {
		return from, false
	}
	from = c.added
	if i > 0 {
		before := c.Tries[i-1]
		if before.Ended.Record == 0 || before.Gone.Record != 0 && before.Gone.Record < before.Ended.Record {
			return from, false
		}
		if from = before.Ended; before.Again > from.At {
			from = Mark{At: before.Again}
		}
	}
	for _, e := range c.edits {
		if e.At.Record < until.Record && e.At.At > from.At {
			from = e.At
		}
	}
	return from, !c.firstSuspended() || i > 0
}

// endSeenLate returns the delay until a try's end was seen.
func (c *Case) endSeenLate(t *Try) (l lateness) {
	// The node's clock agrees with ours.
	agrees := t.Running != 0 && t.Started.Record != 0 && t.Started.At.Sub(t.Running).Abs() <= sameClock
	if t.Ended.Record == 0 || t.Finished == 0 || !agrees {
		return l
	}
	return lateness{
		what: "the end of " + t.Pod + " was seen", after: "it ended (by its node's clock)", from: Mark{At: t.Finished}, to: t.Ended,
	}
}

// idleAtDeadline says that the Job had no pod when its deadline passed because Jobledger had not created one.
func (c *Case) idleAtDeadline() (text string, from []Mark) {
	due, has := c.deadline()
	s := c.settled
	if !has || s.Decided.Record == 0 || !c.oursUntil(s.Decided) || c.refusedEver(events.CommandCreatePod) {
		return "", nil
	}
	for _, t := range c.Tries {
		if t.Ended.Record == 0 || t.Ended.At >= due {
			return "", nil
		}
	}
	ready, is := c.readyFor(len(c.Tries), s.Decided)
	if !is || ready.At >= due {
		return "", nil
	}
	why, from := c.whyLate(&lateness{from: ready, to: s.Decided, own: true})
	if why == "" {
		return "", nil
	}
	return " while no pod ran, as " + why, append(marks(ready), from...)
}

// stepped says when our clock jumped while the Job went on: times before and after do not compare.
func (c *Case) stepped() (out []Sentence) {
	for _, x := range c.steps {
		if x.At < c.start() || x.At > c.end() || x.by.Abs() < time.Second {
			continue
		}
		how := "forward (the machine slept, or the clock was set)"
		if x.by < 0 {
			how = "back"
		}
		out = append(out, say(marks(x.Mark), "at %s Jobledger's clock went %s %s: times of before and behind it are not of one clock",
			c.clock(x.At), words.Span(x.by.Abs()), how))
	}
	return out
}

// stepBetween reports whether our clock jumped between two times.
func (c *Case) stepBetween(from, to events.Time) bool {
	return slices.ContainsFunc(c.steps, func(x clockStep) bool { return x.At >= from.Add(-x.by.Abs()) && x.At <= to.Add(x.by.Abs()) })
}
