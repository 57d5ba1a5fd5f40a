package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/events"
)

var now = time.Date(2026, 11, 23, 3, 12, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// examined is what a check finds in a cluster of these objects.
func examined(t *testing.T, name string, mode events.Mode, change func(*Config, *fake.Clientset), objects ...runtime.Object) []Finding {
	t.Helper()
	client := fake.NewClientset(objects...)
	serves(client, "v1.37.2", "mutatingadmissionpolicies")
	c := &Config{
		Client: client, Settings: events.Settings{Mode: mode}, Lease: Lease{On: true, Namespace: "jobledger"},
		Clock: func() (time.Time, bool) { return now, true }, Now: func() time.Time { return now },
	}
	if change != nil {
		change(c, client)
	}
	for _, check := range checks {
		if check.name == name {
			return check.look(t.Context(), c)
		}
	}
	t.Fatalf("there is no check %s", name)
	return nil
}

// serves makes a server of that version, whose admissionregistration.k8s.io/v1 has these resources.
func serves(client *fake.Clientset, git string, policies ...string) {
	discovery := client.Discovery().(*fakediscovery.FakeDiscovery)
	discovery.FakedServerVersion = &version.Info{GitVersion: git}
	admission := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
	for _, name := range policies {
		admission.APIResources = append(admission.APIResources, metav1.APIResource{Name: name})
	}
	discovery.Resources = []*metav1.APIResourceList{admission}
}

func job(name string, change func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name, CreationTimestamp: ago(time.Hour)}}
	change(j)
	return j
}

func pod(name, finalizer string, deleted time.Duration, phase corev1.PodPhase) *corev1.Pod {
	at := ago(deleted)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name, Finalizers: []string{finalizer}, DeletionTimestamp: &at},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func webhook(operation admissionv1.OperationType, resource string, policy admissionv1.FailurePolicyType) *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "sidecars"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "inject.example.com", FailurePolicy: &policy,
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "mesh", Name: "injector"}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{operation}, Rule: admissionv1.Rule{APIGroups: []string{""}, Resources: []string{resource}},
			}},
		}},
	}
}

func TestFindings(t *testing.T) {
	begun := func(j *batchv1.Job) { at := ago(time.Minute); j.Status.StartTime = &at }
	ours := func(j *batchv1.Job) { by := events.ManagedBy; j.Spec.ManagedBy = &by }
	builtinWrote := func(j *batchv1.Job) {
		begun(j)
		at := ago(20 * time.Second)
		j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "status", Time: &at}}
	}
	forged := func(j *batchv1.Job) {
		builtinWrote(j)
		j.Status = batchv1.JobStatus{}
		j.CreationTimestamp = ago(time.Second)
		at := metav1.NewTime(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC))
		j.ManagedFields[0].Time = &at
	}
	holder, seconds := "node-1_1", int32(15)
	held := func(renewed time.Duration) *coordinationv1.Lease {
		at := metav1.NewMicroTime(now.Add(-renewed))
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "jobledger", Name: "jobledger"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseDurationSeconds: &seconds},
		}
	}
	decades := func(l *coordinationv1.Lease) *coordinationv1.Lease {
		l.Spec.LeaseDurationSeconds = new(int32(1<<31 - 1))
		return l
	}
	heldIn := func(namespace, scope string) *coordinationv1.Lease {
		l := held(time.Second)
		l.Namespace, l.Annotations = namespace, map[string]string{"jobledger.dev/namespace": scope, "jobledger.dev/log-id": "0a1b"}
		return l
	}
	leads := func(namespace string) func(*Config, *fake.Clientset) {
		return func(c *Config, _ *fake.Clientset) { c.Settings.Namespace, c.Lease.Namespace = namespace, namespace }
	}
	ready := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mesh", Name: "injector-1", Labels: map[string]string{"kubernetes.io/service-name": "injector"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
	clockIs := func(there time.Time, ok bool) func(*Config, *fake.Clientset) {
		return func(c *Config, _ *fake.Clientset) { c.Clock = func() (time.Time, bool) { return there, ok } }
	}
	in := func(namespace string) func(*Config, *fake.Clientset) {
		return func(c *Config, _ *fake.Clientset) { c.Settings.Namespace = namespace }
	}
	as := func(account string) func(*Config, *fake.Clientset) {
		return func(c *Config, client *fake.Clientset) {
			c.Account = account
			client.PrependReactor("create", "subjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &authorizationv1.SubjectAccessReview{}, nil // it may not
			})
		}
	}
	forbidden := func(_ *Config, c *fake.Clientset) {
		c.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: a.GetResource().Resource}, "", errors.New("no rule"))
		})
	}
	for _, row := range []struct {
		sentence, check string
		mode            events.Mode
		change          func(*Config, *fake.Clientset)
		objects         []runtime.Object
		want            string // "level: part of the text", of the worst finding
	}{
		{"clocks that agree", "clock", events.ModeAll, nil, nil, "ok: agrees"},
		{"a clock that is behind", "clock", events.ModeAll, clockIs(now.Add(45*time.Second), true), nil, "problem: 45s behind"},
		{"a clock that is a little ahead", "clock", events.ModeAll, clockIs(now.Add(-5*time.Second), true), nil, "warning: 5s ahead of"},
		{"a server that tells no time", "clock", events.ModeAll, clockIs(now, false), nil, "unknown: no Date"},

		{"Jobs of both", "jobs", events.ModeDelegated, nil, []runtime.Object{
			job("a", func(j *batchv1.Job) { ours(j); begun(j) }), job("b", begun),
		}, "ok: 1 Job of ours, 1 Job for the built-in controller, 0 Jobs for others"},
		{"none of ours", "jobs", events.ModeDelegated, nil, []runtime.Object{job("b", begun)}, "note: no Job is for us yet"},
		{"the built-in controller beside --manage=all", "jobs", events.ModeAll, nil, []runtime.Object{job("b", builtinWrote)}, "problem: it wrote a status 1m0s ago"},
		{"a tenant's Job says so, in the year 2099", "jobs", events.ModeAll, nil, []runtime.Object{job("b", forged)}, "ok: 1 Job for the built-in controller"},
		{"a Job says so that a controller of ours began lately", "jobs", events.ModeAll, nil, []runtime.Object{job("b", builtinWrote), held(30 * time.Second)}, "ok: 1 Job for the built-in controller"},
		{"a Job says so while ours runs, which looks itself", "jobs", events.ModeAll, nil, []runtime.Object{job("b", builtinWrote), held(time.Second)}, "ok: 1 Job for the built-in controller"},
		{"a Job says so that was begun after ours stopped", "jobs", events.ModeAll, nil, []runtime.Object{job("b", builtinWrote), held(time.Hour)}, "problem: it wrote a status 1m0s ago"},
		{"one of ours that nothing begins", "jobs", events.ModeDelegated, nil, []runtime.Object{job("a", ours)}, "warning: 1 Job has waited for jobledger.dev/job-controller"},
		{"one whose controller does not exist", "jobs", events.ModeDelegated, nil, []runtime.Object{
			job("a", func(j *batchv1.Job) { by := "example.com/gone"; j.Spec.ManagedBy = &by }),
		}, "warning: example.com/gone"},
		{"no right to list Jobs", "jobs", events.ModeDelegated, forbidden, nil, "unknown: Jobs cannot be listed"},
		{"a namespace that does not exist", "jobs", events.ModeDelegated, in("nope"), nil, "problem: there is no namespace nope"},
		{"a namespace without Jobs", "jobs", events.ModeDelegated, in("nope"), []runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "nope"}}}, "note: no Job is for us"},

		{"an account that does not exist", "rights", events.ModeDelegated, as("jobledger/jobledgre"), nil, "problem: there is no ServiceAccount jobledger/jobledgre"},
		{"an account that lacks rights", "rights", events.ModeDelegated, as("jobledger/jobledger"), []runtime.Object{
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "jobledger", Name: "jobledger"}},
		}, "problem: the ServiceAccount jobledger/jobledger may not "},

		{"no webhook", "webhooks", events.ModeDelegated, nil, nil, "ok: 0 webhooks"},
		{"a webhook that answers", "webhooks", events.ModeDelegated, nil, []runtime.Object{webhook(admissionv1.Create, "pods", admissionv1.Fail), ready}, "ok: 1 webhook is"},
		{"a webhook that is gone", "webhooks", events.ModeDelegated, nil, []runtime.Object{webhook(admissionv1.Create, "pods", admissionv1.Fail)}, "problem: creates of pods fail"},
		{"one that is gone and may be", "webhooks", events.ModeDelegated, nil, []runtime.Object{webhook(admissionv1.Create, "pods", admissionv1.Ignore)}, "ok: 1 webhook is"},
		{"one that is gone and about something else", "webhooks", events.ModeDelegated, nil, []runtime.Object{webhook(admissionv1.Create, "pods/exec", admissionv1.Fail)}, "ok: 0 webhooks"},
		{"one of all that is gone", "webhooks", events.ModeDelegated, nil, []runtime.Object{webhook(admissionv1.OperationAll, "*/*", admissionv1.Fail)},
			"problem: creates of pods, removals of finalizers and deletions of pods fail"},

		{"a pod that goes", "finalizers", events.ModeDelegated, nil, []runtime.Object{pod("a", events.TrackingFinalizer, time.Minute, corev1.PodSucceeded)}, "ok: no pod is held back"},
		{"a pod that runs on", "finalizers", events.ModeDelegated, nil, []runtime.Object{pod("a", events.TrackingFinalizer, time.Hour, corev1.PodRunning)}, "ok: no pod is held back"},
		{"a pod of ours that cannot go", "finalizers", events.ModeDelegated, nil, []runtime.Object{pod("a", events.TrackingFinalizer, time.Hour, corev1.PodSucceeded)}, "problem: batch/a"},
		{"a pod of the built-in that cannot go", "finalizers", events.ModeDelegated, nil, []runtime.Object{pod("a", batchv1.JobTrackingFinalizer, time.Hour, corev1.PodFailed)},
			"problem: batch.kubernetes.io/job-tracking"},

		{"a Lease that is free", "lease", events.ModeDelegated, nil, nil, "ok: no controller has run yet"},
		{"a Lease that is held", "lease", events.ModeDelegated, nil, []runtime.Object{held(3 * time.Second)}, "ok: held by node-1_1"},
		{"a Lease whose holder is dead", "lease", events.ModeDelegated, nil, []runtime.Object{held(time.Hour)}, "warning: last renewed 1h0m0s ago"},
		{"a Lease whose holder says that it lives for decades", "lease", events.ModeDelegated, nil, []runtime.Object{decades(held(time.Hour))}, "warning: last renewed 1h0m0s ago"},
		{"a Lease that was renewed in the future", "lease", events.ModeDelegated, nil, []runtime.Object{held(-time.Hour)}, "warning: at a time that is to come"},
		{"a controller of all, in the other namespace of the operator", "lease", events.ModeDelegated, nil, []runtime.Object{heldIn("kube-system", "*")}, "problem: it would refuse to start"},
		{"a controller of all, beside one of a namespace", "lease", events.ModeDelegated, leads("batch"), []runtime.Object{heldIn("kube-system", "*")}, "problem: the Lease kube-system/jobledger is held by node-1_1"},
		{"a controller of another namespace", "lease", events.ModeDelegated, leads("batch"), []runtime.Object{heldIn("jobledger", "web")}, "ok: the Lease batch/jobledger is free"},
		{"a tenant's Lease for all", "lease", events.ModeDelegated, nil, []runtime.Object{heldIn("web", "*")}, "ok: no controller has run yet"},
		{"no Lease wanted", "lease", events.ModeDelegated, func(c *Config, _ *fake.Clientset) { c.Lease.On = false }, nil, "warning: nothing keeps two controllers"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			worst := Finding{Level: OK}
			for i, f := range examined(t, row.check, row.mode, row.change, row.objects...) {
				if i == 0 || worse(f.Level, worst.Level) {
					worst = f
				}
			}
			level, text, _ := strings.Cut(row.want, ": ")
			if string(worst.Level) != level || !strings.Contains(worst.Text, text) {
				t.Errorf("got %s: %s\nwant %s", worst.Level, worst.Text, row.want)
			}
			if (worst.Level == Problem || worst.Level == Warning) && worst.Do == "" {
				t.Error("it does not say what to do")
			}
		})
	}
}

// TestAMissingAccountIsOneFinding: before anything is installed the account has no right at all, and the reason is said
// once.
func TestAMissingAccountIsOneFinding(t *testing.T) {
	found := examined(t, "rights", events.ModeAll, func(c *Config, client *fake.Clientset) {
		c.Account, c.WatchCluster, c.Lease.On, c.Settings.CronJobs = "jobledger/jobledger", true, true, true
		client.PrependReactor("create", "subjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &authorizationv1.SubjectAccessReview{}, nil // it may not
		})
	})
	if len(found) != 1 || found[0].Level != Problem || !strings.Contains(found[0].Do, "install it first") {
		t.Errorf("%d findings: %+v", len(found), found)
	}
}

// TestAServerThatCannotBeAsked: it is a problem, it is asked once, and the disk is looked at all the same. One that
// only keeps its version to itself is asked all else.
func TestAServerThatCannotBeAsked(t *testing.T) {
	for _, row := range []struct {
		sentence string
		err      error
		level    Level
		text, do string
		next     string // the check that is told next
	}{
		{"a dead server", errors.New("connection refused"), Problem, "the API server does not answer: connection refused", "--kubeconfig", "disk"},
		{"a token that has expired", apierrors.NewUnauthorized("Unauthorized"), Problem, "does not accept the credentials", "renew the token", "disk"},
		{
			"no right to ask for the version", apierrors.NewForbidden(schema.GroupResource{Resource: "version"}, "", nil), Unknown,
			"the API server does not tell its version: ", "", "features",
		},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, row.err })
			c := &Config{
				Client: client, Log: Log{Dir: t.TempDir()}, Now: time.Now,
				Clock: func() (time.Time, bool) { return time.Time{}, false },
			}
			var told []Finding
			worst := Run(t.Context(), c, func(f Finding) { told = append(told, f) })
			if len(told) < 2 || told[0].Check != "server" || told[1].Check != row.next {
				t.Fatalf("told %+v", told)
			}
			if f := told[0]; f.Level != row.level || !strings.Contains(f.Text, row.text) || !strings.Contains(f.Do, row.do) {
				t.Errorf("told %+v", f)
			}
			if row.level == Problem && worst != Problem {
				t.Errorf("worst is %s", worst)
			}
		})
	}
}

func TestDisks(t *testing.T) {
	dir := t.TempDir()
	look := func(l Log) string {
		var all []string
		for _, f := range disk(t.Context(), &Config{Log: l}) {
			all = append(all, string(f.Level)+": "+f.Text)
		}
		return strings.Join(all, "\n")
	}
	for _, row := range []struct {
		sentence string
		log      Log
		want     string
	}{
		{"a directory that is to be made", Log{Dir: dir + "/to/come"}, "a durable write (fdatasync) takes"},
		{"no bound", Log{Dir: dir}, "note: without --log-max-size the log grows without a bound"},
		{"a bound that is too high", Log{Dir: dir, Max: 1 << 60}, "warning: the log may grow to 1048576.0 TiB"},
		{"a file", Log{Dir: "doctor.go"}, "problem: "},
		{"shared memory", Log{Dir: "/dev/shm"}, "problem: /dev/shm is on tmpfs"},
		{"none", Log{}, "unknown: no log was named"},
	} {
		if got := look(row.log); !strings.Contains(got, row.want) {
			t.Errorf("%s: got\n%s\nwant %s", row.sentence, got, row.want)
		}
	}
}

// TestInventedControllers: a user makes Jobs for controllers of many names. They are no problem of ours, a few are
// named, in an order, and a Job of the built-in controller that nothing begins is told among them.
func TestInventedControllers(t *testing.T) {
	objects := []runtime.Object{job("built-in", func(*batchv1.Job) {})}
	for i := range 300 {
		objects = append(objects, job(fmt.Sprint("job-", i), func(j *batchv1.Job) { j.Spec.ManagedBy = new(fmt.Sprintf("example.com/%03d", i)) }))
	}
	var problems, warnings []string
	for _, f := range examined(t, "jobs", events.ModeDelegated, nil, objects...) {
		switch f.Level {
		case Problem:
			problems = append(problems, f.Text)
		case Warning:
			warnings = append(warnings, f.Text)
		}
	}
	if len(problems) != 1 || !strings.Contains(problems[0], builtinName) {
		t.Errorf("problems: %q", problems)
	}
	if len(warnings) != mostWaited+1 || !strings.Contains(warnings[0], "example.com/000") || !strings.Contains(warnings[mostWaited], "295 Jobs more") {
		t.Errorf("warnings: %q", warnings)
	}
}
