package crash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// cronName is the CronJob of a row.
const cronName = "demo"

// minute is the interval of its schedule. Names of Jobs contain whole minutes, so two due times within one minute would
// share a name (C-152).
const minute = time.Minute

// soon is the time until the next due time, which replaces the running Job of the one before.
const soon = 10 * time.Second

// byHand is the Job that a user makes from the CronJob's template.
const byHand = "by-hand"

// cronRow is a row about a due time of a CronJob.
type cronRow struct {
	sentence string
	crashes  []crash
	scene    scene
	lost     bool // the log is lost at each crash
}

// scene describes the CronJob of a row.
type scene struct {
	policy batchv1.ConcurrencyPolicy
	keep   int32         // successfulJobsHistoryLimit
	runFor time.Duration // of each Job
	since  time.Duration // how long ago the last started due time was, by its status
	asked  bool          // a run is requested; there is no due time
	// settled returns what is missing until everything is done.
	settled func(*trial, *batchv1.CronJob, []batchv1.Job) string
}

// The scenes.
var (
	// dueNow: a due time has just passed.
	dueNow = scene{policy: batchv1.ForbidConcurrent, keep: 3, runFor: 100 * time.Millisecond, since: minute + time.Second, settled: oneRan}
	// deleted: the Job of the due time is deleted as soon as it has succeeded.
	deleted = scene{policy: batchv1.AllowConcurrent, keep: 0, runFor: 100 * time.Millisecond, since: minute + time.Second, settled: oneCameAndWent}
	// replaced: a due time starts at once. The next one, soon after, replaces its Job.
	replaced = scene{policy: batchv1.ReplaceConcurrent, keep: 3, runFor: time.Hour, since: 2*minute - soon, settled: oneWasReplaced}
	// triggered: a user requests a run.
	triggered = scene{policy: batchv1.AllowConcurrent, keep: 3, runFor: 100 * time.Millisecond, asked: true, settled: oneRan}
)

// cronRows are the points around a due time, each for all batches and calls in which it may fall.
func cronRows() (rows []cronRow) {
	add := func(sentence string, s scene, points ...string) {
		rows = append(rows, cronRow{sentence: sentence, scene: s, crashes: at(points...)})
	}
	add("before the Job is created that replaces it", replaced, "call.before.create-job:2")
	add("after the Job is created that replaces it", replaced, "call.after.create-job:2")
	add("before the Job is read that is to be replaced", replaced, "call.before.get-run:1")
	add("after the Job is deleted that is to be replaced", replaced, "call.after.delete-run:1")
	if long {
		add("after the Job is read that is to be replaced", replaced, "call.after.get-run:1")
		add("before the Job is deleted that is to be replaced", replaced, "call.before.delete-run:1")
	}
	for n := 4; n <= 9; n++ {
		if long || n%2 == 0 {
			add(fmt.Sprintf("before append %d", n), dueNow, fmt.Sprintf("append.before:%d", n))
		}
		if n <= 7 && (long || n%2 == 1) { // a commit includes several appends
			add(fmt.Sprintf("commit %d is durable and nobody knows", n), dueNow, fmt.Sprintf("durable.before:%d", n))
		}
		if long {
			add(fmt.Sprintf("after append %d", n), dueNow, fmt.Sprintf("append.after:%d", n))
		}
	}
	add("the decision is durable and the create begins", dueNow, "durable.after:5")
	add("before the create is sent", dueNow, "call.before.create-job:1")
	add("after the Job is created", dueNow, "call.after.create-job:1")
	add("before the create is sent, three times", dueNow, "call.before.create-job:1", "call.before.create-job:1", "call.before.create-job:1")
	add("after the Job is created, and again after it was looked for", dueNow, "call.after.create-job:1", "call.after.get-run:1")
	add("the outcome of the create is known and not recorded", dueNow, "outcome.before:1")
	add("the outcome of the create is appended", dueNow, "outcome.after:1")
	add("before the status is written", dueNow, "call.before.update-cronjob-status:1")
	add("after the status is written", dueNow, "call.after.update-cronjob-status:1")
	add("before the status is written that the Job has ended", dueNow, "call.before.update-cronjob-status:2")
	add("after the status is written that the Job has ended", dueNow, "call.after.update-cronjob-status:2")
	add("before the Job is deleted that has succeeded", deleted, "call.before.delete-run:1")
	add("after the Job is deleted that has succeeded", deleted, "call.after.delete-run:1")
	add("after the Job is created, and then before it is deleted", deleted, "call.after.create-job:1", "call.before.delete-run:1")
	for _, when := range []string{"before", "after"} {
		rows = append(rows, cronRow{sentence: when + " the CronJob is read, because a Job runs that somebody made", scene: dueNow, crashes: []crash{
			{point: "call.after.update-cronjob-status:1", then: instantiate}, {point: "call." + when + ".get-cronjob:1"},
		}})
	}
	for n := 4; n <= 7; n++ {
		add(fmt.Sprintf("a run is asked for, before append %d", n), triggered, fmt.Sprintf("append.before:%d", n))
	}
	add("a run is asked for, before the create is sent", triggered, "call.before.create-job:1")
	add("a run is asked for, after the Job is created", triggered, "call.after.create-job:1")
	add("a run is asked for, before the status is written", triggered, "call.before.update-cronjob-status:1")
	add("a run is asked for, after the status is written", triggered, "call.after.update-cronjob-status:1")
	for i, r := range slices.Clone(rows) {
		if strings.HasPrefix(r.crashes[0].point, "call.") && (long || i%4 == 0) {
			r.sentence, r.lost = r.sentence+"; the log is lost", true
			rows = append(rows, r)
		}
	}
	return rows
}

// TestCrashesAroundADueTime: the controller is killed at each point around a due time, and around the actions for it.
// The due time starts once, and the ledger says so: no due time is lost, none has two outcomes (fates), and each Job is
// reported once. If the log is lost, no due time and no requested run starts twice (C-173, C-220, C-221, C-242).
func TestCrashesAroundADueTime(t *testing.T) {
	for _, r := range effort.Each(6, cronRows()) {
		t.Run(r.sentence, func(t *testing.T) {
			t.Parallel()
			x := newTrialOf(t, "all")
			x.must(controller.GrantCronJobs(x.ctx, shared.ControlPlane, x.namespace, x.namespace))
			x.must(controller.GrantTTL(x.ctx, shared.ControlPlane, x.namespace, x.namespace))
			x.createCronJob(r.scene)
			x.settled = func() string {
				c, jobs := x.cronJob()
				return r.scene.settled(x, c, jobs)
			}
			for _, c := range r.crashes {
				x.crash(c, func() {})
				if r.lost {
					x.loseLog()
				}
			}
			x.must(x.controller.Start(x.ctx))
			x.must(x.await(x.settled))
			x.suspend()
			x.must(x.controller.Stop(x.ctx))
			x.must(x.history.CatchUp(x.ctx))
			x.judgeTicks(r.lost)
			x.judgeEvents(&r)
			x.violated(ledger.Read(ledger.Config{}, x.history.Changes()))
			x.must(x.controller.Check(x.ctx))
		})
	}
}

// createCronJob creates the CronJob of a scene, with a status that says that a due time has started before.
func (x *trial) createCronJob(s scene) {
	x.t.Helper()
	api := shared.Admin.BatchV1().CronJobs(x.namespace)
	job := newJob("template", map[string]string{controlplane.AnnotationRunFor: s.runFor.String()})
	job.Spec.ManagedBy = nil
	in := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: cronName},
		Spec: batchv1.CronJobSpec{
			Schedule: "@every " + minute.String(), ConcurrencyPolicy: s.policy, Suspend: new(!s.asked), SuccessfulJobsHistoryLimit: &s.keep,
			JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec},
		},
	}
	if s.asked {
		in.Spec.Schedule = "0 0 1 1 *"
		in.Annotations = map[string]string{"jobledger.dev/trigger": time.Now().UTC().Format("2006-01-02T15:04:05.000Z") + " row jane"}
	}
	made, err := api.Create(x.ctx, in, metav1.CreateOptions{})
	x.must(err)
	if s.asked {
		return
	}
	x.anchor = time.Now().Add(-s.since).Truncate(time.Second)
	made.Status.LastScheduleTime = &metav1.Time{Time: x.anchor}
	_, err = api.UpdateStatus(x.ctx, made, metav1.UpdateOptions{})
	x.must(err)
	x.patchCronJob(`{"spec":{"suspend":false}}`)
}

// instantiate acts as a user who makes a Job from the CronJob, like kubectl create job --from.
func instantiate(x *trial) {
	x.t.Helper()
	c, err := shared.Admin.BatchV1().CronJobs(x.namespace).Get(x.ctx, cronName, metav1.GetOptions{})
	x.must(err)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: byHand, Annotations: map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: c.Spec.JobTemplate.Spec,
	}
	_, err = shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, job, metav1.CreateOptions{})
	x.must(err)
}

func (x *trial) patchCronJob(patch string) {
	x.t.Helper()
	_, err := shared.Admin.BatchV1().CronJobs(x.namespace).Patch(x.ctx, cronName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	x.must(err)
}

// suspend suspends the CronJob, and waits until the controller knows.
func (x *trial) suspend() {
	x.t.Helper()
	x.patchCronJob(`{"spec":{"suspend":true}}`)
	x.must(x.await(func() string {
		out, err := x.controller.Told(x.ctx, "cronjob/"+cronName)
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(out, `"suspend": true`) {
			return "the controller does not know yet that the CronJob is suspended"
		}
		return ""
	}))
}

// cronJob returns the present CronJob and its Jobs.
func (x *trial) cronJob() (*batchv1.CronJob, []batchv1.Job) {
	c, err := shared.Admin.BatchV1().CronJobs(x.namespace).Get(x.ctx, cronName, metav1.GetOptions{})
	if err != nil {
		return &batchv1.CronJob{}, nil
	}
	jobs, err := shared.Admin.BatchV1().Jobs(x.namespace).List(x.ctx, metav1.ListOptions{})
	if err != nil {
		return &batchv1.CronJob{}, nil
	}
	return c, jobs.Items
}

// await waits until missing returns nothing. It polls, because the row's watch does not see everything.
func (x *trial) await(missing func() string) error {
	ctx, cancel := x.controller.While(x.ctx)
	defer cancel()
	var why string
	err := patience.Until(ctx, 100*time.Millisecond, nil, func() (bool, error) {
		why = missing()
		return why == "", nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", why, err)
	}
	return nil
}

// oneRan: the Jobs have run, and the status says so.
func oneRan(_ *trial, c *batchv1.CronJob, jobs []batchv1.Job) string {
	switch {
	case !slices.ContainsFunc(jobs, func(j batchv1.Job) bool { return j.Name != byHand }):
		return "no Job was made"
	case slices.ContainsFunc(jobs, func(j batchv1.Job) bool { return !ledger.Finished(&j) }):
		return "a Job has not finished"
	case c.Status.LastSuccessfulTime == nil || len(c.Status.Active) > 0:
		return "the status does not say that the Job has succeeded"
	}
	return ""
}

// oneCameAndWent: one Job has run and is deleted. If the log was lost after that, its success is unknown.
func oneCameAndWent(x *trial, c *batchv1.CronJob, jobs []batchv1.Job) string {
	if len(jobs) > 0 || len(c.Status.Active) > 0 || c.Status.LastScheduleTime == nil || !c.Status.LastScheduleTime.After(x.anchor) {
		return fmt.Sprintf("%d Jobs are there, and the status says %+v", len(jobs), c.Status)
	}
	return ""
}

// oneWasReplaced: a Job of the second due time has replaced the first one.
func oneWasReplaced(x *trial, c *batchv1.CronJob, jobs []batchv1.Job) string {
	switch {
	case len(jobs) != 1 || len(c.Status.Active) != 1 || c.Status.Active[0].UID != jobs[0].UID:
		return fmt.Sprintf("%d Jobs are there, and %d in the status", len(jobs), len(c.Status.Active))
	case c.Status.LastScheduleTime == nil || c.Status.LastScheduleTime.Before(&metav1.Time{Time: x.anchor.Add(2 * minute)}):
		return "the second due time has not started"
	}
	return ""
}

// tick is the output of `jobledger ticks` about a due time, or several in a row.
type tick struct {
	First, Last time.Time
	Fate        string
	Job         string
	JobUID      string
}

// judgeTicks compares the ticks in the ledger with the Jobs that were made, and with the due times of the schedule. If
// a start took longer than a minute, the first due time is merged into a later one, which starts.
func (x *trial) judgeTicks(lost bool) {
	x.t.Helper()
	out, err := x.controller.CLI(x.ctx, "ticks", "cronjob/"+cronName, "-n", x.namespace, "-o", "json")
	x.must(err)
	var told struct {
		Items []tick
		Due   *struct{ Due time.Time }
	}
	x.must(json.Unmarshal([]byte(out), &told))
	x.t.Logf("the ledger says %+v", told.Items)
	made, due := x.jobsMade()
	for _, item := range told.Items {
		if item.JobUID == "" {
			continue
		}
		if !made[item.JobUID] {
			x.t.Errorf("the ledger tells of the Job %s %s, which was not made or is told twice", item.Job, item.JobUID)
		}
		delete(made, item.JobUID)
	}
	if len(made) > 0 && !lost {
		x.t.Errorf("Jobs were made that the ledger does not tell of: %v", made)
	}
	for of, n := range due {
		if n > 1 {
			x.t.Errorf("%d Jobs were made for %s", n, of)
		}
	}
	if len(due) == 0 {
		x.t.Error("no Job was made by the controller")
	}
	if x.anchor.IsZero() || lost {
		return
	}
	next, first := x.anchor.Add(minute), true
	for _, item := range told.Items {
		switch {
		case item.Fate == "MadeByHand" && item.Job == byHand:
			continue
		case !item.First.Equal(next) || item.Fate == "StartedAgain":
			x.t.Errorf("the ledger says %s of %s, and the next due time is %s", item.Fate, item.First, next)
		case item.Fate == "Merged":
		case first && item.Fate != "Started":
			x.t.Errorf("the ledger says %s of the first due time that is not merged into a later one", item.Fate)
		default:
			first = false
		}
		next = item.Last.Add(minute)
	}
	switch {
	case told.Due == nil && next.Before(time.Now().Add(-minute)):
		x.t.Errorf("%s has no fate", next)
	case told.Due != nil && !told.Due.Due.Equal(next):
		x.t.Errorf("the ledger says that %s is open, and the next due time is %s", told.Due.Due, next)
	}
}

// jobsMade returns the UIDs of all Jobs that ever existed, and how many were made for each due time or requested run.
func (x *trial) jobsMade() (made map[string]bool, due map[string]int) {
	made, due = map[string]bool{}, map[string]int{}
	for _, c := range x.history.Changes() {
		if c.Job == nil || made[string(c.Job.UID)] {
			continue
		}
		made[string(c.Job.UID)] = true
		if c.Job.Name != byHand {
			due[cmp.Or(c.Job.Annotations[batchv1.CronJobScheduledTimestampAnnotation], "the trigger")]++
		}
	}
	return made, due
}

// judgeEvents checks that a controller with its log reports no unexpected Job (C-113). One exception: if it was killed
// just before a delete, it does not know later that the Job is gone, and says so, like the built-in.
func (x *trial) judgeEvents(r *cronRow) {
	x.t.Helper()
	if r.lost {
		return
	}
	deletes := slices.ContainsFunc(r.crashes, func(c crash) bool { return strings.Contains(c.point, "after.delete-run") })
	events, err := shared.Admin.CoreV1().Events(x.namespace).List(x.ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=CronJob"})
	x.must(err)
	for _, e := range events.Items {
		if e.Reason == "UnexpectedJob" && !strings.HasSuffix(e.Message, " "+byHand) || e.Reason == "MissingJob" && !deletes {
			x.t.Errorf("an Event says %s: %s", e.Reason, e.Message)
		}
	}
}
