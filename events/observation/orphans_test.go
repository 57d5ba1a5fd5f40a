package observation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// TestWhoMayAdopt: the Jobs that may adopt an ownerless pod are computed anew for each observation of the pod. A Job
// that is over, or is being deleted, is not among them (J-011, J-175).
func TestWhoMayAdopt(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		generated, manual := testJob("generated"), testJob("manual", selecting(map[string]string{"app": "x"}))
		c.set(generated)
		c.set(manual)
		_, r := start()
		both := map[string]string{controllerUIDLabel: "uid-generated", "app": "x"}
		r.take()
		c.set(testPod("p", labelled(both)))
		expect(t, r.take(), "pod p v3 candidates=[uid-generated uid-manual]")

		c.set(testJob("manual", selecting(map[string]string{"app": "x"}), func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}))
		r.take()
		c.set(testPod("q", labelled(both)))
		expect(t, r.take(), "pod q v5 candidates=[uid-generated]")
	})
}

// TestAnOrphanTellsWhoseItWas: the annotation of a pod without an owner tells which Job made it or adopted it, in
// whatever log. The ordinal counts only in the same epoch of the same log (J-031, J-100).
func TestAnOrphanTellsWhoseItWas(t *testing.T) {
	other := events.Identity{LogID: "another", Epoch: 7}
	for _, row := range []struct {
		name       string
		annotation string
		owner      *batchv1.Job
		maker      string
		ordinal    uint64
	}{
		{"made by this log", testIdentity.CommandOf("uid-mine", 5), nil, "uid-mine", 5},
		{"adopted by a Job of this log", testIdentity.CommandOf("uid-mine", 0), nil, "uid-mine", 0},
		{"made by another log", other.CommandOf("uid-mine", 5), nil, "uid-mine", 0},
		{"made by nobody of us", "", nil, "", 0},
		{"one that its Job owns tells the ordinal only", testIdentity.CommandOf("uid-mine", 5), testJob("mine"), "", 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			pod := testPod("p")
			if row.owner != nil {
				pod = testPod("p", of(row.owner))
			}
			pod.Annotations = map[string]string{events.CommandAnnotation: row.annotation}
			f := readPod(wire(pod), 1, testIdentity)
			if string(f.seen.Maker) != row.maker || f.seen.Ordinal != row.ordinal {
				t.Errorf("maker %q, ordinal %d; want %q, %d", f.seen.Maker, f.seen.Ordinal, row.maker, row.ordinal)
			}
		})
	}
}
