package drive_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
)

// TestSeedsOfProtectedPods lets users scale, resize, suspend and resume Jobs. A policy protects every second pod: it
// may not be deleted, nor patched while it runs. The policy delays only those pods. Every Job comes to its end, and a
// protected pod that ended with its finalizer is counted (J-049, J-073, J-074, J-179).
func TestSeedsOfProtectedPods(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Protect, cfg.World.UserChance, cfg.World.UsersOff = 0.5, 0.15, noSizes
			cfg.World.Kubelet.RunTime = upTo(60)
			run(t, cfg)
		})
	}
}

// noSizes lists the user actions that do not change how many pods a Job wants.
var noSizes = []users.Deed{
	users.StripFinalizer, users.RelabelPod, users.RestoreLabels, users.OrphanPod, users.TouchPod, users.TouchJob, users.DeleteJob,
	users.RecreateJob, users.MakeOrphan, users.LimitJob, users.HurryJob, users.ReplaceJob, users.ReindexPod, users.MeddleJob,
}

// TestARemovalThatIsDeniedHoldsUpNothing: surplus pods never end, and a policy denies their removal. Then the Job wants
// more pods again. It gets as many as it wants, and the surplus pods count among them (J-049, J-070, J-074).
func TestARemovalThatIsDeniedHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sentence string
		changes  []func(*batchv1.JobSpec)
	}{
		{"scaled from 3 to 2 to 5", []func(*batchv1.JobSpec){parallelism(2), parallelism(5)}},
		{"suspended and resumed", []func(*batchv1.JobSpec){suspended(true), suspended(false), parallelism(5)}},
		{"scaled to 1 and 2, and suspended, before it is scaled to 5", []func(*batchv1.JobSpec){parallelism(1), parallelism(2), suspended(true), suspended(false), parallelism(5)}},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%s/seed=%d", tt.sentence, seed), func(t *testing.T) { denied(t, seed, tt.changes) })
		}
	}
}

func parallelism(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism = &n }
}
func suspended(is bool) func(*batchv1.JobSpec) { return func(s *batchv1.JobSpec) { s.Suspend = &is } }

func denied(t *testing.T, seed uint64, changes []func(*batchv1.JobSpec)) {
	cfg := config(seed)
	cfg.World.UserChance, cfg.World.NodeLossChance, cfg.Faults, cfg.Crash, cfg.Cut, cfg.Protect = 0, 0, nil, 0, 0, 1
	d, err := drive.New(cfg, endless())
	if err != nil {
		t.Fatal(err)
	}
	user := d.World.Server.Client("user")
	if err := d.Settle(); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		job := d.World.Server.Job("default", "demo")
		change(&job.Spec)
		if _, err := user.UpdateJob(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		if err := d.Steps(200); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Settle(); err != nil {
		t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s", err, d.History(30), d.Records(60))
	}
	live := int32(0)
	for _, p := range d.World.Server.StoredPods() {
		if !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil {
			live++
		}
	}
	if job := d.World.Server.Job("default", "demo"); live != 5 || job.Status.Active != 5 {
		t.Errorf("%d pods run, and the status says %d; want 5", live, job.Status.Active)
	}
	if err := d.CheckLog(); err != nil {
		t.Error(err)
	}
}

// endless returns a Job with pods that run until they are deleted.
func endless() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Parallelism: new(int32(3)), Completions: new(int32(9)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kubelet.AnnotationOutcome: kubelet.OutcomeRun}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "sim"}},
				},
			},
		},
	}
}
