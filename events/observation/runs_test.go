package observation

import (
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// C-096, C-097, C-101, C-230: the kind and the UID of a Job's controller say of which CronJob it is. If another
// controller runs the Job, only the CronJob's stream has it, also that it is gone or has left. If its owner changes,
// both CronJobs have that. Without CronJobs nothing of it is reported.
func TestRunsAreTold(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start(withCronJobs, func(c *Config) { c.Mode = events.ModeAll })
		r.take()
		ours := testJob("ours", managedBy(""), ofCronJob("uid-nightly", "CronJob"))
		c.set(ours)                                                                           // 1
		c.set(testJob("of-another-kind", managedBy(""), ofCronJob("uid-nightly", "Nightly"))) // 2
		theirs := testJob("theirs", managedBy("example.com/other"), ofCronJob("uid-nightly", "CronJob"))
		c.set(theirs)                                             // 3
		c.set(testJob("nobodys", managedBy("example.com/other"))) // 4
		expect(t, r.take(), "job ours v1 of uid-nightly", "job of-another-kind v2", "run theirs v3 of uid-nightly")

		theirs.OwnerReferences = nil
		c.set(theirs) // 5
		expect(t, r.take(), "run uid-theirs gone v5 of uid-nightly left")
		ofCronJob("uid-other", "CronJob")(theirs)
		c.set(theirs) // 6
		ofCronJob("uid-nightly", "CronJob")(theirs)
		expect(t, r.take(), "run theirs v6 of uid-other")
		c.set(theirs) // 7
		expect(t, r.take(), "run uid-theirs gone v7 of uid-other left", "run theirs v7 of uid-nightly")
		c.remove(theirs) // 8
		expect(t, r.take(), "run uid-theirs gone v8 of uid-nightly")

		// Of Jobs of no CronJob only the end is told, and only if a CronJob may wait for the name (C-165).
		for _, name := range []string{"nightly-29540700", "nightly-", "29540700"} { // 9 to 14
			squatter := testJob(name, managedBy("example.com/other"))
			c.set(squatter)
			c.remove(squatter)
		}
		expect(t, r.take(), "run uid-nightly-29540700 gone v10 of ")
	})
	script(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start(func(c *Config) { c.Mode = events.ModeAll })
		r.take()
		c.set(testJob("ours", managedBy(""), ofCronJob("uid-nightly", "CronJob")))
		c.set(testJob("theirs", managedBy("example.com/other"), ofCronJob("uid-nightly", "CronJob")))
		expect(t, r.take(), "job ours v1")
	})
}

// C-098: a Job that a CronJob has in the log, and that the first list lacks, is reported as gone.
func TestRunsThatWereMissed(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start(withCronJobs, func(c *Config) {
			c.Mode = events.ModeAll
			c.Known.Runs = []KnownRun{{Job: events.JobRef{Namespace: "default", Name: "theirs", UID: "uid-theirs"}, Version: 1, CronJob: "uid-nightly"}}
		})
		expect(t, r.take(), "run uid-theirs gone v0 of uid-nightly missed", "synced [jobs] at [0]", "synced [pods] at [0]", "synced [cronjobs] at [0]")
	})
}

// C-102, C-231: the result of a Job is that of the first condition that says that the Job finished, and it succeeded if
// any says Complete.
func TestTheResultOfARun(t *testing.T) {
	yes, no := corev1.ConditionTrue, corev1.ConditionFalse
	for _, row := range []struct {
		sentence   string
		conditions []batchv1.JobCondition
		result     events.JobResult
		succeeded  bool
	}{
		{"it runs", nil, events.ResultNone, false},
		{"an interim condition does not finish it", []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: yes}, {Type: batchv1.JobSuccessCriteriaMet, Status: yes}, {Type: batchv1.JobSuspended, Status: yes}}, events.ResultNone, false},
		{"a condition that does not hold", []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: no}}, events.ResultNone, false},
		{"complete", []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: yes}}, events.ResultComplete, true},
		{"failed", []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: yes}, {Type: batchv1.JobFailed, Status: yes}}, events.ResultFailed, false},
		{"both, failed first", []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: yes}, {Type: batchv1.JobComplete, Status: yes}}, events.ResultFailed, true},
		{"both, complete first", []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: yes}, {Type: batchv1.JobFailed, Status: yes}}, events.ResultComplete, true},
	} {
		job := testJob("a")
		job.Status.Conditions = row.conditions
		if run := runSeen(wireJob(job), 1); run.Result != row.result || run.Succeeded != row.succeeded {
			t.Errorf("%s: %+v", row.sentence, run)
		}
	}
}

// TestWhatACronJobIsToldOfARun: the times of the Job, and its maker.
func TestWhatACronJobIsToldOfARun(t *testing.T) {
	job := testJob("nightly-29540715")
	started, ended := metav1.NewTime(epoch.Add(time.Minute)), metav1.NewTime(epoch.Add(time.Hour))
	job.Status.StartTime, job.Status.CompletionTime = &started, &ended
	job.Annotations = map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "2026-03-02T10:15:00+01:00"}
	want := &events.RunSeen{
		Job: job.UID, Name: job.Name, Version: 5, Created: events.At(epoch), Started: events.At(started.Time), Completed: events.At(ended.Time),
		Due: events.At(time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC)),
	}
	if got := runSeen(wireJob(job), 5); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	job.Annotations = map[string]string{kubewire.ManualAnnotation: manualValue, batchv1.CronJobScheduledTimestampAnnotation: "tomorrow"}
	job.DeletionTimestamp = &ended
	if got := runSeen(wireJob(job), 5); !got.Manual || got.Due != 0 || got.Deleted != events.At(ended.Time) {
		t.Errorf("made by hand: %+v", got)
	}
}
