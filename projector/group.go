package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// A Job's pods are scheduled together (as a "gang") by a Workload and a PodGroup. Group.Stage says which of these
// objects exist. The stages under the rules of Kubernetes 1.37:
//
//	stage                command         outcome                   next stage
//	new Job              CreateWorkload  done                      half
//	                                     its name is taken         taken
//	half, new            CreatePodGroup  done                      ready
//	not new, or taken    FindGroup       none of the Job's         missing: created, if new
//	ready                ResizeGroup     on a new minCount         ready
//	ready, not sure      FindGroup       before the next pod       as found
//
// While the API server refuses these objects, a Job that asks for a gang waits. Any other Job gets the stage foreign,
// and pods without a group.

// GroupStage says which objects exist of the two that schedule a Job's pods together (J-239 to J-248).
type GroupStage uint8

// The values of Group.Stage. After a group command with unknown outcome the stage is GroupUnsought again.
const (
	GroupUnsought GroupStage = iota // not looked up yet
	GroupMissing                    // the Job has no Workload
	GroupHalf                       // the Workload exists, the PodGroup does not
	GroupReady                      // both exist: pods name the PodGroup
	GroupForeign                    // the objects are not the Job's, or do not fit it: no group for its pods (J-242)
	GroupTaken                      // a Workload or PodGroup of another owner has the name that we wanted to use
)

// Group is what is known of the Job's Workload and PodGroup. Their names are for people; no decision reads them.
type Group struct {
	Stage              GroupStage
	Workload, PodGroup string
	// Size is the minCount of the objects, as far as known; 0 for none. If the Job uses the Workload of its owner, Size
	// is the parallelism for which the PodGroup was made from a template in that Workload.
	Size int32
	// Sure: the PodGroup was seen or made, and nothing has happened since that could delete it. A PodGroup with running
	// pods cannot be deleted.
	Sure bool
	Beta bool // objects of Kubernetes 1.37
}

// Gang reports whether the Job needs a PodGroup, so that its pods are scheduled together (J-240).
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

// Beta reports whether the rules of Kubernetes 1.37 apply to the Job's group.
func (j *Job) Beta() bool { return j.Settings.Gangs.AsksBeta() }

// AsksForGang reports whether the Job creates no pods until it has its PodGroup: its spec asks for a gang, or its owner
// delegates the PodGroup to the Job controller.
func (j *Job) AsksForGang() bool {
	return j.Parent == events.ParentDelegates || (j.Spec != nil && j.Spec.SchedulingPolicy == events.PolicyGang)
}

// GroupSize returns the minCount that the Job's group should have; 0 if pods are scheduled one by one.
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

// GroupHeld reports whether the Job waits for a PodGroup because the API server refused a group command.
func (j *Job) GroupHeld() bool {
	stage := j.Group.Stage
	return j.Gang() && stage != GroupReady && stage != GroupForeign && j.Regrouping().Count > 0
}

// groupSeen updates the Job's group by what a FindGroup command found.
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

// Grouping returns the group command in flight; nil for none.
func (j *Job) Grouping() *commands.Flight { return j.book.Itself.Flight(events.SlotGroup) }

// Regrouping returns the backoff that refused group commands share.
func (j *Job) Regrouping() *commands.Retry { return j.book.Shared(events.BackoffGroup) }

// groupEnded updates the Job's group when a group command has ended. Sending a command twice is harmless: a search
// finds the object of an earlier create, or a create finds its name taken. What FindGroup found is in an earlier
// record.
func (j *Job) groupEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	g := &j.Group
	switch f.Ending {
	case events.Done:
		if made := groupMade[flight.Command.Traits().Kind]; made != nil {
			made(j, flight.Command, name)
			j.Regrouping().Clear()
		} // FindGroup has no row: after a search the backoff goes on, because the next command may be refused again
	case events.Refused:
		g.Stage = GroupUnsought // the objects have changed: look again (J-245)
		if j.Beta() && f.Class == events.RefusedNameTaken {
			g.Stage = GroupTaken
		}
		j.Regrouping().Again(j.Settings, j.Now, f)
	case events.OutcomeUnknown, events.Withdrawn:
	}
}

// groupMade maps each kind of group command to its effect on success. name is the name of the object.
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

// endMetGroup ends a refused group command that is no longer useful: the Job's pods are no longer a gang, or the API
// server forbids access to the objects and the Job does not ask for a gang.
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

// groupRestarted updates the Job's group when the process has restarted. The objects are looked up again if a group
// command was in flight, or if the rules of another Kubernetes version apply now.
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
		Stage: uint32(g.Stage), Flight: commands.FlightToWire(flight, names), Retry: commands.RetryToWire(j.Regrouping()), Retrying: flight.InBackoff(),
		Size: g.Size, Sure: g.Sure, Beta: g.Beta,
	}
}

func (j *Job) restoreGroup(w *pb.GroupState, names *pb.StateNames, r *stateReader) {
	j.Group = Group{
		Stage: GroupStage(w.GetStage()), Workload: names.GetWorkload(), PodGroup: names.GetPodGroup(),
		Size: w.GetSize(), Sure: w.GetSure(), Beta: w.GetBeta(),
	}
	*j.Regrouping() = commands.RetryFromWire(w.GetRetry())
	if f := r.flight(w.GetFlight()); f != nil {
		j.book.Launch(f, &j.book.Itself)
		if w.GetRetrying() {
			f.Refused = j.Regrouping()
		}
	}
}
