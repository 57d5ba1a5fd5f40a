package projector

import (
	"github.com/jobledger/jobledger/events"
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
	Flight             *Flight // the command about them that has not ended
	Retrying           bool    // it was refused, or its outcome is unknown, and it is asked again as it is
	Retry              Retry
}

// Gang reports whether the Job's pods are to be scheduled together (J-240).
func (j *Job) Gang() bool {
	return j.Settings.GangScheduling && j.Deleted == 0 && !j.Gone && j.Indexed() && j.Parallelism() > 1 &&
		j.Completions() == j.Parallelism() && !j.Spec.SchedulingGroup && !j.Finished()
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

// groupEnded folds the end of a command about the Job's group. What a search found has been folded as an observation.
func (j *Job) groupEnded(rec *events.Record, f *events.CommandEnded) {
	g := &j.Group
	command := g.Flight.Command
	if f.Ending == events.OutcomeUnknown || (f.Ending == events.Refused && passing(f.Class)) {
		g.Retrying = true // all of them may be asked twice: a search finds what a create made, or a create meets it
		g.Retry.again(j.Settings, j.Now, f)
		return
	}
	j.land(f.Command)
	switch f.Ending {
	case events.Done:
		if made := groupMade[command.Traits().Kind]; made != nil {
			made(g, rec.Evidence.Name)
			g.Retry.cleared()
		} // after a search what is next may be refused again, and waits longer then
	case events.Refused:
		g.Stage = GroupUnsought // what is there is not as it was found: look again (J-245)
		g.Retry.again(j.Settings, j.Now, f)
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
	if g := &j.Group; g.Retrying && !j.Gang() {
		g.Stage = GroupUnsought
		j.land(g.Flight.Name)
	}
}

// groupDoubted folds a process's start while a command about the Job's group was in flight: look again.
func (j *Job) groupDoubted() {
	if j.Group.Flight != nil {
		j.Group.Stage = GroupUnsought
	}
}

func (g *Group) toWire(names *pb.StateNames) *pb.GroupState {
	if *g == (Group{}) {
		return nil
	}
	names.Workload, names.PodGroup = g.Workload, g.PodGroup
	return &pb.GroupState{Stage: uint32(g.Stage), Flight: flightToWire(g.Flight, names), Retry: retryToWire(&g.Retry), Retrying: g.Retrying}
}

func groupFromWire(w *pb.GroupState, names *pb.StateNames, r *stateReader) Group {
	return Group{
		Stage: GroupStage(w.GetStage()), Workload: names.GetWorkload(), PodGroup: names.GetPodGroup(),
		Flight: r.flight(w.GetFlight()), Retry: retryFromWire(w.GetRetry()), Retrying: w.GetRetrying(),
	}
}
