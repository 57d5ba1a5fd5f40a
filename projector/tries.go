package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
	"github.com/jobledger/jobledger/internal/subject/status"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Tries counts how unsuccessful pods of a Job ended, grouped by failure signature, how long the Job was suspended, and
// by which spec it ended. It serves the verdict (a line for people that says why a Job ended); no decision reads it. An
// attempt ("try") is one pod from its creation to its end. A pod is counted once, by the first record that shows its
// end or the request to delete it. The size of Tries is bounded.
type Tries struct {
	// Ends lists the first 8 signatures in order of appearance. For each kind, one more entry counts all further
	// signatures.
	Ends []TryEnd
	// Partial says that earlier attempts are missing: they were in records whose texts were erased.
	Partial bool

	suspended time.Duration // total length of earlier suspensions, without the current one
	since     events.Time   // start of the current suspension; 0 for none

	lastSpec    *events.JobSpec // the spec before the first edit after the end; nil if there was none (LastSpec)
	endedUnseen bool            // an edit may have come before or after the end, and nothing tells which
}

// TryEnd is a failure signature, with the number of attempts that ended that way.
type TryEnd struct {
	Way
	Count uint32
	Pod   string // name of the first pod
	Index int32  // completion index of that pod, or events.NoIndex
}

// Way is the failure signature of an attempt. Two attempts are counted together only if all fields are equal. Example:
// {Kind: TryFailed, Exits: {main, exit code 1}}.
type Way struct {
	Kind      TryKind
	Other     bool       // this entry counts all further signatures of Kind; the other fields are empty
	Exits     [2]TryExit // first two containers that did not exit with 0; an empty name means none
	MoreExits uint32     // number of further such containers
	Reason    string     // reason of the disruption, or of the pod's status
	Action    string     // action of the podFailurePolicy rule, as in the API; empty if no rule applied
	Rule      uint32     // position of the rule in the policy, from 0
}

// TryExit says how a container ended.
type TryExit struct {
	Container string
	Kind      events.ContainerKind
	Code      int32
	Reason    string
}

// TryKind says in what way an attempt (one pod) ended. The numbers are those of the proto schema.
type TryKind uint8

// The kinds of ends.
const (
	TryFailed    TryKind = 1 // the pod failed by itself
	TryDisrupted TryKind = 2 // the pod has the condition DisruptionTarget
	TryDeleted   TryKind = 3 // deleted while it ran, by another client
	TryStopped   TryKind = 4 // no longer wanted: the Job is suspended, scaled down, or over
	TryUnseen    TryKind = 5 // the pod is gone, and its end was not seen
	TryRestarted TryKind = 6 // not an end of the pod: a container was restarted
)

const maxWays = 8

// Suspended returns how long the Job was suspended in all, from its creation to the time until.
func (t *Tries) Suspended(until events.Time) time.Duration {
	if t.since == 0 {
		return t.suspended
	}
	return t.suspended + max(until.Sub(t.since), 0)
}

// tell counts what the record that was just applied has changed about its pod: an end, a deletion, or container
// restarts.
func (t *Tries) tell(j *Job, rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.PodSeen:
		t.seen(j, &j.met, &rec.Evidence)
	case *events.PodGone:
		if j.met.pod != nil && !f.Moved {
			t.gone(j, &j.met)
		}
	}
}

func (t *Tries) seen(j *Job, was *met, e *events.Evidence) {
	p := was.pod
	restarted, ended := p.Restarts > was.restarts, p.Phase != events.PodSucceeded && overOrGoing(p)
	succeeded := was.told && j.endedWell(p)
	if !restarted && !ended && !succeeded || !j.ours(p) { // nothing to count, as for most records
		return
	}
	if succeeded && !was.over {
		t.remove(j.wayOf(p, e))
	}
	if restarted {
		t.restarted(p, p.Restarts-was.restarts, e)
	}
	if ended && !was.told {
		t.add(j.wayOf(p, e), 1, p)
	}
}

func (t *Tries) gone(j *Job, was *met) {
	p := was.pod
	if was.told || !j.ours(p) {
		return
	}
	way := Way{Kind: TryUnseen}
	if p.Surplus || j.unwanted() {
		way.Kind = TryStopped
	}
	t.add(way, 1, p)
}

// ours reports whether the Job owns the pod, even if the Job has not been seen.
func (j *Job) ours(p *Pod) bool {
	return j.Stream.Kind == events.StreamJob && string(p.Owner) == j.Stream.ID
}

func overOrGoing(p *Pod) bool { return p.Phase.Terminal() || p.Deleted != 0 }

// unwanted reports whether the Job wants no pods at all: it has finished or is about to, is deleted, or is suspended.
func (j *Job) unwanted() bool {
	return j.failing || j.succeeding || j.finished || j.Deleted != 0 || j.Gone || j.suspends()
}

func (j *Job) suspends() bool { return j.Spec != nil && j.Spec.Suspend && !j.finished && !j.Gone }

// wayOf returns the failure signature of a pod that did not succeed or is being deleted.
func (j *Job) wayOf(p *Pod, e *events.Evidence) Way {
	disruption, disrupted := disruptionOf(p, e)
	way := Way{Kind: TryDeleted}
	switch {
	case p.Surplus:
		way.Kind = TryStopped
	case disrupted:
		way.Kind, way.Reason = TryDisrupted, disruption
	case p.FailedBeforeDeletion:
		way.Kind, way.Reason = TryFailed, e.Reason
		way.exits(p, e)
	case j.unwanted(), j.unwantedElsewhere():
		way.Kind = TryStopped
	}
	if p.match.Action != policy.NoMatch && (way.Kind == TryFailed || way.Kind == TryDisrupted) {
		way.Action, way.Rule = p.match.Action.String(), uint32(p.match.Rule)
	}
	return way
}

// unwantedElsewhere reports whether another controller that runs the Job had a reason to delete one of its pods: more
// pods are active than parallelism or the missing completions need, or the deadline has passed. It is inferred, because
// the decisions of that controller are not recorded.
func (j *Job) unwantedElsewhere() bool {
	if !j.Settings.Observes(j.ManagedBy) || j.Spec == nil {
		return false
	}
	if limit := j.Spec.ActiveDeadlineSeconds; limit != nil && j.StartTime() != 0 &&
		j.StartTime().Add(time.Duration(min(*limit, 1<<31))*time.Second) <= j.Now {
		return true
	}
	wanted := int32(1)
	if j.Spec.Parallelism != nil {
		wanted = *j.Spec.Parallelism
	}
	if !j.WorkQueue {
		wanted = min(wanted, j.Completions-j.SucceededCount())
	} else if j.SucceededCount() > 0 {
		return false // work queue: once a pod has succeeded, the other pods end by themselves
	}
	return j.Tally().Active >= wanted
}

// disruptionOf returns the reason of the pod's condition DisruptionTarget if that condition is True; disrupted says so.
func disruptionOf(p *Pod, e *events.Evidence) (reason string, disrupted bool) {
	const target, holds = "DisruptionTarget", "True"
	for i := range e.Conditions {
		if c := &e.Conditions[i]; c.Type == target && c.Status == holds {
			return c.Reason, true
		}
	}
	for _, c := range p.Conditions { // if the texts were erased, only the recorded conditions are left
		if c.Type == target && c.Status == holds {
			return "", true
		}
	}
	return "", false
}

// exits adds to w the containers that did not exit with 0. It adds sidecars only if no other container failed, because
// they are killed when the pod ends.
func (w *Way) exits(p *Pod, e *events.Evidence) {
	for _, sidecars := range []bool{false, true} {
		for i := range e.Containers {
			c := &e.Containers[i]
			if c.ExitCode != 0 && !c.Again && !c.Lost() && (c.Kind == events.SidecarContainer) == sidecars {
				w.exit(TryExit{Container: c.Name, Kind: c.Kind, Code: c.ExitCode, Reason: c.Reason})
			}
		}
		if w.Exits[0] != (TryExit{}) {
			return
		}
	}
	for i := range e.Containers {
		if c := &e.Containers[i]; c.Lost() && !c.Again {
			if w.Reason == "" { // otherwise the reason tells more than the made-up exit code
				w.exit(TryExit{Container: c.Name, Kind: c.Kind, Code: c.ExitCode, Reason: c.Reason})
			}
			return
		}
	}
	for _, x := range p.Exits { // if the texts were erased, only the recorded exit codes are left
		kind := events.RegularContainer
		if x.Init {
			kind = events.InitContainer
		}
		w.exit(TryExit{Container: x.Name, Kind: kind, Code: x.Code})
	}
}

func (w *Way) exit(x TryExit) {
	for i := range w.Exits {
		if w.Exits[i] == (TryExit{}) {
			w.Exits[i] = x
			return
		}
	}
	w.MoreExits++
}

// restarted counts the restarts of the pod's containers since the previous observation; times is their number. If one
// container restarted once, its exit code is known. If there were more restarts, only the last exit is known.
func (t *Tries) restarted(p *Pod, times uint32, e *events.Evidence) {
	var only *events.ContainerEnd
	for i := range e.Containers {
		switch c := &e.Containers[i]; {
		// If a kubelet has lost a container, it counts that as a restart, though no process failed: do not count it
		case c.Lost() && times == 1:
			return
		case c.Restarts == 0:
		case only != nil:
			t.add(Way{Kind: TryRestarted}, times, p)
			return
		default:
			only = c
		}
	}
	if only == nil || !only.Again {
		t.add(Way{Kind: TryRestarted}, times, p)
		return
	}
	way := Way{Kind: TryRestarted}
	way.exit(TryExit{Container: only.Name, Kind: only.Kind, Code: only.ExitCode, Reason: only.Reason})
	t.add(way, 1, p)
	if times > 1 {
		t.add(Way{Kind: TryRestarted}, times-1, p)
	}
}

// endedWell reports whether the pod succeeded after the request to delete it, before a status counted it as failed.
func (j *Job) endedWell(p *Pod) bool {
	return p.Phase == events.PodSucceeded && p.Deleted != 0 && (p.StoppingSince != 0 || p.stage == Unlisted && !p.written) &&
		j.Settings.DeletedPodWait > 0
}

// remove takes one attempt that ended in this way from the counts; it reverts add.
func (t *Tries) remove(way Way) {
	i := slices.IndexFunc(t.Ends, func(e TryEnd) bool { return e.Way == way })
	if i < 0 {
		way = Way{Kind: way.Kind, Other: true}
		if i = slices.IndexFunc(t.Ends, func(e TryEnd) bool { return e.Way == way }); i < 0 {
			return
		}
	}
	if t.Ends[i].Count--; t.Ends[i].Count == 0 {
		t.Ends = slices.Delete(t.Ends, i, i+1)
	}
}

// add counts n attempts that ended in this way. The first of them was pod p.
func (t *Tries) add(way Way, n uint32, p *Pod) {
	ways := 0
	for i := range t.Ends {
		if t.Ends[i].Way == way {
			t.Ends[i].Count += n
			return
		}
		if !t.Ends[i].Other {
			ways++
		}
	}
	if ways >= maxWays && !way.Other {
		t.add(Way{Kind: way.Kind, Other: true}, n, p)
		return
	}
	t.Ends = append(t.Ends, TryEnd{Way: way, Count: n, Pod: p.Name, Index: p.Index})
}

// standing is the state of a Job before the observation that is being applied.
type standing struct {
	known, suspends, ending bool
	spec                    *events.JobSpec // nil if it was not known
}

func (j *Job) standing() standing {
	return standing{j.Known(), j.suspends(), j.finished || j.failing || j.succeeding, j.Spec}
}

// observed updates the time for which the Job was suspended, and the spec by which it ended. was is the state before the
// observation. If the Job is suspended when it is first seen, the suspension began at the time of its condition
// Suspended, or else at its creation.
func (t *Tries) observed(j *Job, was standing) {
	edited := was.spec != nil && j.Spec != nil && was.spec.Hash != j.Spec.Hash
	switch {
	case !j.finished && !j.failing && !j.succeeding:
		t.lastSpec, t.endedUnseen = nil, false
	case !was.ending:
		t.endedUnseen = edited || was.spec == nil && j.Generation > 1
	case edited && t.lastSpec == nil && !t.endedUnseen:
		t.lastSpec = was.spec
	}
	suspends := j.suspends()
	switch {
	case suspends && !was.known:
		t.since = j.Created
		if c := j.Base.Condition(status.Suspended); c != nil && c.Status == "True" && c.Since != 0 {
			t.since = c.Since
		}
	case suspends && !was.suspends:
		t.since = j.Now
	case !suspends && t.since != 0:
		t.suspended, t.since = t.Suspended(j.Now), 0
	}
}

func (t *Tries) shift(step time.Duration) { t.since = t.since.Add(step) }

func (t *Tries) toWire(s *pb.JobState, names *pb.StateNames) {
	w := &pb.Tries{Partial: t.Partial, Suspended: int64(t.suspended), SuspendedSince: int64(t.since)}
	for i := range t.Ends {
		w.Ends = append(w.Ends, t.Ends[i].toWire())
	}
	names.Tries = w
	t.lastSpecToWire(s)
}

func (t *Tries) fromWire(s *pb.JobState, r *stateReader) {
	w := r.tries
	*t = Tries{Partial: w == nil || w.GetPartial(), suspended: time.Duration(w.GetSuspended()), since: events.Time(w.GetSuspendedSince())}
	for _, e := range w.GetEnds() {
		t.Ends = append(t.Ends, tryEndFromWire(e))
	}
	t.lastSpecFromWire(s)
}

func (e *TryEnd) toWire() *pb.TryEnd {
	w := &pb.TryEnd{
		Kind: pb.TryEndKind(e.Kind), Other: e.Other, MoreExits: e.MoreExits, Reason: e.Reason, Action: e.Action, Rule: e.Rule,
		Count: e.Count, Pod: e.Pod, IndexPlusOne: uint32(e.Index + 1),
	}
	for _, x := range e.Exits {
		if x != (TryExit{}) {
			w.Exits = append(w.Exits, &pb.TryExit{Container: x.Container, Kind: pb.ContainerKind(x.Kind), Code: x.Code, Reason: x.Reason})
		}
	}
	return w
}

func tryEndFromWire(w *pb.TryEnd) TryEnd {
	e := TryEnd{
		Way: Way{
			Kind: TryKind(w.GetKind()), Other: w.GetOther(), MoreExits: w.GetMoreExits(), Reason: w.GetReason(),
			Action: w.GetAction(), Rule: w.GetRule(),
		},
		Count: w.GetCount(), Pod: w.GetPod(), Index: int32(w.GetIndexPlusOne()) - 1,
	}
	for i, x := range w.GetExits() {
		if i < len(e.Exits) {
			e.Exits[i] = TryExit{
				Container: x.GetContainer(), Kind: events.ContainerKind(x.GetKind()), Code: x.GetCode(), Reason: x.GetReason(),
			}
		}
	}
	return e
}
