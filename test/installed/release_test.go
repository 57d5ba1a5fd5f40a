//go:build linux

package installed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/node"
)

// release is a release of the chart, in a namespace with its name.
type release struct {
	t      *testing.T
	name   string
	volume string // the directory of its volume
}

// newRelease creates the namespace and the volume of a release. Everything is uninstalled at the end of the test.
func newRelease(t *testing.T, name string) *release {
	t.Helper()
	r := &release{t: t, name: name, volume: newVolume(t, name, "log-"+name+"-0", "1Gi")}
	sh(t, "kubectl create namespace "+name)
	t.Cleanup(func() {
		lastly(t, "helm uninstall "+name+" --namespace "+name+" --ignore-not-found --wait")
		lastly(t, "kubectl delete namespace "+name+" --ignore-not-found --timeout=180s")
	})
	return r
}

// newVolume makes a volume for one claim, and returns its directory.
func newVolume(t *testing.T, namespace, claim, size string) string {
	t.Helper()
	dir, name := t.TempDir(), namespace+"-"+claim
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sh(t, "kubectl wait --for=delete pv/"+name+" --timeout=60s") // of an earlier test
	sh(t, strings.NewReplacer("{name: log}", "{name: "+name+"}", "DIR", dir, "NODE", node.Name, "SIZE", size,
		"spec:\n  capacity", fmt.Sprintf("spec:\n  claimRef: {namespace: %s, name: %s}\n  capacity", namespace, claim)).Replace(volume))
	t.Cleanup(func() { lastly(t, "kubectl delete pv "+name+" --wait=false") }) // deleted with its claim
	return dir
}

// lastly runs a command at the end of a test, when its context has ended.
func lastly(t *testing.T, line string) {
	t.Helper()
	if out, err := run(context.Background(), t, line); err != nil {
		t.Errorf("$ %s\n%s%v", line, out, err)
	}
}

// install installs the chart with the image made here and further values.
func (r *release) install(more string) { r.helm("install", more) }

// upgrade changes the values.
func (r *release) upgrade(more string) { r.helm("upgrade", more) }

func (r *release) helm(verb, more string) {
	r.t.Helper()
	files := ""
	for i, text := range []string{values, "image: {repository: jobledger}\n", more} {
		path := filepath.Join(r.t.TempDir(), fmt.Sprintf("%d.yaml", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
		files += " -f " + path
	}
	sh(r.t, "helm "+verb+" "+r.name+" deploy/chart --namespace "+r.name+files)
}

// pod returns the name of the controller's pod.
func (r *release) pod() string { return r.name + "-0" }

// ready waits until the kubelet marks the pod as ready.
func (r *release) ready() {
	r.t.Helper()
	in := "kubectl -n " + r.name + " "
	if _, err := try(r.t, in+"wait --for=create pod/"+r.pod()+" --timeout=60s && "+in+"wait --for=condition=Ready pod/"+r.pod()+" --timeout=180s"); err != nil {
		_, _ = try(r.t, in+"describe pod,pvc; "+in+"logs "+r.pod())
		r.t.Fatalf("%s does not become ready", r.name)
	}
}

// get returns a field of the pod, given as JSONPath.
func (r *release) get(field string) string {
	r.t.Helper()
	return sh(r.t, fmt.Sprintf("kubectl -n %s get pod %s -o jsonpath='{%s}'", r.name, r.pod(), field))
}

// restarts returns how often the kubelet restarted the container.
func (r *release) restarts() string { return r.get(".status.containerStatuses[0].restartCount") }

// exec runs jobledger in the pod.
func (r *release) exec(args string) string {
	r.t.Helper()
	return sh(r.t, "kubectl -n "+r.name+" exec "+r.pod()+" -- jobledger "+args)
}

// says waits until the controller of a pod has written a text, in this run of the container or in the one before.
func says(t *testing.T, namespace, pod, what string) {
	t.Helper()
	in, all := "kubectl -n "+namespace+" logs "+pod, ""
	eventually(t, pod+" says "+what, func() (bool, error) {
		now, _ := run(t.Context(), nil, in)
		before, _ := run(t.Context(), nil, in+" --previous")
		all = before + now
		return strings.Contains(all, what), nil
	})
	t.Logf("%s says\n%s", pod, all)
}

// watcher notes which pods of a namespace were ever ready.
type watcher struct {
	stop  context.CancelFunc
	ended chan struct{}

	mu    sync.Mutex
	ready map[string]bool
	err   error
}

// watchPods begins to watch. It sees every version that the API server stores.
func watchPods(t *testing.T, namespace string) *watcher {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{stop: cancel, ended: make(chan struct{}), ready: map[string]bool{}}
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	for i := range list.Items {
		w.note(&list.Items[i])
	}
	go func() { // ends with the watch
		defer close(w.ended)
		for version := list.ResourceVersion; ctx.Err() == nil; {
			changes, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
			if err != nil {
				w.fail(ctx, err)
				return
			}
			for c := range changes.ResultChan() {
				pod, ok := c.Object.(*corev1.Pod)
				if !ok {
					w.fail(ctx, fmt.Errorf("the watch says %v", c.Object))
					return
				}
				version = pod.ResourceVersion
				w.note(pod)
			}
		}
	}()
	return w
}

func (w *watcher) fail(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		w.err = err
	}
}

func (w *watcher) note(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			w.ready[pod.Name] = w.ready[pod.Name] || c.Status == corev1.ConditionTrue
		}
	}
}

// end ends the watch, and returns all pods, with whether each was ever ready.
func (w *watcher) end(t *testing.T) map[string]bool {
	t.Helper()
	w.stop()
	<-w.ended
	if w.err != nil {
		t.Fatal(w.err)
	}
	return w.ready
}
