package drive_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestSeedsOfWorkloads lets Jobs be scheduled by the rules of Kubernetes 1.37, in the worlds of many seeds. Users
// change how many pods run, the API of Workloads is switched off and on, and PodGroups without pods are deleted. No Job
// has two Workloads, no pod of a gang is made before its PodGroup exists, and pods name the PodGroup while it exists
// (J-240 to J-247).
func TestSeedsOfWorkloads(t *testing.T) {
	t.Parallel()
	sum := &groupsSeen{}
	all := []uint64{277} // the adoption of a stray pod is refused before the Job has its PodGroup
	for seed := range uint64(seeds(t, 8)) {
		all = append(all, seed)
	}
	for _, seed := range all {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := config(seed)
			cfg.Settings.GangScheduling, cfg.Settings.Gangs = true, events.GangsOfRoots
			if seed%3 == 0 {
				cfg.Settings.Gangs = events.GangsAsked
			}
			if seed%2 == 0 {
				cfg.Files, cfg.Snapshot = 8<<10, 20
			}
			d := runGroups(t, cfg, grouped(seed))
			if err := sum.check(d.World.Server, cfg.Settings.Gangs); err != nil {
				t.Errorf("%v\nlast records:\n%s", err, d.Records(300))
			}
		})
	}
	if sum.inGang == 0 || sum.inBasic == 0 || sum.plain == 0 || sum.resized == 0 || sum.dropped == 0 {
		t.Errorf("the seeds were of too little: %+v", sum)
	}
}

// runGroups is runJobs with additional events about groups.
func runGroups(t *testing.T, cfg drive.Config, jobs []*batchv1.Job) *drive.Driver {
	t.Helper()
	d, err := drive.New(cfg, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	rng := world.Rand(cfg.World.Seed, 12)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\nlast steps:\n%s\nlast records:\n%s\n%s", err, d.History(60), d.Records(300), toRepeat(t))
		}
	}
	for range 30 {
		server := d.World.Server
		server.ServeGroups(rng.IntN(6) != 0)
		if rng.IntN(3) == 0 {
			server.DropPodGroup("user")
		}
		must(d.Steps(50))
	}
	d.World.Server.ServeGroups(true)
	must(d.Settle())
	must(d.CheckLog())
	return d
}

// grouped returns the Jobs of a seed. Some ask for a gang, some for no gang, some say nothing, and some have an owner.
func grouped(seed uint64) []*batchv1.Job {
	out := jobs(seed)
	rng := world.Rand(seed, 11)
	for _, job := range out {
		policy := &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{}
		job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: policy}
		switch rng.IntN(4) {
		case 0, 1:
			policy.Gang = &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: someOf(rng, job.Spec.Parallelism)}
		case 2:
			policy.Basic = &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{}
		default:
			job.Spec.Scheduling = nil
		}
		if rng.IntN(6) == 0 {
			job.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "set", Controller: new(true),
			}}
		}
	}
	return out
}

// someOf returns a minCount, or nil.
func someOf(rng *rand.Rand, parallelism *int32) *int32 {
	if rng.IntN(2) == 0 {
		return nil
	}
	return new(1 + rng.Int32N(*parallelism))
}

// groupsSeen counts the pods and events of all seeds by kind, to show that the test meets each kind.
type groupsSeen struct{ inGang, inBasic, plain, resized, dropped int }

// late is how long a pod may still name a deleted PodGroup after the controller was told that it is gone: the create
// was in flight.
const late = 30 * time.Second

func (n *groupsSeen) check(server *apiserver.Server, rule events.GangRule) error {
	workloads, groups := map[types.UID]string{}, map[types.UID]string{}
	gone, begun, all := toldGone(server), map[types.UID]bool{}, map[types.UID]*batchv1.Job{}
	for _, w := range server.Writes(0) {
		owner := apiserver.ControllerOf(w.Object())
		switch o := w.Object().(type) {
		case *batchv1.Job:
			all[o.UID] = o
		case *schedulingv1beta1.Workload:
			switch {
			case w.After == nil:
				delete(workloads, owner)
			case w.Before != nil:
				n.resized++
			case workloads[owner] != "":
				return fmt.Errorf("version %d: Workload %s for Job %s, which has %s", w.Version, o.Name, owner, workloads[owner])
			default:
				workloads[owner] = o.Name
			}
		case *schedulingv1beta1.PodGroup:
			switch {
			case w.After == nil:
				delete(groups, owner)
				if w.Actor == "user" {
					n.dropped++
				}
			case w.Before == nil:
				groups[owner], begun[owner] = o.Name, true
			}
		case *corev1.Pod:
			if w.Before != nil || w.Actor != "jobledger" {
				begun[owner] = true // a pod of another maker, which the Job adopted
				continue
			}
			job := all[owner]
			asks := job != nil && job.Spec.Scheduling != nil && job.Spec.Scheduling.SchedulingPolicy.Gang != nil
			if err := n.pod(&w, o, job, groups[owner], gone, asks && !begun[owner], rule); err != nil {
				return err
			}
			begun[owner] = true // also true if its PodGroup existed: it is not new any more, and gets no other
		}
	}
	return nil
}

// toldGone returns when the controller was first told that each deleted PodGroup is gone.
func toldGone(server *apiserver.Server) map[string]time.Time {
	removed, told := map[string]uint64{}, map[string]time.Time{}
	for _, w := range server.Writes(0) {
		if w.Kind == apiserver.PodGroups && w.After == nil {
			removed[w.Key.Name] = w.Version
		}
	}
	for _, c := range server.Calls(0) {
		at, was := removed[c.Name]
		status := apierrors.APIStatus(nil)
		if c.Kind != apiserver.PodGroups || c.Verb != "get" || !was || c.Version < at || !errors.As(c.Err, &status) || !told[c.Name].IsZero() {
			continue
		}
		if s := status.Status(); s.Code == http.StatusNotFound && s.Details.Name != "" {
			told[c.Name] = c.Time
		}
	}
	return told
}

// pod checks a new pod. first: it is the first pod of a Job that asks for a gang.
func (n *groupsSeen) pod(
	w *apiserver.Write, pod *corev1.Pod, job *batchv1.Job, group string, gone map[string]time.Time, first bool, rule events.GangRule,
) error {
	named := ""
	if g := pod.Spec.SchedulingGroup; g != nil {
		named = *g.PodGroupName
	}
	root := job != nil && metav1.GetControllerOf(job) == nil
	switch at, was := gone[named]; {
	case named == "" && first && root:
		return fmt.Errorf("version %d: pod %s of Job %s is outside of its gang", w.Version, pod.Name, job.Name)
	case named != "" && !root:
		return fmt.Errorf("version %d: pod %s of Job %s, which has an owner, is in group %s", w.Version, pod.Name, job.Name, named)
	case named != "" && rule == events.GangsAsked && job.Spec.Scheduling == nil:
		return fmt.Errorf("version %d: pod %s of Job %s, which asks for nothing, is in group %s", w.Version, pod.Name, job.Name, named)
	case named == "":
		n.plain++
	case group == "" && (!was || w.Time.Sub(at) < late): // the controller was not told
	case named != group:
		return fmt.Errorf("version %d: pod %s of Job %s names %q, and its PodGroup is %q", w.Version, pod.Name, job.Name, named, group)
	case job.Spec.Scheduling != nil && job.Spec.Scheduling.SchedulingPolicy.Gang != nil:
		n.inGang++
	default:
		n.inBasic++
	}
	return nil
}
