package oracle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	"github.com/jobledger/jobledger/internal/known"
	"github.com/jobledger/jobledger/internal/sim/apiserver"
	"github.com/jobledger/jobledger/internal/sim/world"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/memlog"
)

// ours is Jobledger in a cluster: the real loop and the real executor, step by step.
type ours struct {
	*cluster
	seed     uint64
	settings events.Settings
	logs     []*memlog.Log // all that there were; the last is in use
	loop     *loop.Loop
	executor *executor.Executor
	feed     *informer.Feed
	watches  map[apiserver.Kind]*apiserver.Cursor // nil while the kind is to be listed
	inputs   []loop.Input
	flying   []*executor.Call
}

// playOurs plays a scenario with Jobledger in place of the built-in controller.
func playOurs(s Scenario, l lens, seed uint64) (Picture, error) {
	c, err := newCluster(s, seed, "jobledger")
	if err != nil {
		return nil, err
	}
	o := &ours{cluster: c, seed: seed, settings: events.DefaultSettings()}
	o.settings.Mode = events.ModeAll
	o.begin = o.start
	o.newLog()
	if err := o.boot(); err != nil {
		return nil, err
	}
	if err := s.play(o); err != nil {
		return nil, err
	}
	if err := o.publish(); err != nil {
		return nil, err
	}
	return c.picture(l)
}

func (o *ours) newLog() {
	id := fmt.Sprintf("%016x%016x", o.seed, len(o.logs)+1)
	o.logs = append(o.logs, memlog.New(events.Identity{LogID: id, Epoch: 1}, memlog.Manual()))
}

func (o *ours) log() *memlog.Log { return o.logs[len(o.logs)-1] }

// key is that of the log in use: a log that is lost takes its key along.
func (o *ours) key() events.Key { return events.Key{byte(len(o.logs))} }

// start kills the process, if it runs, and starts another one: on what is durable of its log, or on a new one.
func (o *ours) start(lost bool) error {
	if lost {
		o.newLog()
	} else {
		_, durable := o.log().Batches()
		o.logs[len(o.logs)-1] = o.log().Crash(durable)
	}
	return o.boot()
}

// boot makes a new process on the log as it is.
func (o *ours) boot() error {
	recovered, err := loop.Recover(context.Background(), o.log())
	if err != nil {
		return err
	}
	salts := world.Rand(o.seed, 2)
	o.loop = loop.New(loop.Config{
		Log: o.log(), World: recovered, Settings: o.settings, Program: "oracle", Key: o.key().ID(),
		Salt: func() (s events.Salt) {
			for i := range s {
				s[i] = byte(salts.Uint32())
			}
			return s
		},
	})
	objects := executor.NewObjects(informer.TemplateHash(o.key()))
	o.feed = informer.NewFeed(informer.Config{
		Mode: o.settings.Mode, Identity: o.log().Identity(), Key: o.key(), Keeper: objects, Known: known.Of(recovered),
		Logger: slog.New(slog.DiscardHandler),
	})
	o.executor, err = executor.New(executor.Config{
		API: &api{o.cluster}, Groups: o.client, Objects: objects, Mode: o.settings.Mode,
		Observe: o.feed.ObserveJob, ObservePod: o.feed.ObservePod, Wrote: o.feed.Wrote,
	})
	if err != nil {
		return err
	}
	o.watches, o.inputs, o.flying = map[apiserver.Kind]*apiserver.Cursor{}, nil, nil
	return o.loop.Start(o.now())
}

func (o *ours) now() events.Time { return events.At(o.world.Clock.Now()) }

// do lets deeds happen, then shows all of them before anything is decided.
func (o *ours) do(deeds []string) error {
	if err := o.cluster.do(deeds); err != nil {
		return err
	}
	for _, step := range []func() (bool, error){o.watch, o.take} {
		for {
			did, err := step()
			if err != nil {
				return err
			}
			if !did {
				break
			}
		}
	}
	return nil
}

// pass lets time pass.
func (o *ours) pass(d time.Duration) error {
	end := o.world.Clock.Now().Add(d)
	for range 1_000_000 {
		busy, err := o.busy()
		if err != nil {
			return err
		}
		if busy || o.settle() {
			continue
		}
		next := end
		if item := o.world.Clock.Next(); item != nil && item.Due.Before(next) {
			next = item.Due
		}
		if wake := o.wake(); !o.spent && wake != 0 && wake.Go().Before(next) {
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

// due reports whether there is something to do at this very moment.
func (o *ours) due() bool {
	wake, item := o.wake(), o.world.Clock.Next()
	return !o.spent && wake != 0 && wake <= o.now() || item != nil && !item.Due.After(o.world.Clock.Now())
}

// wake is when the controller looks again by itself; 0 for never.
func (o *ours) wake() events.Time {
	wake := o.loop.Wake()
	if pause := o.executor.Wake(); pause > o.now() && (wake == 0 || pause < wake) {
		wake = pause
	}
	return wake
}

// busy does one of the controller's steps; it reports whether there was any.
func (o *ours) busy() (bool, error) {
	for _, step := range []func() (bool, error){o.list, o.watch, o.take, o.turn, o.commit, o.call} {
		if o.spent {
			return false, nil
		}
		if did, err := step(); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// list lists what is not watched, as it is now, and begins to watch it.
func (o *ours) list() (bool, error) {
	for _, kind := range []apiserver.Kind{apiserver.Jobs, apiserver.Pods} {
		if o.watches[kind] != nil {
			continue
		}
		listed := o.world.Server.List(kind)
		version := strconv.FormatUint(listed.Version, 10)
		var err error
		if kind == apiserver.Jobs {
			err = o.feed.ListJobs(objects[*batchv1.Job](listed.Items), version)
		} else {
			err = o.feed.ListPods(objects[*corev1.Pod](listed.Items), version)
		}
		if err != nil {
			return true, err
		}
		o.watches[kind], err = o.world.Server.Watch(kind, listed.Version)
		return true, err
	}
	return false, nil
}

func objects[T any](items []apiserver.Object) []T {
	out := make([]T, len(items))
	for i, o := range items {
		out[i] = o.(T)
	}
	return out
}

// watch shows the next event, of a pod before one of a Job.
func (o *ours) watch() (bool, error) {
	for _, kind := range []apiserver.Kind{apiserver.Pods, apiserver.Jobs} {
		if o.held[kind] || o.spent || o.watches[kind] == nil {
			continue
		}
		if e, ok, err := o.watches[kind].Next(); ok || err != nil {
			return ok, errors.Join(err, o.deliver(e))
		}
	}
	return false, nil
}

func (o *ours) deliver(e apiserver.Event) error {
	switch object := e.Object.(type) {
	case *batchv1.Job:
		if e.Type == watch.Deleted {
			return o.feed.JobDeleted(object)
		}
		return o.feed.JobChanged(object)
	case *corev1.Pod:
		if e.Type == watch.Deleted {
			return o.feed.PodDeleted(object)
		}
		return o.feed.PodChanged(object)
	}
	return nil
}

// take takes an observation.
func (o *ours) take() (bool, error) {
	seen, ok := o.feed.Take()
	if ok {
		o.inputs = append(o.inputs, loop.Input{Observation: &seen})
	}
	return ok, nil
}

// turn makes a turn when there is something for it.
func (o *ours) turn() (bool, error) {
	wake := o.loop.Wake()
	if len(o.inputs) == 0 && (wake == 0 || wake > o.now()) {
		return false, nil
	}
	taken, err := o.loop.Turn(o.now(), o.inputs)
	o.inputs = o.inputs[taken:]
	o.hand(o.loop.Asks())
	return true, err
}

// commit makes what was appended durable.
func (o *ours) commit() (bool, error) {
	if o.log().Commit(1) == 0 {
		return false, nil
	}
	o.hand(o.loop.Durable(o.log().Head().Sequence))
	return true, nil
}

func (o *ours) hand(tasks, back []events.Task) {
	o.executor.Submit(tasks...)
	o.executor.TakeBack(back...)
}

// call carries out a command. All that can begin now have begun before the first has its effect, as requests that are sent together.
func (o *ours) call() (bool, error) {
	for {
		call, ok := o.executor.Next(o.now())
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
		return true, nil // nobody learns how it ended
	}
	o.executor.Done(call, result, o.now())
	o.inputs = append(o.inputs, loop.Input{Result: &result})
	return true, nil
}

// api is the API server as the executor meets it, with what the scenario refuses.
type api struct{ *cluster }

func (a *api) before(verb, name string, pod *corev1.Pod) {
	a.client.FailNext(a.admit(verb, name, pod))
}

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

func (a *api) FindPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	a.before("list", name, nil)
	return a.client.FindPod(ctx, namespace, name)
}
