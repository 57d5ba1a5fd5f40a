package integration

import (
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
)

// mostAtEnd is how many pods may still have the finalizer when the terminal condition is written.
var mostAtEnd = int(events.DefaultSettings().HeldAtEnd)

// J-085: TestFewFinalizersAtTheEnd: Jobs of 80 pods (500 with JOBLEDGER_LONG) run beside the built-in controller and
// its Job of as many pods. When they are published as ended, most of their pods have no finalizer any more, and a
// moment later none has one. A user who waits for the end may then delete the pods, uninstall, or switch the controller
// off. If it is killed at that time, few pods still wait for it.
func TestFewFinalizersAtTheEnd(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	n := int32(80)
	if long {
		n = 500
	}
	w := newWorldOn(t, controlplane.ForTest(t, controlplane.Options{BuiltinBatch: true}))
	c := w.run("delegated")
	for name, options := range map[string][]option{"built-in": {managedBy(nil)}, "ours": nil, "ours-indexed": {indexed}} {
		w.create(newJob(name, append(options, completions(n), parallelism(n))...))
		want := result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: n}
		most := mostAtEnd
		switch name {
		case "built-in":
			most = 0
		case "ours-indexed":
			want.completed = "0-" + strconv.Itoa(int(n)-1)
		}
		j := w.ends(name, want)
		held := w.heldAt(j)
		t.Logf("%s: %d of %d pods carried the finalizer at the end", name, held, n)
		if held > most {
			t.Errorf("%s: %d pods carried the finalizer when the Job said that it had ended, and %d may", name, held, most)
		}
	}

	last := w.create(newJob("killed", completions(n), parallelism(n)))
	w.eventually("the last Job finishes", func() (bool, error) { return condition(w.job("killed"), batchv1.JobComplete) != nil, nil })
	w.kill(c)
	if held := w.heldAt(w.job("killed")); held > mostAtEnd {
		t.Errorf("%d pods wait for the controller that was killed at the end of their Job, and %d may", held, mostAtEnd)
	}
	how := metav1.DeletePropagationForeground
	if err := w.client.BatchV1().Jobs(w.namespace).Delete(t.Context(), "killed", metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		t.Fatal(err)
	}
	w.start(c)
	w.gone(last)
}

// heldAt returns how many pods had the finalizer when this version of the Job was stored.
func (w *world) heldAt(j *batchv1.Job) (held int) {
	w.t.Helper()
	pods, err := w.client.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=" + j.Name, ResourceVersion: j.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pods.Items {
		if tracked(p) {
			held++
		}
	}
	return held
}
