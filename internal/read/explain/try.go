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

// Mark is a record and the time at which we saw what it says; the zero Mark is none.
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
	Number    int   // of its index, or of a Job without indexes of the Job, from 1
	Stated    bool  // the first that is known of it is a stored state: earlier records are not kept

	Ordered Mark // the decision that it be made; none for one that another controller made
	Seen    Mark // its first record
	Newest  Mark // its last record
	Created events.Time
	Placed  Mark // it has a node
	Started Mark // its containers ran

	Waits []Waiting // why it did not run, oldest first

	Phase      events.PodPhase
	Ended      Mark        // it was found to have ended
	Finished   events.Time // by the node's clock, in whole seconds
	Running    events.Time // since when its containers run, likewise
	Reason     string      // of its status, as Evicted
	Message    string
	Containers []events.ContainerEnd
	Shown      Mark                  // the record that shows how its containers ended, as it is told
	Restarts   uint32                // as its status counts them
	madeUp     uint32                // of these that a kubelet counted for a container which it did not find
	Crashed    []events.ContainerEnd // how containers ended that were started again, the first time
	CrashedAt  Mark
	Disrupted  *events.ConditionText // its DisruptionTarget condition
	disrupted  Mark
	Finalizers []string // of others, while it is being deleted
	StillRun   []string // containers that run though a regular one has ended for good, by its newest record

	Asked      events.Time // when its deletion was asked for, by the API server's clock, no later; 0 when it was not
	AskedExact bool
	AskedSeen  Mark     // the first record that shows it
	Grace      *int64   // how long it was given to stop; nil when that is not known
	Gone       Mark     // its object is gone
	Moved      bool     // it did not go: it is the Job's no longer
	Kept       []string // finalizers of others that kept it, while it was being deleted
	KeptAt     Mark

	Admitted   []string // what admission changed of it, as events.Evidence names it; nil for unknown
	AdmittedAt Mark     // the record that says so: of this pod, or of one before it

	Deleted       Mark // our decision that it be deleted
	DeletedReason events.Reason

	Counted Counted
	CountAt Mark // the record by which it counted
	Failure int32
	Again   events.Time // when the next try may come, by the backoff that this one's failure began; 0 for at once

	unrecorded   uint64 // versions of it that were seen and not recorded, just before its deletion was
	deadlineFrom Mark   // the record that stores that template
	forced       bool   // it was given no time, though it ran
	deadline     string // what the template has of its own deadline, if that passed
	maySucceed   bool   // nobody saw its end, and the status of the Job counts successes that were not seen
	askedBy      Mark   // the record that shows when its deletion was asked for
	graceBy      Mark   // the one that shows how long it was given
	deletions    int    // records that show its deletion

	heard bool    // the kubelet of its node has said something of it
	ended *Ending // who ended it, once all records are taken in; nil before it was asked for
}

// Counted says as what a try counts.
type Counted string

// The ways in which a try counts.
const (
	CountedNot       Counted = ""
	CountedSucceeded Counted = "succeeded"
	CountedFailed    Counted = "failed"
	CountedIgnored   Counted = "ignored" // a rule of the podFailurePolicy says Ignore
	CountedUnknown   Counted = "unknown" // the status of the Job counts some of several, and nothing tells which
)

// Waiting is a reason for which a pod did not run, and while it was seen to.
type Waiting struct {
	Reason, Message string
	By              []string // scheduling gates, by their names
	From            Mark
	Said            Mark // the record that has the message
	Until           Mark // none while it lasts
	sandbox         events.Sandbox
}

// over reports whether the try has come to its end: it ended, or its object is gone.
func (t *Try) over() bool { return t.Ended.Record != 0 || t.Gone.Record != 0 }

// end is when it ended, as far as the log tells: when that was seen.
func (t *Try) end() Mark {
	if t.Ended.Record != 0 {
		return t.Ended
	}
	return t.Gone
}

// shown is the record that shows how its containers ended, or on which node a pod was that went without an end; none
// where the record of its end says all.
func (t *Try) shown() Mark {
	switch {
	case len(failures(t.Containers)) > 0:
		return t.Shown
	case t.Ended.Record == 0: // the record of its end does not say where it ran
		return t.Placed
	}
	return Mark{}
}

// began is when the first of its regular containers started, by the node's clock; 0 for unknown.
func (t *Try) began() events.Time {
	first := t.Running
	for _, c := range t.Containers {
		if c.Kind == events.RegularContainer && c.Started != 0 && !neverRan(&c) && (first == 0 || c.Started < first) && c.Restarts == 0 {
			first = c.Started
		}
	}
	return first
}

// neverRan reports whether the program of a container could not be started: its node calls the moment of that its start
// and its end.
func neverRan(c *events.ContainerEnd) bool {
	return c.Reason == "StartError" || c.Reason == "ContainerCannotRun"
}

// ran is for how long it ran. Exact says that it was seen to begin and to end; otherwise the node's clock says so, in
// whole seconds, or (most) it is no more than that.
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

// unheard reports whether it was said to have failed, and of none of its containers how it ended: pod garbage
// collection says so of a pod whose node is gone, of which no kubelet tells when it stopped.
func (t *Try) unheard() bool { return t.Phase == events.PodFailed && len(failures(t.Containers)) == 0 }

// stale reports whether its end was seen long after the node says that it was.
func (t *Try) stale() bool {
	return t.Finished != 0 && t.Ended.At.Sub(t.Finished) > 5*time.Second
}

// failed reports whether it ended other than by success, as far as that was seen.
func (t *Try) failed() bool {
	return t.Phase == events.PodFailed || (t.over() && t.Phase != events.PodSucceeded && !t.maySucceed)
}

// see takes in an observation of the pod.
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

// seeContainers takes in how the pod's containers are, and why the pod is.
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

// restarts is how often containers were started again.
func (t *Try) restarts() uint32 { return t.Restarts - min(t.madeUp, t.Restarts) }

// restarted are the containers that failed and are to run again.
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

// word is the reason, and which gates it is.
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

// given takes in how long the pod was given to stop, from the first record that shows its deletion. When its containers
// have ended, its kubelet deletes it once more, and gives it no time: what is seen only then says nothing of what was
// asked for.
func (t *Try) given(r *events.Record, f *events.PodSeen) {
	switch g := f.DeletionGracePeriodSeconds; {
	case g == nil:
	case *g > 0:
		t.Grace, t.graceBy = g, markOf(r)
	case t.Placed.Record != 0 && !f.Phase.Terminal() && t.Ended.Record == 0 && t.deletions == 0:
		t.forced, t.graceBy = true, markOf(r) // one without a node is deleted at once in any case
	}
	t.deletions++
}

// restore takes over what a stored state knows of the pod.
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

// bare are what a verdict says of tries that their kubelets ended, in words that name no cause, and what begins the
// words that do.
var bare = []struct{ says, named string }{
	{"terminated by the kubelet", "terminated by the kubelet ("},
	{"failed (Evicted)", "failed (Evicted: "},
	{"failed (DeadlineExceeded)", "failed ("},
}

// named is a verdict with the cause where it has words that name none: why a kubelet ended tries, as it says itself, or
// by which limit of their own. Of several causes it is the first.
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

// bare is which of the bare words a verdict would say of the try; -1 for none.
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

// kubeletText is why a kubelet ended the try: the first sentence of what it said, or the try's own deadline; empty where
// it said nothing.
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
