//go:build linux

package situations

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/recorded"
	"github.com/jobledger/jobledger/test/node"
)

// mode says who runs the Jobs: Jobledger, or the built-in controller while Jobledger observes.
type mode string

const (
	run     mode = "run"
	observe mode = "observe"
)

// cluster is a control plane, a node, and the Jobledger that writes the kept log.
type cluster struct {
	mode       mode
	plane      *controlplane.ControlPlane
	admin      kubernetes.Interface
	node       *node.Node
	ours       *controller.Controller
	kubeconfig string
}

const (
	maria   = "maria"
	tom     = "tom"
	janitor = "janitor"
	ours    = "system:serviceaccount:jobledger:jobledger"
)

func startCluster(ctx context.Context, m mode) (_ *cluster, err error) {
	c := &cluster{mode: m}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	in := func(name string) string { return filepath.Join(node.Dir(), name) }
	options := controlplane.Options{
		RealNodes: true, DataDir: in("cp-" + string(m)), Keep: true,
		Controllers: append([]string{"resourcequota-controller", "taint-eviction-controller", "node-lifecycle-controller"}, node.Controllers...),
		// A killed kubelet is noticed after this time.
		ControllerManagerArgs: []string{"--node-monitor-grace-period=25s"},
	}
	if m == observe {
		options.Controllers = append(options.Controllers, "job-controller")
	}
	if c.plane, err = controlplane.Start(ctx, options); err != nil {
		return nil, err
	}
	if c.admin, err = kubernetes.NewForConfig(c.plane.RESTConfig()); err != nil {
		return nil, err
	}
	if c.node, err = node.Start(ctx, c.plane, in(busyboxArchive)); err != nil {
		return nil, err
	}
	if err := errors.Join(c.people(ctx), c.neighbour(ctx)); err != nil {
		return nil, err
	}
	return c, c.startOurs(ctx)
}

// people creates the users, and the PriorityClasses.
func (c *cluster) people(ctx context.Context) error {
	for user, role := range map[string]string{maria: "admin", tom: "cluster-admin"} {
		if err := c.plane.Bind(ctx, user, role); err != nil {
			return err
		}
	}
	for name, value := range map[string]int32{"batch-low": 10, "urgent": 1000} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if _, err := c.admin.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// neighbour creates a second node, which takes no pods, and plays its heartbeats until ctx is done. Without it, all
// nodes could be unreachable, and then nothing would be evicted.
func (c *cluster) neighbour(ctx context.Context) error {
	const name = "neighbour"
	_, err := c.admin.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Unschedulable: true},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	const isReady = `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
	if _, err := c.admin.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, []byte(isReady), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	leases := c.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(name), LeaseDurationSeconds: new(int32(40)), RenewTime: new(metav1.NowMicro()),
	}}
	if lease, err = leases.Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		return err
	}
	go func() { // ends with ctx
		tick := time.NewTicker(3 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			lease.Spec.RenewTime = new(metav1.NowMicro())
			if renewed, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err == nil { // else the next time
				lease = renewed
			}
		}
	}()
	return nil
}

// startOurs starts Jobledger with the rights of a deployment.
func (c *cluster) startOurs(ctx context.Context) error {
	dir := filepath.Join(c.plane.LogDir(), "jobledger")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := controller.GrantEverywhere(ctx, c.plane, ours, "base", "watch-cluster", "ttl", "cronjobs"); err != nil {
		return err
	}
	config, err := c.plane.UserConfig(ours)
	if err != nil {
		return err
	}
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, c.kubeconfig); err != nil {
		return err
	}
	settings := controller.Config{
		Program: filepath.Join(node.Dir(), "jobledger"), Kubeconfig: c.kubeconfig, Dir: dir, Manage: "all",
		Args: []string{"--leader-elect=false", "--cluster=incidents"},
	}
	if c.mode == observe {
		settings.Manage, settings.Args = "observe", []string{"--cluster=incidents"}
	}
	c.ours = controller.New(settings)
	return c.ours.Start(ctx)
}

// keep stops Jobledger and keeps its log.
func (c *cluster) keep(ctx context.Context, to string) error {
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeObserve, true
	if c.mode == run {
		settings.Mode, settings.DeleteExpired = events.ModeAll, true
	}
	if err := c.ours.Stop(ctx); err != nil {
		return err
	}
	if c.mode == run {
		if err := c.ours.Check(ctx); err != nil {
			return err
		}
	}
	return recorded.Keep(ctx, c.ours.Log(), c.kubeconfig, &settings, to)
}

// stop stops all processes.
func (c *cluster) stop() error {
	var errs []error
	if c.ours != nil && c.ours.Running() {
		errs = append(errs, c.ours.Kill())
	}
	if c.node != nil {
		errs = append(errs, c.node.Stop())
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Stop())
	}
	return errors.Join(errs...)
}

// as returns a client that acts as a user, with kubectl.
func (c *cluster) as(user string) (kubernetes.Interface, error) {
	config := c.plane.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	if user == janitor {
		config.Impersonate.Groups = []string{"system:masters"}
	}
	config.UserAgent = "kubectl/" + c.plane.Version()
	return kubernetes.NewForConfig(config)
}
