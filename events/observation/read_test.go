package observation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
)

func TestLiveReads(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		feed, r := start()
		r.take()
		plain := testJob("plain", managedBy(""))
		pod := testPod("p", of(job), finalizer(events.TrackingFinalizer))
		job.ResourceVersion, plain.ResourceVersion, pod.ResourceVersion = "7", "8", "9"
		for _, tt := range []struct {
			got  events.Observation
			want string
		}{
			{feed.ObserveJob(wireJob(job)), "job a v7"},
			{feed.ObserveJob(wireJob(plain)), "job plain v8 unmanaged"},
			{feed.ObservePod(wire(pod)), "pod p v9 of a tracked selected"},
			{feed.ObservePod(wire(testPod("no-version"))), "<nil>"},
		} {
			if got := line(tt.got); got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		}
		expect(t, r.take()) // and nothing was queued
	})
}

// TestARunThatIsReadLive: it is reported as by the watch. A Job without a CronJob is not reported.
func TestARunThatIsReadLive(t *testing.T) {
	script(t, func(t *testing.T, _ *cluster, start starter) {
		feed, _ := start(withCronJobs, func(c *Config) { c.Mode = events.ModeAll })
		for _, row := range []struct {
			job  *batchv1.Job
			want string
		}{
			{testJob("ours", managedBy(""), ofCronJob("uid-nightly", "CronJob")), "job ours v9 of uid-nightly"},
			{testJob("theirs", managedBy("example.com/other"), ofCronJob("uid-nightly", "CronJob")), "run theirs v9 of uid-nightly"},
			{testJob("nobodys", managedBy("")), "<nil>"},
		} {
			row.job.ResourceVersion = "9"
			if got := line(feed.ObserveRun(wireJob(row.job))); got != row.want {
				t.Errorf("told %s, want %s", got, row.want)
			}
		}
		nightly := testCronJob("nightly", "@daily")
		nightly.ResourceVersion = "9"
		if got := line(feed.ObserveCronJob(wireCronJob(nightly))); got != "cronjob nightly v9 @daily" {
			t.Errorf("told %s", got)
		}
	})
}
