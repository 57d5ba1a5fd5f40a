package projector

import "github.com/jobledger/jobledger/events"

// launches are what a command of each kind changes when it is decided.
var launches = [events.MaxCommandKind + 1]func(*Job, *Flight){
	events.CommandCreatePod:      (*Job).launchCreate,
	events.CommandDeletePod:      (*Job).launchDelete,
	events.CommandDropFinalizer:  (*Job).launchDrop,
	events.CommandWriteStatus:    (*Job).launchWrite,
	events.CommandAdoptPod:       (*Job).claim,
	events.CommandReleasePod:     (*Job).claim,
	events.CommandReadJob:        (*Job).launchRead,
	events.CommandReadPod:        (*Job).launchLook,
	events.CommandWithdraw:       func(j *Job, f *Flight) { j.withdrawn(f.Command.(*events.Withdraw).Command) },
	events.CommandCreateWorkload: (*Job).launchGroup,
	events.CommandCreatePodGroup: (*Job).launchGroup,
	events.CommandFindGroup:      (*Job).launchGroup,
}

func (j *Job) launchCreate(f *Flight) {
	j.flights[f.Name] = flight{create: j.creating(f.Command.(*events.CreatePod), f)}
}

func (j *Job) launchLook(f *Flight) {
	ordinal, _ := events.OrdinalOf(f.Command)
	if create := j.create(ordinal); create != nil {
		create.Flight = f
		j.flights[f.Name] = flight{create: create}
	}
}

func (j *Job) launchDrop(f *Flight) {
	c := f.Command.(*events.DropFinalizer)
	if p := j.pods[c.Pod]; p != nil {
		j.update(p, func() {
			p.Drop = f
			p.Surplus = p.Surplus || c.ThenDelete
			p.NeverCounted = p.NeverCounted || (!c.ThenDelete && j.toCount(p))
			j.flights[f.Name] = flight{pod: p}
		})
	}
}

func (j *Job) launchDelete(f *Flight) {
	if p := j.pods[events.PodOf(f.Command)]; p != nil {
		j.update(p, func() {
			p.Delete = f
			p.Surplus = p.Surplus || (!p.Held() && !j.failing() && !j.succeeding()) // surplus, and its finalizer is gone
			j.deletes++
			j.flights[f.Name] = flight{pod: p}
		})
	}
}

func (j *Job) launchWrite(f *Flight) {
	j.Write = f
	j.flights[f.Name] = flight{}
	j.written(&f.Command.(*events.WriteStatus).Change)
}

func (j *Job) launchRead(f *Flight) {
	j.Reading = f
	j.flights[f.Name] = flight{}
}

func (j *Job) launchGroup(f *Flight) {
	j.Group.Flight = f
	j.flights[f.Name] = flight{}
}
