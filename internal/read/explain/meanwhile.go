package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// meanwhile says what held a Job up when its deadline passed, as the end of a sentence: what its pods waited for, a
// refusal of the API server, or a container that ran on beside a finished one. It is empty if pods ran unhindered.
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

// passedAt returns the record by which the Job's deadline had passed, if the Job ended for that.
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

// theirWords quotes the beginning of a cluster message after a colon, with its quotes as single ones; empty without a
// message.
func theirWords(s string) passage {
	s = strings.ReplaceAll(strings.TrimSpace(s), `"`, "'")
	if s == "" {
		return passage{}
	}
	// Show all reasons, and leave out the part about preemption.
	if u, is := parseUnschedulable(s); is && u.tail != "" {
		return passage{fmt.Sprintf(": %q", begin(strings.TrimSuffix(s, " "+u.tail), mostQuoted)), fmt.Sprintf(": %q", s)}
	}
	return passage{fmt.Sprintf(": %q", begin(s, mostLine)), fmt.Sprintf(": %q", s)}
}

// heldAt returns the tries that waited at a record if none ran: the longest wait, and the tries with the same wait.
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

// waitAt returns the recorded wait of the try at a record; nil for none.
func (t *Try) waitAt(at Mark) *Waiting {
	for i := range t.Waits {
		if w := &t.Waits[i]; w.From.Record < at.Record && (w.Until.Record == 0 || w.Until.Record >= at.Record) {
			return w
		}
	}
	return nil
}

// runsAt reports whether the try had started before a record and was not over then.
func (t *Try) runsAt(at Mark) bool {
	return t.Started.Record != 0 && t.Started.Record < at.Record && (!t.over() || t.end().Record >= at.Record)
}

// othersThan names the containers known to have ended after e.
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

// podsOf returns "its pod", or the number of pods.
func podsOf(g []*Try) string {
	if len(g) == 1 {
		return "its pod"
	}
	return words.Count(len(g), "pod")
}
