package projector

import "github.com/jobledger/jobledger/events"

// jobRows are what the commands of each kind mean to a Job.
var jobRows = Rows[*Job]{
	events.CommandCreatePod: {
		Launch: (*Job).launchCreate, End: (*Job).createEnded, Withdraw: (*Job).cancelCreate, Restart: (*Job).createRestarted,
	},
	events.CommandReadPod: {
		Launch: (*Job).launchLook, End: (*Job).createEnded, Withdraw: (*Job).cancelCreate, Restart: (*Job).createRestarted,
	},
	events.CommandDropFinalizer: {
		Launch: (*Job).launchDrop, End: (*Job).podEnded, Withdraw: (*Job).cancelRemoval, Restart: (*Job).podRestarted,
	},
	events.CommandDeletePod: {
		Launch: (*Job).launchDelete, End: (*Job).podEnded, Withdraw: (*Job).cancelRemoval, Restart: (*Job).podRestarted,
	},
	events.CommandAdoptPod:       {Launch: (*Job).launchClaim, End: (*Job).claimEnded, Restart: (*Job).podRestarted},
	events.CommandReleasePod:     {Launch: (*Job).launchClaim, End: (*Job).claimEnded, Restart: (*Job).podRestarted},
	events.CommandWriteStatus:    {Launch: (*Job).launchWrite, End: (*Job).writeEnded, Landed: (*Job).unwritten},
	events.CommandReadJob:        {End: (*Job).readEnded},
	events.CommandCreateWorkload: {Over: (*Job).groupEnded},
	events.CommandCreatePodGroup: {Over: (*Job).groupEnded},
	events.CommandFindGroup:      {Over: (*Job).groupEnded},
}

// Retrying is the command of that name and its backoff, when it is in backoff and is still wanted; else nil. Only such a
// command may be asked again.
func (j *Job) Retrying(name events.CommandID) (*Flight, *Retry) {
	f := j.retrying(name)
	if f == nil || (j.Known() && !j.Settings.Mode.Manages(j.ManagedBy)) {
		return nil, nil
	}
	return f, f.Refused
}

// AllRetrying are the names of the commands that Retrying finds, in the order in which they were decided. It costs what there are
// commands in flight.
func (j *Job) AllRetrying() []events.CommandID {
	var names []events.CommandID
	for _, f := range j.inOrder() {
		if f, _ := j.Retrying(f.Name()); f != nil {
			names = append(names, f.Name())
		}
	}
	return names
}

// PodOf is the pod that a command in flight is about; nil when it is about none, or has ended.
func (j *Job) PodOf(name events.CommandID) *Pod {
	if f := j.flights[name]; f != nil {
		return j.podOf(f)
	}
	return nil
}
