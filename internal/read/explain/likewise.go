package explain

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// befell is what befell the Job that may have befallen others too, in words that are equal for all of them: how its
// first try failed, or who ended it; and of a Job whose deadline passed also that, and what held it up until then.
func (c *Case) befell() (out []string) {
	if failed := c.failedTries(); len(failed) > 0 {
		if how := failed[0].fate(c.ending(failed[0]).By); how != "" {
			out = append(out, how)
		}
	}
	at := c.passedAt()
	if at.Record == 0 {
		return out
	}
	out = append(out, c.settled.Reason)
	for _, t := range c.heldAt(at) {
		if w := waitFate(t.waitAt(at).Reason); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for _, x := range c.refusals {
		w, before := refusalFate(x.Class), x.First.Record < at.Record
		if x.Kind == events.CommandCreatePod && before && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// unseenOf reports whether something may have befallen a Job of another controller, and the log does not show it.
func unseenOf(how string) bool { return strings.HasPrefix(how, podsRefused) }

const podsRefused = "pods refused"

// fate is how a try failed that somebody ended, in words that are equal for the tries of other Jobs; empty where it is
// not known.
func (t *Try) fate(by By) string {
	switch {
	case by == ByOwnLimit:
		return "a limit of the pod's own"
	case by == ByDeadline:
		return "the pod's own deadline"
	case by == ByKubelet && t.Reason == "": // it is said with the pod's end
		return ""
	case by == ByKubelet:
		return "ended by its node (" + t.Reason + ")"
	case by.Disruption():
		return string(by)
	case by == ByItself || by == BySignal:
		return exitText(t)
	}
	return ""
}

// waitFate is that of a pod that waits for something with which nothing goes on by itself; empty for another.
func waitFate(word string) string {
	switch {
	case word == "ErrImagePull": // the two come in turn
		return "ImagePullBackOff"
	case slices.Contains(stuckWords, word):
		return word
	}
	return ""
}

func refusalFate(class events.RefusalClass) string { return podsRefused + " (" + class.String() + ")" }

// fared takes in how another Job fared, as a record shows.
func (p *peer) fared(r *events.Record) {
	add := func(how string) {
		if _, known := p.ends[how]; !known && how != "" {
			p.ends[how] = markOf(r)
		}
	}
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		e := &r.Evidence
		t := Try{Containers: e.Containers, Reason: e.Reason, Message: e.Message, Phase: f.Phase}
		for i := range r.Evidence.Conditions {
			if k := &r.Evidence.Conditions[i]; k.Type == "DisruptionTarget" && k.Status == "True" {
				t.Disrupted = k
			}
		}
		t.Placed.Record = r.Sequence
		if by := t.disruptedBy(); by != ByNobody {
			add(t.fate(by))
		}
		if f.Phase == events.PodFailed {
			add(t.fate(itself(&t).By))
		}
		add(waitFate(f.Waiting))
	case *events.JobSeen:
		if f.Status != nil && slices.ContainsFunc(f.Status.Conditions, func(k events.JobCondition) bool {
			return k.Status == "True" && k.Reason == "DeadlineExceeded"
		}) {
			add("DeadlineExceeded")
		}
	case *events.CommandEnded:
		if f.Ending == events.Refused && f.Type == events.CommandCreatePod {
			add(refusalFate(f.Class))
		}
	}
}
