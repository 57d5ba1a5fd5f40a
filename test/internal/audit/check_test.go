package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// wholeStory is the life of a Job and a CronJob with one command of each kind that writes. Each outcome is certain, so
// that each mutation must be found.
func wholeStory(t *testing.T) *story {
	s, j, c := newStory(t), events.JobStream(job), events.CronJobStream(cron)
	yes := true
	ofJob := []metav1.OwnerReference{{UID: job, Controller: &yes}}
	ofCron := []metav1.OwnerReference{{UID: cron, Controller: &yes}}
	for i, row := range []struct {
		stream  events.Stream
		command events.Command
		end     events.CommandEnded
		name    string
		write   func()
	}{
		{j, &events.CreateWorkload{}, done, "demo-w", func() {
			s.write(201, controlplane.Write{Group: "scheduling.k8s.io", Verb: "create", Resource: "workloads", Name: "demo-w"},
				map[string]any{"metadata": metav1.ObjectMeta{OwnerReferences: ofJob}})
		}},
		{j, &events.CreatePodGroup{}, done, "demo-g", func() {
			s.write(201, controlplane.Write{Group: "scheduling.k8s.io", Verb: "create", Resource: "podgroups", Name: "demo-g"},
				map[string]any{"metadata": metav1.ObjectMeta{OwnerReferences: ofJob}})
		}},
		{j, &events.ResizeGroup{MinCount: 3}, done, "demo-g", func() {
			s.write(200, controlplane.Write{Group: "scheduling.k8s.io", Verb: "patch", Resource: "podgroups", Name: "demo-g"}, []map[string]any{
				{"op": "test", "path": "/metadata/ownerReferences/0/uid", "value": job},
				{"op": "replace", "path": "/spec/schedulingPolicy/gang/minCount", "value": 3},
			})
		}},
		{j, &events.WriteStatus{Base: 7}, done, "demo", func() { writeStatus(s, 200, "7") }},
		{j, &events.CreatePod{Ordinal: 1}, done, "demo-a", func() { createPod(s, 201, "demo-a", 1) }},
		{j, &events.CreatePod{Ordinal: 2}, refused(events.RefusedInvalid), "demo-b", func() { createPod(s, 422, "demo-b", 2) }},
		{j, &events.DeletePod{Pod: "a"}, done, "demo-a", func() { deletePod(s, 200, "demo-a", "a") }},
		{j, &events.DropFinalizer{Pod: "a"}, done, "demo-a", func() { patchPod(s, 200, "demo-a", dropOf("a")) }},
		{j, &events.AdoptPod{Pod: "c", Version: 9}, done, "other", func() {
			patchPod(s, 200, "other", fmt.Sprintf(
				`"uid":"c","resourceVersion":"9","ownerReferences":[{"uid":%q,"controller":true}],"finalizers":[%q]`, job, events.TrackingFinalizer))
		}},
		{j, &events.ReleasePod{Pod: "c", Version: 10}, refused(events.RefusedConflict), "other", func() {
			patchPod(s, 409, "other", fmt.Sprintf(`"uid":"c","resourceVersion":"10","ownerReferences":[{"$patch":"delete","uid":%q}]`, job))
		}},
		{j, &events.DeleteJob{Job: job, Version: 11}, done, "demo", func() {
			policy, uid, version := metav1.DeletePropagationForeground, job, "11"
			s.write(200, controlplane.Write{Group: "batch", Verb: "delete", Resource: "jobs", Name: "demo"}, &metav1.DeleteOptions{
				PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
			})
		}},
		{c, &events.CreateJob{Name: "nightly-1"}, done, "nightly-1", func() {
			s.write(201, controlplane.Write{Group: "batch", Verb: "create", Resource: "jobs", Name: "nightly-1"},
				map[string]any{"metadata": metav1.ObjectMeta{OwnerReferences: ofCron}})
		}},
		{c, &events.DeleteRun{Job: job, Name: "demo"}, refused(events.RefusedNotFound), "demo", func() {
			policy, uid := metav1.DeletePropagationBackground, job
			s.write(404, controlplane.Write{Group: "batch", Verb: "delete", Resource: "jobs", Name: "demo"}, &metav1.DeleteOptions{
				PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid},
			})
		}},
		{c, &events.WriteCronStatus{Base: 12}, done, "nightly", func() {
			s.write(200, controlplane.Write{
				Group: "batch", Verb: "update", Resource: "cronjobs/status", Name: "nightly", UID: string(cron), Version: "12",
			}, nil)
		}},
	} {
		id := s.decide(row.stream, row.command)
		row.write()
		if got := len(s.logged); got != i+1 {
			t.Fatalf("row %d made %d writes", i, got)
		}
		s.end(row.stream, id, row.end, named(row.name))
	}
	return s
}

// TestEachMutantIsFound takes the whole story, which has no problems, and changes one thing of each command and of each
// write. Check must report each change.
func TestEachMutantIsFound(t *testing.T) {
	whole := wholeStory(t)
	if p := whole.problems(); len(p) > 0 {
		t.Fatalf("the whole story has problems:\n%s", strings.Join(p, "\n"))
	}
	kinds := map[events.CommandKind]bool{}
	for i, rec := range whole.records {
		switch f := rec.Facts.(type) {
		case *events.Decision:
			kind := f.Commands()[0].Traits()
			kinds[kind.Kind] = true
			whole.mutant("no command for "+kind.Name, func(m *story) { m.records[i].Facts = &events.Decision{} })
		case *events.CommandEnded:
			whole.mutateOutcome(i, f)
		}
	}
	for traits := range events.AllTraits() {
		if writes := !traits.Reads && traits.Target != events.TargetCommand; writes != kinds[traits.Kind] {
			t.Errorf("the whole story has a %s: %t", traits.Name, kinds[traits.Kind])
		}
	}
	for i := range whole.logged {
		whole.mutateLine(i)
		whole.mutateObject(i)
	}
}

// mutant reports an error if Check does not find the change.
func (s *story) mutant(what string, change func(*story)) {
	s.t.Helper()
	m := s.clone()
	change(m)
	if len(m.problems()) == 0 {
		s.t.Errorf("not found: %s", what)
	}
}

func (s *story) mutateOutcome(i int, f *events.CommandEnded) {
	s.mutant("no outcome of "+f.Type.String(), func(m *story) { m.records = slices.Delete(m.records, i, i+1) })
	for _, other := range []events.CommandEnded{done, refused(events.RefusedTooManyRequests), {Ending: events.Withdrawn}} {
		if other.Ending == f.Ending {
			continue
		}
		other.Command, other.Type = f.Command, f.Type
		s.mutant(f.Type.String()+" ended "+other.Ending.String(), func(m *story) { m.records[i].Facts = &other })
	}
	wrong := *f
	wrong.Type = events.CommandReadJob
	s.mutant(f.Type.String()+" ended as another command", func(m *story) { m.records[i].Facts = &wrong })
}

func (s *story) mutateLine(i int) {
	w := s.logged[i]
	what := w.Verb + " " + w.Resource + " " + w.Name
	s.mutant("no line for "+what, func(m *story) { m.logged = slices.Delete(m.logged, i, i+1) })
	if w.Name != "demo-b" { // the command of demo-b is retried: a repeated refusal need not be recorded
		s.mutant("two lines for "+what, func(m *story) { m.logged = append(m.logged, w) })
	}
	codes := []int{400, 409, 500}
	if !accepted(w.Code) {
		codes = []int{200, 201, 429, 500}
	}
	for _, code := range codes {
		s.mutant(fmt.Sprintf("code %d for %s", code, what), func(m *story) { m.logged[i].Code = code })
	}
}

func (s *story) mutateObject(i int) {
	changes := map[string]func(*controlplane.Write){
		"name":      func(w *controlplane.Write) { w.Name += "x" },
		"namespace": func(w *controlplane.Write) { w.Namespace += "x" },
		"resource":  func(w *controlplane.Write) { w.Resource = "configmaps" },
		"verb":      func(w *controlplane.Write) { w.Verb = "deletecollection" },
		"uid": func(w *controlplane.Write) {
			w.UID += "x"
			w.Body = strings.NewReplacer(`"uid":"`, `"uid":"x`, `"value":"`, `"value":"x`).Replace(w.Body)
		},
	}
	w := s.logged[i]
	if w.Version != "" || strings.Contains(w.Body, "resourceVersion") {
		changes["version"] = func(w *controlplane.Write) {
			w.Version += "0"
			w.Body = strings.ReplaceAll(w.Body, `"resourceVersion":"`, `"resourceVersion":"1`)
		}
	}
	for name, change := range changes {
		s.mutant(fmt.Sprintf("another %s for %s %s %s", name, w.Verb, w.Resource, w.Name), func(m *story) { change(&m.logged[i]) })
	}
}
