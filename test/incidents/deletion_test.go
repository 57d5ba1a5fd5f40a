package incidents

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// 22: the namespace is deleted, with everything in it.
func namespaceDeleted(s *scene) {
	t := s.create(maria, newJob("tenant-import", "import:2", size(2, 2), runsOn(), stopsAfter("2s")))
	t.want = "Deleted, 2 deleted"
	t.Cause = "tom deleted the namespace while both pods ran"
	t.Says = []string{"deleted"}
	s.awaitRunning(t, 2)
	s.pass(3 * time.Second)
	s.must(s.as(tom).CoreV1().Namespaces().Delete(s.ctx, s.name, metav1.DeleteOptions{}))
	s.awaitGone(t)
	t.Note = "the namespace controller deletes what is in the namespace that tom deleted, pods and Job each by a deletecollection"
}

// 24: an autoscaler scales it.
func autoscaled(s *scene) {
	t := s.create(maria, newJob("resize-images", "resize:3", size(8, 4), runsFor("5s"), stopsAfter("1s")))
	t.want = "Complete CompletionsReached, 3 deleted"
	t.Cause = "an autoscaler (field manager keda) set parallelism to 1 while 4 pods ran, and later to 3; the pods that it took away began again"
	t.Says = []string{"parallelism"}
	pods := s.awaitRunning(t, 4)
	t.FirstPod = pods[0].Name
	s.pass(2 * time.Second)
	s.patch(autoscaler, "keda", t, "spec.parallelism 4 -> 1", `{"spec":{"parallelism":1}}`)
	v := s.await(t, "one pod is left", func(v view) bool { return len(v.live()) == 1 })
	for _, p := range pods {
		if p.Name != v.live()[0].Name {
			t.FirstPod = p.Name
			break
		}
	}
	s.pass(6 * time.Second)
	s.patch(autoscaler, "keda", t, "spec.parallelism 1 -> 3", `{"spec":{"parallelism":3}}`)
	s.awaitEnd(t)
}

// 25: a storage controller's finalizer holds the pod.
func foreignFinalizer(s *scene) {
	t := s.create(maria, newJob("restore", "restore:5", runsOn(), stopsAfter("1s")))
	t.want = "Deleted, 1 deleted"
	t.Cause = "the finalizer storage.corp/detach, which a storage controller set and did not remove for 15 s, kept the pod and so the Job, which maria deleted in the foreground"
	t.Says = []string{"storage.corp/detach"}
	t.Note = "the hour is 15 s here"
	p := s.awaitRunning(t, 1)[0]
	t.FirstPod = p.Name
	s.finalizers(p, `["storage.corp/detach"]`)
	s.pass(2 * time.Second)
	s.deleteJob(maria, t.Job, metav1.DeletePropagationForeground)
	s.await(t, "its pod has ended", func(v view) bool { return ended(v.pods[0]) })
	s.pass(15 * time.Second)
	s.finalizers(p, `[]`)
	s.awaitGone(t)
}

// finalizers sets the finalizers of a pod that belong to a storage controller, and keeps that of the Job's controller.
func (s *scene) finalizers(p *corev1.Pod, own string) {
	s.t.Helper()
	client, err := s.recording.as("system:serviceaccount:storage:attacher", "attacher", "system:masters")
	s.must(err)
	patch := `[{"op":"add","path":"/metadata/finalizers/-","value":"storage.corp/detach"}]`
	kind := types.JSONPatchType
	if own == `[]` {
		kind, patch = types.StrategicMergePatchType, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["storage.corp/detach"]}}`
	}
	_, err = client.CoreV1().Pods(s.name).Patch(s.ctx, p.Name, kind, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// 26: the Job is deleted and its pods stay.
func orphaned(s *scene) {
	t := s.create(maria, newJob("reindex", "reindex:9", size(2, 2), runsFor("12s")))
	t.want = "Deleted, 0 deleted"
	t.Cause = "tom deleted the Job with --cascade=orphan while both pods ran; the pods went on without it"
	t.Says = []string{"deleted"}
	pods := s.awaitRunning(t, 2)
	s.pass(3 * time.Second)
	s.deleteJob(tom, t.Job, metav1.DeletePropagationOrphan)
	s.awaitGone(t)
	for _, p := range pods {
		s.eventually("pod "+p.Name+" has ended by itself", func() bool {
			now, err := s.admin.CoreV1().Pods(s.name).Get(s.ctx, p.Name, metav1.GetOptions{})
			s.must(err)
			return ended(now)
		})
		s.deletePod(janitor, p.Name, 0)
	}
}

// 21: it is deleted before a person looked.
func expired(s *scene) {
	t := s.create(maria, newJob("thumbnails", "thumbs:1", fails("9"), limit(0), spec(func(j *batchv1.JobSpec) {
		j.TTLSecondsAfterFinished = new(int32(3))
	})))
	t.want = "Failed BackoffLimitExceeded, 0 deleted"
	t.Cause = "container main exits 9; backoffLimit is 0; ttlSecondsAfterFinished (3) removed the Job"
	t.Says = []string{"exit 9", "backoffLimit", "ttlSecondsAfterFinished"}
	s.awaitEnd(t)
	s.awaitGone(t)
}
