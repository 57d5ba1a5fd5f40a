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

// Pod is one pod.
type Pod struct {
	Name     string             `json:"name"`
	UID      string             `json:"uid"`
	Phase    string             `json:"phase"` // newest known phase
	Index    *int32             `json:"index,omitempty"`
	Ordinal  uint64             `json:"ordinal,omitempty"` // ordinal of the create command that made it
	Node     string             `json:"node,omitempty"`
	Ready    bool               `json:"ready,omitempty"`
	Created  recordjson.Instant `json:"created,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`

	Deleted recordjson.Instant `json:"deleted,omitzero"` // when its deletion was requested
	// DeletedAtLatest is set if the request may be older than Deleted: the log does not say.
	DeletedAtLatest bool   `json:"deletedAtLatest,omitempty"`
	Grace           *int64 `json:"deletionGracePeriodSeconds,omitempty"` // time it was given to stop
	Gone            bool   `json:"gone,omitempty"`                       // its object is gone, or no longer belongs to the Job
	GoneAt          uint64 `json:"goneAt,omitempty"`                     // record that says so

	// Why it does not run: "Unschedulable", "ImagePullBackOff"
	Waiting string          `json:"waiting,omitempty"`
	Sandbox string          `json:"sandbox,omitempty"` // with Waiting: what its kubelet says of its sandbox
	Waits   []ContainerWait `json:"waits,omitempty"`   // waits of its containers
	// Running is when the last regular container started, by the node's clock; unset unless all run.
	Running    recordjson.Instant `json:"runningSince,omitzero"`
	Conditions []PodCondition     `json:"conditions,omitempty"` // conditions that explain Waiting
	Finalizers []string           `json:"finalizers,omitempty"` // finalizers of others, while it is being deleted
	Gates      []string           `json:"gates,omitempty"`      // names of its scheduling gates
	// StillRun names the containers that hold the pod up: see events.Evidence.
	StillRun []string `json:"stillRun,omitempty"`

	Reason     string          `json:"reason,omitempty"`  // status.reason: "Evicted"
	Message    string          `json:"message,omitempty"` // status.message
	Restarts   uint32          `json:"restarts,omitempty"`
	Exits      json.RawMessage `json:"exits,omitempty"`      // containers with a nonzero exit code
	Containers []ContainerEnd  `json:"containers,omitempty"` // last end of each container, even if it runs again
	Tracked    bool            `json:"tracked,omitempty"`    // has the finalizer that keeps it until it is counted
	Account    string          `json:"account,omitempty"`    // how far it is counted, in words
}

// ContainerEnd is the last end of a container. Times are the node's, in whole seconds.
type ContainerEnd struct {
	Name     string             `json:"name"`
	Kind     string             `json:"kind,omitempty"` // "init" or "sidecar"; empty for a regular container
	ExitCode int32              `json:"exitCode"`
	Reason   string             `json:"reason,omitempty"`
	Message  string             `json:"message,omitempty"`
	Started  recordjson.Instant `json:"started,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`
	Restarts uint32             `json:"restarts,omitempty"`
	Again    bool               `json:"again,omitempty"` // it runs or waits again
	// MessageWithheld is set if the log keeps none of the message, or only its first line (run --keep-messages).
	MessageWithheld bool `json:"messageWithheld,omitempty"`
}

// ContainerWait says why a container does not run.
type ContainerWait struct {
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty"` // like ContainerEnd.Kind
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`

	MessageWithheld bool `json:"messageWithheld,omitempty"` // like ContainerEnd.MessageWithheld
}

// PodCondition is one condition of a pod.
type PodCondition struct {
	Type    string             `json:"type"`
	Status  string             `json:"status"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Since   recordjson.Instant `json:"since,omitzero"`
}

// podNote holds facts of a pod that the projection does not hold.
type podNote struct {
	asked events.Time     // latest time at which its deletion was requested; 0 if it was not
	exact bool            // asked is also the earliest time
	last  events.Evidence // evidence of its newest record
}

// goneFrom is a pod whose object is gone, in its last state.
type goneFrom struct {
	arrived uint64
	pod     Pod
}

// accounts has the words for the stages of package projector.
var accounts = map[projector.Stage]string{
	projector.Unlisted: "not counted yet",
	projector.Released: "counted",
	projector.Dropping: "counted, finalizer being removed",
	projector.Surplus:  "surplus",
	projector.Stopping: "not counted yet: may end by itself",
}

// notePod takes in what a record says of a pod.
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
		asked = min(asked, r.Time) // the pod was seen being deleted at r.Time
	}
	switch {
	case asked == 0:
	case n.asked == 0 || (exact && !n.exact) || (asked < n.asked && exact == n.exact):
		n.asked, n.exact = asked, exact
	}
}

// farewell keeps the last state of a pod before a PodGone record is folded.
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

// podsOf returns all pods that the Job has or had, in the order in which the log met them.
func (a *Account) podsOf(j *projector.Job) []Pod {
	var all []goneFrom
	there := map[string]bool{}
	for _, p := range j.Pods() {
		if !p.Gone { // a gone pod that the projection keeps until a status is confirmed is in a.gone
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
	if v.Containers == nil { // a stored state has only the exit codes
		for _, e := range p.Exits {
			v.Containers = append(v.Containers, ContainerEnd{Name: e.Name, ExitCode: e.Code})
		}
	}
	v.Deleted, v.DeletedAtLatest = recordjson.Instant(asked), asked != 0 && !exact
	return v
}

// tell copies what the newest record says of the pod.
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
