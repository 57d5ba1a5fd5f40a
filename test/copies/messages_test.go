package copies

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// TestMessagesOfANamespaceAreNotKept: a namespace says with its annotation what is kept of the messages of its pods. A
// message that is not kept stands nowhere in the log and nowhere in what is restored from the copy; explain says that
// there was one. One that is kept stands in both.
func TestMessagesOfANamespaceAreNotKept(t *testing.T) {
	t.Parallel()
	atLength(t)
	dir := newDir(t)
	w := newWorld(t, sharedCluster(), dir, newPlaces(t)(t, dir, 0), "--watch-cluster")
	w.must(controller.GrantWatch(w.ctx, shared.ControlPlane, w.namespace))
	node, err := kubelet.New(w.ctx, w.client)
	w.must(err)
	w.start()
	const second = "account 4711 of Doe"
	// Whatever changes of a pod is recorded under the setting of then, so each row keeps no more than the one before.
	rows := []struct{ keep, first, says string }{
		{"", "swordfish-usual", ""},
		{"all", "swordfish-all", ""},
		{"first-line", "swordfish-first", "only its first line is kept in this namespace"},
		{"none", "swordfish-none", "message not kept in this namespace"},
		{nonsense, "swordfish-nonsense", "message not kept in this namespace"},
	}
	for i, row := range rows {
		w.keep(row.keep)
		w.fails(node, fmt.Sprintf("job-%d", i), row.first+"\n"+second+" "+row.first)
		w.atRest()
		said := w.told("explain", fmt.Sprintf("job/job-%d", i), "-n", w.namespace, "--log", w.log())
		if !strings.Contains(strings.Join(strings.Fields(said), " "), row.says) || strings.Contains(said, row.first) != (i < 3) {
			t.Errorf("keep-messages=%q: explain says\n%s", row.keep, said)
		}
	}
	w.stop()
	restored := filepath.Join(dir, "restored")
	w.told("restore", "--from", w.place.address, "--log", restored)
	for i, row := range rows {
		for _, log := range []string{w.log(), restored} {
			if has := contains(t, log, row.first); has != (i < 3) {
				t.Errorf("keep-messages=%q: %s is in %s: %t", row.keep, row.first, log, has)
			}
			if has := contains(t, log, second+" "+row.first); has != (i < 2) {
				t.Errorf("keep-messages=%q: the second line is in %s: %t", row.keep, log, has)
			}
		}
	}
	w.sound(w.log())
}

// keep says in the namespace what is kept of messages, and waits until the controller has heard it: its start reads the
// namespaces first, and a value that is none it warns of when it hears it.
func (w *world) keep(value string) {
	w.Helper()
	if value == "" {
		return
	}
	if value != nonsense {
		w.stop()
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, events.KeepAnnotation, value)
	_, err := w.client.CoreV1().Namespaces().Patch(w.ctx, w.namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	w.must(err)
	if value != nonsense {
		w.start()
		return
	}
	w.must(patience.Until(w.ctx, 20*time.Millisecond, w.controller.Ended(), func() (bool, error) {
		said, err := w.controller.NewestOutput()
		return strings.Contains(said, "is none that is known"), err
	}))
}

// nonsense is no value of the annotation.
const nonsense = "nonsense"

// fails runs a Job whose pod fails with a message.
func (w *world) fails(node *kubelet.Kubelet, name, message string) {
	w.Helper()
	w.must(w.createOn(name))
	var pod *corev1.Pod
	w.await(func(now history.Now) string {
		j := now.Jobs[name]
		if j == nil {
			return "job/" + name + " is not seen"
		}
		if all := now.PodsOf(j.UID); len(all) > 0 {
			pod = all[0]
			return ""
		}
		return "job/" + name + " has no pod"
	})
	w.must(node.Run(w.ctx, pod, true))
	w.must(w.end(w.ctx, pod, message))
	w.await(func(now history.Now) string {
		if j := now.Jobs[name]; !ledger.True(j, batchv1.JobFailed) {
			return "job/" + name + " has not failed"
		}
		if p := now.Pods[pod.UID]; p == nil || ledger.Tracked(p) {
			return "pod/" + pod.Name + " has its finalizer"
		}
		return ""
	})
}

// createOn makes a Job of one pod that the test's kubelet runs.
func (w *world) createOn(name string) error {
	job := newJob(name, 1, nil)
	kubelet.Place(&job.Spec.Template)
	_, err := w.client.BatchV1().Jobs(w.namespace).Create(w.ctx, job, metav1.CreateOptions{})
	return err
}

// end ends a pod as Failed, with a termination message.
func (w *world) end(ctx context.Context, of *corev1.Pod, message string) error {
	pods := w.client.CoreV1().Pods(of.Namespace)
	pod, err := pods.Get(ctx, of.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = corev1.PodFailed
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Reason: "Error", Message: message, FinishedAt: metav1.Now(),
		}}
	}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// contains reports whether a file of a directory has these bytes.
func contains(t *testing.T, dir, text string) (is bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		is = is || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}
