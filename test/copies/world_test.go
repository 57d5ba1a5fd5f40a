package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
)

// world is a namespace, a log, the place of its copy, and a controller, which has several lives.
type world struct {
	*testing.T
	ctx        context.Context
	client     kubernetes.Interface
	namespace  string
	dir        string // holds the log, and a directory for each life
	kubeconfig string
	place      *place
	flags      []string // of each life
	history    *history.History
	controller *controller.Controller // of the newest life
	lives      int
	jobs       map[string]int32 // the pods that each Job is to have
	heads      []store.Head     // of copies that were restored beside the controller
}

// cluster is where a world is.
type cluster struct {
	*controlplane.ControlPlane
	admin kubernetes.Interface
}

func sharedCluster() cluster { return cluster{shared.ControlPlane, shared.Admin} }

// quickly lets another process take the Lease of one that was killed without its log soon, and leaves a controller the
// time to renew it: on a machine that is busy with tests at length, 6 seconds are too few.
var quickly = map[bool][]string{
	false: {"--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=6500ms", "--leader-elect-retry-period=500ms"},
	true:  {"--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=27s", "--leader-elect-retry-period=1s"},
}[long]

// newDir is a directory that stays when the test fails.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jobledger-copies-") //nolint:usetesting // t.TempDir goes also when the test has failed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Logs, copies and the output of each life are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// newWorld is a world in a new namespace, whose controller does not run yet.
func newWorld(t *testing.T, in cluster, dir string, p *place, flags ...string) *world {
	t.Helper()
	ctx, cancel := patience.Several(t.Context(), 3)
	t.Cleanup(cancel)
	w := &world{T: t, ctx: ctx, client: in.admin, dir: dir, place: p, flags: flags, jobs: map[string]int32{}}
	var err error
	if w.namespace, err = in.CreateNamespace(ctx, "copies"); err != nil {
		t.Fatal(err)
	}
	if w.kubeconfig, err = controller.NewUser(ctx, in.ControlPlane, w.namespace, w.namespace, dir); err != nil {
		t.Fatal(err)
	}
	watching, end := context.WithCancel(ctx)
	if w.history, err = history.Watch(watching, in.admin, w.namespace); err != nil {
		end()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.controller != nil {
			if err := w.controller.Kill(); err != nil {
				t.Error(err)
			}
		}
		end()
		w.history.Wait()
		if t.Failed() && w.controller != nil {
			said, err := w.controller.Output()
			t.Logf("The end of what the newest life wrote (%v):\n%s", err, said[max(0, len(said)-4000):])
		}
	})
	return w
}

// log is the log's directory, of all lives.
func (w *world) log() string { return filepath.Join(w.dir, "log") }

// must ends the test on an error.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// launch begins a life: a controller that copies its log, with further flags. env is added to its environment.
func (w *world) launch(flags []string, env ...string) {
	w.Helper()
	w.lives++
	dir := filepath.Join(w.dir, fmt.Sprintf("life-%d", w.lives))
	w.must(os.Mkdir(dir, 0o700))
	args := append(append([]string{"--copy-to", w.place.address}, w.flags...), flags...)
	w.controller = controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: dir, Log: w.log(), Args: args, Env: w.place.env,
	})
	w.must(w.controller.Launch(env...))
}

// errEnds: a controller has ended by itself.
var errEnds = errors.New("the controller has ended by itself")

// leads waits until the newest life leads; errEnds when it ends before.
func (w *world) leads() error {
	err := patience.Until(w.ctx, 20*time.Millisecond, w.controller.Ended(), func() (bool, error) {
		text, err := w.controller.NewestOutput()
		return strings.Contains(text, "msg=leading "), err
	})
	if errors.Is(err, patience.ErrEnded) {
		return errEnds
	}
	if err != nil {
		return err
	}
	if err := w.controller.Ready(w.ctx); err != nil {
		if !w.controller.Running() {
			return errEnds
		}
		return err
	}
	return nil
}

// start begins a life and waits until it leads.
func (w *world) start(flags ...string) {
	w.Helper()
	w.launch(flags)
	if err := w.leads(); err != nil {
		w.Fatal(err)
	}
}

// stop ends the newest life in good order.
func (w *world) stop() {
	w.Helper()
	w.must(w.controller.Stop(w.ctx))
}

// forced is the flag with which a controller says that it is to be started again.
var forced = regexp.MustCompile(`--force-new-epoch=\d+`)

// goOn begins a life with the flags that a command or an earlier life named. A life that ends at once, and names a flag
// to go on with, is followed by one with that flag; once. It returns the flag.
func (w *world) goOn(flags ...string) (flag string) {
	w.Helper()
	for {
		w.launch(flags)
		err := w.leads()
		if err == nil {
			return flag
		}
		said := w.ended(err)
		named := forced.FindString(said)
		if named == "" || flag != "" {
			w.Fatalf("it ends, and does not say how to go on:\n%s", said)
		}
		flag = named
		flags = append(flags, named)
		w.Logf("life %d ended, and named %s", w.lives, named)
	}
}

// ended is what a life wrote that has ended by itself with err from leads.
func (w *world) ended(err error) (said string) {
	w.Helper()
	if !errors.Is(err, errEnds) {
		w.Fatal(err)
	}
	if w.controller.Failed() == nil {
		w.Error("it has ended with exit status 0")
	}
	said, err = w.controller.Output()
	w.must(err)
	return said
}

// jobledger runs the program, and returns what it printed.
func (w *world) jobledger(args ...string) (string, error) { return w.with(nil, args...) }

// with is jobledger with more of the environment.
func (w *world) with(env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.ctx, shared.Program, args...)
	cmd.Env = append(append(append(os.Environ(), "GOGC="), w.place.env...), env...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("jobledger %s: %w\n%s%s", strings.Join(args, " "), err, &complaint, &out)
	}
	return out.String(), nil
}

// told is jobledger, which must succeed.
func (w *world) told(args ...string) string {
	w.Helper()
	out, err := w.jobledger(args...)
	w.must(err)
	return out
}

// job makes a Job of so many pods, with annotations on them in pairs.
func (w *world) job(name string, pods int32, annotations ...string) {
	w.Helper()
	w.must(w.create(name, pods, annotations...))
}

func (w *world) create(name string, pods int32, annotations ...string) error {
	_, err := w.client.BatchV1().Jobs(w.namespace).Create(w.ctx, newJob(name, pods, annotations), metav1.CreateOptions{})
	if err == nil {
		w.jobs[name] = pods
	}
	return err
}

// newJob is a Job of so many pods, with annotations on them in pairs. One pod that fails fails it.
func newJob(name string, pods int32, annotations []string) *batchv1.Job {
	all := map[string]string{}
	for i := 0; i+1 < len(annotations); i += 2 {
		all[annotations[i]] = annotations[i+1]
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Completions: new(pods), Parallelism: new(min(pods, 10)), BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: all},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
				},
			},
		},
	}
	if pods > 1 {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
	return job
}

// while is a context for waits that ends when the newest life ends by itself.
func (w *world) while(do func(ctx context.Context) error) {
	w.Helper()
	ctx, cancel := w.controller.While(w.ctx)
	defer cancel()
	w.must(do(ctx))
}

// await waits until nothing is missing in the cluster.
func (w *world) await(missing func(history.Now) string) {
	w.Helper()
	w.while(func(ctx context.Context) error { return w.history.Await(ctx, missing) })
}

// copied waits until the copy has the records up to one, under an epoch or a later one.
func (w *world) copied(through events.Sequence, epoch uint64) {
	w.Helper()
	err := patience.Until(w.ctx, 50*time.Millisecond, w.controller.Ended(), func() (bool, error) {
		m := w.place.manifest(w.T)
		return m != nil && m.Identity.Epoch >= epoch && m.Head.Sequence >= through, nil
	})
	if err != nil {
		w.Fatalf("the copy does not come to record %d of epoch %d: %v", through, epoch, err)
	}
}

// atRest waits until the copy has all that the log has, and nothing is added any more.
func (w *world) atRest() {
	w.Helper()
	for {
		head, err := w.controller.Head(w.ctx)
		w.must(err)
		w.copied(events.Sequence(head), 1)
		now, err := w.controller.Head(w.ctx)
		w.must(err)
		if now == head {
			return
		}
	}
}

// archive opens a log for reading, until the test ends.
func (w *world) archive(dir string) store.Archive {
	w.Helper()
	log, err := open.Archive(dir)
	w.must(err)
	w.Cleanup(func() {
		if err := log.Close(); err != nil {
			w.Error(err)
		}
	})
	return log
}

// commandLine is the last line of what restore printed, without the program and the log's directory.
func (w *world) commandLine(restored, log string) (flags []string) {
	w.Helper()
	lines := strings.Split(strings.TrimSpace(restored), "\n")
	last := strings.Fields(lines[len(lines)-1])
	if len(last) < 4 || strings.Join(last[:4], " ") != "jobledger run --log "+log {
		w.Fatalf("the last line of restore is no command to go on with:\n%s", restored)
	}
	return last[4:]
}
