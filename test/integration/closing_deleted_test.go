package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// J-085: TestALargeJobIsDisturbedAsItEnds: a Job of 64 pods, or of 500 with JOBLEDGER_LONG, has published how it will
// end, but not yet that it has ended. Then it is deleted, or its controller is killed, or it is suspended and its
// parallelism lowered. No pod keeps its finalizer, and none is counted wrongly.
func TestALargeJobIsDisturbedAsItEnds(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	n := int32(64)
	if long {
		n = 500
	}
	w := newWorld(t)
	c := w.run("delegated")
	ending := func(name string, options ...option) *batchv1.Job {
		j := w.create(newJob(name, append(options, completions(n), parallelism(n))...))
		watch, err := w.client.BatchV1().Jobs(w.namespace).Watch(t.Context(), metav1.ListOptions{
			FieldSelector: "metadata.name=" + name, ResourceVersion: j.ResourceVersion,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Stop()
		for e := range watch.ResultChan() {
			if j, is := e.Object.(*batchv1.Job); is && condition(j, batchv1.JobSuccessCriteriaMet) != nil {
				return j
			}
		}
		t.Fatal("the watch ended")
		return nil
	}
	for name, how := range map[string]metav1.DeletionPropagation{"orphaned": metav1.DeletePropagationOrphan, "in-foreground": metav1.DeletePropagationForeground} {
		j := ending(name)
		err := w.client.BatchV1().Jobs(w.namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &how})
		if err != nil {
			t.Fatal(err)
		}
		w.gone(j)
		w.letGo(name)
		t.Logf("%s: %d pods are left", name, len(w.pods(name)))
	}

	want := result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: n}
	ending("cut")
	w.patch("cut", `{"parallelism":1,"suspend":true}`)
	w.ends("cut", want)

	ending("killed")
	w.kill(c)
	w.start(c)
	w.ends("killed", want)
}
