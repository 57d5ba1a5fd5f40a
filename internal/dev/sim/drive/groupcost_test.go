package drive_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestAGroupCostsTwoWritesAndARead: for each Job its Workload is made, read once, and its PodGroup is made. Nothing is
// listed, however many gangs the namespace has: 30 and 300, and 10,000 with JOBLEDGER_LONG.
func TestAGroupCostsTwoWritesAndARead(t *testing.T) {
	t.Parallel()
	sizes := []int{30, 300}
	if effort.IsLong() {
		sizes = append(sizes, 10_000)
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			settings := events.DefaultSettings()
			settings.GangScheduling, settings.Gangs = true, events.GangsOfRoots
			d, err := drive.New(drive.Config{
				Settings: settings,
				World:    world.Config{Seed: 1, Kubelet: kubelet.Config{Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Confirm: upTo(2)}},
			}, gangsAlike(n)...)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(d.Steps(20*n), d.Settle()); err != nil { // Settle alone takes only so many steps
				t.Fatalf("%v\nlast steps:\n%s", err, d.History(60))
			}
			for _, job := range d.World.Server.StoredJobs() {
				if job.Status.Succeeded != 2 {
					t.Fatalf("Job %s has not ended: %+v", job.Name, job.Status)
				}
			}
			asked := map[string]int{}
			for _, c := range d.World.Server.Calls(0) {
				if c.Actor == "jobledger" && (c.Kind == apiserver.Workloads || c.Kind == apiserver.PodGroups) {
					asked[c.Verb+" "+string(c.Kind)]++
				}
			}
			if diff := cmp.Diff(map[string]int{"create workloads": n, "get workloads": n, "create podgroups": n}, asked); diff != "" {
				t.Errorf("requests about the groups of %d Jobs (-want +got):\n%s", n, diff)
			}
		})
	}
}

// gangsAlike returns Jobs of two pods each that start together.
func gangsAlike(n int) (all []*batchv1.Job) {
	for i := range n {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("gang-%d", i)}}
		job.Spec = batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy), Parallelism: new(int32(2)), Completions: new(int32(2)), BackoffLimit: new(int32(0)),
			Scheduling: &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
				Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
			}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
			}},
		}
		all = append(all, job)
	}
	return all
}
