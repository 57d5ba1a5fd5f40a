package apiserver

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func testCronJob(name string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       batchv1.CronJobSpec{Schedule: "*/5 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: testJob("").Spec}},
	}
}

// runOf returns a Job as a CronJob controller makes it.
func runOf(cronJob *batchv1.CronJob, name string) *batchv1.Job {
	job := testJob(name)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return job
}

// TestNewCronJobIsDefaulted: missing fields get defaults, except the deadline and the zone (C-002); a sent status is
// dropped, and the generation is 1 (C-010).
func TestNewCronJobIsDefaulted(t *testing.T) {
	in := testCronJob("c")
	in.Status.LastScheduleTime = &metav1.Time{Time: start}
	got := must(newServer(1).Client("test").CreateCronJob(ctx, in))(t)
	s := got.Spec
	if s.ConcurrencyPolicy != batchv1.AllowConcurrent || *s.Suspend || *s.SuccessfulJobsHistoryLimit != 3 || *s.FailedJobsHistoryLimit != 1 ||
		s.StartingDeadlineSeconds != nil || s.TimeZone != nil || s.JobTemplate.Spec.Template.Spec.DNSPolicy != corev1.DNSClusterFirst {
		t.Errorf("defaults: %+v", s)
	}
	if got.Generation != 1 || got.UID == "" || got.Status.LastScheduleTime != nil || s.JobTemplate.Spec.Completions != nil {
		t.Errorf("stored as %+v", got)
	}
}

// TestWhatIsRefusedOfCronJobs: each row is a new CronJob that is refused, with the words of the refusal.
func TestWhatIsRefusedOfCronJobs(t *testing.T) {
	for _, row := range []struct {
		sentence string
		edit     func(*batchv1.CronJob)
		words    string
	}{
		{"a name leaves room for that of its Jobs (C-003)", func(c *batchv1.CronJob) { c.Name = strings.Repeat("x", 53) }, "must be no more than 52 characters"},
		{"a deadline is not negative (C-004)", func(c *batchv1.CronJob) { c.Spec.StartingDeadlineSeconds = new(int64(-1)) }, "greater than or equal to 0"},
		{"a limit of failed Jobs is not negative (C-004)", func(c *batchv1.CronJob) { c.Spec.FailedJobsHistoryLimit = new(int32(-1)) }, "failedJobsHistoryLimit"},
		{"a limit of succeeded Jobs is not negative (C-004)", func(c *batchv1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = new(int32(-1)) }, "successfulJobsHistoryLimit"},
		{"a schedule is required (C-005)", func(c *batchv1.CronJob) { c.Spec.Schedule = "" }, "Required value"},
		{"a schedule parses (C-005)", func(c *batchv1.CronJob) { c.Spec.Schedule = "* * * * 7" }, "end of range (7) above maximum (6): 7"},
		{"a schedule names no zone (C-006)", func(c *batchv1.CronJob) { c.Spec.Schedule = "TZ=UTC * * * * *" }, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"},
		{"a zone has a name (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("") }, "timeZone must be nil or non-empty string"},
		{"a zone is no path (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Europe/../Paris") }, "unknown time zone Europe/../Paris"},
		{"a part of a zone does not begin with a hyphen (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Etc/-1") }, "unknown time zone Etc/-1"},
		{"a part of a zone is short (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Abcdefghijklmno") }, "unknown time zone Abcdefghijklmno"},
		{"a zone is explicit (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("local") }, "timeZone must be an explicit time zone"},
		{"a zone is in the database (C-007)", func(c *batchv1.CronJob) { c.Spec.TimeZone = new("Moon/Tycho") }, "unknown time zone Moon/Tycho"},
		{"a policy is one of three (C-008)", func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = "Never" }, "Unsupported value"},
		{"a selector is generated (C-009)", func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.Selector = &metav1.LabelSelector{} }, "`selector` will be auto-generated"},
		{"a selector is not made by hand (C-009)", func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.ManualSelector = new(true) }, "manualSelector"},
	} {
		in := testCronJob("c")
		row.edit(in)
		if _, err := newServer(1).Client("test").CreateCronJob(ctx, in); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s: %v", row.sentence, err)
		}
	}
}

// TestOldCronJobsMayBeUpdated: an object that is older than a rule keeps its old value, and all other fields may be
// changed (C-003, C-006, C-007).
func TestOldCronJobsMayBeUpdated(t *testing.T) {
	s := newServer(1)
	c := s.Client("test")
	old := testCronJob(strings.Repeat("x", 60))
	old.Spec.Schedule, old.Spec.TimeZone = "CRON_TZ=Asia/Tokyo 0 0 * * *", new("")
	ok(t, s.Load(old))
	got := s.CronJob("default", old.Name)
	got.Spec.Schedule = "TZ=UTC 0 1 * * *"
	_, err := c.UpdateCronJob(ctx, got)
	wantErr(t, apierrors.IsInvalid, err) // it would have two time zones
	got.Spec.TimeZone = nil
	got = must(c.UpdateCronJob(ctx, got))(t)
	got.Spec.Schedule = "0 1 * * *"
	got = must(c.UpdateCronJob(ctx, got))(t)
	got.Spec.Schedule = "TZ=UTC 0 1 * * *"
	_, err = c.UpdateCronJob(ctx, got)
	wantErr(t, apierrors.IsInvalid, err)
}

// TestCronJobAndItsStatusAreWrittenApart: an update cannot change the status, and a status update not the spec (C-001,
// C-010).
func TestCronJobAndItsStatusAreWrittenApart(t *testing.T) {
	c := newServer(1).Client("test")
	first := must(c.CreateCronJob(ctx, testCronJob("c")))(t)
	sent := first.DeepCopy()
	sent.Spec.Schedule, sent.Status.LastScheduleTime = "@hourly", &metav1.Time{Time: start}
	got := must(c.UpdateCronJobStatus(ctx, sent))(t)
	if got.Spec.Schedule != "*/5 * * * *" || got.Status.LastScheduleTime == nil || got.Generation != 1 {
		t.Errorf("after a status update: %+v", got)
	}
	_, err := c.UpdateCronJobStatus(ctx, sent)
	wantErr(t, apierrors.IsConflict, err)
	got.Spec.Schedule, got.Status.LastScheduleTime = "@hourly", nil
	if got = must(c.UpdateCronJob(ctx, got))(t); got.Spec.Schedule != "@hourly" || got.Status.LastScheduleTime == nil || got.Generation != 2 {
		t.Errorf("after an update: %+v", got)
	}
	if same := must(c.UpdateCronJob(ctx, got))(t); same.ResourceVersion != got.ResourceVersion {
		t.Error("an update that changes nothing is written")
	}
}

// TestJobsOfADeletedCronJob: they are deleted with it, or stay as orphans (C-011).
func TestJobsOfADeletedCronJob(t *testing.T) {
	for _, row := range []struct {
		policy  metav1.DeletionPropagation
		waits   bool // for a Job that a finalizer holds
		deleted bool
	}{
		{"", false, true},
		{metav1.DeletePropagationBackground, false, true},
		{metav1.DeletePropagationForeground, true, true},
		{metav1.DeletePropagationOrphan, false, false},
	} {
		s := newServer(1)
		c := s.Client("test")
		owner := must(c.CreateCronJob(ctx, testCronJob("c")))(t)
		held := runOf(owner, "held")
		held.Finalizers = []string{"a/b"}
		must(c.CreateJob(ctx, held))(t)
		must(c.CreateJob(ctx, runOf(owner, "other")))(t)
		must(c.CreateJob(ctx, testJob("mine")))(t)
		ok(t, c.DeleteCronJob(ctx, "default", "c", owner.UID, row.policy))
		settle(t, s.GarbageCollector().Step)
		if there := s.CronJob("default", "c") != nil; there != row.waits {
			t.Errorf("%q: the CronJob is there: %t", row.policy, there)
		}
		job := s.Job("default", "held")
		if gone := s.Job("default", "other") == nil; gone != row.deleted || (job.DeletionTimestamp != nil) != row.deleted || (len(job.OwnerReferences) == 0) == row.deleted {
			t.Errorf("%q: its Jobs are deleted: %t; %+v", row.policy, gone, job.ObjectMeta)
		}
		if s.Job("default", "mine") == nil {
			t.Errorf("%q: a Job of nobody is gone", row.policy)
		}
	}
}

// TestAJobIsDeletedWithoutAPolicy: its pods stay as orphans (C-011).
func TestAJobIsDeletedWithoutAPolicy(t *testing.T) {
	w := newWorld(t, "demo-a")
	ok(t, w.Delete(ctx, Jobs, "default", "demo", DeleteOptions{}))
	settle(t, w.GarbageCollector().Step)
	if pod := w.Pod("default", "demo-a"); w.Job("default", "demo") != nil || pod.DeletionTimestamp != nil || len(pod.OwnerReferences) != 0 {
		t.Errorf("pod %+v", pod.ObjectMeta)
	}
}

// TestACronJobGoesWithItsNamespace: the CronJob is deleted with its namespace, before its Jobs.
func TestACronJobGoesWithItsNamespace(t *testing.T) {
	s := newServer(1)
	c := s.Client("test")
	owner := must(c.CreateCronJob(ctx, testCronJob("c")))(t)
	must(c.CreateJob(ctx, runOf(owner, "run")))(t)
	ok(t, c.DeleteNamespace(ctx, "default"))
	_, err := c.CreateJob(ctx, runOf(owner, "late"))
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("a create is refused with %v", err)
	}
	settle(t, s.NamespaceController().Step)
	if len(s.AllCronJobs())+len(s.AllJobs()) != 0 || s.Namespace("default") != nil {
		t.Error("something is left")
	}
}
