package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// A Job's pods are scheduled together by a Workload and a PodGroup. By the rules of Kubernetes 1.37:
//
//	new Job              CreateWorkload  done                      half
//	                                     its name is taken         taken: FindGroup
//	half, new            CreatePodGroup  done                      ready
//	not new, or taken    FindGroup       none of the Job's         missing: created, if new
//	ready                ResizeGroup     another minCount is asked for
//	ready, not sure      FindGroup       before the next pod
//
// While the API server refuses us the objects, a Job that asks for them waits, and another is foreign: it gets plain
// pods.

// GroupStage says how far the objects are by which a Job's pods are scheduled together (J-239 to J-248).
type GroupStage uint8

// The stages. One that is not known any more, after a command of unknown end, is unsought again.
const (
	GroupUnsought GroupStage = iota // not looked for yet
	GroupMissing                    // there is no Workload for the Job
	GroupHalf                       // the Job's Workload is there, and no PodGroup of it
	GroupReady                      // both are there: pods name the PodGroup
	GroupForeign                    // what is there is not the Job's, or not as its own would be: pods are made without (J-242)
	GroupTaken                      // something has the name that a create was to give
)

// Group is what is known of these objects. Their names are evidence.
type Group struct {
	Stage              GroupStage
	Workload, PodGroup string
	// Size is the minCount that the objects have, as far as it is known; 0 for none. Where the Workload is of the Job's
	// owner: the parallelism for which the PodGroup was made as that Workload's template says.
	Size int32
	// Sure: the PodGroup was seen or made, and nothing has happened since by which it may have gone. One that pods run in
	// cannot go.
	Sure bool
	Beta bool // the objects are those of Kubernetes 1.37
}

// Gang reports whether the Job's pods are to be scheduled together, or at least by a PodGroup (J-240).
func (j *Job) Gang() bool {
	s := j.Settings
	if !s.GangScheduling || j.Deleted != 0 || j.Gone || j.finished || j.Spec == nil || j.Spec.SchedulingGroup {
		return false
	}
	if !s.Gangs.AsksBeta() {
		return j.Indexed && j.Parallelism > 1 && j.Completions == j.Parallelism
	}
	switch j.Parent {
	case events.ParentNone:
		return s.Gangs == events.GangsOfRoots || j.Spec.Scheduling != ""
	case events.ParentDelegates:
		return true
	case events.ParentUnknown, events.ParentOther:
	}
	return false
}

// Beta reports whether the Job's group is made by the rules of Kubernetes 1.37.
func (j *Job) Beta() bool { return j.Settings.Gangs.AsksBeta() }

// AsksForGang reports whether the Job is held while it cannot have its group: it wants a gang, or its owner has a
// PodGroup made for it.
func (j *Job) AsksForGang() bool {
	return j.Parent == events.ParentDelegates || (j.Spec != nil && j.Spec.SchedulingPolicy == events.PolicyGang)
}

// GroupSize is what the Size of the Job's group is to be; 0 where its pods are scheduled one by one.
func (j *Job) GroupSize() int32 {
	switch {
	case j.Parent == events.ParentDelegates:
	case j.Spec.SchedulingPolicy != events.PolicyGang:
		return 0
	case j.Spec.MinCount != nil:
		return *j.Spec.MinCount
	}
	return max(1, j.Parallelism)
}

// GroupHeld reports whether the Job is to have a PodGroup, and is kept from its pods as the API server refused what
// that needs.
func (j *Job) GroupHeld() bool {
	stage := j.Group.Stage
	return j.Gang() && stage != GroupReady && stage != GroupForeign && j.Regrouping().Count > 0
}

// groupSeen folds what was found.
func (j *Job) groupSeen(f *events.GroupSeen) {
	g := &j.Group
	g.Workload, g.PodGroup = f.Workload, f.PodGroup
	switch {
	case f.Unavailable:
		g.Stage = GroupForeign
	case f.Workloads == 0:
		g.Stage = GroupMissing
	case f.WorkloadUsable && f.PodGroups == 0:
		g.Stage = GroupHalf
	case f.WorkloadUsable && f.PodGroupUsable:
		g.Stage = GroupReady
	default:
		g.Stage = GroupForeign
	}
	if !j.Beta() {
		return
	}
	g.Beta, g.Sure, g.Size = true, true, f.MinCount
	if f.Delegated && f.MinCount != 0 {
		g.Size = j.GroupSize()
	}
}

// Grouping is the command about the Job's group that is in flight; nil for none.
func (j *Job) Grouping() *commands.Flight { return j.book.Itself.Flight(events.SlotGroup) }

// Regrouping is what was learnt from refused commands about the Job's group.
func (j *Job) Regrouping() *commands.Retry { return j.book.Shared(events.BackoffGroup) }

// groupEnded folds the end of a command about the Job's group. All of them may be asked twice: a search finds what a
// create made, or a create meets it. What a search found has been folded as an observation.
func (j *Job) groupEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	g := &j.Group
	switch f.Ending {
	case events.Done:
		if made := groupMade[flight.Command.Traits().Kind]; made != nil {
			made(j, flight.Command, name)
			j.Regrouping().Clear()
		} // after a search what is next may be refused again, and waits longer then
	case events.Refused:
		g.Stage = GroupUnsought // what is there is not as it was found: look again (J-245)
		if j.Beta() && f.Class == events.RefusedNameTaken {
			g.Stage = GroupTaken
		}
		j.Regrouping().Again(j.Settings, j.Now, f)
	case events.OutcomeUnknown, events.Withdrawn:
	}
}

// groupMade is what a command that made an object of the group, or changed one, leads to. The name is the object's.
var groupMade = [events.MaxCommandKind + 1]func(j *Job, made events.Command, name string){
	events.CommandCreateWorkload: func(j *Job, made events.Command, name string) {
		g := &j.Group
		g.Stage, g.Workload, g.Beta, g.Size = GroupHalf, name, j.Beta(), 0
		if g.Beta {
			g.Size = made.(*events.CreateWorkload).MinCount
		}
	},
	events.CommandCreatePodGroup: func(j *Job, _ events.Command, name string) {
		g := &j.Group
		g.Stage, g.PodGroup, g.Sure = GroupReady, name, j.Beta()
		if g.Sure && j.Parent == events.ParentDelegates {
			g.Size = j.GroupSize()
		}
	},
	events.CommandResizeGroup: func(j *Job, made events.Command, _ string) { j.Group.Size = made.(*events.ResizeGroup).MinCount },
}

// endMetGroup ends a command in backoff about the group when the Job's pods are not to be a gang any more, or when the
// objects are refused to us and the Job does not ask for a gang.
func (j *Job) endMetGroup() {
	f := j.Grouping()
	switch {
	case !f.InBackoff():
		return
	case !j.Gang():
		j.Group.Stage = GroupUnsought
	case j.Beta() && f.Refused.Class == events.RefusedForbidden && !j.AsksForGang():
		j.Group.Stage, j.Group.Beta = GroupForeign, true
	default:
		return
	}
	j.book.Land(f)
}

// groupRestarted folds a process's start: after a command about the group that was in flight, and where the objects are
// now those of another version of Kubernetes, look again. A PodGroup may have gone meanwhile.
func (j *Job) groupRestarted() {
	g := &j.Group
	switch {
	case g.Stage != GroupUnsought && g.Beta != j.Beta():
		*g = Group{}
	case j.Grouping() != nil:
		g.Stage = GroupUnsought
	}
	g.Sure = false
}

func (j *Job) groupToWire(names *pb.StateNames) *pb.GroupState {
	g, flight := &j.Group, j.Grouping()
	if *g == (Group{}) && flight == nil && *j.Regrouping() == (commands.Retry{}) {
		return nil
	}
	names.Workload, names.PodGroup = g.Workload, g.PodGroup
	return &pb.GroupState{
		Stage: uint32(g.Stage), Flight: flightToWire(flight, names), Retry: retryToWire(j.Regrouping()), Retrying: flight.InBackoff(),
		Size: g.Size, Sure: g.Sure, Beta: g.Beta,
	}
}

func (j *Job) restoreGroup(w *pb.GroupState, names *pb.StateNames, r *stateReader) {
	j.Group = Group{
		Stage: GroupStage(w.GetStage()), Workload: names.GetWorkload(), PodGroup: names.GetPodGroup(),
		Size: w.GetSize(), Sure: w.GetSure(), Beta: w.GetBeta(),
	}
	*j.Regrouping() = retryFromWire(w.GetRetry())
	if f := r.flight(w.GetFlight()); f != nil {
		j.book.Launch(f, &j.book.Itself)
		if w.GetRetrying() {
			f.Refused = j.Regrouping()
		}
	}
}
