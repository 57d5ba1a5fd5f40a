package drive_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// TestSeedsOfGangs lets half of the Jobs be gangs, in the worlds of many seeds. Every Job has one Workload and one
// PodGroup at a time, whatever is lost in between; both exist before its first pod, and its pods name the PodGroup
// (J-240 to J-247).
func TestSeedsOfGangs(t *testing.T) {
	t.Parallel()
	grouped := 0
	for seed := range uint64(seeds(t, 6)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Settings.GangScheduling = true
			if seed%2 == 0 {
				cfg.Files, cfg.Snapshot = 8<<10, 20
			}
			d := runJobs(t, cfg, gangs(seed))
			n, err := checkGroups(d.World.Server.Writes(0))
			if err != nil {
				t.Errorf("%v\nlast records:\n%s", err, d.Records(300))
			}
			grouped += n
		})
	}
	if grouped == 0 {
		t.Error("no pod of any seed was in a group: the test has tested nothing")
	}
}

// gangs returns the Jobs of a seed. About half of them run as many pods at once as they have indexes.
func gangs(seed uint64) []*batchv1.Job {
	out := jobs(seed)
	for i, job := range out {
		if (uint64(i)+seed)%2 == 0 && job.Spec.Completions != nil {
			job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
			job.Spec.Parallelism = new(*job.Spec.Completions)
		}
	}
	return out
}

// checkGroups checks the controller's creates, and counts the pods that name a PodGroup.
func checkGroups(writes []apiserver.Write) (grouped int, err error) {
	workloads, groups := map[types.UID]string{}, map[types.UID]string{}
	for _, w := range writes {
		if w.After == nil { // a create in flight when the Job went comes after the garbage collector
			switch w.Before.(type) {
			case *v1alpha2.Workload:
				delete(workloads, apiserver.ControllerOf(w.Before))
			case *v1alpha2.PodGroup:
				delete(groups, apiserver.ControllerOf(w.Before))
			}
		}
		if w.Before != nil || w.Actor != "jobledger" {
			continue
		}
		owner := apiserver.ControllerOf(w.After)
		switch o := w.After.(type) {
		case *v1alpha2.Workload:
			if first := workloads[owner]; first != "" {
				return 0, fmt.Errorf("version %d: Workload %s for Job %s, which has %s", w.Version, o.Name, owner, first)
			}
			workloads[owner] = o.Name
		case *v1alpha2.PodGroup:
			if first := groups[owner]; first != "" {
				return 0, fmt.Errorf("version %d: PodGroup %s for Job %s, which has %s", w.Version, o.Name, owner, first)
			}
			if of := o.Spec.PodGroupTemplateRef.Workload.WorkloadName; of != workloads[owner] {
				return 0, fmt.Errorf("version %d: PodGroup %s of Workload %q, its Job's is %q", w.Version, o.Name, of, workloads[owner])
			}
			groups[owner] = o.Name
		case *corev1.Pod:
			g := o.Spec.SchedulingGroup
			if g == nil {
				continue
			}
			if grouped++; g.PodGroupName == nil || *g.PodGroupName == "" || *g.PodGroupName != groups[owner] {
				return 0, fmt.Errorf("version %d: pod %s names PodGroup %v, its Job's is %q", w.Version, o.Name, g.PodGroupName, groups[owner])
			}
		}
	}
	return grouped, nil
}
