package drive_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestTheLogOfABigJobIsSmall counts the stored bytes for each pod of a Job without failures.
func TestTheLogOfABigJobIsSmall(t *testing.T) {
	t.Parallel()
	for _, mode := range []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion} {
		t.Run(string(mode), func(t *testing.T) {
			const pods = 400
			seconds := func(min, max int) kubelet.Range {
				return kubelet.Range{Min: time.Duration(min) * time.Second, Max: time.Duration(max) * time.Second}
			}
			d, err := drive.New(drive.Config{Settings: events.DefaultSettings(), World: world.Config{
				Kubelet: kubelet.Config{Schedule: seconds(0, 1), Start: seconds(1, 2), RunTime: seconds(2, 20)},
			}}, &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "big"},
				Spec: batchv1.JobSpec{
					ManagedBy: new(events.ManagedBy), Parallelism: new(int32(100)), Completions: new(int32(pods)), CompletionMode: &mode,
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
					}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Settle(); err != nil {
				t.Fatal(err)
			}
			total := 0
			kinds := map[events.Kind][2]int{}
			for rec, err := range d.Log().Read(context.Background(), 1) {
				if err != nil {
					t.Fatal(err)
				}
				stored, err := events.AppendRecord(nil, &rec)
				if err != nil {
					t.Fatal(err)
				}
				total += len(stored)
				k := kinds[rec.Kind]
				kinds[rec.Kind] = [2]int{k[0] + 1, k[1] + len(stored)}
			}
			for kind, k := range kinds {
				if k[1] > total/100 {
					t.Logf("%-14s %6d records %8d bytes, %d each", kind, k[0], k[1], k[1]/k[0])
				}
			}
			t.Logf("%d bytes for each pod", total/pods)
			if total > 2000*pods {
				t.Errorf("the log holds %d bytes for each pod, want at most 2000", total/pods)
			}
		})
	}
}
