package observation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

func started(job *batchv1.Job) { job.Status.StartTime = new(metav1.NewTime(epoch)) }

func suspended(job *batchv1.Job) {
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: "True"}}
}

// TestWhoDrainsTakesNoNewJob: a Job goes on if the log says that it ran, or if it has begun; a Job without a status is
// new. This holds as long as the process, whatever the Job's status says later.
func TestWhoDrainsTakesNoNewJob(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		logged, strange := testJob("logged"), testJob("strange")
		fresh, theirs := testJob("fresh"), testJob("theirs", started) // the log knows it as another controller's
		jobs := []*batchv1.Job{logged, strange, fresh, theirs, testJob("begun", started), testJob("paused", suspended)}
		for _, job := range jobs {
			c.set(job)
		}
		var foreign []string
		feed, r := start(func(config *Config) {
			config.Draining = true
			config.Foreign = func(by string) { foreign = append(foreign, by) }
			config.Known = Known{Jobs: []KnownJob{{refOf(wireJob(logged)), 0, true, ""}, {refOf(wireJob(strange)), 0, false, ""}, {refOf(wireJob(theirs)), 0, false, ""}}}
		})
		expect(t, r.take(),
			"job begun v5", "job logged v1", "job paused v6", "job theirs v4", "synced [jobs] at [6]", "synced [pods] at [6]")
		if lines := r.Log(); len(lines) != 4 {
			t.Errorf("the keeper was told %q", lines)
		}
		late := testJob("late")
		c.set(late)
		started(fresh) // by another client
		c.set(fresh)
		c.set(testPod("logged-1", of(logged), finalizer(events.TrackingFinalizer)))
		c.set(testPod("fresh-1", of(fresh)))
		expect(t, r.take(), "pod logged-1 v9 of logged tracked selected")
		fresh.ResourceVersion = "8"
		expect(t, []string{line(feed.ObserveJob(wireJob(fresh)))}, "job fresh v8 unmanaged")
		logged.ResourceVersion = "1"
		expect(t, []string{line(feed.ObserveJob(wireJob(logged)))}, "job logged v1")
		if len(foreign) > 0 {
			t.Errorf("Jobs of ours are told as those of %q", foreign)
		}
	})
}
