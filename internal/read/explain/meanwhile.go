package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// meanwhile is what held a Job up when its deadline passed, as the end of a sentence: what its pods waited for, what
// the API server refused, or a container that ran on beside one that had done its work. It is empty when pods ran, and
// nothing held them.
func (c *Case) meanwhile() (text passage, from []Mark) {
	at := c.passedAt()
	if at.Record == 0 {
		return passage{}, nil
	}
	if g := c.heldAt(at); len(g) > 0 {
		w := g[0].waitAt(at)
		if crashed := g[0].Crashed; len(crashed) > 0 {
			return phrase(" while %s crashed again and again: %s", podsOf(g), exitOf(&crashed[0])), marks(g[0].CrashedAt)
		}
		return phrase(" while %s waited for at least %s: %s%s", podsOf(g), words.Span(at.At.Sub(w.From.At)), w.word(), theirWords(w.Message)), marks(w.From, w.said())
	}
	for _, x := range c.refusals {
		if x.Kind == events.CommandCreatePod && x.Then == nil && x.First.Record < at.Record && (x.Over.Record == 0 || x.Over.Record > at.Record) {
			return phrase(" while the API server refused its pods (%s)%s", x.Class, theirWords(says(x.Says))), marks(x.First, x.Last)
		}
	}
	for _, x := range c.lacks() {
		if x.From.Record < at.Record && (x.Until.Record == 0 || x.Until.Record >= at.Record) {
			return phrase(" while no pod came, why is unknown"), marks(x.From)
		}
	}
	for _, t := range c.Tries {
		if e := t.ended0(); e != nil && t.runsAt(at) && e.Finished != 0 && e.Finished < at.At {
			return phrase(" while %s had ended with 0%s and %s ran on", e.Name, c.atClock(e.Finished), t.othersThan(e)), marks(t.Shown)
		}
	}
	idle, from := c.idleAtDeadline()
	return phrase("%s", idle), from
}

// passedAt is the record by which the Job's deadline had passed, if it ended for that.
func (c *Case) passedAt() Mark {
	switch s := c.settled; {
	case s == nil || s.Reason != "DeadlineExceeded":
		return Mark{}
	case s.Decided.Record != 0:
		return s.Decided
	default:
		return s.Seen
	}
}

// theirWords are the beginning of a message of the cluster's behind a colon, quoted, with its own quotes as single
// ones; nothing where there is none.
func theirWords(s string) passage {
	s = strings.ReplaceAll(strings.TrimSpace(s), `"`, "'")
	if s == "" {
		return passage{}
	}
	if u, is := parseUnschedulable(s); is && u.tail != "" { // all reasons are told, and preemption is none
		return passage{fmt.Sprintf(": %q", begin(strings.TrimSuffix(s, " "+u.tail), mostQuoted)), fmt.Sprintf(": %q", s)}
	}
	return passage{fmt.Sprintf(": %q", begin(s, mostLine)), fmt.Sprintf(": %q", s)}
}

// heldAt are the tries that waited at a record, the longest wait first, if none ran: those that waited for the same as
// the first.
func (c *Case) heldAt(at Mark) (out []*Try) {
	for _, t := range c.Tries {
		w := t.waitAt(at)
		switch {
		case t.Seen.Record >= at.Record:
		case w == nil && t.runsAt(at):
			return nil
		case w == nil || t.over() && t.end().Record < at.Record:
		case !slices.Contains(stuckWords, w.Reason) && at.At.Sub(w.From.At) < waitTold:
		case len(out) == 0 || out[0].waitAt(at).Reason == w.Reason && out[0].waitAt(at).Message == w.Message:
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Try) int {
		return cmp.Compare(a.waitAt(at).From.Record, b.waitAt(at).From.Record)
	})
	return out
}

// waitAt is what the try waited for at a record; nil for nothing that was recorded.
func (t *Try) waitAt(at Mark) *Waiting {
	for i := range t.Waits {
		if w := &t.Waits[i]; w.From.Record < at.Record && (w.Until.Record == 0 || w.Until.Record >= at.Record) {
			return w
		}
	}
	return nil
}

// runsAt reports whether the try had been started before a record, and was not over yet.
func (t *Try) runsAt(at Mark) bool {
	return t.Started.Record != 0 && t.Started.Record < at.Record && (!t.over() || t.end().Record >= at.Record)
}

// othersThan are the containers of which it is known that they ended after one.
func (t *Try) othersThan(e *events.ContainerEnd) string {
	var names []string
	for i := range t.Containers {
		if k := &t.Containers[i]; k.Kind != events.InitContainer && k.Finished > e.Finished {
			names = append(names, k.Name)
		}
	}
	if len(names) == 0 {
		return "other containers of " + t.Pod
	}
	return strings.Join(names, ", ")
}

// podsOf is "its pod", or how many.
func podsOf(g []*Try) string {
	if len(g) == 1 {
		return "its pod"
	}
	return words.Count(len(g), "pod")
}
