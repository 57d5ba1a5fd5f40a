package explain_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// scene is a log of several Jobs, as it is written beside it: what is staged is short, and what a record needs beside
// it is made up.
type scene struct {
	*cronSeen
	version uint64
}

func newScene(t *testing.T, ours bool) *scene {
	t.Helper()
	return &scene{cronSeen: newCronSeen(t, ours)}
}

// tell adds a record that others led to.
func (l *scene) tell(clock string, s events.Stream, kind events.Kind, f events.Facts, e events.Evidence, causes ...events.Sequence) events.Sequence {
	l.t.Helper()
	return l.append(events.Record{
		Header: events.Header{Time: cronClock(clock), Stream: s, Kind: kind, Causes: causes}, Facts: f, Evidence: e,
	})
}

func (l *scene) next() uint64 {
	l.version++
	return l.version
}

// node tells how a node is.
func (l *scene) node(clock, name string, change func(*events.NodeSeen)) {
	f := &events.NodeSeen{Name: name, UID: types.UID("uid-" + name), Ready: events.NodeReady}
	change(f)
	l.add(clock, events.Controller, events.KindNodeChanged, f)
}

// sceneJob is a Job of a scene. What is told of it next begins with what was told last.
type sceneJob struct {
	l      *scene
	of     events.Stream
	seen   events.JobSeen
	spec   events.JobSpec
	stat   events.JobStatus
	e      events.Evidence
	edited int
}

// job tells of a new Job, whose pods are of that template. It names itself after the template, which is JSON.
func (l *scene) job(clock, name, template string, change func(*sceneJob)) *sceneJob {
	l.t.Helper()
	j := &sceneJob{l: l, of: events.JobStream(types.UID("uid-" + name)), e: events.Evidence{Namespace: "batch", Name: name}}
	j.spec = events.JobSpec{
		BackoffLimit: new(int32(6)), Completions: new(int32(1)), Parallelism: new(int32(1)), RestartPolicy: "Never", Template: template, Redacted: template,
	}
	j.seen = events.JobSeen{Generation: 1, Created: cronClock(clock), Managed: true}
	if change != nil {
		change(j)
	}
	j.store(clock, template)
	j.see(clock, events.KindJobAdded)
	j.e.Origin = nil
	return j
}

// store stores its spec as it is now, and the template.
func (j *sceneJob) store(clock, template string) {
	j.l.t.Helper()
	var causes []events.Sequence
	if template != "" {
		causes = append(causes, j.l.tell(clock, j.of, events.KindTemplateStored, &events.JobTemplate{Hash: template}, events.Evidence{
			Namespace: j.e.Namespace, Name: j.e.Name, Template: []byte(template),
		}))
	}
	j.edited++
	j.spec.Hash = fmt.Sprintf("%s-%d", j.e.Name, j.edited)
	spec := j.spec
	j.seen.Spec = spec.Hash
	j.seen.SpecAt = j.l.tell(clock, j.of, events.KindSpecStored, &spec, events.Evidence{Namespace: j.e.Namespace, Name: j.e.Name}, causes...)
}

func (j *sceneJob) see(clock string, kind events.Kind) events.Sequence {
	j.l.t.Helper()
	j.seen.Version = j.l.next()
	f, s := j.seen, j.stat
	s.Conditions = slices.Clone(s.Conditions)
	f.Status = &s
	return j.l.tell(clock, j.of, kind, &f, j.e)
}

// status tells of a new status.
func (j *sceneJob) status(clock string, change func(*events.JobStatus)) events.Sequence {
	j.l.t.Helper()
	change(&j.stat)
	return j.see(clock, events.KindJobChanged)
}

// starts tells that its controller has seen it.
func (j *sceneJob) starts(clock string) {
	j.l.t.Helper()
	j.status(clock, func(s *events.JobStatus) { s.StartTime, s.HasUncounted = cronClock(clock), true })
}

// edit tells of another spec, and of who edited it.
func (j *sceneJob) edit(clock, by string, change func(*events.JobSpec)) {
	j.l.t.Helper()
	change(&j.spec)
	j.store(clock, "")
	j.seen.Generation++
	if by != "" {
		j.e.Edit = &events.Edit{Manager: by, Operation: "Update", Time: cronClock(clock)}
	}
	j.see(clock, events.KindJobChanged)
	j.e.Edit = nil
}

// ends tells that it is Complete or has Failed.
func (j *sceneJob) ends(clock, kind, reason, message string) events.Sequence {
	j.l.t.Helper()
	interim := map[string]string{status.Failed: status.FailureTarget, status.Complete: status.SuccessCriteriaMet}[kind]
	return j.status(clock, func(s *events.JobStatus) {
		for _, k := range []string{interim, kind} {
			if k == kind || !slices.ContainsFunc(s.Conditions, func(c events.JobCondition) bool { return c.Type == interim }) {
				s.Conditions = append(s.Conditions, events.JobCondition{Type: k, Status: "True", Reason: reason, Message: message, Since: cronClock(clock)})
			}
		}
		if kind == status.Complete {
			s.CompletionTime = cronClock(clock)
		}
	})
}

// gone tells that its object is.
func (j *sceneJob) gone(clock string) {
	j.l.t.Helper()
	j.l.tell(clock, j.of, events.KindJobDeleted, &events.JobGone{Version: j.l.next()}, j.e)
}

// decides tells of a decision of ours.
func (j *sceneJob) decides(clock, reason, sentence string, commands ...events.Command) events.Sequence {
	j.l.t.Helper()
	return j.l.tell(clock, j.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
		Stage: "pods", Rule: "rule", Reason: events.Reason(reason), Sentence: sentence, Commands: commands,
	}}}, events.Evidence{})
}

// ended tells how its command ended.
func (j *sceneJob) ended(clock string, decided events.Sequence, c events.Command, how events.Ending, class events.RefusalClass, message string) {
	j.l.t.Helper()
	f := (&events.Task{Name: events.CommandID{Decided: decided}, Command: c}).Ended(how)
	f.Class, f.Sent = class, true
	j.l.tell(clock, j.of, events.KindCommandEnded, &f, events.Evidence{Namespace: j.e.Namespace, Name: j.e.Name, Message: message})
}

// scenePod is a pod of a Job of a scene.
type scenePod struct {
	j *sceneJob
	f events.PodSeen
	e events.Evidence
	n int
}

// pod tells of a new pod, which waits for a node.
func (j *sceneJob) pod(clock, name string, change func(*scenePod)) *scenePod {
	j.l.t.Helper()
	p := &scenePod{j: j, e: events.Evidence{Namespace: j.e.Namespace, Name: name}}
	p.f = events.PodSeen{
		UID: types.UID("uid-" + name), Owner: types.UID(j.of.ID), Created: cronClock(clock), Phase: events.PodPending, Tracked: true, Selected: true,
		Index: events.NoIndex,
	}
	p.see(clock, change)
	return p
}

// see tells of a new version of it.
func (p *scenePod) see(clock string, change func(*scenePod)) events.Sequence {
	p.j.l.t.Helper()
	if change != nil {
		change(p)
	}
	kind := events.KindPodChanged
	if p.n++; p.n == 1 {
		kind = events.KindPodAdded
	}
	p.f.Version = p.j.l.next()
	f, e := p.f, p.e
	f.Exits, f.Conditions = slices.Clone(f.Exits), slices.Clone(f.Conditions)
	e.Containers, e.Conditions, e.Waits = slices.Clone(e.Containers), slices.Clone(e.Conditions), slices.Clone(e.Waits)
	p.e.PassedOver, p.e.Admitted = 0, nil
	return p.j.l.tell(clock, p.j.of, kind, &f, e)
}

// runs tells that it runs on a node.
func (p *scenePod) runs(clock, node string) *scenePod {
	p.j.l.t.Helper()
	p.see(clock, func(p *scenePod) {
		p.f.Scheduled, p.f.Phase, p.f.Waiting, p.e.Node, p.e.Waits = true, events.PodRunning, "", node, nil
		p.f.Conditions, p.e.Conditions = []events.PodCondition{{Type: "PodScheduled", Status: "True"}, {Type: "Initialized", Status: "True"}}, nil
		p.e.Running = cronClock(clock)
	})
	return p
}

// exits adds the end of a container.
func (p *scenePod) exits(name string, code int32, clock string, change func(*events.ContainerEnd)) {
	k := events.ContainerEnd{Name: name, ExitCode: code, Started: p.e.Running, Finished: cronClock(clock)}
	if change != nil {
		change(&k)
	}
	p.e.Containers = append(p.e.Containers, k)
	if code != 0 {
		p.f.Exits = append(p.f.Exits, events.ContainerExit{Name: name, Init: k.Kind == events.InitContainer, Code: code})
	}
}

// began is when a pod began whose end comes now: one that was not seen to run began now if it waited until now, and
// otherwise when it was created.
func (p *scenePod) began(clock string) events.Time {
	switch {
	case p.e.Running != 0:
		return p.e.Running
	case p.f.Waiting != "":
		return cronClock(clock)
	}
	return p.f.Created
}

// fails tells that its container main failed.
func (p *scenePod) fails(clock string, code int32, message string) *scenePod {
	p.j.l.t.Helper()
	p.see(clock, func(p *scenePod) {
		began := p.began(clock)
		p.f.Phase, p.f.Finished, p.e.Running = events.PodFailed, cronClock(clock), 0
		p.exits("main", code, clock, func(k *events.ContainerEnd) { k.Started, k.Message = began, message })
	})
	return p
}

// succeeds tells that it ended well.
func (p *scenePod) succeeds(clock string) *scenePod {
	p.j.l.t.Helper()
	p.see(clock, func(p *scenePod) {
		began := p.began(clock)
		p.f.Phase, p.f.Finished, p.e.Running = events.PodSucceeded, cronClock(clock), 0
		p.exits("main", 0, clock, func(k *events.ContainerEnd) { k.Started = began })
	})
	return p
}

// deleted tells that its deletion was asked for now.
func (p *scenePod) deleted(clock string, seconds int64) {
	p.j.l.t.Helper()
	p.see(clock, func(p *scenePod) {
		p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock(clock).Add(time.Duration(seconds)*time.Second), &seconds
	})
}

// disrupted tells why, by the condition DisruptionTarget.
func (p *scenePod) disrupted(reason, message, clock string) {
	p.f.Conditions = append(p.f.Conditions, events.PodCondition{Type: "DisruptionTarget", Status: "True"})
	p.e.Conditions = append(p.e.Conditions, events.ConditionText{Type: "DisruptionTarget", Status: "True", Reason: reason, Message: message, Since: cronClock(clock)})
}

// counted tells that its controller has counted it.
func (p *scenePod) counted(clock string) {
	p.j.l.t.Helper()
	list, n := &p.j.stat.UncountedFailed, &p.j.stat.Failed
	if p.f.Phase == events.PodSucceeded {
		list, n = &p.j.stat.UncountedSucceeded, &p.j.stat.Succeeded
	}
	p.j.status(clock, func(*events.JobStatus) { *list = []types.UID{p.f.UID} })
	p.see(clock, func(p *scenePod) { p.f.Tracked = false })
	p.j.status(clock, func(*events.JobStatus) { *list, *n = nil, *n+1 })
}

// gone tells that its object is.
func (p *scenePod) gone(clock string) {
	p.j.l.t.Helper()
	p.j.l.tell(clock, p.j.of, events.KindPodDeleted, &events.PodGone{UID: p.f.UID, Version: p.j.l.next()}, events.Evidence{})
}

// waits makes it wait for something.
func waits(word, container, says string) func(*scenePod) {
	return func(p *scenePod) {
		if p.f.Waiting = word; container == "" {
			p.e.Conditions = []events.ConditionText{{Type: "PodScheduled", Status: "False", Reason: word, Message: says, Since: p.f.Created}}
			return
		}
		p.f.Scheduled, p.e.Node = true, "node-1"
		p.f.Conditions = []events.PodCondition{{Type: "PodScheduled", Status: "True"}, {Type: "Initialized", Status: "True"}}
		p.e.Waits, p.e.Conditions = []events.ContainerWait{{Name: container, Reason: word, Message: says}}, nil
	}
}

// judged holds all that is told of a scene against the records and against the text that is kept.
func (l *scene) judged() {
	l.t.Helper()
	neverFalse(l.t, l.source())
	keepAll(l.t, l.source())
	failingReads(l.t, l.source())
}
