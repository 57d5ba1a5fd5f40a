package handover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// minutely is a CronJob that is due each minute.
type minutely struct {
	name   string
	policy batchv1.ConcurrencyPolicy
	runFor string // how long its Jobs run; empty: until they are deleted
	due    []int  // the minutes that must have a Job; nil: those that the policy allows
}

// lastMinute of the play, counted from the first due time. The CronJobs are handed over between any two minutes.
const lastMinute = 5

var schedule = []minutely{
	{name: "allow", policy: batchv1.AllowConcurrent, runFor: "2s", due: []int{0, 1, 2, 3, 4, 5}},
	{name: "long", policy: batchv1.AllowConcurrent, runFor: "90s", due: []int{0, 1, 2, 3, 4, 5}},
	{name: "replace", policy: batchv1.ReplaceConcurrent, due: []int{0, 1, 2, 3, 4, 5}},
	{name: "forbid", policy: batchv1.ForbidConcurrent, runFor: "75s"},
	{name: "paused", policy: batchv1.AllowConcurrent, runFor: "2s", due: []int{0, 1, 3, 4, 5}},
}

// C-150, C-173: at any handover, each due time has one Job.
// C-144, C-147: with Forbid and Replace there are never two Jobs at a time, however often the CronJob is handed over.
//
// TestCronJobsHandedOver hands CronJobs over, from the built-in controllers to Jobledger and back. Each is killed near
// a due time. The built-in may have made a Job that the status does not have yet. Jobledger is killed before a due
// time, because the built-in before 1.37 cannot find such a Job. The test takes seven minutes of the clock.
func TestCronJobsHandedOver(t *testing.T) {
	if !long {
		t.Skip("it takes minutes of the clock: JOBLEDGER_LONG=1")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 11))
	ctx, cancel := patience.Several(t.Context(), 3)
	defer cancel()
	p := newCronPlay(t, ctx)
	p.launch(0)
	p.create(ctx)
	for turn := 1; turn <= lastMinute; turn++ {
		after := time.Duration(random.Int64N(int64(3*time.Second))) - 1500*time.Millisecond
		if turn%2 == 0 || turn == 1 { // ours is killed; once it has a minute to itself
			after = -200*time.Millisecond - time.Duration(random.Int64N(int64(time.Second)))
		}
		p.at(ctx, time.Duration(turn)*time.Minute+after)
		p.kill(turn - 1)
		p.launch(turn)
		switch turn {
		case 1:
			p.at(ctx, 90*time.Second)
			p.patch(ctx, "paused", `{"spec":{"suspend":true}}`)
		case 3: // the newest missed due time runs
			p.at(ctx, 210*time.Second)
			p.patch(ctx, "paused", `{"spec":{"suspend":false}}`)
		}
	}
	p.at(ctx, lastMinute*time.Minute+45*time.Second)
	for _, m := range schedule {
		p.patch(ctx, m.name, `{"spec":{"suspend":true}}`)
	}
	p.atRest(ctx)
	p.judge(ctx)
	p.delete(ctx)
}

// cronPlay is a namespace with CronJobs that are handed over.
type cronPlay struct {
	*place
	first  time.Time // the first due time
	theirs []*builtin.Controller
}

func newCronPlay(t *testing.T, ctx context.Context) *cronPlay {
	t.Helper()
	p := &cronPlay{place: newPlace(t, ctx, "CronJobs")}
	for _, make := range []func(context.Context, *controlplane.ControlPlane, string) (*builtin.Controller, error){builtin.New, builtin.NewCronJobs} {
		c, err := make(ctx, shared.ControlPlane, t.TempDir())
		p.must(err)
		p.theirs = append(p.theirs, c)
		t.Cleanup(func() {
			if err := c.Kill(); err != nil {
				t.Error(err)
			}
		})
	}
	p.must(controller.GrantCronJobs(ctx, shared.ControlPlane, p.namespace, p.namespace))
	p.must(controller.GrantTTL(ctx, shared.ControlPlane, p.namespace, p.namespace))
	p.first = time.Now().Truncate(time.Minute).Add(time.Minute)
	if time.Until(p.first) < 15*time.Second { // too soon to make the CronJobs before it
		p.at(ctx, time.Second)
		p.first = p.first.Add(time.Minute)
	}
	return p
}

func (p *cronPlay) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// at waits for a time of the play.
func (p *cronPlay) at(ctx context.Context, after time.Duration) {
	p.t.Helper()
	select {
	case <-time.After(time.Until(p.first.Add(after))):
	case <-ctx.Done():
		p.t.Fatal(context.Cause(ctx))
	}
}

// launch starts the controller of the turn: first the built-in controllers, then ours, and so on.
func (p *cronPlay) launch(turn int) {
	p.t.Helper()
	if turn%2 == 1 {
		p.must(p.ours.Launch())
		return
	}
	for _, c := range p.theirs {
		p.must(c.Launch())
	}
}

func (p *cronPlay) kill(turn int) {
	p.t.Helper()
	if turn%2 == 1 {
		if !p.ours.Running() {
			p.t.Fatal("jobledger ended by itself")
		}
		p.must(p.ours.Kill())
		return
	}
	for _, c := range p.theirs {
		p.must(c.Kill())
	}
}

// create creates the CronJobs, before the first due time.
func (p *cronPlay) create(ctx context.Context) {
	p.t.Helper()
	for _, m := range schedule {
		template := (&part{job: func(j *batchv1.Job) {
			if m.runFor == "" {
				annotate(j, controlplane.AnnotationOutcome, controlplane.OutcomeRun)
			} else {
				annotate(j, controlplane.AnnotationRunFor, m.runFor)
			}
		}}).make("", 0)
		_, err := shared.Admin.BatchV1().CronJobs(p.namespace).Create(ctx, &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: m.name},
			Spec: batchv1.CronJobSpec{
				Schedule: "* * * * *", ConcurrencyPolicy: m.policy, SuccessfulJobsHistoryLimit: new(int32(1)),
				JobTemplate: batchv1.JobTemplateSpec{Spec: template.Spec},
			},
		}, metav1.CreateOptions{})
		p.must(err)
	}
	if !time.Now().Before(p.first) {
		p.t.Fatal("the CronJobs were made too late")
	}
}

func (p *cronPlay) patch(ctx context.Context, name, patch string) {
	p.t.Helper()
	_, err := shared.Admin.BatchV1().CronJobs(p.namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	p.must(err)
}

// atRest waits until the statuses have the newest due time and the running Jobs, and the Jobs beyond the history limit
// are gone.
func (p *cronPlay) atRest(ctx context.Context) {
	p.t.Helper()
	var left []string
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		all, err := shared.Admin.BatchV1().CronJobs(p.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		jobs, err := shared.Admin.BatchV1().Jobs(p.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		left = nil
		for i := range all.Items {
			left = append(left, unsettled(&all.Items[i], jobs.Items)...)
		}
		return len(left) == 0, nil
	})
	if err != nil {
		p.t.Errorf("the CronJobs are not at rest: %v: %s", err, strings.Join(left, "; "))
	}
}

// unsettled returns what is wrong with a CronJob at rest.
func unsettled(c *batchv1.CronJob, jobs []batchv1.Job) (left []string) {
	var newest time.Time
	var running, listed []types.UID
	complete := 0
	for i := range jobs {
		j := &jobs[i]
		if !metav1.IsControlledBy(j, c) {
			continue
		}
		if due := dueOf(j); due.After(newest) {
			newest = due
		}
		switch {
		case ledger.True(j, batchv1.JobComplete):
			complete++
		case !ledger.Finished(j):
			running = append(running, j.UID)
		}
	}
	for _, ref := range c.Status.Active {
		listed = append(listed, ref.UID)
	}
	slices.Sort(running)
	slices.Sort(listed)
	if !slices.Equal(running, listed) {
		left = append(left, fmt.Sprintf("%s has %v active, and %v run", c.Name, listed, running))
	}
	if c.Status.LastScheduleTime == nil || !c.Status.LastScheduleTime.Time.Equal(newest) {
		left = append(left, fmt.Sprintf("%s says %v of its newest Job, which is that of %v", c.Name, c.Status.LastScheduleTime, newest))
	}
	if complete > 1 {
		left = append(left, fmt.Sprintf("%s keeps %d Jobs that succeeded", c.Name, complete))
	}
	return left
}

// dueOf returns the due time of a CronJob's Job; zero for another Job.
func dueOf(j *batchv1.Job) time.Time {
	due, _ := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation]) // zero if there is none
	return due
}

// run is a Job of a CronJob, with the versions at which it was created and at which it had finished or was being
// deleted.
type run struct {
	job          *batchv1.Job
	begun, ended uint64
}

// runs returns the Jobs of each CronJob, in the order of their creation.
func runs(all []history.Change) map[string][]*run {
	seen, found := map[types.UID]*run{}, map[string][]*run{}
	for _, c := range all {
		if c.Job == nil {
			continue
		}
		r := seen[c.Job.UID]
		if r == nil {
			owner := metav1.GetControllerOfNoCopy(c.Job)
			if owner == nil {
				continue
			}
			r = &run{job: c.Job, begun: c.Version}
			seen[c.Job.UID], found[owner.Name] = r, append(found[owner.Name], r)
		}
		if r.ended == 0 && (c.Gone || c.Job.DeletionTimestamp != nil || ledger.Finished(c.Job)) {
			r.ended = c.Version
		}
	}
	return found
}

// judge checks that each due time had exactly its Job, and that both controllers did a part.
func (p *cronPlay) judge(ctx context.Context) {
	p.t.Helper()
	p.must(p.history.CatchUp(ctx))
	found := runs(p.history.Changes())
	for _, m := range schedule {
		p.judgeOne(m, found[m.name])
	}
	book := ledger.Read(ledger.Config{Builtin: true}, p.history.Changes())
	if wrong := book.Violations(); len(wrong) > 0 {
		p.t.Error(ledger.Explain(wrong, p.history))
	}
	for _, user := range []string{p.namespace, builtin.User} {
		kind := controlplane.WriteKind{User: user, Verb: "create", Resource: "jobs"}
		made, err := shared.CountWrites(func(w controlplane.Write) bool { return w.Code < 300 })
		if err != nil || made[kind] == 0 {
			p.t.Errorf("%s made no Job: %v", user, err)
		}
		p.t.Logf("%s made %d Jobs", user, made[kind])
	}
	if refused, err := shared.Forbidden(p.namespace); err != nil || len(refused) > 0 {
		p.t.Errorf("jobledger asked for what it may not do: %v %v", refused, err)
	}
}

func (p *cronPlay) judgeOne(m minutely, all []*run) {
	p.t.Helper()
	var due []int
	for i, r := range all {
		minute := int(dueOf(r.job).Sub(p.first) / time.Minute)
		if want := fmt.Sprintf("%s-%d", m.name, dueOf(r.job).Unix()/60); r.job.Name != want {
			p.t.Errorf("the Job of minute %d is %s, want %s", minute, r.job.Name, want)
		}
		if slices.Contains(due, minute) {
			p.t.Errorf("%s: minute %d has two Jobs", m.name, minute)
		}
		due = append(due, minute)
		for _, before := range all[:i] {
			if m.policy != batchv1.AllowConcurrent && (before.ended == 0 || before.ended > r.begun) {
				p.t.Errorf("%s: %s was made while %s ran", m.name, r.job.Name, before.job.Name)
			}
		}
	}
	if m.due != nil && !slices.Equal(due, m.due) {
		p.t.Errorf("%s has Jobs of the minutes %v, want %v", m.name, due, m.due)
	}
	if m.due == nil && len(due) < 3 {
		p.t.Errorf("%s has only Jobs of the minutes %v", m.name, due)
	}
	p.t.Logf("%s: Jobs of the minutes %v", m.name, due)
}

// delete deletes the CronJobs, and waits until all their objects are gone, which a remaining finalizer would prevent.
func (p *cronPlay) delete(ctx context.Context) {
	p.t.Helper()
	for _, m := range schedule {
		p.must(shared.Admin.BatchV1().CronJobs(p.namespace).Delete(ctx, m.name, metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		}))
	}
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	p.must(p.history.Await(ctx, func(n history.Now) string {
		if len(n.Pods) > 0 {
			return fmt.Sprintf("%d pods are left", len(n.Pods))
		}
		return ""
	}))
	p.must(p.ours.Stop(ctx))
	if err := p.ours.Check(ctx); err != nil {
		p.t.Error(err)
	}
	output, err := p.ours.Output()
	if err != nil || strings.Contains(output, "forbidden") || strings.Contains(output, "panic:") {
		p.t.Errorf("jobledger said what it should not: %v\n%s", err, output)
	}
}
