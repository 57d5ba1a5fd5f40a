package incidents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
)

// at returns a second of one fixed minute.
func at(second int) time.Time { return time.Date(2026, 1, 2, 3, 0, second, 0, time.UTC) }

func jobAt(second int, change func(*batchv1.Job)) history.Change {
	j := &batchv1.Job{}
	change(j)
	return history.Change{Job: j, Seen: at(second)}
}

func podAt(second int, name string, change func(*corev1.Pod)) history.Change {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid of " + name)}}
	change(p)
	return history.Change{Pod: p, Seen: at(second)}
}

// TestPhasesOfAJob: if pods are in several phases, the first in the order counts; nothing counts after the end.
func TestPhasesOfAJob(t *testing.T) {
	nothing := func(*corev1.Pod) {}
	placed := func(p *corev1.Pod) { p.Spec.NodeName = "node-0" }
	running := func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "node-0", corev1.PodRunning }
	failed := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	kept := func(p *corev1.Pod) {
		failed(p)
		p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: at(9)}, []string{"storage.corp/detach"}
	}
	done := func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	}
	var got []string
	for _, p := range phases([]history.Change{
		jobAt(0, func(*batchv1.Job) {}),
		podAt(1, "a", nothing), podAt(2, "a", placed), podAt(3, "a", running), podAt(4, "b", nothing),
		podAt(5, "a", failed), podAt(6, "b", running),
		jobAt(7, func(j *batchv1.Job) { j.Spec.Suspend = new(true) }), jobAt(8, func(*batchv1.Job) {}),
		podAt(9, "b", kept), jobAt(10, done), podAt(11, "c", running),
	}) {
		got = append(got, fmt.Sprintf("%s %d-%d", p.Phase, p.From.Second(), p.To.Second()))
	}
	const want = "waiting 0-1, scheduling 1-2, starting 2-3, running 3-5, scheduling 5-6, running 6-7, suspended 7-8, running 8-9, held 9-10"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("the phases are %s\nwant            %s", all, want)
	}
}

// TestWhoAskedForADeletion: the first granted request since the object existed counts, in any form. A request for an
// earlier object of that name does not.
func TestWhoAskedForADeletion(t *testing.T) {
	writes := []controlplane.Write{
		{User: "before", Verb: "delete", Resource: "pods", Name: "a", Code: 200, At: at(1)},
		{User: "refused", Verb: "delete", Resource: "pods", Name: "a", Code: 409, At: at(3)},
		{User: "other", Verb: "delete", Resource: "pods", Name: "b", Code: 200, At: at(3)},
		{User: tom, Verb: "create", Resource: "pods/eviction", Name: "a", Code: 201, At: at(4)},
		{User: "kwok", Verb: "delete", Resource: "pods", Name: "a", Code: 200, At: at(5)},
		{User: "namespaces", Verb: "deletecollection", Resource: "jobs", Code: 200, At: at(6)},
	}
	if d := asked(writes, "pods", "a", at(2)); d == nil || d.By != tom || d.How != "evict" || d.Ours {
		t.Errorf("the pod was deleted by %+v", d)
	}
	if d := asked(writes, "jobs", "j", at(2)); d == nil || d.By != "namespaces" || d.How != "deletecollection" {
		t.Errorf("the Job was deleted by %+v", d)
	}
	if d := asked(writes, "pods", "c", at(2)); d != nil {
		t.Errorf("a pod that nobody deleted was deleted by %+v", d)
	}
}
