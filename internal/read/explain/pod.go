package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// ErrNoPod means that the log has no record of the pod in this Job.
var ErrNoPod = errors.New("the Job has no record of that pod")

// try returns the newest try with a pod name, a UID, or a UID prefix of at least 4 characters; nil for none.
func (c *Case) try(pod string) *Try {
	for i := len(c.Tries) - 1; i >= 0; i-- {
		if t := c.Tries[i]; t.Pod == pod || string(t.UID) == pod || (len(pod) >= 4 && strings.HasPrefix(string(t.UID), pod)) {
			return t
		}
	}
	return nil
}

// PodAnswer explains one pod of the Job. pod is its name, its UID, or a UID prefix of at least 4 characters. It returns
// ErrNoPod if the Job has no such pod.
func (c *JobCase) PodAnswer(pod string) (Answer, error) {
	t := c.try(pod)
	if t == nil {
		return Answer{}, fmt.Errorf("%s: %w", pod, ErrNoPod)
	}
	e := c.ending(t)
	a := Answer{
		Kind: "pod", Namespace: c.Job.Namespace, Name: t.Pod, UID: string(t.UID), AsOf: c.Job.AsOf, Clock: c.Job.Clock, LastRecord: c.Job.LastRecord, State: t.Phase.String(),
		Created: recordjson.Instant(t.Created), Finished: recordjson.Instant(t.Finished), InPart: c.Job.InPart() && !t.over(), Truncated: t.Stated, Damaged: uint64(c.damage), Resumed: uint64(c.resumed), Sections: []Section{},
	}
	for _, g := range c.touching() {
		until := events.Time(g.Until)
		if events.Time(g.From) < t.until(c.Case) && (until == 0 || until > t.Created) {
			a.Gaps = append(a.Gaps, *g)
		}
	}
	a.PassedOver, a.Unrecorded = c.passed.Touching(c.Job.Namespace, false, t.Created, t.until(c.Case)), c.unrecorded.versions
	a.Verdict = c.podVerdict(t, &e)
	if g := c.Job.Gap; g != nil && !t.over() {
		a.Verdict.after(c.unwatchedText(g))
	}
	if e.By != ByNobody && !e.By.own() {
		a.add("WHO", say(append(slices.Clone(e.Marks), t.askedMarks()...), "%s%s", e.sentence(), c.askedText(t)))
	}
	var ends []Sentence
	for _, k := range t.Containers {
		ends = append(ends, say(marks(t.Shown), "%s", c.containerText(&k)))
	}
	a.add("CONTAINERS", fewer(ends, 4)...)
	if text := words.Admitted(t.Admitted); text != "" {
		a.add(headAdmitted, say(marks(t.AdmittedAt), "it differs from the Job's pod template: %s", text))
	}
	waits := headWaits
	if t.over() || c.gone.Record != 0 {
		waits = headWaited
	}
	var ended []Sentence
	if h, is := c.halfDone(t); is {
		ended = append(ended, say(h.from, "%s", h.text))
	}
	a.add(waits, append(ended, c.podWaits(t)...)...)
	a.add(headTime, append(c.podTime(t), c.lateOf(t)...)...)
	a.add("COUNTED", c.podCounted(t)...)
	of := c.verdict()
	a.add("JOB", say(of.marks(), "%s/%s %s", c.Job.Namespace, c.Job.Name, of.passage()))
	var missing []Sentence
	for i := range a.PassedOver {
		missing = append(missing, passedText(&a.PassedOver[i], c.moment))
	}
	a.add(headHistory, append(missing, c.unrecorded.sentences("the Job and its pods")...)...)
	return a, nil
}

// until returns the end of the try. For a try that goes on it is the time up to which it was watched.
func (t *Try) until(c *Case) events.Time {
	switch {
	case t.over():
		return t.end().At
	// The Job is gone, and nothing was seen of the pod since.
	case c.ending(t).By != ByNobody && t.AskedSeen.Record == 0:
		return c.gone.At
	case c.Job.Gap != nil:
		return events.Time(c.Job.Gap.From)
	}
	return events.Time(c.Job.AsOf.Time)
}

func (c *JobCase) podVerdict(t *Try, e *Ending) Sentence {
	of := fmt.Sprintf("(%s of %s/%s)", tryText(t), c.Job.Namespace, c.Job.Name)
	after := ""
	if d, known, most := t.ran(); known {
		after = " after " + words.Span(d)
		if most {
			after = " after at most " + words.Span(d)
		}
	}
	switch {
	case e.By == ByNobody && t.waitText() != "":
		return say(marks(t.Newest), "%s WAITS: %s", of, waitWord(t.waitText()))
	case e.By == ByNobody && t.Started.Record != 0:
		return say(marks(t.Started), "%s RUNNING since %s", of, c.clock(t.Started.At))
	case e.By == ByNobody:
		return say(marks(t.Newest), "%s %s", of, strings.ToUpper(t.Phase.String()))
	case t.Phase == events.PodSucceeded:
		return say(e.Marks, "%s SUCCEEDED%s", of, after)
	case e.By.own():
		return say(e.Marks, "%s FAILED%s: %s", of, after, e.Why)
	case !t.over() && t.AskedSeen.Record == 0:
		return say(e.Marks, "%s %s when its Job went; missing: %s", of, strings.ToUpper(t.Phase.String()), e.Missing)
	case !t.over():
		return say(e.Marks, "%s BEING DELETED: %s", of, e.sentence())
	}
	return say(e.Marks, "%s ENDED%s by %s", of, after, e.By)
}

func (c *JobCase) containerText(k *events.ContainerEnd) passage {
	if k.Lost() && !spoke(k) {
		return passage{lostText(k), lostText(k)}
	}
	if k.Lost() {
		return phrase("%s; %s", lostText(k), wrote("it", k))
	}
	text := exitOf(k)
	if k.ExitCode == 0 {
		text = k.Name + " ended with 0"
	}
	if k.Started != 0 && k.Finished != 0 {
		text += fmt.Sprintf(", from %s to %s by the node's clock", c.clock(k.Started), c.clock(k.Finished))
	}
	if k.Restarts > 0 {
		text += ", restarted " + words.Times(k.Restarts)
	}
	if k.Again {
		text += ", runs or waits again"
	}
	switch {
	case !spoke(k):
		return passage{text, text}
	case k.Message == "":
		return phrase("%s; %s", text, events.NotKept)
	}
	return phrase("%s; %s", text, wrote("it", k))
}

func (c *JobCase) podWaits(t *Try) []Sentence {
	var out []Sentence
	for _, w := range t.Waits {
		until := "until now"
		switch {
		case w.Until.Record != 0:
			until = "until " + c.clock(w.Until.At)
		case c.gone.Record != 0:
			until = "until its Job went"
		}
		from, text := marks(w.From, w.said(), w.Until), fmt.Sprintf("%s from %s %s", w.Reason, c.clock(w.From.At), until)
		if u, is := parseUnschedulable(w.Message); is {
			out = append(out, c.reasons(t, &u, w.said(), from, text+": ")...)
			continue
		}
		out = append(out, say(from, "%s%s", text, colon(w.Message)))
	}
	for _, f := range t.Finalizers {
		if t.Gone.Record == 0 {
			out = append(out, say(marks(t.AskedSeen, t.Newest), "its object stays until finalizer %s is removed", f))
		}
	}
	return fewer(out, 4)
}

func (c *JobCase) podTime(t *Try) []Sentence {
	var parts []string
	for _, s := range t.stretches(t.until(c.Case)) {
		if d := s.to.Sub(s.from); d > 0 {
			parts = append(parts, phaseNames[s.phase]+" "+words.Span(d))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []Sentence{say(marks(t.Ordered, t.Seen, t.Started, t.end()), "%s", strings.Join(parts, " · "))}
}

func (c *JobCase) podCounted(t *Try) []Sentence {
	switch t.Counted {
	case CountedFailed:
		text := fmt.Sprintf("failure %d of the Job", t.Failure)
		if c.Spec != nil && c.Spec.BackoffLimitPerIndex == nil {
			text += fmt.Sprintf(", which allows %d", backoffLimit(c.Spec))
		}
		if next := c.notBefore(t); next != 0 {
			text += fmt.Sprintf("; the next try not before %s (backoff)", c.clock(next))
		}
		return []Sentence{say(marks(t.CountAt), "%s", text)}
	case CountedSucceeded:
		return []Sentence{say(marks(t.CountAt), "as a success")}
	case CountedIgnored:
		return []Sentence{say(marks(t.CountAt), "not: a rule of the podFailurePolicy says Ignore")}
	case CountedUnknown:
		return []Sentence{say(marks(t.CountAt), "unknown: the status counts %d succeeded and %d failed, and nothing tells whether this is one of them",
			c.folded.Base.Succeeded, c.folded.Base.Failed)}
	case CountedNot:
	}
	if t.over() {
		return []Sentence{say(marks(t.end()), "neither as a success nor as a failure")}
	}
	return nil
}
