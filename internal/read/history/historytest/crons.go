package historytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// hardCrons caches the logs that HardCrons made, by seed: several tests of a package read the same log.
var hardCrons = map[uint64]*memlog.Log{}

// HardCrons returns the log of a controller that runs CronJobs while API requests fail, and while users suspend, edit
// and delete CronJobs and create Jobs by hand. Its CronJobs are default/cron-1 to cron-3, due every minute or every
// second minute. The same seed gives the same log. Callers must not change the log.
func HardCrons(t *testing.T, seed uint64) *memlog.Log {
	t.Helper()
	if log := hardCrons[seed]; log != nil {
		return log
	}
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	d, err := drive.New(drive.Config{
		Settings: settings,
		World: world.Config{Seed: seed, Kubelet: kubelet.Config{
			Schedule: upTo(2), Start: upTo(3), RunTime: upTo(100), Stop: upTo(25), Confirm: upTo(2), FailRate: 0.4, CleanStop: 0.2,
		}},
		Faults: apiserver.Rates{apiserver.TimeoutBefore: 0.05, apiserver.TimeoutAfter: 0.05, apiserver.QuotaExceeded: 0.1},
		Crash:  0.002, Cut: 0.005, Stop: 0.002, Files: 16 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		// A conflict with the writes of other clients is expected.
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	u := cronUser{rand.New(rand.NewPCG(seed, 1)), d.World.Server, d.World.Server.Client(users.Actor)}
	for i, policy := range []batchv1.ConcurrencyPolicy{"Allow", "Forbid", "Replace"} {
		must(u.create(fmt.Sprintf("cron-%d", i+1), policy, []string{"* * * * *", "*/2 * * * *"}[i%2]))
	}
	for range 40 {
		must(d.Pass(20 * time.Second))
		if u.IntN(3) == 0 {
			must(u.deed())
		}
	}
	hardCrons[seed] = d.Log()
	return d.Log()
}

// cronUser is a simulated user who creates and changes CronJobs.
type cronUser struct {
	*rand.Rand
	server *apiserver.Server
	client *apiserver.Client
}

func (u *cronUser) create(name string, policy batchv1.ConcurrencyPolicy, schedule string) error {
	_, err := u.client.CreateCronJob(context.Background(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: schedule, ConcurrencyPolicy: policy, TimeZone: new("Europe/Berlin"), StartingDeadlineSeconds: new(int64(50)),
			SuccessfulJobsHistoryLimit: new(int32(2)), FailedJobsHistoryLimit: new(int32(1)),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				BackoffLimit: new(int32(0)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
				}},
			}},
		},
	})
	return err
}

// deed does one random thing to a CronJob, as a user would: it suspends, resumes, edits or deletes it, or creates a Job
// from it.
func (u *cronUser) deed() error {
	all := u.server.AllCronJobs()
	if len(all) < 2 {
		return u.create("cron-1", "Forbid", "* * * * *") // too few are left: create one with the same name again
	}
	c := all[u.IntN(len(all))].DeepCopy()
	switch u.IntN(8) {
	case 0:
		return u.client.DeleteCronJob(context.Background(), c.Namespace, c.Name, c.UID, metav1.DeletePropagationBackground)
	case 1, 2:
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: fmt.Sprintf("%s-hand-%d", c.Name, u.IntN(1000)),
			Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: c.Name, UID: c.UID, Controller: new(true)}},
		}, Spec: *c.Spec.JobTemplate.Spec.DeepCopy()}
		_, err := u.client.CreateJob(context.Background(), j)
		return err
	case 3, 4, 5:
		c.Spec.Suspend = new(c.Spec.Suspend == nil || !*c.Spec.Suspend)
	case 6:
		c.Spec.Schedule, c.Spec.StartingDeadlineSeconds = []string{"* * * * *", "*/3 * * * *", "@every 90s"}[u.IntN(3)], nil
	case 7:
		c.Spec.ConcurrencyPolicy = []batchv1.ConcurrencyPolicy{"Allow", "Forbid", "Replace"}[u.IntN(3)]
	}
	_, err := u.client.UpdateCronJob(context.Background(), c)
	return err
}
