package copies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// TestTheDrillOfTheOverlay: the CronJob of deploy/overlays/drill is asked for a run, and the controller whose copy it is
// makes its Job and its pod. No container runs here: the test plays the kubelet, with the pod's own arguments, of which
// it changes the place and the directory alone. A drill of a copy that is whole completes the Job; one of a copy that
// lacks an object fails it, and explain says how it exited.
func TestTheDrillOfTheOverlay(t *testing.T) {
	t.Parallel()
	atLength(t)
	dir := newDir(t)
	w := newWorld(t, sharedCluster(), dir, newPlaces(t)(t, dir, 0), "--manage=all")
	w.must(controller.GrantCronJobs(w.ctx, shared.ControlPlane, w.namespace, w.namespace))
	w.must(controller.GrantTTL(w.ctx, shared.ControlPlane, w.namespace, w.namespace))
	node, err := kubelet.New(w.ctx, w.client)
	w.must(err)
	w.start()
	cron := w.overlayCronJob()
	w.atRest()
	first := w.drilled(node, cron, 1)
	if !strings.Contains(first, "passed") {
		t.Errorf("the report of a copy that is whole:\n%s", first)
	}
	w.atRest()
	segments := w.place.manifest(t).Segments()
	w.must(os.Remove(filepath.Join(w.place.root, filepath.FromSlash(segments[len(segments)-1].Object.Name))))
	second := w.drilled(node, cron, 2)
	if !strings.Contains(second, "is missing") {
		t.Errorf("the report of a copy that lacks an object:\n%s", second)
	}
}

// overlayCronJob makes the CronJob in the world's namespace, on the test's kubelet.
func (w *world) overlayCronJob() *batchv1.CronJob {
	w.Helper()
	root, err := binaries.FindRoot()
	w.must(err)
	text, err := os.ReadFile(filepath.Join(root, "deploy", "overlays", "drill", "cronjob.yaml"))
	w.must(err)
	cron := &batchv1.CronJob{}
	w.must(yaml.UnmarshalStrict(text, cron))
	cron.Namespace = w.namespace
	kubelet.Place(&cron.Spec.JobTemplate.Spec.Template)
	cron, err = w.client.BatchV1().CronJobs(w.namespace).Create(w.ctx, cron, metav1.CreateOptions{})
	w.must(err)
	return cron
}

// drilled asks for a run of the CronJob, plays its pod, and sees the Job end as the drill does. It returns the report.
func (w *world) drilled(node *kubelet.Kubelet, cron *batchv1.CronJob, nth int) (report string) {
	w.Helper()
	cron, err := w.client.BatchV1().CronJobs(w.namespace).Get(w.ctx, cron.Name, metav1.GetOptions{})
	w.must(err)
	metav1.SetMetaDataAnnotation(&cron.ObjectMeta, "jobledger.dev/trigger", time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+" row jane")
	_, err = w.client.BatchV1().CronJobs(w.namespace).Update(w.ctx, cron, metav1.UpdateOptions{})
	w.must(err)
	var pod *corev1.Pod
	w.await(func(now history.Now) string {
		for _, j := range now.Jobs {
			if all := now.PodsOf(j.UID); !ledger.Finished(j) && len(all) > 0 {
				pod = all[0]
				return ""
			}
		}
		return "no Job of the CronJob has a pod"
	})
	w.must(node.Run(w.ctx, pod, true))
	report, err = w.asContainer(pod)
	w.Logf("run %d of the drill: %v", nth, err)
	if err != nil {
		w.must(node.Fail(w.ctx, pod, 1))
	} else {
		w.must(node.Succeed(w.ctx, pod))
	}
	job := metav1.GetControllerOf(pod)
	w.await(func(now history.Now) string {
		j := now.Jobs[job.Name]
		if end := map[bool]batchv1.JobConditionType{true: batchv1.JobComplete, false: batchv1.JobFailed}[err == nil]; !ledger.True(j, end) {
			return "job/" + j.Name + " is not " + string(end)
		}
		return ""
	})
	if said := w.told("explain", "job/"+job.Name, "-n", w.namespace, "--log", w.log()); err != nil &&
		!strings.Contains(strings.Join(strings.Fields(said), " "), "exited 1 (container drill)") {
		w.Errorf("explain of a drill that did not pass:\n%s", said)
	}
	return report
}

// asContainer runs what the pod's container is to run.
func (w *world) asContainer(pod *corev1.Pod) (string, error) {
	args := append([]string{}, pod.Spec.Containers[0].Args...)
	for i, arg := range args {
		if strings.HasPrefix(arg, "--from=") {
			args[i] = "--from=" + w.place.address
		}
		if strings.HasPrefix(arg, "--dir=") {
			args[i] = "--dir=" + filepath.Join(w.dir, "drill", pod.Name)
		}
	}
	w.must(os.MkdirAll(filepath.Join(w.dir, "drill"), 0o700))
	return w.jobledger(args...)
}
