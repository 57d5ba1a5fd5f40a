package incidents

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

var (
	update = flag.Bool("update", false, "put what is recorded in the place of examples/incidents")
	only   = flag.String("only", "", "record only the incidents whose name this regular expression matches")
)

func TestMain(m *testing.M) {
	// The incidents mostly wait, so all of them run at once, on any number of processors.
	if err := flag.Set("test.parallel", "64"); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	os.Exit(m.Run())
}

// mode says who runs the Jobs.
type mode string

const (
	delegated mode = "delegated" // Jobledger
	observed  mode = "observed"  // the built-in controller, observed by Jobledger

	// Modes of incident 20, which has its own logs because it takes minutes.
	cronsRun      mode = "cronjobs-run"      // Jobledger runs CronJobs and Jobs
	cronsObserved mode = "cronjobs-observed" // the built-in controllers, observed by Jobledger

	// Modes of the generator: Jobs and CronJobs.
	situationsRun      mode = "run"
	situationsObserved mode = "observe"
)

// Users of the controllers, as the audit log names them.
const (
	ours    = "system:serviceaccount:jobledger:jobledger"
	builtin = "system:serviceaccount:kube-system:job-controller"
)

// TestRecord plays all incidents in both modes and checks the recordings against the truth. With -update it keeps them.
func TestRecord(t *testing.T) {
	if !effort.IsLong() && !*update && *only == "" {
		t.Skip("takes minutes: make incidents, or JOBLEDGER_LONG=1")
	}
	for _, m := range []mode{delegated, observed} {
		t.Run(string(m), func(t *testing.T) { record(t, m) })
	}
}

// recording is one cluster, and the Jobledger that writes the kept log.
type recording struct {
	mode    mode
	cp      *controlplane.ControlPlane
	admin   kubernetes.Interface
	ours    *controller.Controller
	program string

	kubeconfig string // of its user
}

func record(t *testing.T, m mode) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	r := newRecording(t, ctx, m)
	if err := r.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(*only)
	var scenes []*scene
	t.Run("together", func(t *testing.T) {
		for _, i := range table {
			if !i.alone && (wanted.MatchString(i.name)) {
				s := &scene{incident: i, recording: r, ctx: ctx}
				scenes = append(scenes, s)
				t.Run(i.name, func(t *testing.T) { t.Parallel(); s.play(t) })
			}
		}
	})
	for _, i := range table {
		if i.alone && (wanted.MatchString(i.name)) {
			s := &scene{incident: i, recording: r, ctx: ctx}
			scenes = append(scenes, s)
			t.Run(i.name, s.play)
		}
	}
	if err := r.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		return
	}
	truths, err := r.truths(scenes)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if *update {
		out = filepath.Join("..", "..", "examples", "incidents", string(m))
	}
	if err := r.keep(ctx, filepath.Join(out, "log")); err != nil {
		t.Fatal(err)
	}
	if err := writeTruth(filepath.Join(out, "truth.json"), truths); err != nil {
		t.Fatal(err)
	}
	check(t, r.program, out)
}

func newRecording(t *testing.T, ctx context.Context, m mode) *recording {
	t.Helper()
	options := controlplane.Options{
		Nodes:       2,
		Controllers: []string{"resourcequota-controller", "ttl-after-finished-controller", "taint-eviction-controller", "node-lifecycle-controller"},
		// The taint controller uses an index that the node lifecycle controller makes. Nodes send no heartbeats.
		ControllerManagerArgs: []string{"--node-monitor-grace-period=24h", "--node-startup-grace-period=24h"},
	}
	switch m {
	case observed:
		options.Controllers = append(options.Controllers, "job-controller")
	case situationsRun:
		options.Controllers = slices.DeleteFunc(options.Controllers, func(name string) bool { return name == "ttl-after-finished-controller" })
	case cronsObserved, situationsObserved:
		options.Controllers = append(options.Controllers, "job-controller", "cronjob-controller")
	}
	r := &recording{mode: m, cp: controlplane.ForTest(t, options)}
	var err error
	if r.admin, err = kubernetes.NewForConfig(r.cp.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r.kubeconfig = filepath.Join(dir, "kubeconfig")
	if r.program, err = built.Program(ctx, dir); err != nil {
		t.Fatal(err)
	}
	config := controller.Config{
		Program: r.program, Kubeconfig: r.kubeconfig, Dir: dir,
		// Names of Leases and labels are the same as in any cluster. Without a Lease nothing in the log is named after
		// this machine.
		Args: []string{"--leader-elect=false", "--cluster=incidents"},
	}
	switch m {
	case observed, cronsObserved, situationsObserved:
		config.Manage, config.Args = "observe", []string{"--cluster=incidents"}
	case cronsRun:
		config.Manage, config.Args = "all", append(config.Args, "--ttl-after-finished=false")
	case situationsRun:
		config.Manage = "all"
	}
	if err := r.allow(ctx, r.kubeconfig); err != nil {
		t.Fatal(err)
	}
	r.ours = controller.New(config)
	t.Cleanup(func() {
		if r.ours.Running() {
			_ = r.ours.Kill() // the test has failed
		}
		if text, err := r.ours.Output(); t.Failed() && err == nil {
			t.Logf("jobledger said:\n%s", text)
		}
	})
	return r
}

// allow creates the users: Jobledger with the rights of its deployment; maria, who may edit; tom, who may do
// everything.
func (r *recording) allow(ctx context.Context, kubeconfig string) error {
	role, err := controller.CreateClusterRole(ctx, r.cp)
	if err != nil {
		return err
	}
	for user, role := range map[string]string{ours: role, maria: "edit", tom: "cluster-admin", autoscaler: "edit", queue: "edit", argo: "edit"} {
		if err := r.bind(ctx, user, role); err != nil {
			return err
		}
	}
	if r.mode == cronsRun || r.mode == situationsRun {
		crons, err := controller.CreateCronJobsRole(ctx, r.cp)
		if err != nil {
			return err
		}
		if err := r.bind(ctx, ours, crons); err != nil {
			return err
		}
	}
	if err := controller.GrantWatch(ctx, r.cp, ours); err != nil {
		return err
	}
	config, err := r.cp.UserConfig(ours)
	if err != nil {
		return err
	}
	return controlplane.WriteKubeconfig(config, kubeconfig)
}

func (r *recording) bind(ctx context.Context, user, role string) error {
	_, err := r.admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "incidents-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	return err
}

// as returns a client that acts as a user, with that program as user agent.
func (r *recording) as(user, program string, groups ...string) (kubernetes.Interface, error) {
	config := r.cp.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	config.UserAgent = program + "/" + r.cp.Version()
	return kubernetes.NewForConfig(config)
}

// truths returns the truths of all scenes, in the order of the incidents.
func (r *recording) truths(scenes []*scene) ([]truth, error) {
	writes, err := r.cp.Writes()
	if err != nil {
		return nil, err
	}
	var all []truth
	for _, s := range scenes {
		told, wrong := s.truths(writes)
		all, err = append(all, told...), errors.Join(err, wrong)
	}
	slices.SortStableFunc(all, func(a, b truth) int { return a.Incident - b.Incident })
	return all, err
}

func writeTruth(path string, truths []truth) error {
	text, err := json.MarshalIndent(truths, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
