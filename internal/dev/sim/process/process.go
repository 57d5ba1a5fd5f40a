package process

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/internal/run/known"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// Config says on which log and which server a process works. All fields are required except Crons, World, Snapshot, May
// and Behind.
type Config struct {
	Server *apiserver.Server
	API    wholeapi.Server
	Groups executor.GroupAPI
	// Workloads replaces Groups if the settings ask for the gang scheduling of Kubernetes 1.37.
	Workloads executor.WorkloadAPI
	Crons     wholeapi.CronServer // required if the settings enable CronJobs
	// checks the writes to the server; the process tells it which decisions it found in its log
	Checker  *invariants.Checker
	Log      *memlog.Log
	World    *projector.World // state at the log's end, if a standby has folded it; nil to fold the log
	Key      events.Key
	Settings events.Settings
	Program  string
	Seed     uint64 // seed of the salts for names, and of jitter
	// records between snapshots (stored states); each turn adds one stream (Job or CronJob) to a snapshot; 0 for none
	// during the run
	Snapshot int

	May func() bool // reports whether requests may be sent now; nil for always
	// called when a read from the server proves that the cluster was restored; nil for no call
	Behind func(events.Identity, events.Rewind)
}

// Process is a running process of the controller.
type Process struct {
	Loop     *loop.Loop
	Executor *executor.Executor // nil in observe mode, in which no command is carried out
	Feed     *observation.Feed
	Tail     *livetail.Log // what this process has appended to its log

	Watches map[events.Resource]*apiserver.Cursor // by kind; nil while the objects must be listed
	Inputs  []loop.Input                          // what the loop has not taken yet

	server *apiserver.Server
	log    *memlog.Log
	behind func(events.Identity, events.Rewind)
}

// Start starts a process at time now on the log as it is.
func Start(cfg Config, now events.Time) (_ *Process, err error) {
	recovered := cfg.World
	if recovered == nil {
		if recovered, err = loop.Recover(context.Background(), cfg.Log); err != nil {
			return nil, err
		}
	}
	for _, j := range recovered.Holders() {
		for _, p := range j.Pods() {
			if p.Surplus {
				cfg.Checker.MaySurplus(p.UID)
			}
		}
	}
	p := &Process{
		Tail: livetail.New(cfg.Log, 0), Watches: map[events.Resource]*apiserver.Cursor{}, server: cfg.Server, log: cfg.Log, behind: cfg.Behind,
	}
	salts := world.Rand(cfg.Seed, 2)
	p.Loop = loop.New(loop.Config{
		Log: p.Tail, World: recovered, Settings: cfg.Settings, Program: cfg.Program, Key: cfg.Key.ID(),
		SnapshotEvery: events.Sequence(cfg.Snapshot), SnapshotStep: 1, RestateBytes: 2 << 10,
		Salt: func() (s events.Salt) {
			for i := range s {
				s[i] = byte(salts.Uint32())
			}
			return s
		},
	})
	objects := executor.NewObjects(observation.TemplateHash(cfg.Key)).WithCronJobs(observation.CronTemplateHash(cfg.Key))
	p.Feed = observation.NewFeed(observation.Config{
		Mode: cfg.Settings.Mode, Others: cfg.Settings.ObserveOthers, CronJobs: cfg.Settings.CronJobs, Gangs: cfg.Settings.Gangs.AsksBeta(), Identity: cfg.Log.Identity(), Key: cfg.Key, Keeper: objects, Known: known.Of(recovered),
		Logger: slog.New(slog.DiscardHandler),
	})
	if cfg.Settings.Mode == events.ModeObserve {
		return p, p.Loop.Start(now)
	}
	var crons executor.CronAPI
	if cfg.Crons != nil {
		crons = wholeapi.CronsOf(cfg.Crons)
	}
	var workloads executor.WorkloadAPI
	if cfg.Settings.Gangs.AsksBeta() {
		workloads = cfg.Workloads
	}
	p.Executor, err = executor.New(executor.Config{
		Seal: cfg.Key.Seal, API: wholeapi.Of(cfg.API), Groups: cfg.Groups, Workloads: workloads, Crons: crons, Term: cfg.Log.Term(), Objects: objects, Mode: cfg.Settings.Mode,
		Observe: p.Feed.ObserveJob, ObservePod: p.Feed.ObservePod, ObserveCronJob: p.Feed.ObserveCronJob, ObserveRun: p.Feed.ObserveRun, Wrote: p.Feed.Wrote, May: cfg.May, Behind: cfg.Behind,
	})
	if err != nil {
		return nil, err
	}
	return p, p.Loop.Start(now)
}

// List lists one kind of object, and starts its watch.
func (p *Process) List(r events.Resource) error {
	kind := kindOf(r)
	listed := p.server.List(kind)
	version := strconv.FormatUint(listed.Version, 10)
	var err error
	switch r {
	case events.CronJobs:
		err = p.Feed.ListCronJobs(typed[*batchv1.CronJob](listed.Items), version)
	case events.Jobs:
		err = p.Feed.ListJobs(typed[*batchv1.Job](listed.Items), version)
	default:
		err = p.Feed.ListPods(typed[*corev1.Pod](listed.Items), version)
	}
	if err != nil {
		return err
	}
	p.Watches[r], err = p.server.Watch(kind, listed.Version)
	return err
}

func kindOf(r events.Resource) apiserver.Kind {
	switch r {
	case events.CronJobs:
		return apiserver.CronJobs
	case events.Jobs:
		return apiserver.Jobs
	default:
		return apiserver.Pods
	}
}

func typed[T any](items []apiserver.Object) []T {
	out := make([]T, len(items))
	for i, o := range items {
		out[i] = o.(T)
	}
	return out
}

// MustList reports whether a kind of object must be listed: it has no watch, or the feed (the path from watches to the
// loop) asks for a list.
func (p *Process) MustList(r events.Resource) bool { return p.Watches[r] == nil || p.Feed.MustList(r) }

// Watch gives the next event of a watch to the feed (the path from watches to the loop). It returns true if there was
// an event, or if the watch has ended and the objects must be listed again.
func (p *Process) Watch(r events.Resource) (bool, error) {
	cursor := p.Watches[r]
	if cursor == nil {
		return false, nil
	}
	e, ok, err := cursor.Next()
	switch {
	case err != nil:
		p.Watches[r] = nil
		return true, nil //nolint:nilerr // 410: the end of a watch
	case !ok:
		return false, nil
	}
	return true, p.show(e)
}

func (p *Process) show(e apiserver.Event) error {
	switch o := e.Object.(type) {
	case *batchv1.CronJob:
		if e.Type == watch.Deleted {
			return p.Feed.CronJobDeleted(o)
		}
		return p.Feed.CronJobChanged(o)
	case *batchv1.Job:
		if e.Type == watch.Deleted {
			return p.Feed.JobDeleted(o)
		}
		return p.Feed.JobChanged(o)
	case *corev1.Pod:
		if e.Type == watch.Deleted {
			return p.Feed.PodDeleted(o)
		}
		return p.Feed.PodChanged(o)
	}
	return fmt.Errorf("an event of a %T", e.Object)
}

// Take gives the oldest observation in the feed (the path from watches to the loop) to the loop's inputs. It reports
// whether there was one.
func (p *Process) Take() bool {
	seen, ok := p.Feed.Take()
	if ok {
		p.Inputs = append(p.Inputs, loop.Input{Observation: &seen})
	}
	return ok
}

// HasTurn reports whether there is a reason for a turn of the loop: inputs, or a time at which the loop wants to wake.
func (p *Process) HasTurn(now events.Time) bool {
	wake := p.Loop.Wake()
	return len(p.Inputs) > 0 || wake != 0 && wake <= now
}

// Turn makes a turn of the loop with the first n inputs.
func (p *Process) Turn(now events.Time, n int) error {
	taken, err := p.Loop.Turn(now, p.Inputs[:n])
	p.Inputs = p.Inputs[taken:]
	p.Hand(p.Loop.Asks())
	if hastened := p.Loop.Hastened(); p.Executor != nil {
		p.Executor.Hasten(hastened...)
	}
	if life, proof, ok := p.Loop.Returned(); ok && p.behind != nil {
		p.behind(life, proof)
	}
	return err
}

// Commit makes the next records (batch) durable, and stores a snapshot (stored state) if one is ready. It reports
// whether there were such records.
func (p *Process) Commit() (bool, error) {
	if p.log.Commit(1) == 0 {
		return false, nil
	}
	if snapshot, ok := p.Loop.TakeSnapshot(); ok {
		if err := p.log.SaveSnapshot(context.Background(), snapshot); err != nil {
			return true, err
		}
	}
	p.Hand(p.Loop.Durable(p.log.Head().Sequence))
	return true, nil
}

// Hand passes commands to the executor: tasks to carry out, and back to withdraw.
func (p *Process) Hand(tasks, back []events.Task) {
	if p.Executor == nil {
		return
	}
	p.Executor.Submit(tasks...)
	p.Executor.TakeBack(back...)
}

// Done gives the answer of a call to the executor and to the loop. now is the time by the executor's clock.
func (p *Process) Done(call *executor.Call, result events.TaskResult, now events.Time) {
	p.Executor.Done(call, result, now)
	p.Inputs = append(p.Inputs, loop.Input{Result: &result})
}
