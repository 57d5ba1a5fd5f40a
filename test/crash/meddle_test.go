package crash

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// slowly is how long pods run in rows in which a user acts: long enough for the user to find them running.
const slowly = 1500 * time.Millisecond

// deletePod acts as a user who deletes a running pod. It ends as Failed, and its index is retried after the backoff of
// ten seconds.
func deletePod(x *trial) {
	x.t.Helper()
	victim := x.newestLive()
	if err := shared.Admin.CoreV1().Pods(x.namespace).Delete(x.ctx, victim.Name, metav1.DeleteOptions{}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("a user deleted %s", victim.Name)
}

// orphanPod acts as a user who removes the owner references of a running pod. Its Job adopts it again, once, and counts
// it once.
func orphanPod(x *trial) {
	x.t.Helper()
	victim := x.newestLive()
	patch := []byte(`{"metadata":{"ownerReferences":null}}`)
	if _, err := shared.Admin.CoreV1().Pods(x.namespace).Patch(x.ctx, victim.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("a user orphaned %s", victim.Name)
}

// newestLive returns the newest running pod of an index.
func (x *trial) newestLive() *corev1.Pod {
	x.t.Helper()
	var victim *corev1.Pod
	for _, pod := range x.history.Now().Pods {
		if pod.Annotations[batchv1.JobCompletionIndexAnnotation] != "" && ledger.Live(pod) && (victim == nil || pod.CreationTimestamp.After(victim.CreationTimestamp.Time)) {
			victim = pod
		}
	}
	if victim == nil {
		x.t.Fatalf("no pod is alive that a user could meddle with: %s", x.progress())
	}
	return victim
}

// wantParallel acts as a user who changes the parallelism.
func wantParallel(n int) func(*trial) {
	return func(x *trial) {
		x.t.Helper()
		patch := fmt.Appendf(nil, `{"spec":{"parallelism":%d}}`, n)
		if _, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(x.ctx, "indexed", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			x.t.Fatal(err)
		}
		x.t.Logf("a user wants %d pods at a time", n)
	}
}

// meddled are rows in which a user acts while no controller runs. If the next start must find the pods alive, however
// late it is, the row is held: the pods run until the last start.
var meddled = []row{
	{sentence: "a user orphans a pod, and the crash comes before it is adopted", held: true, crashes: []crash{
		{point: "call.after.create-pod:8", then: orphanPod},
		{point: "call.before.patch-pod:1"},
	}},
	{sentence: "a user orphans a pod, and the crash comes after it is adopted", held: true, crashes: []crash{
		{point: "call.after.create-pod:8", then: orphanPod},
		{point: "call.after.patch-pod:1"},
	}},
	{sentence: "a user deletes a pod after a create in the middle", crashes: []crash{
		{point: "call.after.create-pod:12", then: deletePod},
	}},
	{sentence: "a user deletes a pod, and its failure is stored when the next crash comes", held: true, crashes: []crash{
		{point: "call.after.create-pod:8", then: deletePod},
		{point: "call.after.update-status:1"},
	}},
	{sentence: "a user deletes a pod, and its finalizer has gone when the next crash comes", crashes: []crash{
		{point: "append.after:12", then: deletePod},
		{point: "call.after.patch-pod:1"},
	}},
	{sentence: "a user wants fewer pods and the crash comes before the first is deleted", held: true, crashes: []crash{
		{point: "call.after.create-pod:11", then: wantParallel(3)},
		{point: "call.before.delete-pod:1", then: wantParallel(parallelism)},
	}},
	{sentence: "a user wants fewer pods and the crash comes after the third is deleted", held: true, crashes: []crash{
		{point: "call.after.create-pod:11", then: wantParallel(3)},
		{point: "call.after.delete-pod:3", then: wantParallel(parallelism)},
	}},
	{sentence: "a user wants fewer pods and the crash comes after the second finalizer has gone", held: true, crashes: []crash{
		{point: "call.after.create-pod:11", then: wantParallel(2)},
		{point: "call.after.patch-pod:2"},
		{point: "call.before.delete-pod:1"},
		{point: "call.after.delete-pod:1", then: wantParallel(parallelism)},
	}},
}

// release makes every held pod end soon, also those that are created later, until the row ends.
func (x *trial) release() {
	var held []string
	look := func(n history.Now) string {
		held = held[:0]
		for _, pod := range n.Pods {
			if ledger.Live(pod) && pod.Annotations[controlplane.AnnotationOutcome] == controlplane.OutcomeRun {
				held = append(held, pod.Name)
			}
		}
		if len(held) == 0 {
			return "no pod is held"
		}
		return ""
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, controlplane.AnnotationOutcome, controlplane.OutcomeSucceed)
	for x.history.Await(x.ctx, look) == nil {
		for _, name := range held { // a pod that is gone needs nothing; any other failure shows as a pod that never ends
			_, _ = shared.Admin.CoreV1().Pods(x.namespace).Patch(x.ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		_ = x.history.CatchUp(x.ctx)
	}
}

func (r *row) isMeddled() bool {
	for _, c := range r.crashes {
		if c.then != nil {
			return true
		}
	}
	return false
}

// indexedJob returns the Job that the crashes of this row interrupt.
func (r *row) indexedJob() *batchv1.Job {
	pods := usual
	if r.many {
		pods = many
	}
	if !r.isMeddled() {
		return indexedJob(pods, 200*time.Millisecond)
	}
	job := indexedJob(pods, slowly)
	if r.held {
		job.Spec.Template.Annotations[controlplane.AnnotationOutcome] = controlplane.OutcomeRun
	}
	return job
}
