package crons

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/process"
	simworld "github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// machine is the whole controller, with log, loop, informer and executor, in a simulated cluster and in virtual time.
// It runs CronJobs and Jobs.
type machine struct {
	t       *testing.T
	r       *rand.Rand
	world   *simworld.World
	client  *apiserver.Client // the controller's, as that of Jobs
	crons   *apiserver.Client // the controller's, as that of CronJobs
	user    *apiserver.Client
	checker *invariants.Checker
	log     *memlog.Log
	process *process.Process // nil while the controller is down
	offset  time.Duration    // of the controller's clock
	calls   []*executor.Call
	rules   func(*events.ZoneRules) // gives a zone the rules of another database; nil for none

	mode    events.Mode                   // the mode of new controllers; 0 for ModeAll
	blind   bool                          // controllers record no CronJobs
	hang    bool                          // the API server answers no request
	stalled map[events.Resource]time.Time // watches that show nothing until then
}

func newMachine(t *testing.T, seed uint64) *machine {
	m := &machine{t: t, r: simworld.Rand(seed, 20)}
	m.world = simworld.New(simworld.Config{Seed: seed, Kubelet: kubelet.Config{
		Start: kubelet.Range{Max: 3 * time.Second}, RunTime: kubelet.Range{Max: 90 * time.Minute}, FailRate: 0.2,
	}})
	m.client, m.user = m.world.Server.Client("jobledger"), m.world.Server.Client("user")
	m.crons = m.world.Server.Client("cronjobs")
	m.checker = invariants.New(invariants.Config{Server: m.world.Server, Actor: "jobledger", Manages: func(*batchv1.Job) bool { return true }})
	m.log = memlog.New(events.Identity{LogID: fmt.Sprintf("%032x", seed), Epoch: 1}, memlog.Manual(), memlog.ShortFiles(128<<10))
	return m
}

func (m *machine) now() events.Time { return events.At(m.world.Clock.Now()).Add(m.offset) }

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("at %s: %v", m.world.Clock.Now(), err)
	}
}

// start starts a controller on the present log.
func (m *machine) start() {
	m.t.Helper()
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = cmp.Or(m.mode, events.ModeAll), !m.blind
	p, err := process.Start(process.Config{
		Server: m.world.Server, API: m.client, Groups: m.client, Crons: m.crons, Checker: m.checker, Log: m.log, Key: events.Key{1},
		Settings: settings, Program: "sim", Seed: uint64(m.world.Clock.Now().Unix()),
	}, m.now())
	m.must(err)
	m.process = p
}

// kill ends the controller. Records that are not durable are lost, and some requests in flight still reach the API
// server.
func (m *machine) kill() {
	for _, call := range m.calls {
		if m.r.IntN(2) == 0 && !call.Withdrawn {
			call.Do(context.Background())
		}
	}
	_, durable := m.log.Batches()
	m.log, m.process, m.calls = m.log.Crash(durable), nil, nil
}

// step sets the controller's clock.
func (m *machine) step(by time.Duration) {
	if m.process != nil {
		m.offset += by
		m.process.Loop.Step(m.now(), events.ClockStepped{Step: by})
	}
}

// busy does one step of the controller that needs no time.
func (m *machine) busy() bool {
	p := m.process
	if p == nil {
		return false
	}
	for _, r := range []events.Resource{events.CronJobs, events.Jobs, events.Pods} {
		if r == events.CronJobs && m.blind || m.stalled[r].After(m.world.Clock.Now()) {
			continue
		}
		if p.MustList(r) {
			m.must(p.List(r))
			return true
		}
		if did, err := p.Watch(r); did || err != nil {
			m.must(err)
			return true
		}
	}
	if p.Take() {
		m.change(p.Inputs[len(p.Inputs)-1].Observation)
		return true
	}
	if p.HasTurn(m.now()) {
		m.must(p.Turn(m.now(), len(p.Inputs)))
		return true
	}
	if did, err := p.Commit(); did || err != nil {
		m.must(err)
		return true
	}
	if p.Executor == nil {
		return false
	}
	elapsed := events.At(m.world.Clock.Now())
	if call, ok := p.Executor.Next(elapsed); ok {
		m.calls = append(m.calls, call)
		return true
	}
	if len(m.calls) > 0 && !m.hang {
		call := m.calls[0]
		m.calls = m.calls[1:]
		p.Done(call, call.Do(context.Background()), elapsed)
		return true
	}
	return false
}

// change gives the zones of a CronJob the rules of another database.
func (m *machine) change(o *events.Observation) {
	seen, ok := o.Facts.(*events.CronJobSeen)
	if !ok || m.rules == nil {
		return
	}
	for i := range o.Zones {
		m.rules(&o.Zones[i])
		seen.Zones[i].Hash = o.Zones[i].Hash
	}
}

// pass runs everything until the time end.
func (m *machine) pass(end time.Time) {
	m.t.Helper()
	for {
		if m.busy() || m.world.Settle() {
			continue
		}
		at := end
		if next := m.world.Clock.Next(); next != nil && next.Due.Before(at) {
			at = next.Due
		}
		if p := m.process; p != nil {
			if wake := p.Loop.Wake(); wake != 0 && wake.Go().Add(-m.offset).Before(at) {
				at = wake.Go().Add(-m.offset)
			}
			if p.Executor != nil {
				if wake := p.Executor.Wake().Go(); wake.After(m.world.Clock.Now()) && wake.Before(at) {
					at = wake
				}
			}
		}
		if !at.Before(end) {
			m.world.Clock.AdvanceTo(end)
			m.must(m.checker.Check())
			return
		}
		m.world.Clock.AdvanceTo(at)
	}
}

// after plans an action of a user.
func (m *machine) after(d time.Duration, name string, do func()) {
	m.world.Clock.Schedule(m.world.Clock.Now().Add(d), name, do)
}

// template returns the template of a Job that runs one pod. With idle, the Job runs no pod and is complete at once.
func template(idle bool) batchv1.JobTemplateSpec {
	t := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		BackoffLimit: new(int32(0)),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
		}},
	}}
	if idle {
		t.Spec.Completions, t.Spec.Parallelism = new(int32(0)), new(int32(1))
	}
	return t
}

func (m *machine) create(name string, spec *batchv1.CronJobSpec) {
	m.t.Helper()
	_, err := m.user.CreateCronJob(m.t.Context(), &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: *spec})
	m.must(err)
}

// edit changes a CronJob as a user does.
func (m *machine) edit(name string, change func(*batchv1.CronJob)) {
	m.t.Helper()
	c := m.world.Server.CronJob("default", name).DeepCopy()
	change(c)
	_, err := m.user.UpdateCronJob(m.t.Context(), c)
	m.must(err)
}

// replayed replays the log, and calls hear with each record.
func (m *machine) replayed(hear func(*events.Record)) {
	m.t.Helper()
	m.log.Commit(1 << 30)
	r, newest := replay.New(), tail{}
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		newest.keep(&rec)
		found, err := r.Record(rec)
		m.must(err)
		for _, d := range found {
			m.t.Errorf("replay: %s\ndecided %+v\n%s", d, d.Decided, newest.of(d.Stream))
		}
		if m.t.Failed() {
			m.t.FailNow()
		}
		hear(&rec)
	}
}
