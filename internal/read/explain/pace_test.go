package explain_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// hanging is a CronJob with Jobs that hang, in a simulated cluster.
func hanging(t *testing.T, schedule string, policy batchv1.ConcurrencyPolicy) *drive.Driver {
	t.Helper()
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	d, err := drive.New(drive.Config{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.World.Server.Client("user").CreateCronJob(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "report"},
		Spec: batchv1.CronJobSpec{Schedule: schedule, ConcurrencyPolicy: policy, JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kubelet.AnnotationOutcome: kubelet.OutcomeRun}},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}}},
			},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// played is the log of a simulated cluster after some time, and its CronJob.
func played(t *testing.T, d *drive.Driver, after time.Duration) (history.Source, events.Stream) {
	t.Helper()
	if err := d.Pass(after); err != nil {
		t.Fatal(err)
	}
	src := history.Local{Log: d.Log(), Lists: joblist.New(joblist.Config{Log: d.Log()})}
	for r, err := range d.Log().Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindCronJobAdded {
			return src, r.Stream
		}
	}
	t.Fatal("the log has no CronJob")
	return nil, events.Stream{}
}

var (
	unlooked   = regexp.MustCompile(`(\d+) due times since then were not looked at yet`)
	ofDueTimes = regexp.MustCompile(`^(HEALTHY|HELD BACK|NOT STARTING|UNKNOWN)`) // the other verdicts are about its Jobs
)

// TestDueTimesThatAreNotLookedAtYet: a CronJob is due each second, and nothing can start in this minute any more: it is
// looked at in the next one (C-085). What is said of its last due times is said of those that were looked at, with how
// many came since, all through two minutes.
func TestDueTimesThatAreNotLookedAtYet(t *testing.T) {
	for _, policy := range []batchv1.ConcurrencyPolicy{batchv1.ForbidConcurrent, batchv1.AllowConcurrent, batchv1.ReplaceConcurrent} {
		t.Run(string(policy), func(t *testing.T) {
			src, s := played(t, hanging(t, "@every 1s", policy), 3*time.Minute+20*time.Second)
			due, err := duetimes.Read(t.Context(), src, s)
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for at := due.Now() - events.Time(2*time.Minute); at < due.Now(); at = at.Add(3 * time.Second) {
				c, err := cron.Read(t.Context(), src, s, history.Point{Time: at})
				if err != nil {
					t.Fatal(err)
				}
				a := c.Answer()
				text, newest := a.Verdict.Text, events.Time(0)
				for _, e := range due.Entries {
					if e.At <= at {
						newest = max(newest, e.Last)
					}
				}
				if open := c.State.Due; open != nil {
					newest = max(newest, events.Time(open.At))
				}
				passed := int(at.Sub(newest) / time.Second)
				want := ""
				if passed > 1 && ofDueTimes.MatchString(text) {
					told++
					want = fmt.Sprintf("%d due times since then were not looked at yet", passed)
				}
				if got := unlooked.FindString(text); got != want {
					t.Fatalf("at %s, %d due times after the newest that was looked at, it says %q", at.Go().Format("15:04:05"), passed, text)
				}
				for _, x := range all(&a) {
					if passed > 1 && strings.Contains(x.Text, "then it merges into that one") {
						t.Fatalf("at %s it says %q", at.Go().Format("15:04:05"), x.Text)
					}
				}
			}
			if told < 15 {
				t.Errorf("only at %d seconds there were due times that nobody had looked at", told)
			}
		})
	}
}

// TestTheJobsOfACronJobThatIsGone: a CronJob is deleted while a Job of it runs, and its Jobs go with it. Its own
// records end with it, so what became of the Job is told by the Job's records. Of a Job that the log does not have
// nothing is known.
func TestTheJobsOfACronJobThatIsGone(t *testing.T) {
	d := hanging(t, "* * * * *", batchv1.ForbidConcurrent)
	if err := d.Pass(2 * time.Minute); err != nil {
		t.Fatal(err)
	}
	cronJob := d.World.Server.CronJob("default", "report")
	if err := d.World.Server.Client("user").DeleteCronJob(t.Context(), "default", "report", cronJob.UID, metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	src, s := played(t, d, time.Minute)
	j, err := history.CronJobAt(t.Context(), src, s, history.Point{})
	if err != nil || len(j.Runs) != 1 || j.Runs[0].State != history.StateDeleted {
		t.Errorf("its Jobs are %+v, %v", j.Runs, err)
	}
	neverFalse(t, src)
}
