package late

import (
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

const (
	// lateAfter is the smallest delay that an answer calls late, in what Jobledger did or saw. Normal delays are
	// shorter: reports about pods may take 5 s, a status write up to 4 s, and the API server's times are whole seconds.
	lateAfter = 10 * time.Second
	// lateSlack is the part of a delay that may have another cause than the one that is proved.
	lateSlack = 3 * time.Second
	// sameClock is the largest difference between two clocks that agree, if one of them has whole seconds.
	sameClock = 3 * time.Second
	// mostSought is how many records are read backward, at most, to find one with an earlier time.
	mostSought = 64
)

// lateness is something that Jobledger did or saw (at to), and the earliest time at which it could have (from).
type lateness struct {
	what, after string       // what it did or saw, and what had to come first: "the Job was seen", "it was created"
	from        explain.Mark // without a record if the time is by another clock
	to          explain.Mark
	own         bool // both times are by the controller's clock
	// due is set if only Jobledger could do it. Records that it wrote in the meantime then prove that it was behind.
	due bool
}

func (l *lateness) by() time.Duration { return l.to.At.Sub(l.from.At) }

// Of says what Jobledger did or saw late about the Job, and why, if records prove it: it did not run, it stood still,
// or it was behind. For a Job of another controller, it only says what was seen late.
func Of(c *jobcase.Case) []explain.Sentence {
	all := []lateness{seenLate(c), deadlineLate(c)}
	for i, t := range c.Tries {
		all = append(all, orderedLate(c, i), endSeenLate(c, t))
	}
	longest := map[string]int{} // of delays after the same kind of event (after), only the longest is reported
	var out []explain.Sentence
	for i := range all {
		if k, known := longest[all[i].after]; !known || all[i].by() > all[k].by() {
			longest[all[i].after] = i
		}
	}
	for i := range all {
		if longest[all[i].after] != i {
			continue
		}
		if s, is := lateText(c, &all[i]); is {
			out = append(out, s)
		}
	}
	return explain.Fewer(append(out, stepped(c)...), 3)
}

// OfTry says what Jobledger did or saw late about one try (pod), and why, if records prove it.
func OfTry(c *jobcase.Case, t *try.Try) (out []explain.Sentence) {
	for _, l := range []lateness{orderedLate(c, slices.Index(c.Tries, t)), endSeenLate(c, t)} {
		if s, is := lateText(c, &l); is {
			out = append(out, s)
		}
	}
	return out
}

func lateText(c *jobcase.Case, l *lateness) (explain.Sentence, bool) {
	why, from := whyLate(c, l)
	if why == "" {
		return explain.Sentence{}, false
	}
	return explain.Say(append(explain.Marks(l.from, l.to), from...), "%s %s after %s: %s", l.what, words.Span(l.by()),
		l.after, why), true
}

// whyLate says what delayed Jobledger in l. It is empty if nothing was late, or if no record shows why.
func whyLate(c *jobcase.Case, l *lateness) (why string, from []explain.Mark) {
	if l.to.Record == 0 || l.from.At == 0 || l.by() < lateAfter || stepBetween(c, l.from.At, l.to.At) {
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
		return fmt.Sprintf("%s from %s to %s", text, c.Clock(events.Time(g.From)), c.Clock(until)), explain.GapMarks(g)
	}
	before, known := recordBefore(c, l.to)
	switch {
	case !known:
		return "", nil
	case covers(before.At, l.to.At) && l.own:
		return fmt.Sprintf("Jobledger stood still from %s to %s, and recorded nothing", c.Clock(before.At), c.Clock(l.to.At)),
			explain.Marks(before, l.to)
	case covers(before.At, l.to.At):
		return fmt.Sprintf("Jobledger recorded nothing from %s to %s: it stood still, or the API server told it nothing",
				c.Clock(before.At), c.Clock(l.to.At)),
			explain.Marks(before, l.to)
	case l.due && before.At > l.from.At:
		return "Jobledger was behind: it recorded other things meanwhile", explain.Marks(before)
	}
	return "", nil
}

// recordBefore returns the newest record of the log with an earlier time than m. It returns false if there is none
// among the 64 records (mostSought) before m.
func recordBefore(c *jobcase.Case, m explain.Mark) (explain.Mark, bool) {
	for at := m.Record - 1; at > 0 && m.Record-at <= mostSought; at-- {
		r, err := history.Record(c.Ctx, c.Src, at)
		if c.Miss(c.Src, err); err != nil {
			return explain.Mark{}, false
		}
		if r.Time < m.At {
			return explain.MarkOf(&r), true
		}
	}
	return explain.Mark{}, false
}

// seenLate returns how late Jobledger saw the Job first, after its creation. It returns zero if the Job had begun
// before, if another controller ran it, or if the API server's clock does not agree with ours.
func seenLate(c *jobcase.Case) (l lateness) {
	if c.Added.Record == 0 || c.Begun != "" || !c.OursUntil(c.Added) || !serverClockAgrees(c) {
		return l
	}
	return lateness{
		what: "the Job was seen", after: "it was created (by the API server's clock)",
		from: explain.Mark{At: events.Time(c.Job.Created)}, to: c.Added,
	}
}

// serverClockAgrees reports whether the API server's clock agrees with ours. This is so if a record shows a pod within
// 3 s (sameClock) of our decision to create it, and the pod's creation time lies between the two, give or take 3 s.
func serverClockAgrees(c *jobcase.Case) bool {
	return slices.ContainsFunc(c.Tries, func(t *try.Try) bool {
		return t.Ordered.Record != 0 && t.Created != 0 && t.Seen.At.Sub(t.Ordered.At) <= sameClock &&
			t.Created >= t.Ordered.At.Add(-sameClock) && t.Created <= t.Seen.At.Add(sameClock)
	})
}

// deadlineLate returns how late Jobledger failed the Job after its deadline (activeDeadlineSeconds). It returns zero if
// the Job did not fail for this, if another controller ran it, or if the API server ever refused a status write.
func deadlineLate(c *jobcase.Case) (l lateness) {
	s := c.Settled
	if s == nil || s.Reason != "DeadlineExceeded" || s.Decided.Record == 0 || !c.OursUntil(s.Decided) || refusedEver(c,
		events.CommandWriteStatus) {
		return l
	}
	due, has := deadline(c)
	if !has {
		return l
	}
	from := explain.Mark{At: max(due, c.StartSeen.At)}
	for _, e := range c.Edits {
		from.At = max(from.At, e.At.At)
	}
	return lateness{what: "the deadline was acted on", after: "it had passed", from: from, to: s.Decided, own: true,
		due: true}
}

// deadline returns when the Job's activeDeadlineSeconds expire.
func deadline(c *jobcase.Case) (events.Time, bool) {
	if c.Spec == nil || c.Spec.ActiveDeadlineSeconds == nil || c.StartTime == 0 {
		return 0, false
	}
	return c.StartTime.Add(explain.Seconds(*c.Spec.ActiveDeadlineSeconds)), true
}

// refusedEver reports whether the API server has ever refused a command of a kind.
func refusedEver(c *jobcase.Case, kind events.CommandKind) bool {
	return slices.ContainsFunc(c.Refusals, func(x *jobcase.Refusal) bool { return x.Kind == kind })
}

// orderedLate returns how late Jobledger issued the command to create the Job's i-th pod. It returns zero for a Job
// with indexes or with several pods at a time, because the log does not show which pod replaced which. It also returns
// zero if another controller ran the Job, or if the API server ever refused a create.
func orderedLate(c *jobcase.Case, i int) (l lateness) {
	t := c.Tries[i]
	if t.Ordered.Record == 0 || t.Index != events.NoIndex || !c.OursUntil(t.Ordered) || refusedEver(c,
		events.CommandCreatePod) {
		return l
	}
	from, is := readyFor(c, i, t.Ordered)
	if !is {
		return l
	}
	l = lateness{what: "its first pod was asked for", after: "the Job was seen", from: from, to: t.Ordered, own: true}
	if i > 0 {
		l.what, l.after = "the next pod was asked for", "it could be (the one of before had ended, and its backoff was over)"
	}
	return l
}

// readyFor returns from when on the Job's i-th pod could be created: the first one when the Job was seen, a later one
// when the pod before it had ended and its backoff was over; never before an edit that precedes record until. It
// returns false for a Job with several pods at a time, and if the records do not tell.
func readyFor(c *jobcase.Case, i int, until explain.Mark) (from explain.Mark, is bool) {
	if c.Spec == nil || jobcase.Number(c.Spec.Parallelism) != 1 || c.Added.Record == 0 {
		return from, false
	}
	from = c.Added
	if i > 0 {
		before := c.Tries[i-1]
		if before.Ended.Record == 0 || before.Gone.Record != 0 && before.Gone.Record < before.Ended.Record {
			return from, false
		}
		if from = before.Ended; before.Again > from.At {
			from = explain.Mark{At: before.Again}
		}
	}
	for _, e := range c.Edits {
		if e.At.Record < until.Record && e.At.At > from.At {
			from = e.At
		}
	}
	return from, !c.FirstSuspended() || i > 0
}

// endSeenLate returns how late Jobledger saw the end of try t (a pod), by the node's clock.
func endSeenLate(c *jobcase.Case, t *try.Try) (l lateness) {
	// agrees: the node's clock agrees with ours. The node's time of the containers' start is at most 3 s (sameClock)
	// from our record of it.
	agrees := t.Running != 0 && t.Started.Record != 0 && t.Started.At.Sub(t.Running).Abs() <= sameClock
	if t.Ended.Record == 0 || t.Finished == 0 || !agrees {
		return l
	}
	return lateness{
		what: "the end of " + t.Pod + " was seen", after: "it ended (by its node's clock)",
		from: explain.Mark{At: t.Finished}, to: t.Ended,
	}
}

// IdleAtDeadline says that the Job had no pod when its deadline passed, because Jobledger was late to create one; empty
// otherwise.
func IdleAtDeadline(c *jobcase.Case) (text string, from []explain.Mark) {
	due, has := deadline(c)
	s := c.Settled
	if !has || s.Decided.Record == 0 || !c.OursUntil(s.Decided) || refusedEver(c, events.CommandCreatePod) {
		return "", nil
	}
	for _, t := range c.Tries {
		if t.Ended.Record == 0 || t.Ended.At >= due {
			return "", nil
		}
	}
	ready, is := readyFor(c, len(c.Tries), s.Decided)
	if !is || ready.At >= due {
		return "", nil
	}
	why, from := whyLate(c, &lateness{from: ready, to: s.Decided, own: true})
	if why == "" {
		return "", nil
	}
	return " while no pod ran, as " + why, append(explain.Marks(ready), from...)
}

// stepped says when our clock jumped during the Job's life, so that times before and after cannot be compared.
func stepped(c *jobcase.Case) (out []explain.Sentence) {
	for _, x := range c.Steps {
		if x.At < c.Start() || x.At > c.End() || x.By.Abs() < time.Second {
			continue
		}
		how := "forward (the machine slept, or the clock was set)"
		if x.By < 0 {
			how = "back"
		}
		out = append(out, explain.Say(explain.Marks(x.Mark),
			"at %s Jobledger's clock went %s %s: times of before and behind it are not of one clock",
			c.Clock(x.At), words.Span(x.By.Abs()), how))
	}
	return out
}

// stepBetween reports whether our clock jumped between two times.
func stepBetween(c *jobcase.Case, from, to events.Time) bool {
	return slices.ContainsFunc(c.Steps, func(x jobcase.ClockStep) bool {
		return x.At >= from.Add(-x.By.Abs()) &&
			x.At <= to.Add(x.By.Abs())
	})
}
