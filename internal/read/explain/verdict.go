package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// verdict returns the answer in one line. If damage hides the rest of a Job that went on, it begins with UNKNOWN.
func (c *Case) verdict() Sentence {
	v := c.readVerdict()
	if g := c.Job.Gap; g != nil && !c.over() && !c.cut {
		v.after(c.unwatchedText(g))
	}
	if c.cut && !c.over() {
		v.after("UNKNOWN since " + c.clock(events.Time(c.Job.AsOf.Time)) + ", as the log is damaged; until then ")
	}
	return v
}

// unwatchedText says that nobody watched at the requested time. The last known state follows it.
func (c *Case) unwatchedText(g *history.Gap) string {
	until := "on"
	if g.Until != 0 {
		until = "to " + c.clock(events.Time(g.Until))
	}
	return fmt.Sprintf("UNKNOWN at %s: not watched from %s %s. Seen last: ", c.clock(events.Time(c.Job.AsOf.Time)), c.clock(events.Time(g.From)), until)
}

// readVerdict returns the verdict by the readable records.
func (c *Case) readVerdict() Sentence {
	if m, is := c.unseen(); is {
		return say(marks(m), "UNKNOWN since %s: Jobledger has not looked at it since; %s runs it", c.clock(m.At), c.controller())
	}
	switch c.Job.State {
	case history.StateFailed, history.StateComplete:
		return c.overVerdict()
	case history.StateFailing:
		how, from := c.stopping()
		told := slices.Concat(marks(from), c.numbersMarks(c.settled), c.settledMarks())
		return say(told, "FAILING: %s; %s", c.numbers(c.settled), how)
	case history.StateFinishing:
		how, from := c.stopping()
		return say(append(marks(from), c.settledMarks()...), "FINISHING: %s; %s", c.numbers(c.settled), how)
	case history.StateDeleted, history.StateDeleting:
		return c.deletedVerdict()
	case history.StateFinished:
		lost := "gone"
		if c.resumed != 0 {
			lost = "damaged"
		}
		return say(nil, "FINISHED at %s: how and why is unknown, as the records that say so are %s", c.clock(events.Time(c.Job.Finished)), lost)
	case history.StateUnseen:
		if len(c.Tries) == 0 { // the spec and template are stored before the first version that uses them
			return say([]Mark{record(events.Sequence(c.Job.Last))}, "NOT SEEN YET: the log has its spec alone, and no version of it so far")
		}
		return say(nil, "UNSEEN: the log knows it only from pods that name it")
	case history.StateUnmanaged:
		return say(marks(c.added), "NOT MANAGED here: %s runs it", c.controller())
	case history.StateSuspended:
		return c.suspendedVerdict()
	}
	return c.livingVerdict()
}

// overVerdict returns the verdict of a Job that is over. If the Job's deadline passed it adds what held the Job up.
func (c *Case) overVerdict() Sentence {
	text, from := verdict.Of(c.folded), c.settledMarks()
	if held, by := c.meanwhile(); held.cut != "" {
		if head, rest, is := strings.Cut(text, " passed"); is {
			return say(append(from, by...), "%s passed%s%s", head, held, rest)
		}
	}
	return c.named(say(from, "%s", text))
}

func (c *Case) settledMarks() []Mark {
	if c.settled == nil {
		return nil
	}
	return marks(c.settled.Decided, c.settled.Stored)
}

// settledBy returns the try whose end settled the Job's end; nil for none.
func (c *Case) settledBy() *Try {
	trigger := c.trigger(c.settled)
	for _, t := range c.Tries {
		if len(trigger) > 0 && t.end().Record == trigger[0].Record {
			return t
		}
	}
	return nil
}

func (c *Case) deletedVerdict() Sentence {
	what := "before any pod ran"
	for _, t := range c.Tries {
		if t.Started.Record != 0 || t.began() != 0 {
			what = "before it ended"
		}
	}
	gone := c.deletion().Record
	ran := func(t *Try) bool {
		return t.Started.Record != 0 && t.Started.Record < gone && (t.Ended.Record == 0 || t.Ended.Record > gone)
	}
	if slices.ContainsFunc(c.Tries, ran) {
		what = "while it ran"
	}
	word := "DELETED"
	if c.Job.State == history.StateDeleting {
		word = "BEING DELETED"
	}
	m := c.deletion()
	at := m.At
	if c.jobDeleted != 0 {
		at = c.jobDeleted
	}
	if g := c.goneUnseen(m); g != nil {
		ended := ""
		if !c.oursUntil(m) { // another controller may have ended it
			ended = "whether it had ended before, "
		}
		if t := c.Spec; ended != "" && t != nil && t.TTLSecondsAfterFinished != nil {
			ttl := *t.TTLSecondsAfterFinished
			ended = fmt.Sprintf("whether it had ended before (ttlSecondsAfterFinished is %d), ", ttl)
		}
		return say(marks(m), "%s, found gone %s: %swhen and by whom is unknown, as it was not watched from %s on",
			word, c.clock(m.At), ended, c.clock(events.Time(g.From)))
	}
	by, unknown, from := c.removedBy(m, at)
	after := words.Span(max(m.At.Sub(c.start()), 0))
	return say(append(marks(m), from...), "%s after %s, %s, %s", word, after, what, by+unknown)
}

// queueLabel names the Kueue queue of a Job.
const queueLabel = "kueue.x-k8s.io/queue-name"

// suspendedVerdict says since when the Job is suspended, by whom if known, and in which queue it is, which may be why.
func (c *Case) suspendedVerdict() Sentence {
	since, by := c.suspension()
	text := "SUSPENDED for " + words.Span(c.end().Sub(since.At))
	switch {
	case by != nil && by.Manager != "":
		text += ", by " + by.Manager
	case since.Record != c.shownFirst().Record:
	case c.created:
		text += ", since it was created"
	default:
		if !c.suspendedSince() {
			text = strings.Replace(text, "for ", "for at least ", 1)
		}
		text += ", since before it was first seen"
	}
	if c.origin != nil {
		for _, l := range c.origin.Labels {
			if l.Name == queueLabel {
				text += "; it is in the queue " + l.Value + " of Kueue"
			}
		}
	}
	return say(marks(since), "%s", text)
}

// suspension returns since when a suspended Job is suspended, and the edit; nil if unknown.
func (c *Case) suspension() (Mark, *events.Edit) {
	for i := len(c.edits) - 1; i >= 0; i-- {
		if e := &c.edits[i]; e.After.Suspend && !e.Before.Suspend {
			return e.At, e.By
		}
	}
	first := c.shownFirst()
	switch {
	case c.created:
		first.At = c.start()
	case c.suspendedSince():
		first.At = c.folded.Base.Condition(status.Suspended).Since
	}
	return first, nil
}

// shownFirst returns the first kept record of the Job.
func (c *Case) shownFirst() Mark {
	if c.added.Record != 0 {
		return c.added
	}
	return c.stated
}

// suspendedSince reports whether the status of a suspended Job has the time of the suspension.
func (c *Case) suspendedSince() bool {
	k := c.folded.Base.Condition(status.Suspended)
	return k != nil && k.Status == "True" && k.Since != 0
}
