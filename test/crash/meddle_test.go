package crash

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/ledger"
)

// slowly is how long pods run in rows where a user does something: long enough to be met alive.
const slowly = 1500 * time.Millisecond

// deletePod is a user who deletes a pod that runs. It goes as Failed, and its index is tried again after the backoff of
// ten seconds.
func deletePod(x *trial) {
	x.t.Helper()
	victim := x.newestLive()
	if err := shared.Admin.CoreV1().Pods(x.namespace).Delete(x.ctx, victim.Name, metav1.DeleteOptions{}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("a user deleted %s", victim.Name)
}

// orphanPod is a user who empties the owner references of a pod that runs. Its Job adopts it again, once, and counts it once.
func orphanPod(x *trial) {
	x.t.Helper()
	victim := x.newestLive()
	patch := []byte(`{"metadata":{"ownerReferences":null}}`)
	if _, err := shared.Admin.CoreV1().Pods(x.namespace).Patch(x.ctx, victim.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("a user orphaned %s", victim.Name)
}

// newestLive is the pod of an index that runs and was made last.
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

// wantParallel is a user who changes how many pods are to run at a time.
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

// meddled are rows in which a user does something while nobody runs the Jobs.
var meddled = []row{
	{"a user orphans a pod, and the crash comes before it is adopted", []crash{
		{point: "call.after.create-pod:8", then: orphanPod},
		{point: "call.before.patch-pod:1"},
	}},
	{"a user orphans a pod, and the crash comes after it is adopted", []crash{
		{point: "call.after.create-pod:8", then: orphanPod},
		{point: "call.after.patch-pod:1"},
	}},
	{"a user deletes a pod after a create in the middle", []crash{
		{point: "call.after.create-pod:14", then: deletePod},
	}},
	{"a user deletes a pod, and its failure is stored when the next crash comes", []crash{
		{point: "call.after.create-pod:8", then: deletePod},
		{point: "call.after.update-status:1"},
	}},
	{"a user deletes a pod, and its finalizer has gone when the next crash comes", []crash{
		{point: "append.after:12", then: deletePod},
		{point: "call.after.patch-pod:1"},
	}},
	{"a user wants fewer pods and the crash comes before the first is deleted", []crash{
		{point: "call.after.create-pod:11", then: wantParallel(3)},
		{point: "call.before.delete-pod:1", then: wantParallel(parallelism)},
	}},
	{"a user wants fewer pods and the crash comes after the third is deleted", []crash{
		{point: "call.after.create-pod:11", then: wantParallel(3)},
		{point: "call.after.delete-pod:3", then: wantParallel(parallelism)},
	}},
	{"a user wants fewer pods and the crash comes after the second finalizer has gone", []crash{
		{point: "call.after.create-pod:11", then: wantParallel(2)},
		{point: "call.after.patch-pod:2"},
		{point: "call.before.delete-pod:1"},
		{point: "call.after.delete-pod:1", then: wantParallel(parallelism)},
	}},
}

func (r *row) isMeddled() bool {
	for _, c := range r.crashes {
		if c.then != nil {
			return true
		}
	}
	return false
}

// runFor is how long the pods of the indexed Job run in this row.
func (r *row) runFor() time.Duration {
	if r.isMeddled() {
		return slowly
	}
	return 200 * time.Millisecond
}
