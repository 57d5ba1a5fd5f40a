package handover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/deployed"
	"github.com/jobledger/jobledger/test/internal/dump"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// The turns of TestGivenBack.
const (
	theirs      = iota // the built-in controller
	ours               // ours with --manage=all
	oursAgain          // the same, after a kill
	theirsAgain        // the built-in again, after ours has left
	turns
)

// O-008, J-168: running Jobs that are taken over and given back end as with the built-in controller alone.
// O-062, O-063: then nothing of ours is left, except annotations of pods that ran.
// J-089: however often the controllers are killed, no pod is counted twice or never.
//
// TestGivenBack: a cluster full of Jobs goes from the built-in controller to Jobledger, installed from deploy/, and
// back. Every controller is killed in the middle of its work, and Jobledger once more before 'jobledger release'. The
// ends are compared with those of the same Jobs under the built-in alone.
func TestGivenBack(t *testing.T) {
	jobs, seeds := len(cast), []uint64{1}
	if long {
		jobs, seeds = 200, []uint64{1, 2, 3}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { giveBack(t, seed, jobs) })
	}
}

func giveBack(t *testing.T, seed uint64, jobs int) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	random := rand.New(rand.NewPCG(seed, 7))
	builtIn, err := builtin.New(ctx, shared.ControlPlane, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := builtIn.Kill(); err != nil {
			t.Error(err)
		}
	}()
	letGo(t, ctx) // remains of other tests
	handed, alone := newPlayer(t, ctx, jobs, turns), newPlayer(t, ctx, jobs, 1)
	before, err := dump.Settle(ctx, shared.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}

	var installed *installation
	for turn := range turns {
		switch turn {
		case theirs:
			err = builtIn.Launch()
		case ours:
			installed = install(t, ctx)
			err = installed.Launch()
		case oursAgain:
			err = installed.Launch()
		case theirsAgain:
			installed.leave(ctx, handed)
			err = builtIn.Launch()
		}
		if err == nil {
			err = handed.advance(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if turn == theirsAgain {
			break
		}
		share := 0.3 + 0.6*random.Float64()
		if err := handed.await(ctx, share); err != nil {
			t.Fatal(err)
		}
		if turn == oursAgain {
			installed.works(ctx) // else there is nothing to compare
		}
		t.Logf("turn %d: killed with %.0f%% of the steps done and %d Jobs in flight", turn, 100*share, handed.unfinished())
		switch {
		case turn == theirs:
			err = builtIn.Kill()
		case !installed.Running():
			err = errors.New("jobledger ended by itself")
		default:
			err = installed.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := alone.advance(ctx); err != nil { // during the last turn
		t.Fatal(err)
	}
	for what, x := range map[string]*player{"handed over": handed, "alone": alone} {
		if err := x.settled(ctx); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	compareOutcomes(t, outcomes(handed.history), outcomes(alone.history), jobs)
	book := ledger.Read(ledger.Config{Builtin: true}, handed.history.Changes())
	for _, a := range book.Accounts() {
		a.Settle()
	}
	if found := book.Violations(); len(found) > 0 {
		t.Error(ledger.Explain(found, handed.history))
	}
	installed.judge(ctx)
	nothingLeft(t, ctx, before, handed.namespace, alone.namespace)
}

// compareOutcomes reports the Jobs that ended differently than with the built-in alone.
func compareOutcomes(t *testing.T, got, want map[string]string, jobs int) {
	t.Helper()
	if len(got) != jobs || len(want) != jobs {
		t.Errorf("%d and %d Jobs are compared, not %d", len(got), len(want), jobs)
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("job %s ended as\n  %s\nand with the built-in controller alone as\n  %s", name, got[name], text)
		}
	}
}

// nothingLeft reports how the cluster differs from before, apart from the Jobs, their pods, and the objects that
// Kubernetes makes in each namespace.
func nothingLeft(t *testing.T, ctx context.Context, before dump.Dump, namespaces ...string) {
	t.Helper()
	theirs := regexp.MustCompile(`^\+ (jobs\.batch|pods\.) (` + strings.Join(namespaces, "|") + `)/`)
	ctx, cancel := patience.Context(ctx)
	defer cancel()
	var left []string
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		now, err := dump.Of(ctx, shared.RESTConfig())
		if err != nil {
			return false, err
		}
		left = slices.DeleteFunc(now.Since(before), theirs.MatchString)
		return len(left) == 0, nil
	})
	if err != nil {
		t.Errorf("the cluster is not as it was: %v\n%s", err, strings.Join(left, "\n"))
	}
	now, err := dump.Of(ctx, shared.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range now {
		if !theirs.MatchString("+ " + key) {
			continue
		}
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if o.GetKind() == "Pod" {
			o.SetAnnotations(nil) // these may stay
		}
		unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata", "annotations") // set by the test
		if rest, err := o.MarshalJSON(); err != nil || strings.Contains(string(rest), "jobledger") {
			t.Errorf("%s bears something of ours: %v %s", key, err, rest)
		}
	}
}

// installation is Jobledger as installed in the cluster.
type installation struct {
	*controller.Controller
	t       *testing.T
	user    string
	objects []unstructured.Unstructured
	client  func(*unstructured.Unstructured) dynamic.ResourceInterface
}

// install applies the parts of deploy/overlays/all and a policy, and returns the controller, which is to run as its
// ServiceAccount.
func install(t *testing.T, ctx context.Context) *installation {
	t.Helper()
	x := &installation{t: t, client: resources(t)}
	for _, name := range []string{".", "cronjobs", "ttl"} {
		objects, err := deployed.Directory(name)
		if err != nil {
			t.Fatal(err)
		}
		x.objects = append(x.objects, objects...)
	}
	policy, err := deployed.File("policy/mutating.yaml")
	if err != nil {
		t.Fatal(err)
	}
	x.objects = append(x.objects, policy...)
	var account *unstructured.Unstructured
	for i := range x.objects {
		o := &x.objects[i]
		if _, err := x.client(o).Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if o.GetKind() == "ServiceAccount" {
			account = o
		}
	}
	x.user = "system:serviceaccount:" + account.GetNamespace() + ":" + account.GetName()
	config, err := shared.ServiceAccountConfig(ctx, account.GetNamespace(), account.GetName())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-given-back-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	x.Controller = controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Dir: dir, Manage: "all",
		Args: []string{"--leader-elect", "--leader-elect-resource-namespace=" + account.GetNamespace()}, // the defaults in a cluster
	})
	t.Cleanup(func() {
		if err := x.Kill(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log and the output of jobledger are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return x
}

// leave uninstalls Jobledger, as docs/uninstall.md says for --manage=all, while Jobs run. It must not remove the
// built-in controller's tracking finalizers.
func (x *installation) leave(ctx context.Context, jobs *player) {
	x.t.Helper()
	x.objects = slices.DeleteFunc(x.objects, func(o unstructured.Unstructured) bool { // first the policies: they make Jobs
		if !strings.HasPrefix(o.GetKind(), "MutatingAdmissionPolicy") {
			return false
		}
		if err := x.client(&o).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil {
			x.t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		return true
	})
	if said := letGo(x.t, ctx); !strings.Contains(said, ", 1 Lease") {
		x.t.Fatal("release has not deleted the Lease")
	}
	for i := range slices.Backward(x.objects) {
		o := &x.objects[i]
		if err := x.client(o).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil {
			x.t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	if err := jobs.history.CatchUp(ctx); err != nil {
		x.t.Fatal(err)
	}
	tracked := 0
	for _, pod := range jobs.history.Now().Pods {
		if slices.Contains(pod.Finalizers, events.TrackingFinalizer) {
			x.t.Errorf("pod %s has our finalizer after the release", pod.Name)
		}
		if slices.Contains(pod.Finalizers, events.BuiltinTrackingFinalizer) {
			tracked++
		}
	}
	if tracked == 0 {
		x.t.Error("no pod is left that the built-in controller is to count")
	}
}

// letGo removes everything of Jobledger from the whole cluster, and returns the command's output.
func letGo(t *testing.T, ctx context.Context) string {
	t.Helper()
	out, err := exec.CommandContext(ctx, shared.Program, "release", "--let-go", "--kubeconfig", shared.Kubeconfig()).CombinedOutput()
	t.Logf("jobledger release --let-go\n%s", out)
	if err != nil {
		t.Fatalf("release: %v", err)
	}
	return string(out)
}

// works waits until Jobledger has created a pod and written the status of a Job. Its turns may be short.
func (x *installation) works(ctx context.Context) {
	x.t.Helper()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		made, err := x.writes()
		return x.worked(made), err
	})
	if err != nil {
		x.t.Fatalf("ours does nothing: %v", err)
	}
}

// writes returns Jobledger's successful writes.
func (x *installation) writes() (map[controlplane.WriteKind]int, error) {
	return shared.CountWrites(func(w controlplane.Write) bool { return w.User == x.user && w.Code < 300 })
}

// worked reports whether these writes include work on Jobs.
func (x *installation) worked(made map[controlplane.WriteKind]int) bool {
	return made[controlplane.WriteKind{User: x.user, Verb: "update", Resource: "jobs/status"}] > 0 &&
		made[controlplane.WriteKind{User: x.user, Verb: "create", Resource: "pods"}] > 0
}

// judge checks that Jobledger did a part, within its rights, and that its log is sound.
func (x *installation) judge(ctx context.Context) {
	x.t.Helper()
	made, err := x.writes()
	if err != nil {
		x.t.Fatal(err)
	}
	if !x.worked(made) {
		x.t.Errorf("ours did nothing: %v", made)
	}
	if refused, err := shared.Forbidden(x.user); err != nil || len(refused) > 0 {
		x.t.Errorf("ours asked for what it may not do: %v %v", refused, err)
	}
	if err := x.Check(ctx); err != nil {
		x.t.Error(err)
	}
}

// resources returns a function that gives the client for an object's resource in its namespace.
func resources(t *testing.T) func(*unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(shared.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	finder, err := discovery.NewDiscoveryClientForConfig(shared.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))
	return func(o *unstructured.Unstructured) dynamic.ResourceInterface {
		t.Helper()
		mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			t.Fatal(err)
		}
		return client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
}
