package cronjobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
)

// namespace is the same on both sides, so that the objects are alike.
const namespace = "beside"

// side is one control plane with its controller.
type side struct {
	name    string
	admin   kubernetes.Interface
	history *history.History
	launch  func() error
	kill    func() error
}

func (s *side) cronJobs() ([]batchv1.CronJob, error) {
	list, err := s.admin.BatchV1().CronJobs(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the CronJobs of %s: %w", s.name, err)
	}
	return list.Items, nil
}

func (s *side) jobs() ([]batchv1.Job, error) {
	list, err := s.admin.BatchV1().Jobs(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the Jobs of %s: %w", s.name, err)
	}
	return list.Items, nil
}

// pair is both sides, and the state of the play.
type pair struct {
	t      *testing.T
	ctx    context.Context
	r      *rand.Rand
	seed   uint64
	minute time.Time // the minute of the play
	ours   *controller.Controller
	sides  [2]*side // Jobledger's and the built-in's
	names  []string // of the existing CronJobs
	gone   []string // of the deleted CronJobs
	differ map[string]bool
}

func newPair(t *testing.T, seed uint64) *pair {
	t.Helper()
	p := &pair{
		t: t, ctx: t.Context(), r: rand.New(rand.NewPCG(seed, 3)), seed: seed,
		differ: map[string]bool{},
	}
	dir := t.TempDir()
	program, err := built.Program(p.ctx, dir)
	p.must(err)

	cp, left := p.newSide("ours")
	kubeconfig, err := controller.NewUser(p.ctx, cp, "jobledger", namespace, dir)
	p.must(err)
	p.must(controller.GrantCronJobs(p.ctx, cp, "jobledger", namespace))
	p.must(controller.GrantTTL(p.ctx, cp, "jobledger", namespace))
	p.ours = controller.New(controller.Config{Program: program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Manage: "all"})
	left.launch, left.kill = func() error { return p.ours.Launch() }, p.ours.Kill

	cp, right := p.newSide("built-in")
	theirs, err := builtin.NewCronJobs(p.ctx, cp, dir)
	p.must(err)
	right.launch, right.kill = theirs.Launch, theirs.Kill

	p.sides = [2]*side{left, right}
	p.minute = time.Now().Truncate(time.Minute).Add(time.Minute)
	t.Cleanup(func() {
		if err := errors.Join(left.kill(), right.kill()); err != nil {
			t.Error(err)
		}
		if output, err := p.ours.Output(); t.Failed() && err == nil {
			t.Logf("The end of what jobledger wrote:\n%s", output[max(0, len(output)-4000):])
		}
	})
	return p
}

func (p *pair) newSide(name string) (*controlplane.ControlPlane, *side) {
	p.t.Helper()
	cp := controlplane.ForTest(p.t, controlplane.Options{Bare: true})
	admin, err := kubernetes.NewForConfig(cp.RESTConfig())
	p.must(err)
	_, err = admin.CoreV1().Namespaces().Create(p.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	p.must(err)
	ctx, end := context.WithCancel(context.Background())
	h, err := history.Watch(ctx, admin, namespace)
	p.must(err)
	p.t.Cleanup(func() {
		end()
		h.Wait()
	})
	return cp, &side{name: name, admin: admin, history: h}
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// addAll makes the CronJobs on both sides.
func (p *pair) addAll() {
	p.t.Helper()
	p.at(time.Second)
	for range cronJobs {
		p.add()
	}
}

// both calls do for both sides.
func (p *pair) both(do func(*side) error) {
	p.t.Helper()
	for _, s := range p.sides {
		if err := do(s); err != nil {
			p.t.Fatalf("%s: %v", s.name, err)
		}
	}
}

// start starts both controllers at the same time.
func (p *pair) start() {
	p.t.Helper()
	p.both(func(s *side) error { return s.launch() })
	p.must(p.ours.Ready(p.ctx))
}

func (p *pair) kill() {
	p.t.Helper()
	p.both(func(s *side) error { return s.kill() })
}

// nextMinute moves the play to the next minute.
func (p *pair) nextMinute() { p.minute = p.minute.Add(time.Minute) }

// at waits for a time in the minute of the play.
func (p *pair) at(after time.Duration) {
	p.t.Helper()
	select {
	case <-time.After(time.Until(p.minute.Add(after))):
	case <-p.ctx.Done():
		p.t.Fatal(context.Cause(p.ctx))
	}
}

// finish suspends all CronJobs, compares both sides for a last time, and checks our log: it replays, and has each Job
// once.
func (p *pair) finish() {
	p.t.Helper()
	p.endJobs()
	p.at(32 * time.Second)
	for _, name := range p.names {
		p.patch(name, `{"spec":{"suspend":true}}`)
	}
	p.compare(50*time.Second, "all are suspended")
	p.must(p.ours.Stop(p.ctx))
	made := map[string]string{} // Jobs by UID
	p.must(p.sides[0].history.CatchUp(p.ctx))
	for _, c := range p.sides[0].history.Changes() {
		if c.Job != nil {
			made[string(c.Job.UID)] = c.Job.Name
		}
	}
	jobs, fates := len(made), map[string]int{}
	for _, name := range append(p.gone, p.names...) {
		out, err := p.ours.CLI(p.ctx, "ticks", "cronjob/"+name, "-n", namespace, "--tail", "0", "-o", "json")
		p.must(err)
		var told struct {
			Items []struct{ Fate, Job, JobUID string }
		}
		p.must(json.Unmarshal([]byte(out), &told))
		for _, item := range told.Items {
			fates[item.Fate]++
			if item.JobUID == "" {
				continue
			}
			if made[item.JobUID] != item.Job {
				p.t.Errorf("the ledger of %s tells of the Job %s %s, which was not made or is told twice", name, item.Job, item.JobUID)
			}
			delete(made, item.JobUID)
		}
	}
	for _, name := range made {
		p.t.Errorf("the Job %s was made, and no ledger tells of it", name)
	}
	p.must(p.ours.Check(p.ctx))
	p.t.Logf("%d CronJobs, of which %d were deleted; %d Jobs; fates by entries: %v", len(p.names)+len(p.gone), len(p.gone), jobs, fates)
	for _, s := range p.sides {
		p.t.Logf("Events of %s: %s", s.name, p.events(s))
	}
}

// events counts the Events by reason. They are not compared: a killed process of the built-in loses its Events.
func (p *pair) events(s *side) string {
	p.t.Helper()
	list, err := s.admin.CoreV1().Events(namespace).List(p.ctx, metav1.ListOptions{})
	p.must(err)
	count := map[string]int{}
	for _, e := range list.Items {
		if e.InvolvedObject.Kind == "CronJob" {
			count[e.Reason] += int(max(1, e.Count))
		}
	}
	return strings.TrimPrefix(fmt.Sprint(count), "map")
}
