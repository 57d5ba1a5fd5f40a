package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// jobRows says, for each kind of command, which methods of Job handle its start, end, cancellation and a restart.
var jobRows = commands.Rows[*Job]{
	events.CommandDropFinalizer: {
		Launch: (*Job).launchDrop, End: (*Job).podEnded, Withdraw: (*Job).cancelRemoval, Restart: (*Job).podRestarted,
	},
	events.CommandDeletePod: {
		Launch: (*Job).launchDelete, End: (*Job).podEnded, Withdraw: (*Job).cancelRemoval, Restart: (*Job).podRestarted,
	},
	events.CommandAdoptPod:    {Launch: (*Job).launchClaim, End: (*Job).claimEnded, Restart: (*Job).podRestarted},
	events.CommandReleasePod:  {Launch: (*Job).launchClaim, End: (*Job).claimEnded, Restart: (*Job).podRestarted},
	events.CommandWriteStatus: {Launch: (*Job).launchWrite, End: (*Job).writeEnded, Landed: (*Job).unwritten},
	events.CommandReadJob:     {End: (*Job).readEnded},
	events.CommandDeleteJob:   {Over: (*Job).deletionEnded},
	events.CommandCreatePod: {
		Launch: (*Job).launchCreate, End: (*Job).createEnded, Withdraw: (*Job).cancelCreate, Restart: (*Job).createRestarted,
	},
	events.CommandReadPod: {
		Launch: (*Job).launchLook, End: (*Job).createEnded, Withdraw: (*Job).cancelCreate, Restart: (*Job).createRestarted,
	},
	events.CommandCreateWorkload: {Over: (*Job).groupEnded},
	events.CommandCreatePodGroup: {Over: (*Job).groupEnded},
	events.CommandFindGroup:      {Over: (*Job).groupEnded},
	events.CommandResizeGroup:    {Over: (*Job).groupEnded},
}

// Busy reports whether a command of the Job is in flight: decided, and not ended.
func (j *Job) Busy() bool { return j.book.Busy() }

// InFlight returns the command with the ID name if it is in flight (decided, and not ended); else nil.
func (j *Job) InFlight(name events.CommandID) events.Command { return j.book.InFlight(name) }

// GaveUp reports whether the command with the ID name was cancelled and its outcome is still awaited.
func (j *Job) GaveUp(name events.CommandID) bool { return j.book.GaveUp(name) }

// Retrying returns the command with the ID name, and its backoff, if it was refused and is still wanted; else nil. Only
// such a command may be sent again.
func (j *Job) Retrying(name events.CommandID) (*commands.Flight, *commands.Retry) {
	f := j.book.Retrying(name)
	if f == nil || (j.Known() && !j.Settings.Records(j.ManagedBy)) || j.Observed() {
		return nil, nil
	}
	return f, f.Refused
}

// AllRetrying returns the IDs of all commands that Retrying would return, in order of decision. The cost depends on the
// number of commands in flight.
func (j *Job) AllRetrying() []events.CommandID {
	var names []events.CommandID
	for _, f := range j.book.InOrder() {
		if f, _ := j.Retrying(f.Name()); f != nil {
			names = append(names, f.Name())
		}
	}
	return names
}

// PodOf returns the pod that the command with the ID name is about; nil if it is about no pod or has ended.
func (j *Job) PodOf(name events.CommandID) *Pod {
	if f := j.book.Flight(name); f != nil {
		return j.podOf(f)
	}
	return nil
}
