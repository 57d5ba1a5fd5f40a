package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// jobRows are what the commands of each kind mean to a Job.
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

// Busy reports whether a command of the Job is in flight.
func (j *Job) Busy() bool { return j.book.Busy() }

// InFlight is the command of that name; nil when it has ended.
func (j *Job) InFlight(name events.CommandID) events.Command { return j.book.InFlight(name) }

// GaveUp reports whether the command of that name was cancelled, and its end is awaited.
func (j *Job) GaveUp(name events.CommandID) bool { return j.book.GaveUp(name) }

// Retrying is the command of that name and its backoff, when it is in backoff and is still wanted; else nil. Only such
// a command may be asked again.
func (j *Job) Retrying(name events.CommandID) (*commands.Flight, *commands.Retry) {
	f := j.book.Retrying(name)
	if f == nil || (j.Known() && !j.Settings.Records(j.ManagedBy)) || j.Observed() {
		return nil, nil
	}
	return f, f.Refused
}

// AllRetrying are the names of the commands that Retrying finds, in the order in which they were decided. It costs what
// there are commands in flight.
func (j *Job) AllRetrying() []events.CommandID {
	var names []events.CommandID
	for _, f := range j.book.InOrder() {
		if f, _ := j.Retrying(f.Name()); f != nil {
			names = append(names, f.Name())
		}
	}
	return names
}

// PodOf is the pod that a command in flight is about; nil when it is about none, or has ended.
func (j *Job) PodOf(name events.CommandID) *Pod {
	if f := j.book.Flight(name); f != nil {
		return j.podOf(f)
	}
	return nil
}
