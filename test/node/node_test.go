//go:build linux

package node_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/node"
)

var (
	client kubernetes.Interface
	plane  *controlplane.ControlPlane
)

const busyboxArchive = "busybox-1.37.oci.tar"

func TestMain(m *testing.M) { node.Main(m, prepare, setUp) }

func prepare(ctx context.Context, dir string) error {
	busybox, err := node.Busybox(ctx)
	if err != nil {
		return err
	}
	_, err = busybox.Make(ctx, dir)
	return err
}

func setUp(ctx context.Context) (func() error, error) {
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{
		RealNodes: true, Controllers: node.Controllers, DataDir: filepath.Join(node.Dir(), "cp"), Keep: true,
	})
	if err != nil {
		return nil, err
	}
	n, err := node.Start(ctx, plane, filepath.Join(node.Dir(), busyboxArchive))
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	if client, err = kubernetes.NewForConfig(plane.RESTConfig()); err != nil {
		return nil, errors.Join(err, n.Stop(), plane.Stop())
	}
	return func() error { return errors.Join(n.Stop(), plane.Stop()) }, nil
}

// ended runs a pod with a shell script, and returns the ended pod and its output.
func ended(t *testing.T, name, script string) (*corev1.Pod, string) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "busybox:1.37", Command: []string{"sh", "-c", script}}},
		},
	}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var err error
		pod, err = pods.Get(ctx, name, metav1.GetOptions{})
		return err == nil && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed), err
	})
	if err != nil {
		t.Fatalf("%v; its status is %v", err, pod.Status)
	}
	logs, err := pods.GetLogs(name, &corev1.PodLogOptions{}).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	text, err := io.ReadAll(logs)
	if err != nil {
		t.Fatal(err)
	}
	return pod, string(text)
}

// TestAPodRuns: a container runs, with an address of the node's network, and its exit code and output come back.
func TestAPodRuns(t *testing.T) {
	node.Need(t)
	pod, said := ended(t, "runs", "hostname; exit 3")
	if got := pod.Status.ContainerStatuses[0].State.Terminated; got == nil || got.ExitCode != 3 || pod.Status.Phase != corev1.PodFailed {
		t.Errorf("it ended as %s with %+v, want exit code 3", pod.Status.Phase, got)
	}
	if said != "runs\n" {
		t.Errorf("it said %q", said)
	}
	if !strings.HasPrefix(pod.Status.PodIP, "10.88.0.") {
		t.Errorf("its address is %q", pod.Status.PodIP)
	}
}

// TestTheGatewayKeepsItsAddress: while pods come and go, the gateway keeps its hardware address, to which other pods
// send.
func TestTheGatewayKeepsItsAddress(t *testing.T) {
	node.Need(t)
	for _, name := range []string{"comes", "goes"} {
		_, said := ended(t, name, "ping -c 1 10.88.0.1 >/dev/null; cat /proc/net/arp")
		if !strings.Contains(said, " 0a:58:0a:58:00:01 ") {
			t.Errorf("the pod %q knows the gateway by another address: %s", name, said)
		}
	}
}

// TestAPodReachesTheAPIServer: by the address of the Service kubernetes. It also has the certificate authority.
func TestAPodReachesTheAPIServer(t *testing.T) {
	node.Need(t)
	pod, said := ended(t, "reaches", `
		ls /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
		echo "GET /version HTTP/1.0" | nc -w 5 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT`)
	// The request is plain HTTP, and the API server says so.
	if pod.Status.Phase != corev1.PodSucceeded || !strings.Contains(said, "Client sent an HTTP request to an HTTPS server") {
		t.Errorf("%s: %s", pod.Status.Phase, said)
	}
}
