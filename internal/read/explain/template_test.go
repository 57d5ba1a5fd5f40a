package explain_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestAnEditOfTheTemplateIsToldByItsFields: a CronJob whose Jobs all fail gets another image and one variable more. Its
// answer names both, and so does that of a Job made before the edit; that of one made after it does not.
func TestAnEditOfTheTemplateIsToldByItsFields(t *testing.T) {
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	d, err := drive.New(drive.Config{Settings: settings, World: world.Config{Seed: 1, Kubelet: kubelet.Config{FailRate: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	client := d.World.Server.Client(users.Actor)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	nightly, err := client.CreateCronJob(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
			}},
		}}},
	})
	must(err)
	must(d.Pass(150 * time.Second))
	for _, now := range d.World.Server.AllCronJobs() {
		edited := now.DeepCopy()
		main := &edited.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
		main.Image, main.Env = "sim:2", []corev1.EnvVar{{Name: "DB_HOST", Value: "db-2"}}
		_, err := client.UpdateCronJob(t.Context(), edited)
		must(err)
	}
	must(d.Pass(150 * time.Second))
	src := history.Local{Log: d.Log(), Lists: joblist.New(joblist.Config{Log: d.Log()})}

	const fields = "jobTemplate: main.env + DB_HOST · main.image sim → sim:2"
	c, err := cron.Read(t.Context(), src, events.CronJobStream(nightly.UID), history.Point{})
	must(err)
	a := c.Answer()
	if text := under(&a, "EDITED"); !strings.Contains(text, fields) {
		t.Errorf("the CronJob's answer says of the edit %q, want %q", text, fields)
	}
	jobs := 0
	for r, err := range d.Log().Read(t.Context(), 0) {
		must(err)
		if r.Kind != events.KindJobAdded {
			continue
		}
		jobs++
		c, err := job.Read(t.Context(), src, r.Stream, history.Point{})
		must(err)
		must(c.Compare(t.Context()))
		a := c.Answer()
		before := jobs <= 2
		for _, x := range all(&a) {
			if strings.Contains(x.Text, "its CronJob was edited at ") && len(x.Records) != 2 {
				t.Errorf("%q cites %v, want the versions before and after", x.Text, x.Records)
			}
		}
		if text := under(&a, "CHANGED"); strings.Contains(text, "its CronJob was edited at ") != before || before && !strings.Contains(text, fields) {
			t.Errorf("Job %d of 5, %s: the answer says %q", jobs, a.Verdict.Text, text)
		}
	}
	if jobs < 4 {
		t.Errorf("%d Jobs were made", jobs)
	}
}

// under is what an answer says under a head.
func under(a *explain.Answer, head string) string {
	var said []string
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			if s.Head == head {
				said = append(said, x.Text)
			}
		}
	}
	return strings.Join(said, "\n")
}
