package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/deletion"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/late"
	"github.com/jobledger/jobledger/internal/read/explain/scheduler"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// ErrNoPod is returned if no record of the Job is about the requested pod.
var ErrNoPod = errors.New("the Job has no record of that pod")

// PodAnswer explains one pod of the Job. pod is its name, its UID, or the first 4 or more characters of its UID. It
// returns ErrNoPod if the Job has no such pod.
func (c *Case) PodAnswer(pod string) (explain.Answer, error) {
	t := c.TryOf(pod)
	if t == nil {
		return explain.Answer{}, fmt.Errorf("%s: %w", pod, ErrNoPod)
	}
	e := ending.Of(c.Case, t)
	a := explain.Answer{
		Kind: "pod", Namespace: c.Job.Namespace, Name: t.Pod, UID: string(t.UID), AsOf: c.Job.AsOf, Clock: c.Job.Clock,
		LastRecord: c.Job.LastRecord, State: t.Phase.String(),
		Created: recordjson.Instant(t.Created), Finished: recordjson.Instant(t.Finished), InPart: c.Job.InPart() && !t.Over(),
		Truncated: t.Stated, Damaged: uint64(c.Damage), Resumed: uint64(c.Resumed), Sections: []explain.Section{},
	}
	for _, g := range c.Touching() {
		until := events.Time(g.Until)
		if events.Time(g.From) < ending.Until(t, c.Case) && (until == 0 || until > t.Created) {
			a.Gaps = append(a.Gaps, *g)
		}
	}
	a.PassedOver, a.Unrecorded = c.Passed.Touching(c.Job.Namespace, false, t.Created, ending.Until(t, c.Case)),
		c.Unrecorded.Versions
	a.Verdict = c.podVerdict(t, &e)
	if g := c.Job.Gap; g != nil && !t.Over() {
		a.Verdict.Prepend(verdicts.UnwatchedText(c.Case, g))
	}
	if e.By != try.ByNobody && !e.By.Own() {
		a.Add("WHO", explain.Say(append(slices.Clone(e.Marks), t.AskedMarks()...), "%s",
			e.Tell(deletion.AskedText(c.Case, t), true)))
	}
	var ends []explain.Sentence
	for _, k := range t.Containers {
		ends = append(ends, explain.Say(explain.Marks(t.Shown), "%s", c.containerText(&k)))
	}
	a.Add("CONTAINERS", explain.Fewer(ends, 4)...)
	if text := words.Admitted(t.Admitted); text != "" {
		a.Add(explain.HeadAdmitted, explain.Say(explain.Marks(t.AdmittedAt), "it differs from the Job's pod template: %s",
			text))
	}
	waits := explain.HeadWaits
	if t.Over() || c.Gone.Record != 0 {
		waits = explain.HeadWaited
	}
	var ended []explain.Sentence
	if h, is := stuck.HalfDone(c.Case, t); is {
		ended = append(ended, explain.Say(h.From, "%s", h.Text))
	}
	a.Add(waits, append(ended, c.podWaits(t)...)...)
	a.Add(explain.HeadTime, append(c.podTime(t), late.OfTry(c.Case, t)...)...)
	a.Add("COUNTED", c.podCounted(t)...)
	of := verdicts.Of(c.Case)
	a.Add("JOB", explain.Say(of.Marks(), "%s/%s %s", c.Job.Namespace, c.Job.Name, of.Passage()))
	var missing []explain.Sentence
	for i := range a.PassedOver {
		missing = append(missing, explain.PassedText(&a.PassedOver[i], c.Moment))
	}
	a.Add(explain.HeadHistory, append(missing, c.Unrecorded.Sentences("the Job and its pods")...)...)
	return a, nil
}

func (c *Case) podVerdict(t *try.Try, e *try.Ending) explain.Sentence {
	of := fmt.Sprintf("(%s of %s/%s)", try.TryText(t), c.Job.Namespace, c.Job.Name)
	after := ""
	if d, known, most := t.Ran(); known {
		after = " after " + words.Span(d)
		if most {
			after = " after at most " + words.Span(d)
		}
	}
	switch {
	case e.By == try.ByNobody && t.WaitText() != "":
		return explain.Say(explain.Marks(t.Newest), "%s WAITS: %s", of, try.WaitWord(t.WaitText()))
	case e.By == try.ByNobody && t.Started.Record != 0:
		return explain.Say(explain.Marks(t.Started), "%s RUNNING since %s", of, c.Clock(t.Started.At))
	case e.By == try.ByNobody:
		return explain.Say(explain.Marks(t.Newest), "%s %s", of, strings.ToUpper(t.Phase.String()))
	case t.Phase == events.PodSucceeded:
		return explain.Say(e.Marks, "%s SUCCEEDED%s", of, after)
	case e.By.Own():
		return explain.Say(e.Marks, "%s FAILED%s: %s", of, after, e.Why)
	case !t.Over() && t.AskedSeen.Record == 0:
		return explain.Say(e.Marks, "%s %s when its Job went; missing: %s", of, strings.ToUpper(t.Phase.String()), e.Missing)
	case !t.Over():
		return explain.Say(e.Marks, "%s BEING DELETED: %s", of, e.Sentence())
	}
	return explain.Say(e.Marks, "%s ENDED%s by %s", of, after, e.By)
}

func (c *Case) containerText(k *events.ContainerEnd) explain.Passage {
	if k.Lost() && !explain.Spoke(k) {
		return explain.Passage{Cut: try.LostText(k), Whole: try.LostText(k)}
	}
	if k.Lost() {
		return explain.Phrase("%s; %s", try.LostText(k), explain.Wrote("it", k))
	}
	text := try.ExitOf(k)
	if k.ExitCode == 0 {
		text = k.Name + " ended with 0"
	}
	if k.Started != 0 && k.Finished != 0 {
		text += fmt.Sprintf(", from %s to %s by the node's clock", c.Clock(k.Started), c.Clock(k.Finished))
	}
	if k.Restarts > 0 {
		text += ", restarted " + words.Times(k.Restarts)
	}
	if k.Again {
		text += ", runs or waits again"
	}
	switch {
	case !explain.Spoke(k):
		return explain.Passage{Cut: text, Whole: text}
	case k.Message == "":
		return explain.Phrase("%s; %s", text, events.NotKept)
	}
	return explain.Phrase("%s; %s", text, explain.Wrote("it", k))
}

func (c *Case) podWaits(t *try.Try) []explain.Sentence {
	var out []explain.Sentence
	for _, w := range t.Waits {
		until := "until now"
		switch {
		case w.Until.Record != 0:
			until = "until " + c.Clock(w.Until.At)
		case c.Gone.Record != 0:
			until = "until its Job went"
		}
		from, text := explain.Marks(w.From, w.SaidBy(), w.Until), fmt.Sprintf("%s from %s %s", w.Reason, c.Clock(w.From.At),
			until)
		if u, is := scheduler.Parse(w.Message); is {
			out = append(out, scheduler.Reasons(c.Case, t, &u, w.SaidBy(), from, text+": ")...)
			continue
		}
		out = append(out, explain.Say(from, "%s%s", text, explain.Colon(w.Message)))
	}
	for _, f := range t.Finalizers {
		if t.Gone.Record == 0 {
			out = append(out, explain.Say(explain.Marks(t.AskedSeen, t.Newest), "its object stays until finalizer %s is removed",
				f))
		}
	}
	return explain.Fewer(out, 4)
}

func (c *Case) podTime(t *try.Try) []explain.Sentence {
	var parts []string
	for _, s := range spent.Stretches(t, ending.Until(t, c.Case)) {
		if d := s.To.Sub(s.From); d > 0 {
			part := spent.PhaseNames[s.Phase] + " " + words.Span(d)
			if s.Phase == spent.PhaseRunning {
				part += spent.ByNodes([]*try.Try{t})
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []explain.Sentence{explain.Say(explain.Marks(t.Ordered, t.Seen, t.Started, t.End()), "%s", strings.Join(parts,
		" · "))}
}

func (c *Case) podCounted(t *try.Try) []explain.Sentence {
	switch t.Counted {
	case try.CountedFailed:
		text := fmt.Sprintf("failure %d of the Job", t.Failure)
		if c.Spec != nil && c.Spec.BackoffLimitPerIndex == nil {
			text += fmt.Sprintf(", which allows %d", jobcase.BackoffLimit(c.Spec))
		}
		if next := c.NotBefore(t); next != 0 {
			text += fmt.Sprintf("; the next try not before %s (backoff)", c.Clock(next))
		}
		return []explain.Sentence{explain.Say(explain.Marks(t.CountAt), "%s", text)}
	case try.CountedSucceeded:
		return []explain.Sentence{explain.Say(explain.Marks(t.CountAt), "as a success")}
	case try.CountedIgnored:
		return []explain.Sentence{explain.Say(explain.Marks(t.CountAt), "not: a rule of the podFailurePolicy says Ignore")}
	case try.CountedUnknown:
		return []explain.Sentence{explain.Say(explain.Marks(t.CountAt),
			"unknown: the status counts %d succeeded and %d failed, and nothing tells whether this is one of them",
			c.Folded.Base.Succeeded, c.Folded.Base.Failed)}
	case try.CountedNot:
	}
	if t.Phase == events.PodSucceeded && ending.Outside(c.Case, t) {
		return []explain.Sentence{explain.Say(explain.Marks(t.Ended, ending.CompletionsSet(c.Case)),
			"not: the Job has %d completions, and index %d is none of them", c.Terms().Completions, t.Index)}
	}
	if t.Uncounted.Record != 0 {
		return []explain.Sentence{explain.Say(explain.Marks(t.Ended, t.Uncounted),
			"not: it lost its finalizer before the status counted it")}
	}
	if t.Over() {
		return []explain.Sentence{explain.Say(explain.Marks(t.End()), "neither as a success nor as a failure")}
	}
	return nil
}
