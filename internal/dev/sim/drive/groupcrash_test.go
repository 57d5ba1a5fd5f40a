package drive_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestACrashAtEachStepOfAGroup ends the process at each step of two gangs, so before and after each request about their
// groups, with and without its log, and again three steps later. Each Job has one Workload and one PodGroup, every pod
// is in its gang, and both Jobs end (J-242, J-245, J-247).
func TestACrashAtEachStepOfAGroup(t *testing.T) {
	t.Parallel()
	worlds, steps := 1, 72
	if effort.IsLong() {
		worlds, steps = 20, 150
	}
	between := map[string]int{} // number of crashes by the state of the first Job's group on the server
	for _, log := range []struct {
		is    string
		loses float64
	}{{"kept", 0}, {"lost", 1}} {
		for seed := range uint64(worlds) {
			for at := range steps {
				d, err := drive.New(calmGangs(seed, log.loses), gangsAlike(2)...)
				if err != nil {
					t.Fatal(err)
				}
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatalf("log %s, seed %d, crash at step %d: %v\nlast steps:\n%s\nlast records:\n%s", log.is, seed, at, err, d.History(80), d.Records(100))
					}
				}
				must(d.Steps(at))
				between[stageOf(d.World.Server)]++
				must(d.Crash())
				must(d.Steps(3))
				must(d.Crash())
				must(d.Settle())
				must(wholeGangs(d.World.Server))
			}
		}
	}
	for _, stage := range []string{"nothing", "a Workload", "both", "pods"} {
		if between[stage] == 0 {
			t.Errorf("no crash while the server had %s of a group: %v", stage, between)
		}
	}
}

// calmGangs configures a world in which nothing fails by itself.
func calmGangs(seed uint64, loses float64) drive.Config {
	settings := events.DefaultSettings()
	settings.GangScheduling, settings.Gangs = true, events.GangsOfRoots
	return drive.Config{
		Settings: settings, LoseLog: loses,
		World: world.Config{Seed: seed, Kubelet: kubelet.Config{Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Confirm: upTo(2)}},
	}
}

// stageOf returns how far the first Job's group has got on the server.
func stageOf(server *apiserver.Server) string {
	stage := "nothing"
	for _, w := range server.Writes(0) {
		switch o := w.Object().(type) {
		case *schedulingv1beta1.Workload:
			if stage == "nothing" && ofFirst(o.OwnerReferences[0].Name) {
				stage = "a Workload"
			}
		case *schedulingv1beta1.PodGroup:
			if ofFirst(o.OwnerReferences[0].Name) {
				stage = "both"
			}
		case *corev1.Pod:
			if ofFirst(o.OwnerReferences[0].Name) {
				return "pods"
			}
		}
	}
	return stage
}

func ofFirst(job string) bool { return job == "gang-0" }

// wholeGangs returns an error for a second group object of a Job, a pod without its Job's PodGroup, and a Job that has
// not ended.
func wholeGangs(server *apiserver.Server) error {
	workloads, groups := map[string]string{}, map[string]string{}
	for _, w := range server.Writes(0) {
		if w.Before != nil || w.After == nil {
			continue
		}
		switch o := w.After.(type) {
		case *schedulingv1beta1.Workload:
			job := o.OwnerReferences[0].Name
			if workloads[job] != "" {
				return fmt.Errorf("a second Workload %s of Job %s", o.Name, job)
			}
			workloads[job] = o.Name
		case *schedulingv1beta1.PodGroup:
			job := o.OwnerReferences[0].Name
			if groups[job] != "" || o.Spec.WorkloadRef.WorkloadName != workloads[job] {
				return fmt.Errorf("PodGroup %s of Workload %s for Job %s, which has %q of %q", o.Name, o.Spec.WorkloadRef.WorkloadName, job, groups[job], workloads[job])
			}
			groups[job] = o.Name
		case *corev1.Pod:
			job := o.OwnerReferences[0].Name
			if g := o.Spec.SchedulingGroup; g == nil || *g.PodGroupName != groups[job] || groups[job] == "" {
				return fmt.Errorf("pod %s of Job %s is outside of its gang %q: %+v", o.Name, job, groups[job], g)
			}
		}
	}
	for _, job := range server.StoredJobs() {
		if job.Status.Succeeded != 2 {
			return fmt.Errorf("Job %s has not ended: %+v", job.Name, job.Status)
		}
	}
	return nil
}
