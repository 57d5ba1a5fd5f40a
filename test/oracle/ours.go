package oracle

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
	"github.com/jobledger/jobledger/internal/dev/sim/process"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// ours is Jobledger in a simulated cluster: the real loop and the real executor, run step by step.
type ours struct {
	*cluster
	seed     uint64
	settings events.Settings
	logs     []*memlog.Log // all logs so far; the last one is in use
	process  *process.Process
	flying   []*executor.Call
	checker  *invariants.Checker
}

// actor is Jobledger's name in the recorded writes of a cluster.
const actor = "jobledger"

// playOurs runs a scenario with Jobledger in place of the built-in controller, and returns the picture (the final state
// as lines), without what the lens l leaves out. It returns an error if Jobledger breaks a promise on the way.
func playOurs(s Scenario, l lens, seed uint64) (Picture, error) {
	return playOursWaiting(s, l, seed, events.DefaultSettings().DeletedPodWait)
}

// playOursWaiting does the same as playOurs, with wait as the setting DeletedPodWait: how long a deleted pod may take
// to end by itself.
func playOursWaiting(s Scenario, l lens, seed uint64, wait time.Duration) (Picture, error) {
	return playOursWith(s, l, seed, func(settings *events.Settings) { settings.DeletedPodWait = wait })
}

// playOursWith does the same as playOurs, with settings that change has edited.
func playOursWith(s Scenario, l lens, seed uint64, change func(*events.Settings)) (Picture, error) {
	o, err := newOursWith(s, seed, change)
	if err != nil {
		return nil, err
	}
	if err := s.play(o); err != nil {
		return nil, err
	}
	publish := o.publish
	if o.settings.CronJobs {
		publish = o.tellOfCronJobs
	}
	if err := publish(); err != nil {
		return nil, err
	}
	return o.picture(l)
}

func newOurs(s Scenario, seed uint64) (*ours, error) {
	return newOursWith(s, seed, func(*events.Settings) {})
}

func newOursWith(s Scenario, seed uint64, change func(*events.Settings)) (*ours, error) {
	c, err := newCluster(s, seed, actor)
	if err != nil {
		return nil, err
	}
	o := &ours{cluster: c, seed: seed, settings: events.DefaultSettings()}
	o.settings.Mode, o.settings.DeleteExpired, o.settings.CronJobs = events.ModeAll, true, len(s.CronJobs) > 0
	change(&o.settings)
	// For half of the seeds, use limits so small that Jobs with a few pods reach them, too.
	o.settings.HeldAtEnd = []uint32{o.settings.HeldAtEnd, o.settings.HeldAtEnd, 1, 3}[seed%4]
	o.checker = invariants.New(invariants.Config{
		Server: c.world.Server, Actor: actor, Manages: o.manages, DeletesExpired: true, HeldAtEnd: int(o.settings.HeldAtEnd),
		DeletedPodWait: o.settings.DeletedPodWait,
	})
	o.begin, o.step = o.start, o.clockSet
	o.newLog()
	return o, o.boot()
}

func (o *ours) manages(j *batchv1.Job) bool {
	return j.Spec.ManagedBy == nil || o.settings.Mode.Manages(*j.Spec.ManagedBy)
}

func (o *ours) newLog() {
	id := fmt.Sprintf("%016x%016x", o.seed, len(o.logs)+1)
	o.logs = append(o.logs, memlog.New(events.Identity{LogID: id, Epoch: 1}, memlog.Manual()))
}

func (o *ours) log() *memlog.Log { return o.logs[len(o.logs)-1] }

// key returns the key with which the log in use seals annotations of pods. If a log is lost, its key is lost, too.
func (o *ours) key() events.Key { return events.Key{byte(len(o.logs))} }

// start kills the running process, and starts another one: on the durable part of its log, or, with lost, on a new log.
func (o *ours) start(lost bool) error {
	if lost {
		o.checker.LogLost()
		o.newLog()
	} else {
		_, durable := o.log().Batches()
		o.logs[len(o.logs)-1] = o.log().Crash(durable)
	}
	return o.boot()
}

// boot starts a new process of Jobledger on the log, as it is now.
func (o *ours) boot() error {
	p, err := process.Start(process.Config{
		Server: o.world.Server, API: &api{o.cluster}, Groups: o.client, Crons: &api{o.cluster}, Checker: o.checker, Log: o.log(), Key: o.key(),
		Settings: o.settings, Program: "oracle", Seed: o.seed,
	}, o.now())
	o.process, o.flying = p, nil
	return err
}

// now returns the time by the controller's clock, which may be slow.
func (o *ours) now() events.Time {
	return events.At(o.world.Clock.Now()).Add(time.Duration(o.skew.Load()))
}

// clockSet tells the controller's loop that its clock was set by `by`.
func (o *ours) clockSet(by time.Duration) {
	if by != 0 && !o.spent {
		o.process.Loop.Step(o.now(), events.ClockStepped{Step: by})
	}
}

// do carries out the actions of a step, and then delivers all events of these actions before the loop decides anything.
func (o *ours) do(deeds []string) error {
	if err := o.cluster.do(deeds); err != nil {
		return err
	}
	for _, step := range []func() (bool, error){o.watch, o.take} {
		for did := true; did; {
			var err error
			if did, err = step(); err != nil {
				return err
			}
		}
	}
	return o.checker.Check()
}

// pass lets time d pass in the cluster, and makes all steps of the controller that become due.
func (o *ours) pass(d time.Duration) error {
	end := o.world.Clock.Now().Add(d)
	for range 1_000_000 {
		busy, err := o.busy()
		if err := errors.Join(err, o.checker.Check()); err != nil {
			return err
		}
		if busy || o.settle() {
			continue
		}
		next := end
		if item := o.world.Clock.Next(); item != nil && item.Due.Before(next) {
			next = item.Due
		}
		if wake := o.wake().Add(-time.Duration(o.skew.Load())); !o.spent && o.wake() != 0 && wake.Go().Before(next) {
			next = wake.Go()
		}
		o.world.Clock.AdvanceTo(next)
		o.settle()
		if !next.Before(end) && !o.due() {
			return nil
		}
	}
	return errors.New("it never comes to rest")
}

// due reports whether the controller or the simulated cluster has something to do now.
func (o *ours) due() bool {
	wake, item := o.wake(), o.world.Clock.Next()
	return !o.spent && wake != 0 && wake <= o.now() || item != nil && !item.Due.After(o.world.Clock.Now())
}

// wake returns the time at which the controller next acts by itself; 0 for never.
func (o *ours) wake() events.Time {
	wake := o.process.Loop.Wake()
	if pause := o.process.Executor.Wake(); pause > o.now() && (wake == 0 || pause < wake) {
		wake = pause
	}
	return wake
}

// busy makes one step of the controller that takes no time. It reports whether there was one.
func (o *ours) busy() (bool, error) {
	for _, step := range []func() (bool, error){o.list, o.watch, o.take, o.turn, o.process.Commit, o.call} {
		if o.spent {
			return false, nil
		}
		if did, err := step(); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// list lists one kind of object that is not watched yet, and starts its watch.
func (o *ours) list() (bool, error) {
	for _, r := range []events.Resource{events.CronJobs, events.Jobs, events.Pods} {
		if r == events.CronJobs && !o.settings.CronJobs {
			continue
		}
		if o.process.Watches[r] == nil {
			return true, o.process.List(r)
		}
	}
	return false, nil
}

// watch delivers the next watch event: about a pod if there is one, else about a Job, else about a CronJob.
func (o *ours) watch() (bool, error) {
	for _, w := range []struct {
		kind     apiserver.Kind
		resource events.Resource
	}{{apiserver.Pods, events.Pods}, {apiserver.Jobs, events.Jobs}, {apiserver.CronJobs, events.CronJobs}} {
		if o.held[w.kind] || o.spent {
			continue
		}
		if did, err := o.process.Watch(w.resource); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// take gives one observation, which a watch or list has made, to the loop as input of its next turn.
func (o *ours) take() (bool, error) { return o.process.Take(), nil }

// turn makes a turn of the loop, if the loop has a reason for one.
func (o *ours) turn() (bool, error) {
	if !o.process.HasTurn(o.now()) {
		return false, nil
	}
	return true, o.process.Turn(o.now(), len(o.process.Inputs))
}

// call carries out the request of one command. Before that, it begins all commands that can begin now, as if their
// requests had been sent at the same time.
func (o *ours) call() (bool, error) {
	for {
		call, ok := o.process.Executor.Next(o.now())
		if !ok {
			break
		}
		o.flying = append(o.flying, call)
	}
	if len(o.flying) == 0 {
		return false, nil
	}
	call := o.flying[0]
	o.flying = o.flying[1:]
	result := call.Do(context.Background())
	if o.spent {
		return true, nil // the process was killed by this request, so it does not learn the outcome
	}
	o.process.Done(call, result, o.now())
	return true, nil
}

// api is the API server as the executor calls it; requests can be refused, as the scenario says.
type api struct{ *cluster }

func (a *api) before(verb, name string, pod *corev1.Pod) {
	a.client.FailNext(a.admit(verb, name, pod))
}

// fails sets the fault, if the scenario has one, of the controller's next request about a CronJob. The method before
// does the same for other requests.
func (a *api) fails(verb, name string) { a.runner.FailNext(a.admit(verb, name, nil)) }

func (a *api) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	a.before("create", pod.Name, pod)
	return a.client.CreatePod(ctx, pod)
}

func (a *api) DeletePod(ctx context.Context, namespace, name string, uid types.UID, version string) error {
	a.before("delete", name, nil)
	return a.client.DeletePod(ctx, namespace, name, uid, version)
}

func (a *api) PatchPod(ctx context.Context, namespace, name string, patch []byte) (*corev1.Pod, error) {
	a.before("patch", name, nil)
	return a.client.PatchPod(ctx, namespace, name, patch)
}

func (a *api) UpdateJobStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	a.before("status", job.Name, nil)
	return a.client.UpdateJobStatus(ctx, job)
}

func (a *api) GetJob(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	a.before("get", name, nil)
	return a.client.GetJob(ctx, namespace, name)
}

func (a *api) DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, version string) error {
	a.before("remove", name, nil)
	return a.client.DeleteJobVersion(ctx, namespace, name, uid, version)
}

func (a *api) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	a.fails("createjob", job.Name)
	return a.runner.CreateJob(ctx, job)
}

func (a *api) DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error {
	a.fails("remove", name)
	return a.runner.DeleteRun(ctx, namespace, name, uid)
}

func (a *api) GetRun(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	a.fails("get", name)
	return a.runner.GetRun(ctx, namespace, name)
}

func (a *api) GetCronJob(ctx context.Context, namespace, name string) (*batchv1.CronJob, error) {
	a.fails("getcron", name)
	return a.runner.GetCronJob(ctx, namespace, name)
}

func (a *api) UpdateCronJobStatus(ctx context.Context, cronJob *batchv1.CronJob) (*batchv1.CronJob, error) {
	a.fails("cronstatus", cronJob.Name)
	return a.runner.UpdateCronJobStatus(ctx, cronJob)
}

func (a *api) FindPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	a.before("list", name, nil)
	return a.client.FindPod(ctx, namespace, name)
}
