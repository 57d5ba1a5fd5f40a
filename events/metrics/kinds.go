package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// kind defines how commands of one kind affect the metrics; a nil function means not at all.
type kind struct {
	// launched is called with each new command. name is its ID.
	launched func(j *job, command events.Command, name events.CommandID)
	// ended handles the outcome of a command or of one try, and reports whether the command is over. uid is the Job's.
	// If ended is nil, every outcome is final.
	ended func(c *Consumer, j *job, known *flight, uid types.UID, f *events.CommandEnded) bool
	// action returns the value of the label action for a decision with the command (J-196); empty for none. ends says
	// whether the Job ends, and endsNow whether it does after this command.
	action func(command events.Command, ends bool) (action string, endsNow bool)
}

func kindOf(c events.Command) *kind { return &kinds[c.Traits().Kind] }

var kinds = [events.MaxCommandKind + 1]kind{
	events.CommandCreatePod: {
		launched: func(j *job, command events.Command, name events.CommandID) {
			ordinal, _ := events.OrdinalOf(command)
			j.creating(ordinal, name)
		},
		ended:  createEnded,
		action: func(_ events.Command, ends bool) (string, bool) { return actionCreated, ends },
	},
	events.CommandDeletePod: {
		action: func(_ events.Command, ends bool) (string, bool) {
			if ends {
				return "", true
			}
			return actionDeleted, false
		},
	},
	events.CommandDropFinalizer: {launched: dropLaunched, ended: dropEnded, action: dropAction},
	events.CommandWriteStatus:   {ended: writeEnded, action: writeAction},
	events.CommandReadJob:       {ended: readEnded},
}

func dropLaunched(j *job, command events.Command, name events.CommandID) {
	if j.drops == nil {
		j.drops = map[types.UID]events.CommandID{}
	}
	j.drops[events.PodOf(command)] = name
}

func dropEnded(c *Consumer, j *job, known *flight, _ types.UID, f *events.CommandEnded) bool {
	switch {
	case f.Ending == events.Done || (f.Ending == events.Refused && f.Class == events.RefusedNotFound):
		c.released(j, known.command.(*events.DropFinalizer))
	case f.Ending == events.Refused || f.Ending == events.OutcomeUnknown:
		return false // the command is not over: it stays in flight
	}
	return true
}

func dropAction(command events.Command, ends bool) (string, bool) {
	if command.(*events.DropFinalizer).ThenDelete {
		return actionDeleted, ends
	}
	return "", ends
}

func writeEnded(c *Consumer, j *job, known *flight, _ types.UID, f *events.CommandEnded) bool {
	if f.Ending == events.Done && f.Version > j.version {
		j.version = f.Version
		c.confirmed(j, &known.command.(*events.WriteStatus).Change)
	}
	return true
}

func writeAction(command events.Command, ends bool) (string, bool) {
	return "", ends || ending(command.(*events.WriteStatus).Change.Conditions) != nil
}

func readEnded(_ *Consumer, j *job, _ *flight, uid types.UID, f *events.CommandEnded) bool {
	j.gone = j.gone || (f.Ending == events.Refused && f.Class == events.RefusedNotFound) ||
		(f.Ending == events.Done && f.UID != uid)
	return true
}
