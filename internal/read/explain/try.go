package explain

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
)

// Mark is a record, and the time by our clock of what it says. The zero Mark is none.
type Mark struct {
	Record events.Sequence
	At     events.Time
}

func markOf(r *events.Record) Mark { return Mark{r.Sequence, r.Time} }

// Try is one pod of a Job: one attempt at its work.
type Try struct {
	Pod, Node string
	UID       types.UID
	Index     int32 // completion index, or events.NoIndex
	Number    int   // from 1, within the index; within the Job if it has no indexes
	Stated    bool  // first known from a stored state: earlier records are pruned

	Ordered Mark // our decision to create it; none if another controller created it
	Seen    Mark // its first record
	Newest  Mark // its last record
	Created events.Time
	Placed  Mark // it has a node
	Started Mark // its containers ran

	Waits []Waiting // why it did not run, the oldest first

	Phase      events.PodPhase
	Ended      Mark        // the record that shows its end
	Finished   events.Time // by the node's clock, in whole seconds
	Running    events.Time // when its containers began to run, by the node's clock, in whole seconds
	Reason     string      // of its status, for example Evicted
	Message    string
	Containers []events.ContainerEnd
	Shown      Mark                  // the record that shows how its containers ended
	Restarts   uint32                // by its status
	madeUp     uint32                // restarts among these of containers that the kubelet did not find
	Crashed    []events.ContainerEnd // the first ends of containers that were restarted
	CrashedAt  Mark
	Disrupted  *events.ConditionText // its condition DisruptionTarget
	disrupted  Mark
	Finalizers []string // of other controllers, while it is under deletion
	StillRun   []string // containers that run although a regular one ended for good, by its newest record

	Asked      events.Time // the latest possible time of its deletion request, by the API server's clock; 0 without one
	AskedExact bool
	AskedSeen  Mark     // the first record that shows the request
	Grace      *int64   // its grace period in seconds; nil if unknown
	Gone       Mark     // its object is gone
	Moved      bool     // it still exists, but the Job no longer owns it
	Kept       []string // finalizers of others that kept it while it was under deletion
	KeptAt     Mark

	Admitted   []string // what admission changed, as events.Evidence names it; nil if unknown
	AdmittedAt Mark     // the record that shows it, of this pod or an earlier one

	Deleted       Mark // our decision to delete it
	DeletedReason events.Reason

	Counted Counted
	CountAt Mark // the record by which it counted
	Failure int32
	Again   events.Time // earliest time of the next try, by the backoff after this one's failure; 0 for at once

	unrecorded   uint64 // versions that were seen and not recorded, just before its deletion was seen
	deadlineFrom Mark   // the record that stores the template behind deadline
	forced       bool   // it ran, and got a grace period of 0
	deadline     string // what the template says about the pod's own deadline, if that passed
	maySucceed   bool   // its end was not seen, and the Job's status counts unseen successes
	askedBy      Mark   // the record that shows the time of the deletion request
	graceBy      Mark   // the record that shows the grace period
	deletions    int    // number of records that show its deletion

	heard bool    // the kubelet of its node has reported about it
	ended *Ending // the cached result of Case.ending
}

// Counted is what a try counts as.
type Counted string

// The values of Counted.
const (
	CountedNot       Counted = ""
	CountedSucceeded Counted = "succeeded"
	CountedFailed    Counted = "failed"
	CountedIgnored   Counted = "ignored" // a rule of the podFailurePolicy says Ignore
	// The Job's status counts only some of several tries, and nothing shows which.
	CountedUnknown Counted = "unknown"
)

// Waiting is a reason for which a pod did not run, and the period in which it was seen.
type Waiting struct {
	Reason, Message string
	By              []string // names of scheduling gates
	From            Mark
	Said            Mark // the record that has the message
	Until           Mark // none while it lasts
	sandbox         events.Sandbox
}

// over reports whether the try is final: it ended, or its object is gone.
func (t *Try) over() bool { return t.Ended.Record != 0 || t.Gone.Record != 0 }

// end returns the record that shows the try's end; none while it goes on.
func (t *Try) end() Mark {
	if t.Ended.Record != 0 {
		return t.Ended
	}
	return t.Gone
}

// shown returns the record that shows how its containers ended, or the node of a pod that disappeared without an end.
// It is none if the record of its end has everything.
func (t *Try) shown() Mark {
	switch {
	case len(failures(t.Containers)) > 0:
		return t.Shown
	case t.Ended.Record == 0: // the record of its end does not name its node
		return t.Placed
	}
	return Mark{}
}

// began returns when the first of its regular containers started, by the node's clock; 0 if unknown.
func (t *Try) began() events.Time {
	first := t.Running
	for _, c := range t.Containers {
		if c.Kind == events.RegularContainer && c.Started != 0 && !neverRan(&c) && (first == 0 || c.Started < first) && c.Restarts == 0 {
			first = c.Started
		}
	}
	return first
}

// neverRan reports whether the container's program could not be started. The node then reports the same moment as its
// start and its end.
func neverRan(c *events.ContainerEnd) bool {
	return c.Reason == "StartError" || c.Reason == "ContainerCannotRun"
}

// ran returns how long the try ran. It prefers the times at which we saw its start and end; otherwise it uses the
// node's clock, in whole seconds. most means that d is an upper bound.
func (t *Try) ran() (d time.Duration, known, most bool) {
	began, finished := t.began(), t.Finished
	switch {
	case t.Started.Record != 0 && t.Ended.Record != 0 && !t.stale():
		return t.Ended.At.Sub(t.Started.At), true, t.unheard()
	case began != 0 && finished >= began && finished != 0:
		return finished.Sub(began), true, t.unheard()
	case t.Started.Record != 0 && t.over():
		return t.end().At.Sub(t.Started.At), true, true
	}
	return 0, false, false
}

// unheard reports whether the pod is failed without a known end of any container. Pod garbage collection marks the pods
// of a deleted node so, and no kubelet reports when they stopped.
func (t *Try) unheard() bool { return t.Phase == events.PodFailed && len(failures(t.Containers)) == 0 }

// stale reports whether its end was seen more than 5 s after the node's time of it.
func (t *Try) stale() bool {
	return t.Finished != 0 && t.Ended.At.Sub(t.Finished) > 5*time.Second
}

// failed reports whether the try ended without success, as far as seen.
func (t *Try) failed() bool {
	return t.Phase == events.PodFailed || (t.over() && t.Phase != events.PodSucceeded && !t.maySucceed)
}

// see applies an observation of the pod.
func (t *Try) see(r *events.Record, f *events.PodSeen) {
	e := &r.Evidence
	if e.Name != "" {
		t.Pod = e.Name
	}
	if t.Seen.Record == 0 {
		t.Seen = markOf(r)
	}
	t.Newest = markOf(r)
	t.Index, t.Created, t.Phase = f.Index, f.Created, f.Phase
	if e.Node != "" && (t.Node == "" || t.Ended.Record == 0) {
		t.Node = e.Node
	}
	if t.Placed.Record == 0 && (f.Scheduled || e.Node != "") {
		t.Placed = markOf(r)
	}
	t.hear(r, f)
	t.wait(r, f)
	t.seeContainers(r, f)
	if e.Running != 0 {
		t.Running = e.Running
	}
	if t.Started.Record == 0 && (f.Phase == events.PodRunning || e.Running != 0) && !f.Phase.Terminal() {
		t.Started = markOf(r)
	}
	for _, c := range e.Conditions {
		if c.Type == "DisruptionTarget" && c.Status == "True" && t.Disrupted == nil {
			t.Disrupted, t.disrupted = &c, markOf(r)
		}
	}
	if t.Finalizers = e.Finalizers; len(e.Finalizers) > 0 && t.Kept == nil {
		t.Kept, t.KeptAt = e.Finalizers, markOf(r)
	}
	t.deletion(r, f)
	if f.Phase.Terminal() && t.Ended.Record == 0 {
		t.Ended = markOf(r)
	}
	if f.Finished != 0 {
		t.Finished = f.Finished
	}
	for _, c := range e.Containers {
		if f.Phase.Terminal() && c.Kind == events.RegularContainer && c.Finished > t.Finished {
			t.Finished = c.Finished
		}
	}
}

// seeContainers notes the state of the pod's containers, and the pod's reason.
func (t *Try) seeContainers(r *events.Record, f *events.PodSeen) {
	e := &r.Evidence
	if slices.ContainsFunc(e.Containers, lost) && f.Restarts > t.Restarts {
		t.madeUp += f.Restarts - t.Restarts
	}
	t.StillRun = e.StillRun
	t.Reason, t.Message, t.Restarts = e.Reason, e.Message, f.Restarts
	if len(e.Containers) > 0 && !slices.Equal(t.Containers, e.Containers) {
		t.Containers, t.Shown = e.Containers, markOf(r)
	}
	if again := restarted(e.Containers); len(again) > 0 && t.Crashed == nil && !f.Phase.Terminal() {
		t.Crashed, t.CrashedAt = again, markOf(r)
	}
}

// restarts returns how often its containers were restarted.
func (t *Try) restarts() uint32 { return t.Restarts - min(t.madeUp, t.Restarts) }

// restarted returns the containers that failed and will run again.
func restarted(cs []events.ContainerEnd) []events.ContainerEnd {
	var out []events.ContainerEnd
	for _, c := range cs {
		if c.ExitCode != 0 && c.Again && !c.Lost() {
			out = append(out, c)
		}
	}
	return out
}

func (t *Try) wait(r *events.Record, f *events.PodSeen) {
	last := len(t.Waits) - 1
	open := last >= 0 && t.Waits[last].Until.Record == 0
	if open && t.Waits[last].Reason == f.Waiting {
		w := &t.Waits[last]
		if m := words.WaitMessage(f, &r.Evidence); m != "" && m != w.Message || f.Sandbox != w.sandbox {
			w.Message, w.Said, w.sandbox = m, markOf(r), f.Sandbox
		}
		return
	}
	if open {
		t.Waits[last].Until = markOf(r)
	}
	if f.Waiting != "" {
		t.Waits = append(t.Waits, Waiting{
			Reason: f.Waiting, Message: words.WaitMessage(f, &r.Evidence), By: r.Evidence.Gates, From: markOf(r), Said: markOf(r), sandbox: f.Sandbox,
		})
	}
}

// word returns the reason, with the names of scheduling gates.
func (w *Waiting) word() string {
	if len(w.By) == 0 {
		return w.Reason
	}
	return w.Reason + " by " + strings.Join(w.By, ", ")
}

func (t *Try) deletion(r *events.Record, f *events.PodSeen) {
	asked, exact := f.Asked()
	if asked == 0 {
		return
	}
	if t.AskedSeen.Record == 0 {
		t.AskedSeen, t.unrecorded = markOf(r), r.Evidence.PassedOver
	}
	if f.DeletionGracePeriodSeconds == nil {
		asked = min(asked, r.Time)
	}
	if t.Asked == 0 || (exact && !t.AskedExact) || (asked < t.Asked && exact == t.AskedExact) {
		t.Asked, t.AskedExact, t.askedBy = asked, exact, markOf(r)
	}
	if t.Grace == nil && !t.forced {
		t.given(r, f)
	}
}

// given notes the pod's grace period, from the first record that shows its deletion. After its containers have ended,
// the kubelet deletes it again with a grace period of 0: a record of that says nothing about the first request.
func (t *Try) given(r *events.Record, f *events.PodSeen) {
	switch g := f.DeletionGracePeriodSeconds; {
	case g == nil:
	case *g > 0:
		t.Grace, t.graceBy = g, markOf(r)
	case t.Placed.Record != 0 && !f.Phase.Terminal() && t.Ended.Record == 0 && t.deletions == 0:
		t.forced, t.graceBy = true, markOf(r) // a pod without a node always gets 0
	}
	t.deletions++
}

// restore takes over the stored state of the pod.
func (t *Try) restore(r *events.Record, p *projector.Pod) {
	t.Stated, t.Pod, t.Node, t.Index = true, p.Name, p.Node, p.Index
	t.Seen, t.Newest = markOf(r), markOf(r)
	t.Created, t.Phase, t.Finished, t.Restarts = p.Created, p.Phase, p.Finished, p.Restarts
	if p.Scheduled {
		t.Placed = markOf(r)
	}
	if p.Phase == events.PodRunning {
		t.Started = markOf(r)
	}
	if p.Phase.Terminal() {
		t.Ended = markOf(r)
	}
	for _, x := range p.Exits {
		t.Containers = append(t.Containers, events.ContainerEnd{Name: x.Name, ExitCode: x.Code})
		t.Shown = markOf(r)
	}
	if slices.ContainsFunc(p.Conditions, func(c events.PodCondition) bool { return c.Type == "DisruptionTarget" && c.Status == "True" }) {
		t.Disrupted, t.disrupted = &events.ConditionText{Type: "DisruptionTarget", Status: "True"}, markOf(r)
	}
}

// bare are phrases of a verdict about tries that a kubelet ended without a cause, and the phrases that begin the same
// with a cause.
var bare = []struct{ says, named string }{
	{"terminated by the kubelet", "terminated by the kubelet ("},
	{"failed (Evicted)", "failed (Evicted: "},
	{"failed (DeadlineExceeded)", "failed ("},
}

// named adds the cause to a verdict that has a bare phrase: the kubelet's message, or the pod's own limit. If there are
// several causes it adds the first.
func (c *Case) named(v Sentence) Sentence {
	for i, words := range bare {
		head, rest, is := strings.Cut(v.Text, words.says)
		if !is {
			continue
		}
		var causes []passage
		var from []Mark
		for _, t := range c.Tries {
			p, m := t.kubeletText()
			if t.bare() == i && p.cut != "" && !slices.Contains(causes, p) {
				causes, from = append(causes, p), append(from, m...)
			}
		}
		if len(causes) == 0 {
			continue
		}
		first := ""
		if len(causes) > 1 {
			first = "the first: "
		}
		said := say(from[:min(len(from), mostCited)], "%s%s%s%s)%s", head, words.named, first, causes[0], rest)
		v.Text, v.Whole = said.Text, said.Whole
		for _, n := range said.Records {
			if !slices.Contains(v.Records, n) {
				v.Records = append(v.Records, n)
			}
		}
	}
	return v
}

// bare returns the index of the bare phrase that a verdict has for the try; -1 for none.
func (t *Try) bare() int {
	switch {
	case t.Phase == events.PodSucceeded || t.Ended.Record == 0 && t.Gone.Record == 0:
		return -1
	case t.Disrupted != nil && t.Disrupted.Reason == "TerminationByKubelet":
		return 0
	case t.Disrupted == nil && t.Reason == "Evicted":
		return 1
	case t.Disrupted == nil && t.Reason == "DeadlineExceeded":
		return 2
	}
	return -1
}

// kubeletText returns why a kubelet ended the try: the first sentence of its message, or the pod's own deadline. It is
// empty without a message.
func (t *Try) kubeletText() (passage, []Mark) {
	if t.Reason == "DeadlineExceeded" {
		text := ownDeadline + t.deadline
		return passage{text, text}, []Mark{t.Ended, t.deadlineFrom}
	}
	says, from := strings.TrimSpace(t.Message), t.Ended
	if t.Disrupted != nil {
		if from = t.disrupted; t.Disrupted.Message != "" {
			says = strings.TrimSpace(t.Disrupted.Message)
		} else if says == "" {
			says = t.Reason
		}
	}
	first, _, _ := strings.Cut(says, ". ")
	return passage{begin(strings.TrimSuffix(first, "."), mostLine), strings.TrimSuffix(says, ".")}, []Mark{from}
}
