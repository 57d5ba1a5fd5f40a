package minors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// place is a namespace of a server, and the jobledger that works in it.
type place struct {
	*server
	namespace  string // also the name of its user
	dir        string
	kubeconfig string
	ours       *controller.Controller
}

// newUser creates a user for jobledger: controller.NewUser or controller.NewReader.
type newUser func(ctx context.Context, cp *controlplane.ControlPlane, name, namespace, dir string) (kubeconfig string, err error)

func (s *server) place(name string, user newUser) *place {
	s.Helper()
	namespace, err := s.cp.CreateNamespace(s.ctx, name)
	if err != nil {
		s.Fatal(err)
	}
	p := &place{server: s, namespace: namespace, dir: filepath.Join(s.TempDir(), namespace)}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		s.Fatal(err)
	}
	if p.kubeconfig, err = user(s.ctx, s.cp, namespace, namespace, p.dir); err != nil {
		s.Fatal(err)
	}
	return p
}

// start starts jobledger there; it runs at most until the end of the test.
func (p *place) start(manage string, args ...string) {
	p.Helper()
	p.ours = controller.New(controller.Config{
		Program: p.program, Kubeconfig: p.kubeconfig, Namespace: p.namespace, Dir: p.dir, Manage: manage, Args: args,
	})
	p.Cleanup(func() { _ = p.ours.Kill() }) // unless it was stopped
	if err := p.ours.Start(p.ctx); err != nil {
		p.Fatal(err)
	}
}

// stop stops jobledger in good order, and checks its log, its output (no error), and its requests: none was forbidden
// or refused as invalid.
func (p *place) stop(excused ...string) {
	p.Helper()
	if err := p.ours.Stop(p.ctx); err != nil {
		p.Error(err)
	}
	if err := p.ours.Check(p.ctx); err != nil {
		p.Error(err)
	}
	output, err := p.ours.Output()
	if err != nil {
		p.Fatal(err)
	}
	for line := range strings.Lines(output) {
		if strings.Contains(line, `err="context canceled"`) || containsAny(line, excused) {
			continue // client-go logs an error when a stop interrupts the reading of an answer
		}
		if strings.Contains(line, "probe=readyz check=listing") {
			continue // the start polls until it is ready; on a busy machine it may still list
		}
		if containsAny(strings.ToLower(line), []string{"panic:", "level=error", "level=warn", "forbidden"}) {
			p.Errorf("jobledger in %s wrote: %s", p.namespace, line)
		}
	}
	p.Logf("jobledger in %s wrote:\n%s", p.namespace, output)
	for _, w := range p.writes() {
		if w.Code == 403 || w.Code == 422 && !containsAny(w.Message, excused) {
			p.Errorf("in %s the server answered %d to %s %s %s: %s", p.namespace, w.Code, w.Verb, w.Resource, w.Name, w.Message)
		}
	}
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// writes returns the writes of jobledger.
func (p *place) writes() (out []controlplane.Write) {
	p.Helper()
	all, err := p.cp.Writes()
	if err != nil {
		p.Fatal(err)
	}
	for _, w := range all {
		if w.User == p.namespace {
			out = append(out, w)
		}
	}
	return out
}

func (p *place) create(j *batchv1.Job) {
	p.Helper()
	if _, err := p.client.BatchV1().Jobs(p.namespace).Create(p.ctx, j, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

func (p *place) job(name string) *batchv1.Job {
	p.Helper()
	j, err := p.client.BatchV1().Jobs(p.namespace).Get(p.ctx, name, metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return j
}

func (p *place) patch(name, patch string) {
	p.Helper()
	if _, err := p.client.BatchV1().Jobs(p.namespace).Patch(p.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// pods returns the pods of a Job, by name.
func (p *place) pods(job string) map[string]corev1.Pod {
	p.Helper()
	list, err := p.client.CoreV1().Pods(p.namespace).List(p.ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	if err != nil {
		p.Fatal(err)
	}
	all := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		all[pod.Name] = pod
	}
	return all
}

// await polls until done returns true. It fails when the test's time is over, and when jobledger has ended.
func (p *place) await(what string, done func() bool) {
	p.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var ended <-chan struct{}
	if p.ours != nil && p.ours.Running() {
		ended = p.ours.Ended()
	}
	for !done() {
		select {
		case <-p.ctx.Done():
			p.Fatalf("%s: not within the time of the test\n%s", what, p.state())
		case <-ended:
			p.Fatalf("%s: jobledger ended: %v", what, p.ours.Failed())
		case <-tick.C:
		}
	}
}

// state returns the statuses of all Jobs, for a failed test.
func (p *place) state() string {
	list, err := p.client.BatchV1().Jobs(p.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, j := range list.Items {
		fmt.Fprintf(&out, "%s: %+v\n", j.Name, j.Status)
	}
	return out.String()
}
