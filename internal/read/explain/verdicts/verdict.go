package verdicts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/deletion"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// Of returns the verdict about a Job: how it ended and why, or what it waits for, in one sentence. If damage of the log
// hides what happened later, the verdict begins with UNKNOWN.
func Of(c *jobcase.Case) explain.Sentence {
	v := readVerdict(c)
	if g := c.Job.Gap; g != nil && !c.Over() && !c.Cut {
		v.Prepend(UnwatchedText(c, g))
	}
	if c.Cut && !c.Over() {
		v.Prepend("UNKNOWN since " + c.Clock(events.Time(c.Job.AsOf.Time)) + ", as the log is damaged; until then ")
	}
	return v
}

// UnwatchedText says that nobody watched the cluster at the requested time, which is in gap g. The last known state
// follows in the answer.
func UnwatchedText(c *jobcase.Case, g *history.Gap) string {
	until := "on"
	if g.Until != 0 {
		until = "to " + c.Clock(events.Time(g.Until))
	}
	return fmt.Sprintf("UNKNOWN at %s: not watched from %s %s. Seen last: ", c.Clock(events.Time(c.Job.AsOf.Time)),
		c.Clock(events.Time(g.From)), until)
}

// readVerdict returns the verdict by the readable records.
func readVerdict(c *jobcase.Case) explain.Sentence {
	if m, is := c.Unseen(); is {
		return explain.Say(explain.Marks(m), "UNKNOWN since %s: Jobledger has not looked at it since; %s runs it",
			c.Clock(m.At), c.Controller())
	}
	switch c.Job.State {
	case history.StateFailed, history.StateComplete:
		return overVerdict(c)
	case history.StateFailing:
		how, from := stuck.Stopping(c)
		told := slices.Concat(explain.Marks(from), NumbersMarks(c, c.Settled), c.SettledMarks())
		return explain.Say(told, "FAILING: %s; %s", Numbers(c, c.Settled), how)
	case history.StateFinishing:
		how, from := stuck.Stopping(c)
		return explain.Say(append(explain.Marks(from), c.SettledMarks()...), "FINISHING: %s; %s", Numbers(c, c.Settled), how)
	case history.StateDeleted, history.StateDeleting:
		return deletedVerdict(c)
	case history.StateFinished:
		lost := "gone"
		if c.Resumed != 0 {
			lost = "damaged"
		}
		return explain.Say(nil, "FINISHED at %s: how and why is unknown, as the records that say so are %s",
			c.Clock(events.Time(c.Job.Finished)), lost)
	case history.StateUnseen:
		// The log records a spec before the first version of the Job that has it. If it has no pod either, it has the
		// spec alone.
		if len(c.Tries) == 0 {
			return explain.Say([]explain.Mark{explain.RecordMark(events.Sequence(c.Job.Last))},
				"NOT SEEN YET: the log has its spec alone, and no version of it so far")
		}
		return explain.Say(nil, "UNSEEN: the log knows it only from pods that name it")
	case history.StateUnmanaged:
		return explain.Say(explain.Marks(c.Added), "NOT MANAGED here: %s runs it", c.Controller())
	case history.StateSuspended:
		return suspendedVerdict(c)
	}
	return livingVerdict(c)
}

// overVerdict returns the verdict about a Job that has ended. If the Job's deadline passed, it adds what kept the Job
// from finishing earlier.
func overVerdict(c *jobcase.Case) explain.Sentence {
	text, from := verdict.Of(c.Folded), c.SettledMarks()
	if held, by := stuck.Meanwhile(c); held.Cut != "" {
		if head, rest, is := strings.Cut(text, " passed"); is {
			tail := named(c, explain.Say(nil, "%s", rest))
			v := explain.Say(slices.Concat(from, by, tail.Marks()), "%s passed%s%s", head, held, tail.Passage())
			v.Unsaid = tail.Unsaid
			return v
		}
	}
	v := named(c, explain.Say(from, "%s", text))
	return onTheWay(c, v)
}

func deletedVerdict(c *jobcase.Case) explain.Sentence {
	what := "before any pod ran"
	for _, t := range c.Tries {
		if t.Started.Record != 0 || t.Began() != 0 {
			what = "before it ended"
		}
	}
	gone := c.Deletion().Record
	ran := func(t *try.Try) bool {
		return t.Started.Record != 0 && t.Started.Record < gone && (t.Ended.Record == 0 || t.Ended.Record > gone)
	}
	if slices.ContainsFunc(c.Tries, ran) {
		what = "while it ran"
	}
	held, by := stuck.HeldAtDeletion(c, c.Deletion())
	word := "DELETED"
	if c.Job.State == history.StateDeleting {
		word = "BEING DELETED"
	}
	m := c.Deletion()
	at := m.At
	if c.JobDeleted != 0 {
		at = c.JobDeleted
	}
	if c.NeverSeen() {
		return leaving(explain.ByWhom, explain.Say(explain.Marks(m),
			"%s, found gone %s: when and %s, as the log has no version of it", word, c.Clock(m.At), explain.ByWhom))
	}
	if g := deletion.GoneUnseen(c, m); g != nil {
		ended := ""
		if !c.OursUntil(m) { // if another controller ran the Job, that controller may have ended it unseen
			ended = "whether it had ended before, "
		}
		if ttl := c.NewestTTL(); ended != "" && ttl != nil {
			ended = fmt.Sprintf("whether it had ended before (ttlSecondsAfterFinished is %d), ", *ttl)
		}
		return leaving(explain.ByWhom, explain.Say(explain.Marks(m),
			"%s, found gone %s: %swhen and %s, as it was not watched from %s on", word, c.Clock(m.At), ended, explain.ByWhom, c.Clock(events.Time(g.From))))
	}
	who, unknown, from := deletion.Job(c, m, at)
	after := words.Span(max(m.At.Sub(c.Start()), 0))
	switch inner, is := strings.CutSuffix(who, ")"); {
	case unknown != "" && is:
		who = inner + unknown + ")"
	case unknown != "":
		who += " (" + strings.TrimPrefix(unknown, "; ") + ")"
	}
	if held.Cut == "" {
		held = whole(", " + what)
	}
	return leaving(strings.TrimPrefix(unknown, "; "),
		explain.Say(slices.Concat(explain.Marks(m), from, by), "%s after %s %s%s", word, after, who, held))
}

// leaving adds the phrase unsaid, about what no record tells, to v.Unsaid, and returns v. It adds nothing if unsaid is
// empty.
func leaving(unsaid string, v explain.Sentence) explain.Sentence {
	if unsaid != "" {
		v.Unsaid = append(v.Unsaid, unsaid)
	}
	return v
}

// queueLabel is the label with the Kueue queue of a Job.
const queueLabel = "kueue.x-k8s.io/queue-name"

// suspendedVerdict returns the verdict about a suspended Job: since when, who suspended it if known, and its Kueue
// queue, because Kueue may have suspended it.
func suspendedVerdict(c *jobcase.Case) explain.Sentence {
	since, by := suspension(c)
	text := "SUSPENDED for " + words.Span(c.End().Sub(since.At))
	switch {
	case by != nil && by.Manager != "":
		text += ", by " + by.Manager
	case since.Record != shownFirst(c).Record:
	case c.Created:
		text += ", since it was created, and never resumed"
	default:
		if !suspendedSince(c) {
			text = strings.Replace(text, "for ", "for at least ", 1)
		}
		text += ", since before it was first seen"
	}
	if c.Origin != nil {
		for _, l := range c.Origin.Labels {
			if l.Name == queueLabel {
				text += "; it is in the queue " + l.Value + " of Kueue"
			}
		}
	}
	return explain.Say(explain.Marks(since), "%s", text)
}

// suspension returns the record since which the Job is suspended, and the edit that suspended it; nil if unknown.
func suspension(c *jobcase.Case) (explain.Mark, *events.Edit) {
	for i := len(c.Edits) - 1; i >= 0; i-- {
		if e := &c.Edits[i]; e.After.Suspend && !e.Before.Suspend {
			return e.At, e.By
		}
	}
	first := shownFirst(c)
	switch {
	case c.Created:
		first.At = c.Start()
	case suspendedSince(c):
		first.At = c.Folded.Base.Condition(status.Suspended).Since
	}
	return first, nil
}

// shownFirst returns the oldest record of the Job that is not pruned.
func shownFirst(c *jobcase.Case) explain.Mark {
	if c.Added.Record != 0 {
		return c.Added
	}
	return c.Stated
}

// suspendedSince reports whether the status of a suspended Job has the condition Suspended, with a time.
func suspendedSince(c *jobcase.Case) bool {
	k := c.Folded.Base.Condition(status.Suspended)
	return k != nil && k.Status == "True" && k.Since != 0
}
