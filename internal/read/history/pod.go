package history

import (
	"cmp"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/projector"
)

// Pod is one pod of a Job, in the JSON of an answer.
type Pod struct {
	Name     string             `json:"name"`
	UID      string             `json:"uid"`
	Phase    string             `json:"phase"` // newest known phase
	Index    *int32             `json:"index,omitempty"`
	Ordinal  uint64             `json:"ordinal,omitempty"` // number of the create command for it, counted per Job
	Node     string             `json:"node,omitempty"`
	Ready    bool               `json:"ready,omitempty"`
	Created  recordjson.Instant `json:"created,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`

	Deleted recordjson.Instant `json:"deleted,omitzero"` // when its deletion was requested
	// DeletedAtLatest is set if Deleted is only the latest possible time of the request; the log does not have the
	// exact time.
	DeletedAtLatest bool   `json:"deletedAtLatest,omitempty"`
	Grace           *int64 `json:"deletionGracePeriodSeconds,omitempty"` // time it was given to stop, in seconds
	Gone            bool   `json:"gone,omitempty"`                       // gone, or not owned by the Job any more
	GoneAt          uint64 `json:"goneAt,omitempty"`                     // record that shows that it is gone

	// Waiting says why the pod does not run: "Unschedulable", "ImagePullBackOff".
	Waiting string          `json:"waiting,omitempty"`
	Sandbox string          `json:"sandbox,omitempty"` // while it waits: what the kubelet says about the pod's sandbox
	Waits   []ContainerWait `json:"waits,omitempty"`   // why containers do not run
	// Running is when the last regular container started, by the node's clock. It is set only while all containers run.
	Running    recordjson.Instant `json:"runningSince,omitzero"`
	Conditions []PodCondition     `json:"conditions,omitempty"` // conditions that explain why it does not run
	Finalizers []string           `json:"finalizers,omitempty"` // finalizers of others, while it is being deleted
	Gates      []string           `json:"gates,omitempty"`      // names of its scheduling gates
	// StillRun names the containers for which the pod waits. A pod that ends waits for their end; a pod that starts
	// waits for init containers to end and sidecars to start.
	StillRun []string `json:"stillRun,omitempty"`

	Reason     string          `json:"reason,omitempty"`  // status.reason: "Evicted"
	Message    string          `json:"message,omitempty"` // status.message
	Restarts   uint32          `json:"restarts,omitempty"`
	Exits      json.RawMessage `json:"exits,omitempty"`      // exit codes, of containers with a code other than 0
	Containers []ContainerEnd  `json:"containers,omitempty"` // the last end of each container, also of restarted ones
	Tracked    bool            `json:"tracked,omitempty"`    // has our finalizer, until the status counts it
	Account    string          `json:"account,omitempty"`    // whether the Job's status counts it: "not counted yet"
}

// ContainerEnd is the last termination of a container. Its times are by the node's clock, in whole seconds.
type ContainerEnd struct {
	Name     string             `json:"name"`
	Kind     string             `json:"kind,omitempty"` // "init" or "sidecar"; empty for a regular container
	ExitCode int32              `json:"exitCode"`
	Reason   string             `json:"reason,omitempty"`
	Message  string             `json:"message,omitempty"`
	Started  recordjson.Instant `json:"started,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`
	Restarts uint32             `json:"restarts,omitempty"`
	Again    bool               `json:"again,omitempty"` // it was restarted: it runs, or waits to run
	// MessageWithheld is set if the log does not keep the message, or only its first line (option --keep-messages).
	MessageWithheld bool `json:"messageWithheld,omitempty"`
}

// ContainerWait says why a container does not run.
type ContainerWait struct {
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty"` // "init" or "sidecar"; empty for a regular container
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`

	MessageWithheld bool `json:"messageWithheld,omitempty"` // the log does not keep the message, or only its first line
}

// PodCondition is a condition in the status of a pod that explains why the pod does not run. Since is the time of its
// last transition.
type PodCondition struct {
	Type    string             `json:"type"`
	Status  string             `json:"status"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Since   recordjson.Instant `json:"since,omitzero"`
}

// podNote holds facts about one pod that the projection (the state made from records) lacks.
type podNote struct {
	asked events.Time     // latest possible time of the request to delete it; 0 for none
	exact bool            // asked is the exact time of the request
	last  events.Evidence // messages and other details in its newest record
}

// goneFrom is the last state of a deleted pod, and a number that gives its place among the Job's pods: they are ordered
// by their first records.
type goneFrom struct {
	arrived uint64
	pod     Pod
}

// accounts has the text of Pod.Account, whether the Job's status counts the pod, for each stage of counting.
var accounts = map[projector.Stage]string{
	projector.Unlisted: "not counted yet",
	projector.Released: "counted",
	projector.Dropping: "counted, finalizer being removed",
	projector.Surplus:  "surplus",
	projector.Stopping: "not counted yet: may end by itself",
}

// notePod keeps what record r of a pod says and the projection (the state) lacks: messages, and when the deletion was
// requested.
func (a *Account) notePod(r *events.Record) {
	f, ok := r.Facts.(*events.PodSeen)
	if !ok {
		return
	}
	if a.pods == nil {
		a.pods = map[types.UID]*podNote{}
	}
	n := a.pods[f.UID]
	if n == nil {
		n = &podNote{}
		a.pods[f.UID] = n
	}
	n.last = r.Evidence
	asked, exact := f.Asked()
	if f.DeletionGracePeriodSeconds == nil {
		asked = min(asked, r.Time) // the record shows the request, so it came before r.Time
	}
	switch {
	case asked == 0:
	case n.asked == 0 || (exact && !n.exact) || (asked < n.asked && exact == n.exact):
		n.asked, n.exact = asked, exact
	}
}

// farewell keeps the last state of a pod in a.gone, if record r says that the pod is gone. It must be called before r
// is folded, while j still has the pod.
func (a *Account) farewell(j *projector.Job, r *events.Record) {
	f, ok := r.Facts.(*events.PodGone)
	if !ok || j == nil {
		return
	}
	p := j.Pod(f.UID)
	if p == nil || p.Gone {
		return
	}
	v := a.podOf(p)
	v.Gone, v.GoneAt, v.Ready, v.Tracked, v.Account = true, uint64(r.Sequence), false, false, ""
	a.gone = append(a.gone, goneFrom{p.Arrived(), v})
}

// podsOf returns all pods that the Job has or had, ordered by their first records.
func (a *Account) podsOf(j *projector.Job) []Pod {
	var all []goneFrom
	there := map[string]bool{}
	for _, p := range j.Pods() {
		if !p.Gone { // a pod that is gone is taken from a.gone, below, even if j still counts it
			there[string(p.UID)] = true
			all = append(all, goneFrom{p.Arrived(), a.podOf(p)})
		}
	}
	for _, g := range slices.Backward(a.gone) {
		if !there[g.pod.UID] {
			there[g.pod.UID] = true
			all = append(all, g)
		}
	}
	slices.SortStableFunc(all, func(a, b goneFrom) int { return cmp.Compare(a.arrived, b.arrived) })
	var out []Pod
	for i := range all {
		out = append(out, all[i].pod)
	}
	return out
}

func (a *Account) podOf(p *projector.Pod) Pod {
	phase := p.Phase.String()
	if phase == "" {
		phase = events.PodPending.String()
	}
	v := Pod{
		Name: p.Name, UID: string(p.UID), Phase: phase, Ordinal: p.Ordinal, Node: p.Node, Ready: p.Ready,
		Created: recordjson.Instant(p.Created), Finished: recordjson.Instant(p.Finished), Grace: p.DeletionGracePeriodSeconds, Restarts: p.Restarts,
		Exits: recordjson.Exits(p.Exits), Tracked: p.Tracked, Account: accounts[p.Stage()], Waiting: p.Waiting, Sandbox: p.Sandbox.String(),
	}
	if p.Index != events.NoIndex {
		v.Index = &p.Index
	}
	asked, exact := p.Asked()
	if n := a.pods[p.UID]; n != nil {
		v.tell(&n.last)
		asked, exact = n.asked, n.exact
	}
	if v.Containers == nil { // after a checkpoint only the names and exit codes of containers are known: show these
		for _, e := range p.Exits {
			v.Containers = append(v.Containers, ContainerEnd{Name: e.Name, ExitCode: e.Code})
		}
	}
	v.Deleted, v.DeletedAtLatest = recordjson.Instant(asked), asked != 0 && !exact
	return v
}

// tell copies details from the pod's newest record: messages, conditions, and how containers ended or wait.
func (v *Pod) tell(e *events.Evidence) {
	v.Reason, v.Message, v.Running, v.Finalizers = e.Reason, e.Message, recordjson.Instant(e.Running), e.Finalizers
	v.Gates, v.StillRun = e.Gates, e.StillRun
	for _, c := range e.Containers {
		v.Containers = append(v.Containers, ContainerEnd{
			Name: c.Name, Kind: kindOf(c.Kind), ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message,
			Started: recordjson.Instant(c.Started), Finished: recordjson.Instant(c.Finished), Restarts: c.Restarts, Again: c.Again,
			MessageWithheld: c.MessageWithheld,
		})
	}
	for _, w := range e.Waits {
		v.Waits = append(v.Waits, ContainerWait{Name: w.Name, Kind: kindOf(w.Kind), Reason: w.Reason, Message: w.Message,
			MessageWithheld: w.MessageWithheld})
	}
	for _, c := range e.Conditions {
		v.Conditions = append(v.Conditions, PodCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Since: recordjson.Instant(c.Since),
		})
	}
}

func kindOf(k events.ContainerKind) string {
	if k == events.RegularContainer {
		return ""
	}
	return k.String()
}
