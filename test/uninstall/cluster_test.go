package uninstall

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// cluster is a control plane with an installed Jobledger.
type cluster struct {
	t      *testing.T
	cp     *controlplane.ControlPlane
	client kubernetes.Interface
	dir    string
	root   string // of the repository
	leaver string // kubeconfig of a user with the rights of deploy/release/clusterrole.yaml

	args   []string               // of the container
	now    *controller.Controller // nil while it should not run
	starts int
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	// Objects of the StatefulSet controller must go again, and volume claims are protected.
	c.cp = controlplane.ForTest(t, controlplane.Options{
		Controllers: []string{"statefulset-controller", "persistentvolumeclaim-protection-controller"},
	})
	var err error
	if c.client, err = kubernetes.NewForConfig(c.cp.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if c.root, err = binaries.FindRoot(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(c.root, "deploy", "release", "clusterrole.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.RbacV1().ClusterRoles().Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.cp.Bind(t.Context(), "leaver", role.Name); err != nil {
		t.Fatal(err)
	}
	config, err := c.cp.UserConfig("leaver")
	if err != nil {
		t.Fatal(err)
	}
	c.leaver = filepath.Join(c.dir, "leaver.kubeconfig")
	if err := controlplane.WriteKubeconfig(config, c.leaver); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.now != nil {
			_ = c.now.Kill()
		}
	})
	return c
}

// namespace creates a namespace, and returns when pods can be created there.
func (c *cluster) namespace(name string) {
	c.t.Helper()
	_, err := c.client.CoreV1().Namespaces().Create(c.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.await("the ServiceAccount of "+name, func() error {
		_, err := c.client.CoreV1().ServiceAccounts(name).Get(c.t.Context(), "default", metav1.GetOptions{})
		return err
	})
}

// await waits until check returns no error.
func (c *cluster) await(what string, check func() error) {
	c.t.Helper()
	ctx, cancel := patience.Context(c.t.Context())
	defer cancel()
	if c.now != nil {
		ctx, cancel = c.now.While(ctx)
		defer cancel()
	}
	var last error
	err := patience.Until(ctx, 100*time.Millisecond, nil, func() (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		c.t.Fatalf("waited for %s in vain: %v: %v", what, err, last)
	}
}

// sh runs a command line, unchanged, in the root of the repository.
func (c *cluster) sh(line string) (out string, code int) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "sh", "-c", line)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+c.leaver,
		envKubeconfig+"="+c.cp.Kubeconfig(), envLogs+"="+c.output())
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("$ %s: %v", line, err)
	}
	c.t.Logf("$ %s\n%s", line, text)
	return string(text), cmd.ProcessState.ExitCode()
}

// output returns the output file of the newest controller.
func (c *cluster) output() string {
	return filepath.Join(c.dir, fmt.Sprintf("start-%d", c.starts), "run-1.txt")
}

// sync runs the controller that the StatefulSet asks for: as its ServiceAccount and with its arguments, except for
// addresses and the log's directory, which are those of this machine.
func (c *cluster) sync() {
	c.t.Helper()
	set, err := c.client.AppsV1().StatefulSets("jobledger").Get(c.t.Context(), "jobledger", metav1.GetOptions{})
	var args []string
	if err == nil && *set.Spec.Replicas > 0 {
		args = set.Spec.Template.Spec.Containers[0].Args
	}
	if slices.Equal(args, c.args) {
		return
	}
	if c.now != nil {
		if err := c.now.Stop(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
		c.now = nil
	}
	if c.args = args; args == nil {
		return
	}
	config, err := c.cp.ServiceAccountConfig(c.t.Context(), "jobledger", set.Spec.Template.Spec.ServiceAccountName)
	if err != nil {
		c.t.Fatal(err)
	}
	c.starts++
	dir := filepath.Dir(c.output())
	if err := os.Mkdir(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		c.t.Fatal(err)
	}
	here := []string{"--leader-elect", "--leader-elect-resource-namespace=jobledger"} // the defaults in a cluster
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "--log=") && !strings.HasPrefix(arg, "--metrics-bind-address=") {
			here = append(here, arg)
		}
	}
	c.now = controller.New(controller.Config{
		Program: filepath.Join(bin, "jobledger"), Kubeconfig: kubeconfig, Dir: dir, Log: filepath.Join(c.dir, "log"), Args: here,
	})
	ctx, cancel := patience.Context(c.t.Context())
	defer cancel()
	if err := c.now.Start(ctx); err != nil {
		c.t.Fatal(err)
	}
}

// job creates a Job of one pod. controlplane's annotations choose the pod's life.
func (c *cluster) job(namespace, name string, suspend bool, annotations map[string]string) {
	c.t.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Suspend: &suspend, Completions: new(int32(1)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "any"}},
				},
			},
		},
	}
	if _, err := c.client.BatchV1().Jobs(namespace).Create(c.t.Context(), job, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// awaitJob waits until a condition of the Job is true.
func (c *cluster) awaitJob(namespace, name string, want batchv1.JobConditionType) {
	c.t.Helper()
	c.await(name+" to be "+string(want), func() error {
		job, err := c.client.BatchV1().Jobs(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(job.Status.Conditions, func(x batchv1.JobCondition) bool { return x.Type == want && x.Status == "True" }) {
			return fmt.Errorf("its conditions are %v", job.Status.Conditions)
		}
		return nil
	})
}

// awaitRunning waits until the Job's only pod runs and the Job's status says so, and returns the pod.
func (c *cluster) awaitRunning(namespace, name string) (pod corev1.Pod) {
	c.t.Helper()
	c.await("a pod of "+name+" to run", func() error {
		list, err := c.client.CoreV1().Pods(namespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "job-name=" + name})
		if err != nil {
			return err
		}
		job, err := c.client.BatchV1().Jobs(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Status.Phase != corev1.PodRunning || job.Status.Active != 1 {
			return fmt.Errorf("%d pods, status %+v", len(list.Items), job.Status)
		}
		pod = list.Items[0]
		return nil
	})
	return pod
}
