package crons

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/projector"
)

// byHand is the prefix of names of Jobs that users make by hand.
const byHand = "by-hand"

// answer is a way in which the API server answers a request.
type answer uint8

const (
	taken    answer = iota
	failed          // refused, for a temporary reason
	lost            // the outcome is unknown, and there was no effect
	unheard         // the outcome is unknown, and there was an effect
	belated         // the outcome is unknown, and the effect comes some time later
	lingered        // like taken, but the answer is late, if the controller still lives
)

// answer returns how a request is answered. If it is belated, late is the time from the answer to the effect.
func (w *world) answer(command events.Command) (how answer, late time.Duration) {
	if w.script != nil {
		return w.script(command)
	}
	return w.randomAnswer(), time.Duration(w.r.IntN(1800)) * time.Second
}

func (w *world) randomAnswer() answer {
	switch draw := w.r.IntN(100); {
	case draw < 2:
		return failed
	case draw == 2:
		return lost
	case draw == 3:
		return unheard
	case draw == 4:
		return belated
	case draw < 50:
		return lingered
	}
	return taken
}

// carryOut makes the request some time later. A controller that is gone gets no answer.
func (w *world) carryOut(c *cron, name events.CommandID, command events.Command) {
	task := events.Task{Name: name, Command: command}
	delay := time.Duration(5+w.r.IntN(50)) * time.Millisecond
	if w.script == nil && w.r.IntN(200) == 0 {
		delay = time.Duration(w.r.IntN(600)) * time.Second // a slow request
	}
	life, ended := w.life, task.Ended(events.Done)
	how, late := w.answer(command)
	switch {
	case how == lingered && !command.Traits().Reads:
		w.effect(c, command, &ended)
	case how == belated:
		w.after(delay+late, func() {
			w.late++
			dropped := ended
			w.belatedly(c, command, &dropped)
		})
	}
	w.after(delay, func() {
		if !w.up || w.life != life {
			return
		}
		var read []projector.Draft
		switch {
		case how == failed:
			ended.Ending, ended.Class = events.Refused, events.RefusedServer
		case how == lost || how == belated:
			ended = task.Ended(events.OutcomeUnknown)
		case how == unheard:
			w.effect(c, command, &ended)
			ended = task.Ended(events.OutcomeUnknown)
		case how == taken || command.Traits().Reads:
			read = w.effect(c, command, &ended)
		}
		w.input(append(read, projector.Draft{Stream: c.stream, Kind: events.KindCommandEnded, Facts: &ended})...)
	})
}

// belatedly carries out a request that its sender has given up. A status write then mostly meets a newer version.
func (w *world) belatedly(c *cron, command events.Command, ended *events.CommandEnded) {
	if create, ok := command.(*events.CreateJob); ok {
		w.create(c, create, ended, true)
		return
	}
	w.effect(c, command, ended)
}

// effect applies a request on the API server.
func (w *world) effect(c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
	refuse := func(class events.RefusalClass) []projector.Draft {
		ended.Ending, ended.Class = events.Refused, class
		return nil
	}
	switch command := command.(type) {
	case *events.CreateJob:
		w.create(c, command, ended, false)
	case *events.DeleteRun:
		j := w.jobs[command.Name]
		if j == nil || j.facts.Job != command.Job {
			return refuse(events.RefusedNotFound)
		}
		w.remove(j)
	case *events.ReadRun:
		j := w.jobs[command.Name]
		if j == nil {
			return refuse(events.RefusedNotFound)
		}
		ended.UID, ended.Version = j.facts.Job, j.facts.Version
		if w.up && j.owner == c {
			return w.intake.FollowRun(observed(j))
		}
	case *events.ReadCronJob:
		if c.gone {
			return refuse(events.RefusedNotFound)
		}
		ended.UID, ended.Version = c.uid, c.facts.Version
		if w.up {
			return w.admit(c)
		}
	case *events.WriteCronStatus:
		switch {
		case c.gone:
			return refuse(events.RefusedNotFound)
		case command.Base != c.facts.Version:
			return refuse(events.RefusedConflict)
		case command.LastSchedule < c.facts.LastSchedule || command.LastSuccess < c.facts.LastSuccess:
			w.t.Fatalf("a status goes back: %+v after %+v (C-243, C-244)", command, c.facts)
		}
		w.version++
		c.facts.Version, c.facts.Active = w.version, slices.Clone(command.Active)
		c.facts.LastSchedule, c.facts.LastSuccess = command.LastSchedule, command.LastSuccess
		ended.UID, ended.Version = c.uid, w.version
	}
	return nil
}

// create makes a Job of a CronJob.
func (w *world) create(c *cron, create *events.CreateJob, ended *events.CommandEnded, late bool) {
	switch {
	case c.gone: // the garbage collector would delete it
		ended.Ending, ended.Class = events.Refused, events.RefusedNamespaceTerminating
		return
	case w.true.Before(c.refused):
		ended.Ending, ended.Class = events.Refused, events.RefusedQuota
		return
	case w.jobs[create.Name] != nil:
		ended.Ending, ended.Class = events.Refused, events.RefusedNameTaken
		return
	}
	j := w.make(c, create.Name)
	j.facts.Due, j.facts.Manual = create.Due, create.Trigger != ""
	c.create(w.t, j.facts.Job, create.Due, late)
	ended.UID, ended.Version, ended.Written = j.facts.Job, w.version, j.facts.Created
	w.tell(j)
}

// make makes a Job that runs for a while. Without a CronJob it has no owner.
func (w *world) make(c *cron, name string) *job {
	w.version++
	created := events.Time(w.true.UnixNano()).Second()
	j := &job{owner: c, facts: events.RunSeen{
		Job: types.UID(fmt.Sprintf("job-%d", w.version)), Name: name, Version: w.version, Created: created, Started: created,
	}}
	w.jobs[name] = j
	length := time.Duration(w.r.IntN(60)) * time.Second
	if w.r.IntN(20) == 0 {
		length = time.Duration(w.r.IntN(300)) * time.Minute
	}
	w.after(length, func() { w.finish(j) })
	return j
}

func (w *world) exists(j *job) bool { return w.jobs[j.facts.Name] == j }

func observed(j *job) *events.Observation {
	facts := j.facts
	return &events.Observation{
		Job: events.JobRef{Namespace: "default", Name: facts.Name, UID: facts.Job}, Facts: &events.JobSeen{Version: facts.Version},
		CronJob: j.owner.uid, Run: &facts,
		Evidence: events.Evidence{Origin: &events.Origin{Kind: "CronJob", Name: string(j.owner.uid), UID: j.owner.uid}},
	}
}

// tell lets the watch show a Job.
func (w *world) tell(j *job) {
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() {
		if w.exists(j) {
			w.input(w.intake.FollowRun(observed(j))...)
		}
	})
}

func (w *world) finish(j *job) {
	if !w.exists(j) {
		return
	}
	w.version++
	if j.owner == nil {
		delete(w.jobs, j.facts.Name)
		return
	}
	j.facts.Version, j.facts.Result = w.version, events.ResultFailed
	if w.r.IntN(4) > 0 {
		j.facts.Result, j.facts.Succeeded, j.facts.Completed = events.ResultComplete, true, events.Time(w.true.UnixNano()).Second()
	}
	w.tell(j)
}

func (w *world) remove(j *job) {
	w.version++
	version := w.version
	delete(w.jobs, j.facts.Name)
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() {
		w.input(w.intake.FollowRun(&events.Observation{Job: events.JobRef{UID: j.facts.Job}, Facts: &events.JobGone{Version: version}})...)
	})
}

var zoneRules = map[string]zones.Rules{}

// admit shows a CronJob in its present state.
func (w *world) admit(c *cron) []projector.Draft {
	facts := c.facts
	o := &events.Observation{
		Job: events.JobRef{Namespace: "default", Name: string(c.uid), UID: c.uid}, Facts: &facts,
		Evidence: events.Evidence{Namespace: "default", Name: string(c.uid)},
	}
	for _, name := range schedule.Named(facts.Schedule, facts.TimeZone) {
		z, ok := zoneRules[name]
		if !ok {
			z, _ = zones.Find(name)
			zoneRules[name] = z
		}
		o.Zones = append(o.Zones, events.ZoneRules{Name: z.Name, TZif: z.TZif, Hash: z.Hash})
		facts.Zones = append(facts.Zones, events.ZoneName{Name: z.Name, Hash: z.Hash})
	}
	c.show(c.by, facts.TimeZone, w.now())
	if facts.Trigger != nil {
		c.asked[facts.Trigger.Value] = true
	}
	return w.intake.Admit(o, w.next+1)
}

// edit changes a CronJob as its user does.
func (w *world) edit(c *cron, change func(*events.CronJobSeen)) {
	if c.gone {
		return
	}
	w.version++
	change(&c.facts)
	c.facts.Version = w.version
	c.facts.Generation++
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() {
		if !c.gone {
			w.input(w.admit(c)...)
		}
	})
}
