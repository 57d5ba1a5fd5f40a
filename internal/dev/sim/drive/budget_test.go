package drive_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestSeedsOverBudget gives every namespace a log budget that is nearly always exceeded, while users change everything.
// The controller then skips versions. All invariants of other seeds still hold, through crashes, stops, relists, steps
// of the clock and small files.
func TestSeedsOverBudget(t *testing.T) {
	t.Parallel()
	passed := uint64(0)
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Settings.NamespaceBudget = int64(1 + 1000*(seed%3))
			cfg.World.UserChance = 0.2
			cfg.Cut = 0.01
			switch seed % 4 {
			case 1:
				cfg.Stop, cfg.Lapse = 0.01, 0.01
			case 2:
				cfg.SetClock = 0.005
			case 3:
				cfg.Files, cfg.Snapshot = 8<<10, 20
			}
			d := runJobs(t, cfg, jobs(seed))
			for rec, err := range d.Log().Read(context.Background(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				passed += rec.Evidence.PassedOver
			}
		})
	}
	if passed == 0 {
		t.Error("no version was passed over in any seed: this tests nothing")
	}
	t.Logf("%d versions were passed over", passed)
}

// attack is a world with tenants who fill the log as fast as they can with small requests, and with a Job of another
// tenant.
type attack struct {
	*drive.Driver
	t     *testing.T
	users *apiserver.Client
	n     int
}

const (
	attackTick = 100 * time.Millisecond
	victim     = "victim"
)

func attackedJob(namespace, name string, change func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Parallelism: new(int32(1)), Completions: new(int32(4)), BackoffLimit: new(int32(100)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
			}},
		},
	}
	change(j)
	return j
}

func newAttack(t *testing.T, budget int64, jobs ...*batchv1.Job) *attack {
	t.Helper()
	settings := events.DefaultSettings()
	settings.NamespaceBudget = budget
	d, err := drive.New(drive.Config{Settings: settings, World: world.Config{
		Kubelet: kubelet.Config{RunTime: kubelet.Range{Min: 20 * time.Second, Max: 20 * time.Second}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := &attack{Driver: d, t: t, users: d.World.Server.Client("attacker")}
	for _, namespace := range []string{"scaler", "flapper", "maker", victim} {
		if _, err := a.users.CreateNamespace(t.Context(), namespace); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	for _, j := range jobs {
		if _, err := d.World.Users.Create(j); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// must drops the errors of a user who raced with the controller.
func (a *attack) must(err error) {
	a.t.Helper()
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		a.t.Fatal(err)
	}
}

// tick is one moment of the attack. A second has 10 patches of a Job's parallelism, 10 patches of two conditions of
// each pod in the Job's namespace, and 5 Jobs that are made and deleted. Their templates have 60 KiB each and all
// differ.
func (a *attack) tick(attacking bool) {
	a.t.Helper()
	if attacking {
		a.n++
		a.scale()
		a.flap()
		if a.n%2 == 0 {
			a.make()
		}
	}
	if err := a.Pass(attackTick); err != nil {
		a.t.Fatalf("%v\n%s", err, a.Records(50))
	}
}

func (a *attack) scale() {
	j := a.World.Server.Job("scaler", "scaled").DeepCopy()
	j.Spec.Parallelism = new(int32(1 + a.n%2))
	_, err := a.users.UpdateJob(a.t.Context(), j)
	a.must(err)
}

func (a *attack) flap() {
	for _, p := range a.World.Server.StoredPods() {
		if p.Namespace != "flapper" || p.DeletionTimestamp != nil {
			continue
		}
		a.must(a.users.UpdatePodStatus(a.t.Context(), p.Namespace, p.Name, p.UID, func(s *corev1.PodStatus) {
			status := []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[a.n%2]
			s.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}, {Type: "example.com/Flap", Status: status}}
		}))
		if a.n%100 == 0 { // the pod leaves its Job, which makes another, and comes back
			a.relabel(p)
		}
	}
}

func (a *attack) relabel(p *corev1.Pod) {
	const label, was = "batch.kubernetes.io/controller-uid", "was"
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:null,%q:%q}}}`, label, was, p.Labels[label])
	if p.Labels[label] == "" {
		patch = fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, label, p.Labels[was])
	}
	_, err := a.users.PatchPod(a.t.Context(), p.Namespace, p.Name, []byte(patch))
	a.must(err)
}

func (a *attack) make() {
	name := fmt.Sprintf("made-%d", a.n)
	_, err := a.users.CreateJob(a.t.Context(), attackedJob("maker", name, func(j *batchv1.Job) {
		j.Spec.Template.Spec.Containers[0].Image = name + strings.Repeat("x", 60<<10)
	}))
	a.must(err)
	if old := a.World.Server.Job("maker", fmt.Sprintf("made-%d", a.n-4)); old != nil {
		a.must(a.users.DeleteJob(a.t.Context(), old.Namespace, old.Name, old.UID, metav1.DeletePropagationBackground))
	}
}

// logged returns how many bytes of the log each namespace has, and the times at which the other tenant's Job was first
// seen, decided on and retired.
func (a *attack) logged() (bytes map[string]int, job []string) {
	a.t.Helper()
	bytes = map[string]int{}
	of, early := map[events.Stream]string{}, map[events.Stream]int{} // early: before the namespace is known
	for rec, err := range a.Log().Read(a.t.Context(), 1) {
		if err != nil {
			a.t.Fatal(err)
		}
		stored, err := events.AppendRecord(nil, &rec)
		if err != nil {
			a.t.Fatal(err)
		}
		if rec.Evidence.Namespace != "" {
			of[rec.Stream] = rec.Evidence.Namespace
		}
		if namespace := of[rec.Stream]; namespace != "" {
			bytes[namespace] += len(stored) + early[rec.Stream]
			delete(early, rec.Stream)
		} else {
			early[rec.Stream] += len(stored)
		}
		moment := fmt.Sprintf("%s %s", rec.Time.Go().Format("04:05.000"), rec.Kind)
		decision := rec.Kind == events.KindJobAdded || rec.Kind == events.KindDecided || rec.Kind == events.KindJobRetired
		if of[rec.Stream] == victim && decision && !slices.Contains(job, moment) {
			job = append(job, moment)
		}
	}
	return bytes, job
}

// TestTenantsCannotFillTheLog: three tenants write as much as they can, some hundred requests a second. Once they are
// over their budgets, the log grows by at most one version of each of their objects a second. Decisions on the Job of a
// fourth tenant come in the same milliseconds as without them.
func TestTenantsCannotFillTheLog(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	const budget = 128 << 10
	tenants := []*batchv1.Job{
		attackedJob("scaler", "scaled", func(j *batchv1.Job) { j.Spec.Completions = new(int32(1000)) }),
		attackedJob("flapper", "flapped", func(j *batchv1.Job) {
			j.Spec.Parallelism, j.Spec.Completions = new(int32(4)), new(int32(1000))
		}),
	}
	job := attackedJob(victim, "job", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(2)) })
	run := func(budget int64, attacking bool) (perMinute map[string]int, ofJob []string) {
		a := newAttack(t, budget, tenants...)
		minute := int(time.Minute / attackTick)
		for range minute / 2 {
			a.tick(attacking)
		}
		before, _ := a.logged()
		if _, err := a.World.Users.Create(job.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		for range minute {
			a.tick(attacking)
		}
		perMinute, ofJob = a.logged()
		for namespace := range perMinute {
			perMinute[namespace] -= before[namespace]
		}
		if err := a.CheckLog(); err != nil {
			t.Error(err)
		}
		return perMinute, ofJob
	}
	_, alone := run(budget, false)
	free, _ := run(0, true)
	bound, beside := run(budget, true)
	if !slices.Equal(alone, beside) || !strings.HasSuffix(alone[len(alone)-1], "JobRetired") {
		t.Errorf("of the Job of another tenant was decided\n%s\nwithout the attack\n%s", strings.Join(beside, "\n"), strings.Join(alone, "\n"))
	}
	for _, row := range []struct {
		namespace string
		most      int // bytes in a minute
	}{
		{"scaler", 100 << 10}, {"flapper", 400 << 10}, {"maker", 1 << 20},
	} {
		t.Logf("%s: %d bytes a minute, without a budget %d", row.namespace, bound[row.namespace], free[row.namespace])
		if got := bound[row.namespace]; got > row.most || free[row.namespace] < 2*row.most {
			t.Errorf("%s fills the log with %d bytes a minute, want at most %d; without a budget %d", row.namespace, got, row.most, free[row.namespace])
		}
	}
}

// hoard makes a suspended Job with a unique pod failure policy of 25 KB, and deletes the Job that it made `lives` calls
// before.
func (a *attack) hoard(lives int) {
	a.n++
	name := fmt.Sprintf("hoarded-%d", a.n)
	_, err := a.users.CreateJob(a.t.Context(), attackedJob("maker", name, func(j *batchv1.Job) {
		j.Spec.Suspend = new(true)
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type: corev1.PodConditionType(name + strings.Repeat("x", 25<<10)), Status: corev1.ConditionTrue,
			}},
		}}}
	}))
	a.must(err)
	if old := a.World.Server.Job("maker", fmt.Sprintf("hoarded-%d", a.n-lives)); old != nil {
		a.must(a.users.DeleteJob(a.t.Context(), old.Namespace, old.Name, old.UID, metav1.DeletePropagationBackground))
	}
}

// TestNewJobsCannotFillTheLog: a tenant makes ten Jobs a second, which fill 250 KB with their policies, and deletes
// them soon or never. Once the tenant is over its budget, it writes at most another budget in the same time, or one Job
// a minute. Decisions on the Job of another tenant come in the same milliseconds as without it.
func TestNewJobsCannotFillTheLog(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	const budget = 4 << 20 // an hour: 68 KiB a minute, so each of these Jobs takes 23 s of it
	job := attackedJob(victim, "job", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(2)) })
	run := func(budget int64, lives int) (perMinute int, ofJob []string) {
		a := newAttack(t, budget)
		pass := func(d time.Duration) {
			for range d / attackTick {
				if lives > 0 {
					a.hoard(lives)
				}
				if err := a.Pass(attackTick); err != nil {
					t.Fatalf("%v\n%s", err, a.Records(50))
				}
			}
		}
		pass(30 * time.Second) // 7.5 MB
		before, _ := a.logged()
		if _, err := a.World.Users.Create(job.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		bytes, ofJob := a.logged()
		if err := a.CheckLog(); err != nil {
			t.Error(err)
		}
		return bytes["maker"] - before["maker"], ofJob
	}
	_, alone := run(budget, 0)
	free, _ := run(0, 4)
	for _, lives := range []int{4, 1 << 20} {
		bound, beside := run(budget, lives)
		t.Logf("%d live: %d bytes a minute, without a budget %d", lives, bound, free)
		if most := 110 << 10; bound > most || free < 12<<20 {
			t.Errorf("%d live: %d bytes a minute, want at most %d; without a budget %d", lives, bound, most, free)
		}
		if !slices.Equal(alone, beside) || !strings.HasSuffix(alone[len(alone)-1], "JobRetired") {
			t.Errorf("of the Job of another tenant was decided\n%s\nwithout the attack\n%s", strings.Join(beside, "\n"), strings.Join(alone, "\n"))
		}
	}
}
