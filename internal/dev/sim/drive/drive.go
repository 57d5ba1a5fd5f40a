package drive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
	"github.com/jobledger/jobledger/internal/dev/sim/process"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// actor is the controller's name in the simulated server's log of writes.
const actor = "jobledger"

// Config configures one run.
type Config struct {
	World    world.Config
	Settings events.Settings
	Faults   apiserver.Rates
	Crash    float64 // chance, for each step, that the process crashes
	LoseLog  float64 // share of crashes that lose the log
	LoseKey  float64 // share of crashes that lose the log's key, so that the next process has another one
	Cut      float64 // chance, for each step, that a watch is cut
	Stall    float64 // chance, for each step, that a watch is delayed for some seconds
	Stop     float64 // chance, for each step, that the process stops cleanly and another one starts
	Lapse    float64 // chance, for each step, that the Lease expires or is held again
	HandOver float64 // chance, for each step, that another controller with its own log takes over
	Protect  float64 // share of pods that an admission policy protects for ever; see the method policy
	SetClock float64 // chance, for each step, that the controller's clock is set an hour forward or back
	Rewind   float64 // chance, for each step, that the cluster is backed up or restored from a backup
	Files    int     // size in bytes of a log file; 0 for one file
	// records between snapshots (stored states); each turn adds one stream (Job or CronJob) to a snapshot; 0 for none
	// during the run
	Snapshot int
}

// Driver is one run of the simulation: a controller in its world, which Step moves on.
type Driver struct {
	World *world.World

	cfg     Config
	rng     *rand.Rand
	client  *apiserver.Client
	checker *invariants.Checker
	history []string
	lives   uint64             // number of logs so far
	intents map[types.UID]wish // why the finalizer of a pod was removed last, by the pod's UID
	// by verb and name of a Job that was written: the version of the CronJob on which the write was decided
	seen map[string]uint64

	offset   time.Duration // how wrong the controller's clock is
	resting  *memlog.Log   // log of the other controller; nil before the first handover
	log      *memlog.Log
	key      events.Key
	process  *process.Process
	flying   []*executor.Call // API calls whose requests have not reached the server yet
	answered []answer         // API calls whose answers have not reached the controller yet
	lapsed   bool             // the Lease may have expired, so the controller sends nothing
	// the server was restored, and not everything was listed since, so the controller sends nothing
	away    bool
	backup  *backup // the newest backup of the cluster; nil while there is none
	rewinds uint64  // how often the cluster was restored
	calm    bool    // no faults happen, so the controller must intend to wake in time

	stalled map[events.Resource]events.Time // until when the watch of a resource is slow
	standby standby
}

type answer struct {
	call   *executor.Call
	result events.TaskResult
}

// New starts the controller in the world that the seed gives; then a user creates the Jobs.
func New(cfg Config, jobs ...*batchv1.Job) (*Driver, error) {
	d := &Driver{
		World: world.New(cfg.World), cfg: cfg, key: events.Key{1}, rng: world.Rand(cfg.World.Seed, 0), intents: map[types.UID]wish{},
		seen: map[string]uint64{}, stalled: map[events.Resource]events.Time{},
	}
	d.standby.rng = world.Rand(cfg.World.Seed, 3)
	d.client = d.World.Server.Client(actor)
	seeded := apiserver.SeededFaults(world.Rand(cfg.World.Seed, 1), cfg.Faults, 20*time.Second)
	d.client.Faults = func(c apiserver.Call) apiserver.Fault {
		if f := d.policy(c); f.Kind != apiserver.NoFault {
			return f
		}
		return seeded(c)
	}
	d.checker = invariants.New(invariants.Config{
		Server: d.World.Server, Actor: actor, Manages: d.manages, DeletesExpired: cfg.Settings.DeleteExpired, HeldAtEnd: int(cfg.Settings.HeldAtEnd),
		DeletedPodWait: cfg.Settings.DeletedPodWait, Intent: d.intent, CronSeen: d.cronSeen,
	})
	d.newLog()
	if err := d.boot(); err != nil {
		return nil, err
	}
	for _, job := range jobs {
		if _, err := d.World.Users.Create(job); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Driver) manages(j *batchv1.Job) bool {
	by := ""
	if j.Spec.ManagedBy != nil {
		by = *j.Spec.ManagedBy
	}
	return d.cfg.Settings.Mode.Manages(by)
}

// intent returns why the controller removed a finalizer, and which versions of pod and Job it had seen when it decided
// that. The checker calls it.
func (d *Driver) intent(w apiserver.Write) (invariants.Intent, bool) {
	wish, ok := d.intents[w.UID]
	return wish.intent, ok
}

// wish says why the controller removed a finalizer: the intent, and the command (and the log) that asked for it.
type wish struct {
	log     string
	command events.CommandID
	stream  events.Stream
	intent  invariants.Intent
}

func (d *Driver) newLog() {
	d.lives++
	options := []memlog.Option{memlog.Manual()}
	if d.cfg.Files > 0 {
		options = append(options, memlog.ShortFiles(d.cfg.Files))
	}
	d.log = memlog.New(events.Identity{LogID: fmt.Sprintf("%016x%016x", d.cfg.World.Seed, d.lives), Epoch: 1}, options...)
}

// boot starts a new process of the controller on the log.
func (d *Driver) boot() error {
	warm, err := d.standby.takeOver(d.log)
	if err != nil {
		return err
	}
	p, err := process.Start(process.Config{
		World:  warm,
		Server: d.World.Server, API: d.client, Groups: d.client, Workloads: d.client, Crons: d.client, Checker: d.checker, Log: d.log, Key: d.key, Settings: d.cfg.Settings,
		Program: "sim", Seed: d.cfg.World.Seed, Snapshot: d.cfg.Snapshot,
		May: func() bool { return !d.lapsed && !d.away }, Behind: d.behind,
	}, d.now())
	d.process, d.flying, d.answered = p, nil, nil
	return err
}

// now returns the time by the controller's clock, which can be wrong. elapsed returns the right time.
func (d *Driver) now() events.Time     { return d.elapsed().Add(d.offset) }
func (d *Driver) elapsed() events.Time { return events.At(d.World.Clock.Now()) }

func (d *Driver) say(format string, args ...any) {
	d.history = append(d.history, fmt.Sprintf("%s ", d.World.Clock.Now().Format("04:05"))+fmt.Sprintf(format, args...))
}

// History returns the newest n steps as text.
func (d *Driver) History(n int) string {
	return strings.Join(d.history[max(0, len(d.history)-n):], "\n")
}

// Steps makes n steps, chosen by the seed.
func (d *Driver) Steps(n int) error {
	for range n {
		if err := d.Step(); err != nil {
			return err
		}
	}
	return nil
}

// Step makes one step that the seed chooses: something happens in the controller, or around it.
func (d *Driver) Step() error {
	if err := d.standby.follow(d.log); err != nil {
		return err
	}
	// After a restore of the cluster (away), list everything before anything else. Otherwise new writes could first
	// raise the versions above those that the controller knows (docs/design/0007, What is left).
	if d.away {
		if _, err := d.list(); err != nil {
			return err
		}
		return d.checker.Check()
	}
	happen, draw := d.work, d.rng.Float64()
	for _, x := range []struct {
		chance float64
		happen func() error
	}{
		{d.cfg.Crash, d.crash}, {d.cfg.Cut, d.cut}, {d.cfg.Stall, d.stall}, {d.cfg.Stop, d.stop}, {d.cfg.Lapse, d.lapse},
		{d.cfg.HandOver, d.handOver}, {d.cfg.SetClock, d.setClock}, {d.cfg.Rewind, d.rewind},
	} {
		if draw < x.chance {
			happen = x.happen
			break
		}
		draw -= x.chance
	}
	if err := happen(); err != nil {
		return err
	}
	return d.checker.Check()
}

// work makes one step of the controller, or of the cluster around it.
func (d *Driver) work() error {
	steps := []func() (bool, error){d.list, d.watch, d.take, d.turn, d.commit, d.begin, d.land, d.answer}
	for _, i := range d.rng.Perm(len(steps) + 1) {
		if i == len(steps) {
			d.pass()
			return nil
		}
		if did, err := steps[i](); did || err != nil {
			return err
		}
	}
	return nil
}

// pass makes one step of the cluster around the controller, or moves the clock to the time at which the controller
// next acts by itself (wake).
func (d *Driver) pass() {
	if wake := d.wake(); wake != 0 && d.rng.IntN(3) == 0 {
		if next := d.World.Clock.Next(); next == nil || events.At(next.Due) > wake {
			d.World.Clock.AdvanceTo(wake.Go())
			return
		}
	}
	if what := d.World.Step(); what != "" {
		d.say("world: %s", what)
	}
}

// wake returns when, by the world's clock, the controller next acts by itself; 0 for never.
func (d *Driver) wake() events.Time {
	wake := d.process.Loop.Wake().Add(-d.offset)
	if pause := d.process.Executor.Wake(); pause > d.elapsed() && (wake == 0 || pause < wake) {
		wake = pause
	}
	return wake
}

// list lists one kind of object that is not watched, and starts its watch.
func (d *Driver) list() (bool, error) {
	for _, r := range d.resources() {
		if d.process.MustList(r) {
			err := d.process.List(r)
			d.say("list %s", r)
			d.away = d.away && slices.ContainsFunc(d.resources(), d.process.MustList)
			return true, err
		}
	}
	return false, nil
}

// watch delivers the next event of one of the watches to the controller.
func (d *Driver) watch() (bool, error) {
	all := d.resources()
	first := d.rng.IntN(len(all)) + 1
	for i := range all {
		r := all[(first+i)%len(all)]
		if d.elapsed() < d.stalled[r] && d.rng.IntN(20) > 0 {
			continue
		}
		if did, err := d.process.Watch(r); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// take gives some observations, which watches and lists have made, to the loop as inputs of its next turn.
func (d *Driver) take() (bool, error) {
	did := false
	for range 1 + d.rng.IntN(8) {
		if !d.process.Take() {
			break
		}
		did = true
	}
	return did, nil
}

// turn makes a turn of the loop, if there are new observations or the loop wants to wake now.
func (d *Driver) turn() (bool, error) {
	if !d.process.HasTurn(d.now()) {
		return false, nil
	}
	n := len(d.process.Inputs)
	if n > 0 {
		n = 1 + d.rng.IntN(n)
	}
	return true, d.process.Turn(d.now(), n)
}

// commit makes the oldest records (batch) of the log durable that are not yet.
func (d *Driver) commit() (bool, error) { return d.process.Commit() }

// begin takes the next API call from the executor. Its request is then in flight.
func (d *Driver) begin() (bool, error) {
	call, ok := d.process.Executor.Next(d.elapsed())
	if ok {
		d.flying = append(d.flying, call)
	}
	return ok, nil
}

// land lets one of the requests in flight, chosen at random, reach the server and take effect.
func (d *Driver) land() (bool, error) {
	if len(d.flying) == 0 {
		return false, nil
	}
	call := pluck(d.rng, &d.flying)
	d.note(call)
	result := call.Do(context.Background())
	d.say("%s %s/%s (%s): %s %s", events.Describe(call.Task.Command), call.Task.Job.Namespace, call.Task.Job.Name,
		call.Task.Pod.Name, result.Ended.Ending, result.Ended.Class)
	d.answered = append(d.answered, answer{call, result})
	return true, nil
}

// note remembers why a finalizer is removed, or on which version of the CronJob the write of a Job was decided. The
// checker asks for this.
func (d *Driver) note(call *executor.Call) {
	d.noteRun(call)
	if drop, ok := call.Task.Command.(*events.DropFinalizer); ok {
		asked, log := d.intents[drop.Pod], d.log.Identity().LogID
		// If the same command is sent again, keep the purpose that was noted the first time.
		if asked.log != log || asked.command != call.Task.Name || asked.stream != call.Task.Stream {
			intent := invariants.Intent{Surplus: drop.ThenDelete}
			if j := d.process.Loop.World().Job(call.Task.Stream); !drop.ThenDelete && j != nil && j.Pod(drop.Pod) != nil {
				intent.NeverCounted = j.Pod(drop.Pod).NeverCounted
			}
			d.intents[drop.Pod] = wish{log, call.Task.Name, call.Task.Stream, intent}
		}
	}
}

// answer gives one of the answers in flight, chosen at random, to the executor, which learns how the call ended.
func (d *Driver) answer() (bool, error) {
	if len(d.answered) == 0 {
		return false, nil
	}
	a := pluck(d.rng, &d.answered)
	d.process.Done(a.call, a.result, d.elapsed())
	return true, nil
}

// pluck removes a random element from the list, and returns it.
func pluck[T any](rng *rand.Rand, from *[]T) T {
	i := rng.IntN(len(*from))
	x := (*from)[i]
	*from = append((*from)[:i], (*from)[i+1:]...)
	return x
}

// Log returns the controller's present log.
func (d *Driver) Log() *memlog.Log { return d.log }
