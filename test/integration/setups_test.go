package integration

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// teamA is the namespace of the Jobs.
const teamA = "team-a"

// setups is a cluster in which the rows set up two controllers wrongly.
type setups struct {
	*world
	installed map[string][]unstructured.Unstructured // the installed objects, by name
	row       string
	started   int
}

// setup is one of two controllers: its user, its arguments and its log.
type setup struct {
	from string   // an installation: its ServiceAccount and its arguments; empty: a kubeconfig of an administrator
	user string   // the kubeconfig of a user with these rights, in place of the administrator's: a key of limited
	args []string // more arguments
	log  string   // an existing directory, by its name in the test's directory; empty: a new one
}

// wrong is a set-up of two controllers for the same Jobs.
type wrong struct {
	sentence      string
	before        func(*setups) // what happened earlier
	first, second setup
	flood         bool // of Jobs, see flood
	says          string
	takes         bool // the second takes over, and the first exits
	waits         bool // the second does not exit, and is not ready
	between       func(*setups)
}

var admin = setup{}

// wrongs: with none of these set-ups two controllers work on the same Job.
var wrongs = []wrong{
	{
		sentence: "the chart in two namespaces", first: setup{from: "alpha"}, second: setup{from: "beta"}, flood: true,
		says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "the overlay of one namespace beside the chart", first: setup{from: "alpha"},
		second: setup{from: "single"}, flood: true, says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "a kubeconfig from outside, with an empty log", first: setup{from: "alpha"}, second: admin, flood: true,
		says: "there is no log in",
	},
	{
		sentence: "the manifests beside the chart", first: setup{from: "alpha"}, second: setup{from: "base"},
		says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "the chart beside the manifests", first: setup{from: "base"}, second: setup{from: "alpha"},
		says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "the chart with its Lease in kube-system beside the chart", first: setup{from: "alpha"},
		second: setup{from: "system"}, says: "it runs Jobs in all namespaces",
	},
	{
		sentence: "the chart beside the chart with its Lease in kube-system", first: setup{from: "system"},
		second: setup{from: "alpha"}, says: "it runs Jobs in all namespaces",
	},
	{
		sentence: "a kubeconfig from outside beside a Lease in kube-system", first: setup{from: "system"},
		second: admin, says: "it runs Jobs in all namespaces",
	},
	{
		sentence: "a kubeconfig from outside, for one namespace", first: setup{from: "alpha"},
		second: setup{args: []string{"--namespace=" + teamA}}, says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "a log that ran elsewhere", before: ranElsewhere, first: setup{from: "system"},
		second: setup{log: "elsewhere"}, says: "the Lease kube-system/jobledger is held by",
	},
	{
		sentence: "a log that ran here before, with its Lease in kube-system",
		before:   ranHere("--leader-elect-resource-namespace=kube-system"),
		first:    setup{from: "alpha", args: []string{"--adopt"}},
		second:   setup{log: "before", args: []string{"--leader-elect-resource-namespace=kube-system"}},
		says:     "it runs Jobs in all namespaces",
	},
	{
		sentence: "a copy of the log, with the Lease in kube-system", before: ranOn, first: setup{log: "newer"},
		second: setup{log: "older", args: []string{"--leader-elect-resource-namespace=kube-system"}},
		says:   "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "the chart of all namespaces beside the overlay of one", first: setup{from: "single"},
		second: setup{from: "alpha"}, says: "no Lease says that the log in",
	},
	{
		sentence: "one namespace, twice", first: setup{from: "single"},
		second: setup{args: []string{"--namespace=" + teamA}}, says: "there is no log in",
	},
	{
		sentence: "one namespace, with the Lease there and in jobledger", first: setup{from: "single"},
		says:   "no Lease says that the log in",
		second: setup{args: []string{"--namespace=" + teamA, "--leader-elect-resource-namespace=jobledger"}},
	},
	{
		sentence: "--adopt, with the Lease in the operator's other namespace", first: setup{from: "alpha"},
		says:   "it runs Jobs in all namespaces",
		second: setup{args: []string{"--adopt", "--leader-elect-resource-namespace=kube-system"}},
	},
	{
		sentence: "--adopt, with the same Lease", first: setup{from: "alpha"},
		second: setup{args: []string{"--adopt"}}, says: "another controller holds the Lease: waiting", waits: true,
	},
	{
		sentence: "--adopt, for all beside one namespace", first: setup{from: "single"},
		second: setup{args: []string{"--adopt"}}, says: "msg=leading", takes: true,
	},
	{
		sentence: "no right to read the Lease of all namespaces", first: setup{from: "alpha"},
		second: setup{user: "blind", args: []string{"--namespace=" + teamA}}, says: "may not be read",
	},
	{
		sentence: "no right to list the Leases of single namespaces", first: setup{from: "single"},
		second: setup{user: "unlisting"}, says: "msg=leading", takes: true,
	},
	{
		sentence: "without a Lease, beside the chart", first: setup{from: "alpha"}, second: setup{args: []string{"--leader-elect=false"}},
		says: "the Lease jobledger/jobledger is held by",
	},
	{
		sentence: "without a Lease, beside one namespace", first: setup{from: "single"},
		second: setup{args: []string{"--namespace=" + teamA, "--leader-elect=false"}}, says: "the Lease team-a/jobledger is held by",
	},
	{
		sentence: "a Lease in a namespace of its own", first: setup{from: "alpha"},
		second: setup{args: []string{"--leader-elect-resource-namespace=ops"}},
		says:   "no controller looks for it elsewhere",
	},
	{
		sentence: "a Lease for longer than others wait", first: setup{from: "alpha"},
		second: setup{args: []string{"--leader-elect-resource-namespace=kube-system", "--leader-elect-lease-duration=1h"}},
		says:   "no controller waits longer for it",
	},
	{
		sentence: "the holder's clock is a year ahead of the other's", first: setup{from: "alpha"},
		says: "it runs Jobs in all namespaces", between: func(s *setups) { s.clock("jobledger", 365*24*time.Hour) },
		second: setup{args: []string{"--leader-elect-resource-namespace=kube-system"}},
	},
	{
		sentence: "the holder's clock is a year behind", first: setup{from: "system"},
		says: "it runs Jobs in all namespaces", between: func(s *setups) { s.clock("kube-system", -365*24*time.Hour) },
		second: admin,
	},
}

// TestTwoControllersSetUpWrongly: of two controllers for the same Jobs one works. The other says why it does not, and
// is not ready. No Job has more pods than it asks for, or counts that differ from its pods. Without JOBLEDGER_LONG,
// every second row is played.
func TestTwoControllersSetUpWrongly(t *testing.T) {
	effort.Whole(t)
	cp := controlplane.ForTest(t, controlplane.Options{})
	s := newSetups(t, cp)
	for i, row := range wrongs {
		if i%2 != 0 && !long {
			continue
		}
		t.Run(row.sentence, func(t *testing.T) {
			s.world.t, s.row, s.started = t, strings.ReplaceAll(t.Name(), "/", "-"), 0
			s.try(&row)
		})
	}
	t.Run("an older copy, when nobody runs, with the Lease in kube-system", func(t *testing.T) {
		s.world.t, s.row, s.started = t, "older", 0
		s.clear()
		ranOn(s)
		s.run1("newer")
		older := s.controller(setup{log: "older", args: []string{"--leader-elect-resource-namespace=kube-system"}})
		t.Cleanup(func() { _ = older.Kill(); s.clear() })
		if err := older.Launch(); err != nil {
			t.Fatal(err)
		}
		s.endsItself(older, "it is an older copy", "the Lease jobledger/jobledger says")
	})
}

func newSetups(t *testing.T, cp *controlplane.ControlPlane) *setups {
	t.Helper()
	w := newWorldOn(t, cp)
	w.rough, w.namespace = true, teamA
	s := &setups{world: w, installed: map[string][]unstructured.Unstructured{}}
	if _, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: teamA}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	base, err := deployed.Base()
	if err != nil {
		t.Fatal(err)
	}
	s.install("base", base)
	for name, values := range map[string]string{
		"alpha": "", "beta": "lease: {createNamespace: false}\n", "system": "lease: {namespace: kube-system}\n",
		"single": "watchNamespace: " + teamA + "\nwatchCluster: false\n",
	} {
		objects, err := deployed.Chart(t.Context(), name, values)
		if err != nil {
			t.Fatal(err)
		}
		s.install(name, objects)
	}
	s.limit("blind", nil)
	s.limit("unlisting", []string{"get"})
	return s
}

func (s *setups) install(name string, objects []unstructured.Unstructured) {
	s.t.Helper()
	s.make(objects)
	s.installed[name] = objects
}

// limit creates a user with all rights of a controller, but with only these verbs on Leases outside of its own
// namespace.
func (s *setups) limit(user string, verbs []string) {
	s.t.Helper()
	role, err := controller.ClusterRole()
	if err != nil {
		s.t.Fatal(err)
	}
	role.Name = user
	for i := range role.Rules {
		if rule := &role.Rules[i]; rule.APIGroups[0] == "coordination.k8s.io" {
			rule.Verbs = verbs
			if verbs == nil {
				rule.Verbs = []string{"watch"} // no request needs it
			}
		}
	}
	if _, err := s.client.RbacV1().ClusterRoles().Create(s.t.Context(), role, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cp.Bind(s.t.Context(), user, user); err != nil {
		s.t.Fatal(err)
	}
	for _, namespace := range []string{"jobledger", teamA} {
		for _, o := range s.installed["base"] {
			kind := o.GetKind()
			if (kind != "Role" && kind != "RoleBinding") || !strings.HasSuffix(o.GetName(), "leader-election") {
				continue
			}
			o := o.DeepCopy()
			o.SetName(user)
			o.SetNamespace(namespace)
			if kind == "RoleBinding" {
				_ = unstructured.SetNestedField(o.Object, user, "roleRef", "name")
				_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}}, "subjects")
			}
			s.make([]unstructured.Unstructured{*o})
		}
	}
}

// controller returns a controller that does not run yet.
func (s *setups) controller(of setup) *controller.Controller {
	s.t.Helper()
	s.started++
	dir := filepath.Join(s.dir, s.row, fmt.Sprint(s.started))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	kubeconfig, args := s.cp.Kubeconfig(), []string{"--metrics-bind-address=127.0.0.1:0"}
	if of.from != "" {
		kubeconfig = filepath.Join(dir, "kubeconfig")
		config, more := s.account(of.from)
		if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
			s.t.Fatal(err)
		}
		args = more
	}
	if of.user != "" {
		kubeconfig = filepath.Join(dir, "kubeconfig")
		config, err := s.cp.UserConfig(of.user)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
			s.t.Fatal(err)
		}
	}
	log := ""
	if of.log != "" {
		log = filepath.Join(s.dir, s.row, of.log)
	}
	return controller.New(controller.Config{Program: shared.Program, Kubeconfig: kubeconfig, Dir: dir, Log: log, Args: append(args, of.args...)})
}

// flood is the number of Jobs in rows in which two controllers once worked on the same Jobs: they got 13 of 56 wrong.
func flood() int {
	if long {
		return 56
	}
	return 24
}

// try sets up the two controllers, and checks the Jobs.
func (s *setups) try(row *wrong) {
	t := s.t
	s.clear()
	if row.before != nil {
		row.before(s)
	}
	first, second := s.controller(row.first), s.controller(row.second)
	t.Cleanup(func() { _ = first.Kill(); _ = second.Kill(); s.clear() })
	s.start(first)
	n := 6
	if row.flood {
		n = flood()
	}
	for i := range n / 2 {
		s.create(newJob(fmt.Sprintf("job-%02d", i), completions(2), parallelism(2)))
	}
	if row.between != nil {
		row.between(s)
	}
	ready := s.watchReady(second, !row.takes)
	for i := n / 2; i < n; i++ {
		s.create(newJob(fmt.Sprintf("job-%02d", i), completions(2), parallelism(2)))
	}
	switch {
	case row.takes:
		s.says(second, row.says)
		s.eventually("the first ends", func() (bool, error) { return !first.Running(), nil })
	case row.waits:
		s.says(second, row.says)
	default:
		s.eventually("the second ends", func() (bool, error) { return !second.Running(), nil })
		if err := second.Failed(); err == nil || err.Error() != "exit status 1" && err.Error() != "exit status 2" {
			t.Errorf("the second ended with %v", err)
		}
	}
	text, err := second.Output()
	if err != nil || !strings.Contains(text, row.says) {
		t.Errorf("the second does not say %q, %v, but\n%s", row.says, err, text)
	}
	for i := range n {
		s.right(fmt.Sprintf("job-%02d", i))
	}
	if was := ready(); was != row.takes {
		t.Errorf("the second was ready: %t", was)
	}
	if first.Running() == row.takes {
		text, _ := first.NewestOutput()
		t.Errorf("the first runs: %t\n%s", !row.takes, text)
	}
}

// watchReady starts a controller and checks whether it is ever ready, until the test has seen what it does. With all
// set, it keeps checking: such a controller must not work.
func (s *setups) watchReady(c *controller.Controller, all bool) (was func() bool) {
	s.t.Helper()
	if err := c.Launch(); err != nil {
		s.t.Fatal(err)
	}
	if !all {
		return func() bool {
			ctx, cancel := patience.Context(s.t.Context())
			defer cancel()
			return c.Ready(ctx) == nil
		}
	}
	ended, stop, ready := make(chan struct{}), make(chan struct{}), false
	go func() { // ends when it is stopped
		defer close(ended)
		for {
			text, _ := c.Output()
			if m := metricsSaid.FindStringSubmatch(text); m != nil {
				if answer, err := http.Get(m[1] + "/readyz"); err == nil { //nolint:noctx // on loopback
					_ = answer.Body.Close()
					ready = ready || answer.StatusCode == http.StatusOK
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() bool { close(stop); <-ended; return ready }
}

// right waits until a Job of two pods is complete, and compares it with its pods.
func (s *setups) right(name string) {
	s.t.Helper()
	s.finishes(name)
	j, pods := s.job(name), s.pods(name)
	succeeded := 0
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
	}
	if len(pods) != 2 || succeeded != 2 || j.Status.Succeeded != 2 || j.Status.Failed != 0 || j.Status.Active != 0 {
		s.t.Errorf("%s: %d pods, %d succeeded; status %+v", name, len(pods), succeeded, j.Status)
	}
}

// clear deletes Leases and Jobs, as if no controller had run here.
func (s *setups) clear() {
	s.t.Helper()
	ctx := context.Background() // also when the test has ended
	for _, namespace := range []string{"jobledger", "kube-system", teamA} {
		if err := controller.DropLease(ctx, s.client, namespace); err != nil {
			s.t.Error(err)
		}
	}
	background := metav1.DeletePropagationBackground
	if err := s.client.BatchV1().Jobs(teamA).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{}); err != nil {
		s.t.Error(err)
	}
	pods, err := s.client.CoreV1().Pods(teamA).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Error(err)
		return
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if len(p.Finalizers) > 0 { // of a killed controller
			p.Finalizers = nil
			if _, err := s.client.CoreV1().Pods(teamA).Update(ctx, p, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				s.t.Error(err)
			}
		}
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	if err := s.client.CoreV1().Pods(teamA).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		s.t.Error(err)
	}
}

// ranElsewhere makes a log that has run Jobs and that no Lease names.
func ranElsewhere(s *setups) {
	s.run1("elsewhere")
	s.clear()
}

// ranHere makes a log that has run Jobs here, with a Lease by these arguments that was released.
func ranHere(args ...string) func(*setups) {
	return func(s *setups) { s.run1("before", args...) }
}

// ranOn makes a log, and an older copy of it.
func ranOn(s *setups) {
	s.run1("newer")
	from, to := filepath.Join(s.dir, s.row, "newer"), filepath.Join(s.dir, s.row, "older")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(to, "KEY"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run1 runs a Job with a log, and stops.
func (s *setups) run1(log string, args ...string) {
	s.t.Helper()
	c := s.controller(setup{log: log, args: args})
	s.start(c)
	s.create(newJob("before"))
	s.finishes("before")
	s.stop(c)
	background := metav1.DeletePropagationBackground
	if err := s.client.BatchV1().Jobs(teamA).Delete(s.t.Context(), "before", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		s.t.Fatal(err)
	}
}

// account returns the ServiceAccount of an installation, and the arguments of its controller.
func (s *setups) account(name string) (config *rest.Config, args []string) {
	s.t.Helper()
	for i := range s.installed[name] {
		if s.installed[name][i].GetKind() != "StatefulSet" {
			continue
		}
		set := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.installed[name][i].Object, set); err != nil {
			s.t.Fatal(err)
		}
		config, err := s.cp.ServiceAccountConfig(s.t.Context(), set.Namespace, set.Spec.Template.Spec.ServiceAccountName)
		if err != nil {
			s.t.Fatal(err)
		}
		s.alone = true
		return config, s.arguments(set)
	}
	s.t.Fatalf("%s has no StatefulSet", name)
	return nil, nil
}

// clock changes the renew time of a Lease once, as by a clock that differs that much from ours. The holder overwrites
// it with the next renewal.
func (s *setups) clock(namespace string, ahead time.Duration) {
	s.t.Helper()
	s.eventually("the Lease is changed", func() (bool, error) {
		l := s.lease(namespace)
		l.Spec.RenewTime = &metav1.MicroTime{Time: l.Spec.RenewTime.Add(ahead)}
		_, err := s.client.CoordinationV1().Leases(namespace).Update(s.t.Context(), l, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	})
}
