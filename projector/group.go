package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// GroupStage says how far the objects are by which a Job's pods are scheduled together (J-239 to J-248).
type GroupStage uint8

// The stages. One that is not known any more, after a command of unknown end, is unsought again.
const (
	GroupUnsought GroupStage = iota // not looked for yet
	GroupMissing                    // there is no Workload for the Job
	GroupHalf                       // the Job's Workload is there, and no PodGroup of it
	GroupReady                      // both are there: pods name the PodGroup
	GroupForeign                    // what is there is not the Job's, or not as its own would be: pods are made without (J-242)
)

// Group is what is known of these objects. Their names are evidence.
type Group struct {
	Stage              GroupStage
	Workload, PodGroup string
}

// Gang reports whether the Job's pods are to be scheduled together (J-240).
func (j *Job) Gang() bool {
	return j.Settings.GangScheduling && j.Deleted == 0 && !j.Gone && j.Indexed && j.Parallelism > 1 &&
		j.Completions == j.Parallelism && !j.Spec.SchedulingGroup && !j.finished
}

// seen folds what was found.
func (g *Group) seen(f *events.GroupSeen) {
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
}

// Grouping is the command about the Job's group that is in flight; nil for none.
func (j *Job) Grouping() *commands.Flight { return j.book.Itself.Flight(events.SlotGroup) }

// Regrouping is what was learnt from refused commands about the Job's group.
func (j *Job) Regrouping() *commands.Retry { return j.book.Shared(events.BackoffGroup) }

// groupEnded folds the end of a command about the Job's group. All of them may be asked twice: a search finds what a create made, or a
// create meets it. What a search found has been folded as an observation.
func (j *Job) groupEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	g := &j.Group
	switch f.Ending {
	case events.Done:
		if made := groupMade[flight.Command.Traits().Kind]; made != nil {
			made(g, name)
			j.Regrouping().Clear()
		} // after a search what is next may be refused again, and waits longer then
	case events.Refused:
		g.Stage = GroupUnsought // what is there is not as it was found: look again (J-245)
		j.Regrouping().Again(j.Settings, j.Now, f)
	case events.OutcomeUnknown, events.Withdrawn:
	}
}

// groupMade is what a command that made an object of the group leads to. The name is the object's.
var groupMade = [events.MaxCommandKind + 1]func(g *Group, name string){
	events.CommandCreateWorkload: func(g *Group, name string) { g.Stage, g.Workload = GroupHalf, name },
	events.CommandCreatePodGroup: func(g *Group, name string) { g.Stage, g.PodGroup = GroupReady, name },
}

// endMetGroup ends a command in backoff about the group when the Job's pods are not to be a gang any more.
func (j *Job) endMetGroup() {
	if f := j.Grouping(); f.InBackoff() && !j.Gang() {
		j.Group.Stage = GroupUnsought
		j.book.Land(f)
	}
}

// groupDoubted folds a process's start while a command about the Job's group was in flight: look again.
func (j *Job) groupDoubted() {
	if j.Grouping() != nil {
		j.Group.Stage = GroupUnsought
	}
}

func (j *Job) groupToWire(names *pb.StateNames) *pb.GroupState {
	g, flight := &j.Group, j.Grouping()
	if *g == (Group{}) && flight == nil && *j.Regrouping() == (commands.Retry{}) {
		return nil
	}
	names.Workload, names.PodGroup = g.Workload, g.PodGroup
	return &pb.GroupState{
		Stage: uint32(g.Stage), Flight: flightToWire(flight, names), Retry: retryToWire(j.Regrouping()), Retrying: flight.InBackoff(),
	}
}

func (j *Job) restoreGroup(w *pb.GroupState, names *pb.StateNames, r *stateReader) {
	j.Group = Group{Stage: GroupStage(w.GetStage()), Workload: names.GetWorkload(), PodGroup: names.GetPodGroup()}
	*j.Regrouping() = retryFromWire(w.GetRetry())
	if f := r.flight(w.GetFlight()); f != nil {
		j.book.Launch(f, &j.book.Itself)
		if w.GetRetrying() {
			f.Refused = j.Regrouping()
		}
	}
}
