package handover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// long enables more Jobs, handovers and seeds.
var long = effort.IsLong()

// O-008, J-168: at any handover, each Job ends as its spec and its pods determine.
// J-089: however often the controllers are killed, no pod is counted twice or never.
// J-102, O-062: at the end no pod has a finalizer, of either kind.
//
// TestHandover hands two namespaces over, from the built-in controller to Jobledger and back (design §6).
func TestHandover(t *testing.T) {
	jobs, handovers, seeds := len(mix), 3, []uint64{uint64(time.Now().UnixNano())}
	if long {
		jobs, handovers, seeds = 50, 5, []uint64{1, 2, 3, 4, 5, 6}
	}
	for _, seed := range seeds { // the last turn is ours or the built-in's
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { trial(t, seed, jobs, handovers-int(seed%2)) })
	}
}

// trial hands two namespaces over, from the built-in controller to Jobledger and back, and ends with either.
func trial(t *testing.T, seed uint64, jobs, handovers int) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	random := rand.New(rand.NewPCG(seed, 5))
	theirs, err := builtin.New(ctx, shared.ControlPlane, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := theirs.Kill(); err != nil {
			t.Error(err)
		}
	}()
	places := []*place{newPlace(t, ctx, "its log is kept"), newPlace(t, ctx, "its log is lost")}

	// Each controller gets some new Jobs at its start, so that it meets Jobs of every age.
	turns := handovers + 1
	for turn := range turns {
		ours := turn%2 == 1
		if !ours && turn == turns-1 { // ours has left for good
			for _, x := range places {
				x.leave(ctx)
			}
		}
		if err := begin(ctx, ours, theirs, places); err != nil {
			t.Fatal(err)
		}
		for i := turn * jobs / turns; i < (turn+1)*jobs/turns; i++ {
			for _, x := range places {
				x.create(ctx, i)
			}
		}
		if turn == turns-1 {
			break
		}
		after := time.Second + time.Duration(random.Int64N(int64(5*time.Second)))
		if !ours {
			after += 2 * time.Second // it takes that long to start
		}
		t.Logf("turn %d, ours %t: killed after %s", turn, ours, after)
		select {
		case <-time.After(after):
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
		if err := finish(ctx, ours, theirs, places); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range places {
		x.judge(ctx)
	}
}

// begin starts the controller of the turn.
func begin(ctx context.Context, ours bool, theirs *builtin.Controller, places []*place) error {
	if !ours {
		return theirs.Launch()
	}
	var errs []error
	for _, x := range places {
		errs = append(errs, x.ours.Launch())
	}
	return errors.Join(errs...)
}

// finish kills the controller of the turn.
func finish(ctx context.Context, ours bool, theirs *builtin.Controller, places []*place) error {
	if !ours {
		return theirs.Kill()
	}
	var errs []error
	for _, x := range places {
		if !x.ours.Running() {
			errs = append(errs, errors.New("jobledger ended by itself"))
		}
		errs = append(errs, x.ours.Kill())
		if x.losesLog {
			if _, err := x.ours.LoseLog(); !errors.Is(err, fs.ErrNotExist) { // there may be no log yet
				errs = append(errs, err)
			}
			errs = append(errs, controller.DropLease(ctx, shared.Admin, x.namespace))
		}
	}
	return errors.Join(errs...)
}

// place is a namespace with its Jobs and its own Jobledger.
type place struct {
	t         *testing.T
	what      string
	namespace string
	losesLog  bool
	dir       string
	ours      *controller.Controller
	kubelet   *kubelet.Kubelet
	history   *history.History

	users sync.WaitGroup
	mu    sync.Mutex
	parts map[types.UID]*part
	names map[types.UID]string
}

func newPlace(t *testing.T, ctx context.Context, what string) *place {
	t.Helper()
	namespace, err := shared.CreateNamespace(ctx, "handover")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := controller.NewUser(ctx, shared.ControlPlane, namespace, namespace, dir)
	if err != nil {
		t.Fatal(err)
	}
	x := &place{
		t: t, what: what, namespace: namespace, losesLog: strings.Contains(what, "lost"), dir: dir,
		parts: map[types.UID]*part{}, names: map[types.UID]string{},
		ours: controller.New(controller.Config{
			Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Manage: "all",
		}),
	}
	if x.kubelet, err = kubelet.New(ctx, shared.Admin); err != nil {
		t.Fatal(err)
	}
	watching, end := context.WithCancel(ctx)
	if x.history, err = history.Watch(watching, shared.Admin, namespace); err != nil {
		end()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.ours.Kill(); err != nil {
			t.Error(err)
		}
		x.users.Wait()
		end()
		x.history.Wait()
		if t.Failed() {
			t.Logf("%s: the log and the output of jobledger are in %s", what, filepath.Clean(dir))
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return x
}

// leave does what an operator does who gives the Jobs back after Jobledger has ended.
func (x *place) leave(ctx context.Context) {
	x.t.Helper()
	if err := controller.DropLease(ctx, shared.Admin, x.namespace); err != nil {
		x.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, shared.Program, "release", "--let-go", "--kubeconfig", shared.Kubeconfig(), "-n", x.namespace)
	if out, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("jobledger release: %v\n%s", err, out)
	}
}

// create creates the nth Job of the mix, and plays its users.
func (x *place) create(ctx context.Context, nth int) {
	x.t.Helper()
	p := &mix[nth%len(mix)]
	name := fmt.Sprintf("%s-%d", p.name, nth/len(mix))
	job, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(ctx, p.make(name, nth), metav1.CreateOptions{})
	if err != nil {
		x.t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.parts[job.UID], x.names[job.UID] = p, name
	began := time.Now()
	x.users.Go(func() { // ends with the last action, or with ctx
		for _, d := range p.users {
			select {
			case <-time.After(time.Until(began.Add(d.after))):
			case <-ctx.Done():
				return
			}
			if err := d.do(ctx, x, name); err != nil && !apierrors.IsNotFound(err) && !errors.Is(err, errTooLate) && ctx.Err() == nil {
				x.t.Errorf("%s: what a user does to %s: %v", x.what, name, err)
			}
		}
	})
}

const whichever = ""

// errTooLate says that a user's action came after the Job had finished.
var errTooLate = errors.New("the Job has finished")

// live waits for a running pod of the Job; of this index, unless it is whichever.
func (x *place) live(ctx context.Context, name, index string) (*corev1.Pod, error) {
	var found *corev1.Pod
	err := x.history.Await(ctx, func(n history.Now) string {
		job := n.Jobs[name]
		if job == nil {
			return "there is no Job " + name
		}
		for _, pod := range n.PodsOf(job.UID) {
			if ledger.Live(pod) && pod.Status.Phase == corev1.PodRunning &&
				(index == whichever || pod.Annotations[batchv1.JobCompletionIndexAnnotation] == index) {
				found = pod
				return ""
			}
		}
		if ledger.Finished(job) {
			return ""
		}
		return "no pod of " + name + " runs"
	})
	if err == nil && found == nil {
		err = errTooLate
	}
	return found, err
}

// judge waits for the end, and checks it.
func (x *place) judge(ctx context.Context) {
	x.t.Helper()
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	x.users.Wait()
	ctx, done := x.ours.While(ctx)
	defer done()
	if err := x.history.Await(ctx, x.missing); err != nil {
		x.t.Errorf("%s: %v", x.what, err)
	}
	book := ledger.Read(ledger.Config{Builtin: true}, x.history.Changes())
	for _, a := range book.Accounts() {
		x.mu.Lock()
		p := x.parts[a.UID]
		x.mu.Unlock()
		if !a.Gone {
			a.Settle()
		}
		if wrong := p.differs(a); wrong != "" {
			x.t.Errorf("%s: job %s: %s", x.what, a.Job.Name, wrong)
		}
	}
	if found := book.Violations(); len(found) > 0 {
		x.t.Errorf("%s: %s", x.what, ledger.Explain(found, x.history))
	}
	if refused, err := shared.Forbidden(x.namespace); err != nil || len(refused) > 0 {
		x.t.Errorf("%s: jobledger asked for what a Job controller may not do: %v %v", x.what, refused, err)
	}
	output, err := x.ours.Output()
	if err != nil || strings.Contains(output, "forbidden") || strings.Contains(output, "panic:") {
		x.t.Errorf("%s: jobledger said what it should not: %v", x.what, err)
	}
}

// missing returns what must still happen.
func (x *place) missing(n history.Now) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var left []string
	for uid, p := range x.parts {
		job := n.Jobs[x.names[uid]]
		switch {
		case job == nil || !p.want.gone && !ledger.Finished(job):
			left = append(left, "job "+x.names[uid]+" has not ended")
		case p.want.gone && len(n.PodsOf(uid)) > 0:
			left = append(left, "pods of job "+x.names[uid]+" are left")
		}
	}
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			left = append(left, "pod "+pod.Name+" keeps its finalizer")
		}
	}
	return strings.Join(left, "; ")
}

// differs returns how the end of a Job differs from the expected one.
func (p *part) differs(a *ledger.Account) string {
	if p.want.gone != a.Gone {
		return fmt.Sprintf("gone %t, want %t", a.Gone, p.want.gone)
	}
	if a.Gone {
		return ""
	}
	s := &a.Job.Status
	got := end{succeeded: s.Succeeded, failed: s.Failed, completed: s.CompletedIndexes}
	for _, c := range s.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			got.condition, got.reason = c.Type, c.Reason
		}
	}
	want := p.want
	if want.succeeded == asTheHistoryHasIt {
		want.succeeded = int32(len(a.Succeeded()))
	}
	if want.failed == asTheHistoryHasIt {
		want.failed = got.failed // Settle checks its bounds
	}
	if want.reason == batchv1.JobReasonPodFailurePolicy || want.reason == batchv1.JobReasonDeadlineExceeded {
		want.succeeded, want.completed = got.succeeded, got.completed
	}
	if got != want {
		return fmt.Sprintf("it ended as %+v, want %+v: %+v", got, want, *s)
	}
	return ""
}
