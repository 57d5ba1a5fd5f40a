package doctor

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/jobledger/jobledger/events"
)

// TestWhoRunsCronJobs: their objects tell who wrote a status lately. Where CronJobs are not recorded nothing is asked.
func TestWhoRunsCronJobs(t *testing.T) {
	cronJob := func(name string, wrote time.Duration) *batchv1.CronJob {
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name}}
		if wrote > 0 {
			at := ago(wrote)
			c.Status.LastScheduleTime = &at
			c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "status", Time: &at}}
		}
		return c
	}
	suspended := cronJob("c", 0)
	suspended.Spec.Suspend = new(true)
	on := func(c *Config, _ *fake.Clientset) { c.Settings.CronJobs = true }
	for _, row := range []struct {
		sentence string
		mode     events.Mode
		change   func(*Config, *fake.Clientset)
		objects  []runtime.Object
		want     string // "level: part of the text" of each finding
	}{
		{"not recorded", events.ModeAll, nil, []runtime.Object{cronJob("a", time.Minute)}, ""},
		{"none", events.ModeAll, on, nil, "ok: 0 CronJobs, 0 suspended"},
		{"the built-in went long ago", events.ModeAll, on, []runtime.Object{cronJob("a", 2*time.Hour), suspended}, "ok: 2 CronJobs, 1 suspended"},
		{"the built-in works", events.ModeAll, on, []runtime.Object{cronJob("a", 20*time.Second)}, "problem: it wrote a status 20s ago"},
		{"the built-in works, and is observed", events.ModeObserve, on, []runtime.Object{cronJob("a", 20*time.Second)}, "ok: 1 CronJob, 0 suspended"},
		{"nothing seems to run them", events.ModeDelegated, on, []runtime.Object{cronJob("a", 2*time.Hour)}, "note: within an hour"},
		{"all are suspended", events.ModeDelegated, on, []runtime.Object{suspended}, "ok: 1 CronJob, 1 suspended"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			found := examined(t, "cronjobs", row.mode, row.change, row.objects...)
			if row.want == "" {
				if found != nil {
					t.Errorf("found %+v", found)
				}
				return
			}
			level, text, _ := strings.Cut(row.want, ": ")
			last := found[len(found)-1]
			if string(last.Level) != level || !strings.Contains(last.Text, text) {
				t.Errorf("found %+v, want %s", found, row.want)
			}
		})
	}
}
