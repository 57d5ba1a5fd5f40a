package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// TestTheLogSaysWhatAPostmortemAsks: the log shows how a Job was created, that its pod could not get its image for a
// while, and that a user scaled it.
func TestTheLogSaysWhatAPostmortemAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.run("")
	k, err := kubelet.New(t.Context(), w.client)
	if err != nil {
		t.Fatal(err)
	}
	w.create(newJob("demo", func(j *batchv1.Job) {
		j.Labels = map[string]string{"team": "data", "colour": "red"}
		j.Annotations = map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		kubelet.Place(&j.Spec.Template)
	}))
	w.eventually("its pod is there", func() (bool, error) { return len(w.pods("demo")) == 1, nil })
	pod := w.pods("demo")[0]
	if err := k.Wait(t.Context(), &pod, "ImagePullBackOff", `Back-off pulling image "registry.example/etl:1.9"`); err != nil {
		t.Fatal(err)
	}
	w.recorded(c, "PodChanged", `"waiting":"ImagePullBackOff"`, `registry.example/etl:1.9`)
	_, err = w.client.BatchV1().Jobs(w.namespace).Patch(
		t.Context(), "demo", types.MergePatchType, []byte(`{"spec":{"parallelism":2}}`), metav1.PatchOptions{FieldManager: "scaler"})
	if err != nil {
		t.Fatal(err)
	}
	w.recorded(c, "JobChanged", `"edit":{"manager":"scaler","operation":"Update","time":"`)
	pod = w.pods("demo")[0]
	if err := k.Run(t.Context(), &pod, true); err != nil {
		t.Fatal(err)
	}
	w.recorded(c, "PodChanged", `"running":"`)
	for _, p := range w.pods("demo") {
		if err := k.Succeed(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
	}
	w.recorded(c, "PodChanged", `"reason":"Completed"`, `"started":"`, `"finished":"`)
	for _, r := range w.recorded(c, "JobAdded", `"labels":[{"name":"team","value":"data"}]`, `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`) {
		if evidence := string(r.Evidence); strings.Contains(evidence, "colour") || !strings.Contains(evidence, `"edit":{"manager":"`) {
			t.Errorf("the Job's first record says %s", evidence)
		}
	}
}

// recorded waits for a record of the Job demo that contains all of these texts, and returns all such records.
func (w *world) recorded(c *controller.Controller, kind string, texts ...string) (found []controller.Record) {
	w.t.Helper()
	w.logSays("a record "+kind+" says "+strings.Join(texts, " and "), func() (bool, error) {
		records, err := c.Records(w.t.Context(), "job/demo", "-n", w.namespace, "--kind", kind)
		if err != nil {
			return false, err
		}
		for _, r := range records {
			all := string(r.Facts) + string(r.Evidence)
			holds := true
			for _, text := range texts {
				holds = holds && strings.Contains(all, text)
			}
			if holds {
				found = append(found, r)
			}
		}
		return len(found) > 0, nil
	})
	return found
}
