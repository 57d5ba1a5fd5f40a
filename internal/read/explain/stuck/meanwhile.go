package stuck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/late"
	"github.com/jobledger/jobledger/internal/read/explain/scheduler"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Meanwhile says what kept a Job from finishing before its deadline, as the end of a sentence: what its pods waited
// for, a refusal of the API server, or a container that still ran after another one had finished. It is empty if there
// was no such thing.
func Meanwhile(c *jobcase.Case) (text explain.Passage, from []explain.Mark) {
	at := c.PassedAt()
	if at.Record == 0 {
		return explain.Passage{}, nil
	}
	if text, from := obstacle(c, at); text.Cut != "" {
		return text, from
	}
	for _, t := range c.Tries {
		if t.RunsAt(at) {
			if text, is := ranOn(c, t, at.At); is {
				return explain.Phrase(" %s", text), explain.Marks(t.Shown)
			}
		}
	}
	idle, from := late.IdleAtDeadline(c)
	return explain.Phrase("%s", idle), from
}

// obstacle says what kept the Job's pods from running at record at; empty if nothing did.
func obstacle(c *jobcase.Case, at explain.Mark) (text explain.Passage, from []explain.Mark) {
	if g := HeldAt(c, at); len(g) > 0 {
		w := g[0].WaitAt(at)
		if crashed := g[0].Crashed; len(crashed) > 0 {
			return explain.Phrase(" while %s crashed again and again: %s", podsOf(g), try.ExitOf(&crashed[0])),
				explain.Marks(g[0].CrashedAt)
		}
		said := theirWords(w.Message)
		if len(w.By) > 0 { // if scheduling gates hold the pod, their names (Word) say enough: leave out the message
			said = explain.Passage{}
		}
		return explain.Phrase(" while %s waited for at least %s: %s%s", podsOf(g), words.Span(at.At.Sub(w.From.At)), w.Word(),
			said), explain.Marks(w.From, w.SaidBy())
	}
	for _, x := range c.Refusals {
		if x.Kind == events.CommandCreatePod && x.Then == nil && x.First.Record < at.Record && (x.Over.Record == 0 ||
			x.Over.Record > at.Record) {
			return explain.Phrase(" while the API server refused its pods (%s)%s", x.Class, serverWords(x)),
				explain.Marks(x.First, x.Last)
		}
	}
	for _, x := range c.Lacks() {
		if x.From.Record < at.Record && (x.Until.Record == 0 || x.Until.Record >= at.Record) {
			return explain.Phrase(" while no pod came, why is unknown"), explain.Marks(x.From)
		}
	}
	return explain.Passage{}, nil
}

// ranOn says that a container of pod t had done its work before an instant, while other containers still ran. It
// returns false if there is no such container.
func ranOn(c *jobcase.Case, t *try.Try, before events.Time) (text string, is bool) {
	e := t.DoneFirst()
	if e == nil || e.Finished == 0 || e.Finished >= before {
		return "", false
	}
	return fmt.Sprintf("while %s had ended with 0%s and %s ran on", e.Name, c.AtClock(e.Finished), t.OthersThan(e)), true
}

// outlast is how long a sidecar must have run after the main container for HeldAtDeletion to name it. Containers of a
// pod rarely end at the same time.
const outlast = time.Second

// HeldAtDeletion says why a deleted Job had not ended, as a clause that begins with a comma or colon: it wanted no pod,
// its pods waited or were refused, or sidecars still ran. It is empty if a pod was working, or if the records do not
// tell. deleted is the record of the deletion.
func HeldAtDeletion(c *jobcase.Case, deleted explain.Mark) (text explain.Passage, from []explain.Mark) {
	why, from := unwanted(c)
	if why == "" && c.Spec != nil && c.Spec.Suspend {
		why, from = suspendedSince(c)
	}
	if why != "" {
		return explain.Phrase(": %s", why), from
	}
	if text, from := obstacle(c, deleted); text.Cut != "" {
		return explain.Phrase(",%s", text), from
	}
	if held, from := sidecars(c, deleted); held != "" {
		return explain.Phrase(", %s", held), from
	}
	return explain.Passage{}, nil
}

// sidecars says that in each running pod a container had done its work while others, such as sidecars, still ran. It is
// empty if a pod was still working. deleted is the record of the Job's deletion.
func sidecars(c *jobcase.Case, deleted explain.Mark) (text string, from []explain.Mark) {
	for _, t := range c.Tries {
		if !t.RunsAt(deleted) {
			continue
		}
		held, is := ranOn(c, t, deleted.At.Add(-outlast))
		if !is {
			return "", nil
		}
		if text == "" {
			text = held
		}
		from = append(from, t.Shown)
	}
	return text, from
}

// mostOfRegistry is how many bytes of an image registry's message are quoted: "registry.corp/etl:1.9.0: not found" has
// 34.
const mostOfRegistry = 64

// theirWords quotes a message of the scheduler, a kubelet or the API server, after a colon. It keeps the beginning; of
// an image registry's message, it keeps the end. Quotes in the message become single ones. It is empty for an empty
// message.
func theirWords(s string) explain.Passage {
	s = strings.ReplaceAll(strings.TrimSpace(s), `"`, "'")
	if s == "" {
		return explain.Passage{}
	}
	// For a message of the scheduler, quote all reasons, and leave out its end about preemption.
	if u, is := scheduler.Parse(s); is && u.Tail != "" {
		return explain.Passage{Cut: fmt.Sprintf(": %q", explain.Begin(strings.TrimSuffix(s, " "+u.Tail), explain.MostQuoted)),
			Whole: fmt.Sprintf(": %q", s)}
	}
	cut := explain.Begin(s, explain.MostLine)
	// If an image could not be pulled, the registry's reason is at the end of the message: show that end.
	if _, registry, is := strings.Cut(s, ": ErrImagePull: "); is {
		cut = explain.End("…"+registry, mostOfRegistry)
	}
	return explain.Passage{Cut: fmt.Sprintf(": %q", cut), Whole: fmt.Sprintf(": %q", s)}
}

// serverWords quotes the message with which the API server refused x, after a colon; empty if there is none.
func serverWords(x *jobcase.Refusal) explain.Passage {
	if x.Says == "" {
		return explain.Passage{}
	}
	return theirWords(explain.Says(x.Says))
}

// HeldAt returns the tries (pods) that waited for the same reason at record at: those with the longest wait. It returns
// none if a pod was running.
func HeldAt(c *jobcase.Case, at explain.Mark) (out []*try.Try) {
	for _, t := range c.Tries {
		w := t.WaitAt(at)
		switch {
		case t.Seen.Record >= at.Record:
		case w == nil && t.RunsAt(at):
			return nil
		case w == nil || t.Over() && t.End().Record < at.Record:
		case !try.StuckWords[w.Reason] && at.At.Sub(w.From.At) < try.WaitTold:
		case len(out) == 0 || out[0].WaitAt(at).Reason == w.Reason && out[0].WaitAt(at).Message == w.Message:
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *try.Try) int {
		return cmp.Compare(a.WaitAt(at).From.Record, b.WaitAt(at).From.Record)
	})
	return out
}

// podsOf returns words for the pods in g: "its pod", or their number.
func podsOf(g []*try.Try) string {
	if len(g) == 1 {
		return "its pod"
	}
	return words.Count(len(g), "pod")
}
