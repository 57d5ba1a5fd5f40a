//go:build linux

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/node"
)

// setting is a contender in a cluster.
type setting struct {
	contender string // ours, or builtin
	alpha     bool   // with the feature gates that the alpha specs need
}

const (
	ours    = "jobledger"
	builtin = "builtin"
)

func (s setting) String() string {
	if s.alpha {
		return s.contender + "-alpha"
	}
	return s.contender
}

// cluster is a running control plane, node and contender.
type cluster struct {
	plane *controlplane.ControlPlane
	node  *node.Node
	ours  *controller.Controller // nil if the built-in controllers run
}

// options returns those of the control plane: all controllers of kube-controller-manager run, except those that we
// replace.
func (s setting) options(dir string) controlplane.Options {
	o := controlplane.Options{RealNodes: true, DataDir: dir, Keep: true, BuiltinBatch: s.contender == builtin}
	all := "--controllers=*"
	if s.contender == ours {
		all += ",-job-controller,-cronjob-controller,-ttl-after-finished-controller"
	}
	o.ControllerManagerArgs = []string{all}
	if s.alpha {
		o.FeatureGates = map[string]bool{"GenericWorkload": true, "WorkloadWithJob": true}
		o.RuntimeConfig = map[string]bool{"scheduling.k8s.io/v1beta1": true}
	}
	return o
}

// start starts the cluster; its directory is named after the purpose.
func (s setting) start(ctx context.Context, purpose string) (_ *cluster, err error) {
	in := func(name string) string { return filepath.Join(node.Dir(), name) }
	c := new(cluster)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	if c.plane, err = controlplane.Start(ctx, s.options(in(purpose+"-"+s.String()))); err != nil {
		return nil, err
	}
	images, err := filepath.Glob(in("image-*"))
	if err != nil {
		return nil, err
	}
	if c.node, err = node.Start(ctx, c.plane, images...); err != nil {
		return nil, err
	}
	if s.contender == builtin {
		return c, nil
	}
	return c, s.startOurs(ctx, c)
}

// startOurs starts Jobledger as a user with the rights of a deployment.
func (s setting) startOurs(ctx context.Context, c *cluster) error {
	const user = "jobledger"
	dir := filepath.Join(c.plane.LogDir(), user)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	rights, args := []string{"base", "watch-cluster", "ttl", "cronjobs"}, []string{"--leader-elect=false"}
	if s.alpha {
		rights, args = append(rights, "gang"), append(args, "--gang-scheduling")
	}
	if err := controller.GrantEverywhere(ctx, c.plane, user, rights...); err != nil {
		return err
	}
	config, err := c.plane.UserConfig(user)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		return err
	}
	c.ours = controller.New(controller.Config{
		Program: filepath.Join(node.Dir(), "jobledger"), Kubeconfig: kubeconfig, Dir: dir, Manage: "all", Args: args,
	})
	return c.ours.Start(ctx)
}

// finish waits until no pod is left, stops everything, and replays our log.
func (c *cluster) finish(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.plane.RESTConfig())
	if err != nil {
		return errors.Join(err, c.stop())
	}
	left := ""
	err = wait.PollUntilContextTimeout(ctx, time.Second, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil || len(pods.Items) == 0 {
			return err == nil, err
		}
		left = pods.Items[0].Namespace + "/" + pods.Items[0].Name
		return false, nil
	})
	if err != nil {
		err = fmt.Errorf("wait until no pod is left: %w (%s)", err, left)
	}
	if c.ours != nil {
		err = errors.Join(err, c.ours.Stop(ctx), c.ours.Check(ctx))
		c.ours = nil
	}
	return errors.Join(err, c.stop())
}

// stop stops all processes.
func (c *cluster) stop() error {
	var errs []error
	if c.ours != nil {
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

// busybox is the image of the Jobs that kubectl creates.
const busybox = "busybox:1.37"

// makeImages makes those images of the specs that our specs use, under the same names.
func makeImages(ctx context.Context, dir string, names []string) error {
	shell, err := node.Busybox(ctx)
	if err != nil {
		return err
	}
	shell.Entrypoint = []string{"/bin/sh"} // the program of a pod without a command
	made := 0
	for _, name := range append(names, busybox) {
		var image node.Image
		switch base, _, _ := strings.Cut(path.Base(name), ":"); base {
		case "busybox":
			image = shell
		case "pause":
			image = node.Pause(dir)
		default:
			continue
		}
		image.Name = name
		archive, err := image.Make(ctx, dir)
		if err != nil {
			return err
		}
		made++
		if err := os.Rename(archive, filepath.Join(dir, fmt.Sprintf("image-%d", made))); err != nil {
			return err
		}
	}
	if made < 3 {
		return fmt.Errorf("the specs name %d images that are made here, want busybox and pause", made-1)
	}
	return nil
}
