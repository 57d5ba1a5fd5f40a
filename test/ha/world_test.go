package ha

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// world is controllers that have one log together.
type world struct {
	*testing.T
	ctx         context.Context
	cp          *controlplane.ControlPlane
	client      kubernetes.Interface
	dir         string
	namespace   string
	program     string
	key         string // a file
	history     *history.History
	servers     natstest.Servers // none if the controllers follow each other
	users       []string         // of the controllers
	controllers []*controller.Controller
	configs     []controller.Config // of the controllers
	copies      []string            // directories of clones
	jobs        []string
}

// newWorld is a cluster, and that many controllers that do not run yet, with their stream on those servers, and with
// further arguments.
func newWorld(t *testing.T, n int, servers natstest.Servers, further ...string) *world {
	t.Helper()
	return newWorldOf(t, n, servers, setting{args: further})
}

// setting is how a world differs from the usual one.
type setting struct {
	args []string // further arguments
	tags []string // build tags of the program
	// place changes how controller i is run, and returns the addresses at which it finds NATS. Nil changes nothing.
	place func(w *world, i int, c *controller.Config) (nats string)
}

// newWorldOf is newWorld in a setting.
func newWorldOf(t *testing.T, n int, servers natstest.Servers, of setting) *world {
	t.Helper()
	w := newCluster(t, of.tags...)
	w.servers = servers
	args := append(of.args, "--log-key-file", w.key)
	if len(servers) == 1 {
		args = append(args, "--replicate-unsafe")
	} else {
		args = append(args, "--replicate-assume-synced")
	}
	for i := range n {
		w.add(func(c *controller.Config) {
			nats := servers.URL()
			if of.place != nil {
				nats = of.place(w, i, c)
			}
			c.Args = append(slices.Clone(args), "--replicate", nats)
		})
	}
	return w
}

// newCluster is a cluster without controllers. Tags are those with which their program is built.
func newCluster(t *testing.T, tags ...string) *world {
	t.Helper()
	ctx, cancel := patience.Several(t.Context(), 4)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "jobledger-ha-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	program, err := built.Program(ctx, dir, tags...)
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplane.ForTest(t, controlplane.Options{})
	w := &world{T: t, ctx: ctx, cp: cp, dir: dir, program: program, key: filepath.Join(dir, "key")}
	if w.client, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if w.namespace, err = cp.CreateNamespace(ctx, "ha"); err != nil {
		t.Fatal(err)
	}
	if w.history, err = history.Watch(ctx, w.client, w.namespace); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range w.controllers {
			if err := c.Kill(); err != nil {
				t.Error(err)
			}
		}
		if t.Failed() {
			t.Logf("The logs and the output of the controllers are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return w
}

// add adds a controller that does not run yet, with a user and a directory of its own. how completes its settings.
func (w *world) add(how func(*controller.Config)) {
	w.Helper()
	n := len(w.controllers) + 1
	own := filepath.Join(w.dir, fmt.Sprintf("controller-%d", n))
	if err := os.Mkdir(own, 0o700); err != nil {
		w.Fatal(err)
	}
	user := fmt.Sprintf("%s-%d", w.namespace, n)
	kubeconfig, err := controller.NewUser(w.ctx, w.cp, user, w.namespace, own)
	if err != nil {
		w.Fatal(err)
	}
	w.users = append(w.users, user)
	config := controller.Config{Program: w.program, Kubeconfig: kubeconfig, Namespace: w.namespace, Dir: own}
	how(&config)
	w.configs = append(w.configs, config)
	w.controllers = append(w.controllers, controller.New(config))
}

// start starts a controller, and returns when it is ready: it leads, or stands by.
func (w *world) start(c *controller.Controller) {
	w.Helper()
	if err := c.Start(w.ctx); err != nil {
		w.Fatal(err)
	}
}

// leader waits until one of the controllers that run leads, as the newest run of each says, and gives it and the
// others.
func (w *world) leader() (leader *controller.Controller, others []*controller.Controller) {
	w.Helper()
	err := patience.Until(w.ctx, 20*time.Millisecond, nil, func() (bool, error) {
		leader, others = nil, nil
		for _, c := range w.controllers {
			if !c.Running() {
				if err := c.Died(); err != nil {
					return false, err
				}
				continue
			}
			text, err := c.NewestOutput()
			if err != nil {
				return false, err
			}
			if strings.Contains(text, leading) {
				leader = c
			} else {
				others = append(others, c)
			}
		}
		return leader != nil, nil
	})
	if err != nil {
		w.Fatal("no controller leads: ", err)
	}
	return leader, others
}

// leads waits until that controller leads.
func (w *world) leads(c *controller.Controller) {
	w.Helper()
	err := patience.Until(w.ctx, 20*time.Millisecond, c.Ended(), func() (bool, error) {
		text, err := c.NewestOutput()
		return strings.Contains(text, leading), err
	})
	if err != nil {
		w.Fatal("it does not lead: ", err)
	}
}

// ends waits until a controller has ended by itself, with an error.
func (w *world) ends(c *controller.Controller) {
	w.Helper()
	select {
	case <-c.Ended():
	case <-w.ctx.Done():
		w.Fatal("it does not end: ", context.Cause(w.ctx))
	}
	if c.Died() == nil {
		w.Error("it has ended without an error")
	}
	if err := c.Kill(); err != nil { // so that it can be started again
		w.Error(err)
	}
}

// leading is what a controller says that took the log over.
const leading = "msg=leading "

// create makes Jobs, each with pods for so many indexes, which run for a while.
func (w *world) create(n int, completions int32) {
	w.Helper()
	for range n {
		name := fmt.Sprintf("job-%d", len(w.jobs)+1)
		w.jobs = append(w.jobs, name)
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: batchv1.JobSpec{
				ManagedBy: new(events.ManagedBy), CompletionMode: new(batchv1.IndexedCompletion),
				Completions: new(completions), Parallelism: new(int32(2)),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationRunFor: "1s"}},
					Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever,
						Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
					},
				},
			},
		}
		if _, err := w.client.BatchV1().Jobs(w.namespace).Create(w.ctx, job, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
}

// await waits until a number of pods of all Jobs has succeeded.
func (w *world) await(succeeded int32) {
	w.Helper()
	err := w.history.Await(w.ctx, func(now history.Now) string {
		sum := int32(0)
		for _, j := range now.Jobs {
			sum += j.Status.Succeeded
		}
		if sum >= succeeded {
			return ""
		}
		return fmt.Sprintf("%d pods have succeeded, want %d", sum, succeeded)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// succeeds waits until a pod of a Job has succeeded.
func (w *world) succeeds(job string) {
	w.Helper()
	err := w.history.Await(w.ctx, func(now history.Now) string {
		if j := now.Jobs[job]; j != nil && j.Status.Succeeded > 0 {
			return ""
		}
		return "no pod of job/" + job + " has succeeded"
	})
	if err != nil {
		w.Fatal(err)
	}
}

// finish waits until each Job is complete, and no pod has a finalizer any more.
func (w *world) finish() {
	w.Helper()
	err := w.history.Await(w.ctx, func(now history.Now) string {
		for _, name := range w.jobs {
			if j := now.Jobs[name]; j == nil || !ledger.True(j, batchv1.JobComplete) {
				return "job/" + name + " is not complete"
			}
		}
		for _, pod := range now.Pods {
			if ledger.Tracked(pod) {
				return "pod/" + pod.Name + " has its finalizer"
			}
		}
		return ""
	})
	if err != nil {
		w.Fatal(err)
	}
}

// judge stops what runs in good order, and holds the objects and the logs against what must be.
func (w *world) judge() {
	w.Helper()
	w.verifyReplicas()
	for _, c := range w.controllers {
		if c.Running() {
			if err := c.Stop(w.ctx); err != nil {
				w.Error(err)
			}
		}
	}
	if err := w.history.CatchUp(w.ctx); err != nil {
		w.Fatal(err)
	}
	all := w.history.Changes()
	l := ledger.Read(ledger.Config{}, all)
	for _, a := range l.Accounts() {
		a.Settle()
	}
	if found := l.Violations(); len(found) > 0 {
		w.Error(ledger.Explain(found, w.history))
	}
	w.once(all)
	w.oneChain()
}

// verifyReplicas asks the controllers that run, and the stream, whether they are on one chain. Without a stream it does
// nothing.
func (w *world) verifyReplicas() {
	w.Helper()
	if len(w.servers) == 0 {
		return
	}
	running := 0
	for _, c := range w.controllers {
		if c.Running() {
			running++
		}
	}
	verify := exec.CommandContext(w.ctx, w.program, "verify", "--replicas", "--replicate", w.servers.URL(),
		"--replicate-members", strconv.Itoa(running))
	text, err := verify.CombinedOutput()
	if want := fmt.Sprintf("verify: %d logs and the stream are on one chain", running); running > 1 &&
		(err != nil || !strings.Contains(string(text), want)) {
		w.Errorf("verify --replicas: %v, want %q\n%s", err, want, text)
	}
}

// once finds two pods that one command made.
func (w *world) once(all []history.Change) {
	w.Helper()
	pods := map[string]string{} // by command
	for _, c := range all {
		if c.Pod == nil {
			continue
		}
		command := c.Pod.Annotations[events.CommandAnnotation]
		if before := pods[command]; before != "" && before != c.Pod.Name {
			w.Errorf("pods %s and %s are both of command %s", before, c.Pod.Name, command)
		}
		pods[command] = c.Pod.Name
	}
	if len(pods) < len(w.jobs) {
		w.Errorf("%d commands made pods of %d Jobs", len(pods), len(w.jobs))
	}
}

// oneChain verifies and replays each log, and finds one that is no beginning of another.
func (w *world) oneChain() {
	w.Helper()
	var logs []store.Archive
	shortest := events.Sequence(0)
	for i, c := range w.controllers {
		if err := c.Check(w.ctx); err != nil {
			w.Errorf("the log of controller %d: %v", i+1, err)
		}
		log, err := open.Archive(c.Log())
		if err != nil {
			w.Fatal(err)
		}
		defer func() {
			if err := log.Close(); err != nil {
				w.Error(err)
			}
		}()
		head := log.Head()
		w.Logf("the log of controller %d ends with record %d, %s", i+1, head.Sequence, head.Hash)
		if i == 0 || head.Sequence < shortest {
			shortest = head.Sequence
		}
		logs = append(logs, log)
	}
	for i, log := range logs {
		hash, err := log.Chain(shortest)
		want, err1 := logs[0].Chain(shortest)
		if err != nil || err1 != nil || hash != want || shortest < 50 {
			w.Errorf("behind record %d the chain of controller %d is %s, that of the first one %s; %v, %v",
				shortest, i+1, hash, want, err, err1)
		}
	}
}
