package try

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/projector"
)

// Try is one attempt at a Job's work: one pod, from its first record to its last.
type Try struct {
	Pod, Node string
	UID       types.UID
	Index     int32 // completion index, or events.NoIndex
	Number    int   // from 1; within the index, or within the Job if it has no indexes
	Stated    bool  // its first records are pruned: known from a checkpoint

	Ordered explain.Mark // our decision to create it; none if another controller created it
	Seen    explain.Mark // its first record
	Newest  explain.Mark // its last record
	Created events.Time
	Placed  explain.Mark // record that shows its node
	Started explain.Mark // record that shows that its containers ran

	Waits []Waiting // why it did not run, the oldest reason first

	Phase       events.PodPhase
	Ended       explain.Mark // record that shows its end
	Finished    events.Time  // when it ended, by the node's clock in whole seconds
	Running     events.Time  // when its containers began to run, by the node's clock in whole seconds
	Reason      string       // status.reason, for example Evicted
	Message     string
	Containers  []events.ContainerEnd
	Shown       explain.Mark          // record that shows how its containers ended
	Restarts    uint32                // number of restarts in its status
	madeUp      uint32                // how many restarts the kubelet only assumed: it did not find the container
	Crashed     []events.ContainerEnd // the first end of each container that was restarted
	CrashedAt   explain.Mark
	Disrupted   *events.ConditionText // its condition DisruptionTarget; nil for none
	DisruptedAt explain.Mark
	Finalizers  []string // finalizers of other controllers, while it is being deleted
	StillRun    []string // containers for whose end or start the pod waits, by its newest record

	// Asked is the latest possible time of the request to delete it, by the API server's clock; 0 for none.
	Asked      events.Time
	AskedExact bool
	AskedSeen  explain.Mark // first record that shows the request
	Grace      *int64       // grace period in seconds; nil if unknown
	Gone       explain.Mark // record that its object is gone
	Moved      bool         // it exists, and the Job does not own it any more
	Kept       []string     // finalizers of other controllers that delayed its deletion
	KeptAt     explain.Mark

	Admitted   []string     // fields that admission changed, as in events.Evidence; nil if unknown
	AdmittedAt explain.Mark // record that shows Admitted, which may be of an earlier pod

	Deleted       explain.Mark // our decision to delete it
	DeletedReason events.Reason

	Counted Counted
	CountAt explain.Mark // record by which it counts for the Job
	CountOf int32        // index for which its success counts
	Failure int32
	// Again is the earliest time of the next try, because of the backoff after this failure; 0 for at once.
	Again events.Time

	Unrecorded   uint64       // versions before its deletion that were seen and got no record
	DeadlineFrom explain.Mark // record of the template from which Deadline is
	Forced       bool         // it was running, and was deleted with a grace period of 0
	Deadline     string       // text about its own activeDeadlineSeconds, if that passed
	// Uncounted is the record by which its end no longer counts: it lost its finalizer before a status counted it.
	Uncounted  explain.Mark
	MaySucceed bool         // its end was not seen, and the status counts more successes than were seen
	askedBy    explain.Mark // record that shows when the deletion was requested
	GraceBy    explain.Mark // record that shows the grace period
	deletions  int          // number of records that show its deletion

	Heard  bool    // the kubelet has reported about it
	Judged *Ending // cache of ending.Of
}

// Counted says as what the Job's status counts a try (a pod).
type Counted string

// Values of Counted.
const (
	CountedNot       Counted = ""
	CountedSucceeded Counted = "succeeded"
	CountedFailed    Counted = "failed"
	CountedIgnored   Counted = "ignored" // its failure does not count, by a rule of podFailurePolicy
	// CountedUnknown: the status counts only some of several such pods, and no record shows which.
	CountedUnknown Counted = "unknown"
)

// Over reports whether nothing can change any more for the pod: it ended, or its object is gone.
func (t *Try) Over() bool { return t.Ended.Record != 0 || t.Gone.Record != 0 }

// End returns the record that shows the end of the pod, or else its deletion; none if there is neither.
func (t *Try) End() explain.Mark {
	if t.Ended.Record != 0 {
		return t.Ended
	}
	return t.Gone
}

// ShownBy returns the record to cite besides End: the one that shows how the containers ended, or the node of a pod
// that disappeared. It returns none if End shows this.
func (t *Try) ShownBy() explain.Mark {
	switch {
	case len(Failures(t.Containers)) > 0:
		return t.Shown
	case t.Ended.Record == 0: // the pod was deleted without a recorded end: cite the record that names its node
		return t.Placed
	}
	return explain.Mark{}
}

// Began returns when the pod's first regular container started, by the node's clock; 0 if unknown.
func (t *Try) Began() events.Time {
	first := t.Running
	for _, c := range t.Containers {
		if c.Kind == events.RegularContainer && c.Started != 0 && !neverRan(&c) && (first == 0 || c.Started < first) &&
			c.Restarts == 0 {
			first = c.Started
		}
	}
	return first
}

// neverRan reports whether the program of container c could not be started. The node then reports the same time as
// start and end.
func neverRan(c *events.ContainerEnd) bool {
	return c.Reason == "StartError" || c.Reason == "ContainerCannotRun"
}

// Ran returns how long the pod ran, by the times at which its start and its end were seen. If these are not known, it
// uses the node's clock, in whole seconds. most is set if d is only an upper bound.
func (t *Try) Ran() (d time.Duration, known, most bool) {
	byNode, told := t.ranByNode()
	switch {
	case t.Started.Record != 0 && t.Ended.Record != 0 && !t.Stale():
		return t.Ended.At.Sub(t.Started.At), true, t.unheard()
	case told:
		return byNode, true, t.unheard()
	case t.Started.Record != 0 && t.Over():
		return t.End().At.Sub(t.Started.At), true, true
	}
	return 0, false, false
}

// ranByNode returns how long the pod ran by its node's clock; told is false if the node did not tell.
func (t *Try) ranByNode() (d time.Duration, told bool) {
	began, finished := t.Began(), t.Finished
	if began == 0 || finished < began {
		return 0, false
	}
	return finished.Sub(began), true
}

// StaleRan returns how long the pod ran by its node's clock; stale is true if its end was seen late, more than 5 s
// after it (Stale).
func (t *Try) StaleRan() (d time.Duration, stale bool) {
	d, told := t.ranByNode()
	return d, told && t.Stale()
}

// unheard reports whether the pod has failed, and the end of no container is known. Pod garbage collection marks the
// pods of a deleted node as failed, and no kubelet reports when they stopped.
func (t *Try) unheard() bool { return t.Phase == events.PodFailed && len(Failures(t.Containers)) == 0 }

// Stale reports whether the end of the pod was seen late: more than 5 s after it happened, by the node's clock.
func (t *Try) Stale() bool {
	return t.Finished != 0 && t.Ended.At.Sub(t.Finished) > 5*time.Second
}

// Failed reports whether the pod ended without success, as far as was seen.
func (t *Try) Failed() bool {
	return t.Phase == events.PodFailed || (t.Over() && t.Phase != events.PodSucceeded && !t.MaySucceed)
}

// See updates the try with record r, which shows the pod as f.
func (t *Try) See(r *events.Record, f *events.PodSeen) {
	e := &r.Evidence
	if e.Name != "" {
		t.Pod = e.Name
	}
	if t.Seen.Record == 0 {
		t.Seen = explain.MarkOf(r)
	}
	t.Newest = explain.MarkOf(r)
	t.Index, t.Created, t.Phase = f.Index, f.Created, f.Phase
	if e.Node != "" && (t.Node == "" || t.Ended.Record == 0) {
		t.Node = e.Node
	}
	if t.Placed.Record == 0 && (f.Scheduled || e.Node != "") {
		t.Placed = explain.MarkOf(r)
	}
	t.hear(r, f)
	t.wait(r, f)
	t.seeContainers(r, f)
	if e.Running != 0 {
		t.Running = e.Running
	}
	if t.Started.Record == 0 && (f.Phase == events.PodRunning || e.Running != 0) && !f.Phase.Terminal() {
		t.Started = explain.MarkOf(r)
	}
	for _, c := range e.Conditions {
		if c.Type == "DisruptionTarget" && c.Status == "True" && t.Disrupted == nil {
			t.Disrupted, t.DisruptedAt = &c, explain.MarkOf(r)
		}
	}
	if t.Finalizers = e.Finalizers; len(e.Finalizers) > 0 && t.Kept == nil {
		t.Kept, t.KeptAt = e.Finalizers, explain.MarkOf(r)
	}
	t.deletion(r, f)
	if f.Phase.Terminal() && t.Ended.Record == 0 {
		t.Ended = explain.MarkOf(r)
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

// seeContainers updates the states of the pod's containers, and the pod's reason, from record r.
func (t *Try) seeContainers(r *events.Record, f *events.PodSeen) {
	e := &r.Evidence
	if slices.ContainsFunc(e.Containers, lost) && f.Restarts > t.Restarts {
		t.madeUp += f.Restarts - t.Restarts
	}
	t.StillRun = e.StillRun
	t.Reason, t.Message, t.Restarts = e.Reason, e.Message, f.Restarts
	if len(e.Containers) > 0 && !slices.Equal(t.Containers, e.Containers) {
		t.Containers, t.Shown = e.Containers, explain.MarkOf(r)
	}
	if again := restarted(e.Containers); len(again) > 0 && t.Crashed == nil && !f.Phase.Terminal() {
		t.Crashed, t.CrashedAt = again, explain.MarkOf(r)
	}
}

// RestartsSeen returns how often containers were restarted, without the restarts that the kubelet only assumed.
func (t *Try) RestartsSeen() uint32 { return t.Restarts - min(t.madeUp, t.Restarts) }

// restarted returns the containers in cs that failed and will run again.
func restarted(cs []events.ContainerEnd) []events.ContainerEnd {
	var out []events.ContainerEnd
	for _, c := range cs {
		if c.ExitCode != 0 && c.Again && !c.Lost() {
			out = append(out, c)
		}
	}
	return out
}

func (t *Try) deletion(r *events.Record, f *events.PodSeen) {
	asked, exact := f.Asked()
	if asked == 0 {
		return
	}
	if t.AskedSeen.Record == 0 {
		t.AskedSeen, t.Unrecorded = explain.MarkOf(r), r.Evidence.PassedOver
	}
	if f.DeletionGracePeriodSeconds == nil {
		asked = min(asked, r.Time)
	}
	if t.Asked == 0 || (exact && !t.AskedExact) || (asked < t.Asked && exact == t.AskedExact) {
		t.Asked, t.AskedExact, t.askedBy = asked, exact, explain.MarkOf(r)
	}
	if t.Grace == nil && !t.Forced {
		t.given(r, f)
	}
}

// given notes the grace period of the deletion from its first record, r. When its containers have ended, the kubelet
// deletes the pod again with a grace period of 0: this says nothing about the first request.
func (t *Try) given(r *events.Record, f *events.PodSeen) {
	switch g := f.DeletionGracePeriodSeconds; {
	case g == nil:
	case *g > 0:
		t.Grace, t.GraceBy = g, explain.MarkOf(r)
	case t.Placed.Record != 0 && !f.Phase.Terminal() && t.Ended.Record == 0 && t.deletions == 0:
		// The pod had a node, had not ended, and was given no time to stop. (A pod without a node always gets 0.)
		t.Forced, t.GraceBy = true, explain.MarkOf(r)
	}
	t.deletions++
}

// Restore sets the fields from state p of the pod in record r, a checkpoint (a record with the state).
func (t *Try) Restore(r *events.Record, p *projector.Pod) {
	t.Stated, t.Pod, t.Node, t.Index = true, p.Name, p.Node, p.Index
	t.Seen, t.Newest = explain.MarkOf(r), explain.MarkOf(r)
	t.Created, t.Phase, t.Finished, t.Restarts = p.Created, p.Phase, p.Finished, p.Restarts
	if p.Scheduled {
		t.Placed = explain.MarkOf(r)
	}
	if p.Phase == events.PodRunning {
		t.Started = explain.MarkOf(r)
	}
	if p.Phase.Terminal() {
		t.Ended = explain.MarkOf(r)
	}
	for _, x := range p.Exits {
		t.Containers = append(t.Containers, events.ContainerEnd{Name: x.Name, ExitCode: x.Code})
		t.Shown = explain.MarkOf(r)
	}
	if slices.ContainsFunc(p.Conditions, func(c events.PodCondition) bool {
		return c.Type == "DisruptionTarget" &&
			c.Status == "True"
	}) {
		t.Disrupted, t.DisruptedAt = &events.ConditionText{Type: "DisruptionTarget", Status: "True"}, explain.MarkOf(r)
	}
}
