package rewind

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

const (
	completions = 20 // of the long Job
	parallelism = 4
	maxRecords  = 3000 // of one controller for six Jobs; a busy loop writes more within a second
)

// place is a namespace and the controller of its Jobs.
type place struct {
	name       string
	namespace  string
	managedBy  *string
	controller *controller.Controller // nil: the built-in one
}

// suite is the cluster.
type suite struct {
	*testing.T
	ctx    context.Context
	cp     *controlplane.ControlPlane
	client kubernetes.Interface
}

// TestRestoredFromABackup: the cluster goes back to a snapshot of etcd. Jobs that had finished since then are
// unfinished again, a deleted Job exists again, and a newer Job is gone. All of them end correctly, once each.
func TestRestoredFromABackup(t *testing.T) {
	dir := t.TempDir()
	s, program := newSuite(t, dir)
	ctx, cp, client := s.ctx, s.cp, s.client
	lives, restarted, theirs := s.place(program, "lives", patient...), s.place(program, "restarted"), s.builtin(dir)
	ours := []*place{lives, restarted}
	all := append(slices.Clone(ours), theirs)

	for _, p := range all {
		s.create(p, "done", 1, 1, 200*time.Millisecond)
		s.create(p, "long", completions, parallelism, 1500*time.Millisecond)
		s.create(p, "finishing", 1, 1, 5*time.Second)
		s.create(p, "deleted", 2, 2, time.Hour)
	}
	for _, p := range all {
		s.await(p, "done", complete)
		s.await(p, "long", func(j *batchv1.Job) bool { return j.Status.Succeeded >= 2 })
		s.await(p, "finishing", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
		s.await(p, "deleted", func(j *batchv1.Job) bool { return j.Status.Active == 2 })
	}
	backup := filepath.Join(dir, "backup.db")
	if err := cp.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		s.create(p, "late", 1, 1, 200*time.Millisecond)
		if err := client.BatchV1().Jobs(p.namespace).Delete(ctx, "deleted", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationBackground),
		}); err != nil {
			t.Fatal(err)
		}
	}
	before := map[string]int32{}
	for _, p := range ours {
		s.await(p, "late", complete)
		s.await(p, "finishing", complete)
		s.await(p, "deleted", nil)
		before[p.name] = s.await(p, "long", func(j *batchv1.Job) bool { return j.Status.Succeeded >= 8 }).Status.Succeeded
	}
	if err := restarted.controller.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cp.Restore(ctx, backup); err != nil {
		t.Fatal(err)
	}
	if err := restarted.controller.Start(ctx); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		job, err := client.BatchV1().Jobs(p.namespace).Get(ctx, "long", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: the long Job had %d successes, and has %d after the restore", p.name, before[p.name], job.Status.Succeeded)
		// The Job would run for an hour, so it is ended now.
		if err := client.BatchV1().Jobs(p.namespace).Delete(ctx, "deleted", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationForeground),
		}); err != nil {
			t.Fatal(err)
		}
		s.create(p, "new", 2, 2, 200*time.Millisecond)
	}
	for _, p := range ours {
		for _, name := range []string{"done", "long", "finishing", "new"} {
			s.await(p, name, complete)
		}
		s.await(p, "deleted", nil) // no finalizer of its pods delays it
		s.await(p, "late", nil)
		s.settled(p)
		s.recorded(p)
	}
	for _, name := range []string{"done", "long", "finishing", "new"} {
		job, err := client.BatchV1().Jobs(theirs.namespace).Get(ctx, name, metav1.GetOptions{})
		t.Logf("by now, with the built-in controller: job/%s is complete: %t (%v)", name, err == nil && complete(job), err)
	}
}

// TestADeletedJobIsThereAgain: once the cluster has passed every known version, only a deleted Job that exists again
// shows the restore. No record is lost: the log itself made the pods that exist again.
func TestADeletedJobIsThereAgain(t *testing.T) {
	dir := t.TempDir()
	s, program := newSuite(t, dir)
	p := s.place(program, "again", patient...)
	s.create(p, "again", 2, 2, 15*time.Second)
	s.await(p, "again", func(j *batchv1.Job) bool { return j.Status.Active == 2 })
	backup := filepath.Join(dir, "backup.db")
	if err := s.cp.Backup(s.ctx, backup); err != nil {
		t.Fatal(err)
	}
	if err := s.client.BatchV1().Jobs(p.namespace).Delete(s.ctx, "again", metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	}); err != nil {
		t.Fatal(err)
	}
	s.await(p, "again", nil)
	if err := s.cp.Restore(s.ctx, backup); err != nil {
		t.Fatal(err)
	}
	s.create(p, "new", 2, 2, 200*time.Millisecond)
	s.await(p, "again", complete)
	s.await(p, "new", complete)
	s.recorded(p)
}

// newSuite returns a cluster that can be backed up, and the controller's program.
func newSuite(t *testing.T, dir string) (s *suite, program string) {
	t.Helper()
	program, err := built.Program(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplane.ForTest(t, controlplane.Options{})
	if err := cp.PrepareBackups(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Several(t.Context(), 2)
	t.Cleanup(cancel)
	return &suite{t, ctx, cp, client}, program
}

// patient makes a controller survive an outage that is longer than the default Lease.
var patient = []string{"--leader-elect-lease-duration=2m", "--leader-elect-renew-deadline=90s"}

func (s *suite) place(program, name string, args ...string) *place {
	s.Helper()
	namespace, err := s.cp.CreateNamespace(s.ctx, name)
	if err != nil {
		s.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") // t.TempDir is removed even after a failure
	if err != nil {
		s.Fatal(err)
	}
	kubeconfig, err := controller.NewUser(s.ctx, s.cp, namespace, namespace, dir)
	if err != nil {
		s.Fatal(err)
	}
	c := controller.New(controller.Config{Program: program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Args: args})
	s.Cleanup(func() {
		if err := c.Kill(); err != nil {
			s.Error(err)
		}
		if s.Failed() {
			s.Logf("The log and the output of each run of %s are in %s", name, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	if err := c.Start(s.ctx); err != nil {
		s.Fatal(err)
	}
	return &place{name, namespace, new("jobledger.dev/job-controller"), c}
}

func (s *suite) builtin(dir string) *place {
	s.Helper()
	namespace, err := s.cp.CreateNamespace(s.ctx, "builtin")
	if err != nil {
		s.Fatal(err)
	}
	c, err := builtin.New(s.ctx, s.cp, dir)
	if err != nil {
		s.Fatal(err)
	}
	if err := c.Launch(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := c.Kill(); err != nil {
			s.Log(err)
		}
	})
	return &place{"builtin", namespace, nil, nil}
}

// create creates an Indexed Job; its pods run for runFor.
func (s *suite) create(p *place, name string, completions, parallelism int32, runFor time.Duration) {
	s.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: p.managedBy, CompletionMode: new(batchv1.IndexedCompletion),
			Completions: new(completions), Parallelism: new(parallelism),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationRunFor: runFor.String()}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
				},
			},
		},
	}
	err := wait.PollUntilContextCancel(s.ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := s.client.BatchV1().Jobs(p.namespace).Create(ctx, job, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err), nil // the server may be just back
	})
	if err != nil {
		s.Fatalf("create job/%s: %v", name, err)
	}
}

func complete(j *batchv1.Job) bool { return ledger.True(j, batchv1.JobComplete) }

// await waits until so returns true for a Job; nil: until it is gone. Meanwhile no index may have two running pods.
func (s *suite) await(p *place, name string, so func(*batchv1.Job) bool) (job *batchv1.Job) {
	s.Helper()
	err := wait.PollUntilContextCancel(s.ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if p.controller != nil {
			if err := p.controller.Died(); err != nil {
				return false, err
			}
			if twice := s.twice(ctx, p); len(twice) > 0 {
				s.Errorf("%s: an index has two pods: %v", p.name, twice)
			}
		}
		var err error
		job, err = s.client.BatchV1().Jobs(p.namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return so == nil, nil
		}
		return err == nil && so != nil && so(job), nil
	})
	if err != nil {
		s.Errorf("%s: job/%s did not come to be as it should: %v", p.name, name, err)
		if job != nil {
			s.Logf("its status: %+v", job.Status)
		}
		if p.controller != nil {
			out, err := p.controller.Output()
			s.Fatalf("the end of what jobledger wrote (%v):\n%s", err, out[max(0, len(out)-6000):])
		}
		s.FailNow()
	}
	return job
}

// twice returns the pods that run beside another pod of their index.
func (s *suite) twice(ctx context.Context, p *place) (names []string) {
	pods, err := s.client.CoreV1().Pods(p.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil // the server is away
	}
	running := map[string]string{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		key := pod.Labels[batchv1.JobNameLabel] + "/" + pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		if other := running[key]; other != "" {
			names = append(names, other+" and "+pod.Name+" of "+key)
		}
		running[key] = pod.Name
	}
	return names
}

// settled checks the final state of the Jobs.
func (s *suite) settled(p *place) {
	s.Helper()
	err := wait.PollUntilContextCancel(s.ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pods, err := s.client.CoreV1().Pods(p.namespace).List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return ledger.Tracked(&pod) }), nil
	})
	if err != nil {
		s.Errorf("%s: pods keep our finalizer", p.name)
	}
	for name, n := range map[string]int32{"done": 1, "long": completions, "finishing": 1, "new": 2} {
		job, err := s.client.BatchV1().Jobs(p.namespace).Get(s.ctx, name, metav1.GetOptions{})
		if err != nil {
			s.Fatal(err)
		}
		u := job.Status.UncountedTerminatedPods
		if job.Status.Succeeded != n || job.Status.Failed != 0 || job.Status.Active != 0 || u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
			s.Errorf("%s: job/%s: want %d successes and nothing else, has %+v", p.name, name, n, job.Status)
		}
	}
}

// recorded checks that the log replays, and says in a bounded number of records that the cluster went back.
func (s *suite) recorded(p *place) {
	s.Helper()
	records, err := p.controller.Records(s.ctx, "--kind", "EpochChanged")
	if err != nil {
		s.Fatal(err)
	}
	if len(records) == 0 {
		s.Errorf("%s: no record says that the cluster went back", p.name)
	}
	for _, r := range records {
		s.Logf("%s: record %d: %s", p.name, r.Sequence, r.Facts)
		var facts struct{ Reason string }
		if err := json.Unmarshal(r.Facts, &facts); err != nil || !strings.Contains(strings.ToLower(facts.Reason), "rewound") {
			s.Errorf("%s: the reason of record %d is %q (%v)", p.name, r.Sequence, facts.Reason, err)
		}
	}
	if head, err := p.controller.Head(s.ctx); err != nil || head > maxRecords {
		s.Errorf("%s: %d records (%v), want at most %d", p.name, head, err, maxRecords)
	} else {
		s.Logf("%s: %d records", p.name, head)
	}
	if err := p.controller.Stop(s.ctx); err != nil {
		s.Error(err)
	}
	if err := p.controller.Check(s.ctx); err != nil {
		s.Error(err)
	}
}
