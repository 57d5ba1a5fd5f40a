package failpoint

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor"
)

const testUID types.UID = "00000000-0000-4000-8000-000000000001"

func testJob() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: testUID, ResourceVersion: "10"}}
	job.Spec.Template.Labels = map[string]string{"app": "demo"}
	return job
}

// TestEveryCommandPassesItsFailpoint carries out a command of each kind with all calls wrapped: it passes the points
// before and after the call that its traits name.
func TestEveryCommandPassesItsFailpoint(t *testing.T) {
	for traits := range events.AllTraits() {
		if traits.Target == events.TargetCommand {
			continue // it is not sent
		}
		t.Run(traits.Name, func(t *testing.T) {
			before, after := CallBefore+"."+traits.Call, CallAfter+"."+traits.Call
			for _, point := range []string{before, after} {
				if !slices.Contains(Names(), point) {
					t.Fatalf("there is no point %q", point)
				}
				p, reached := recorder(t, point+":1")
				r := carryOut(t, p, traits)
				if !slices.Equal(*reached, []string{point + ":1"}) {
					t.Errorf("it ended %s (%s%s) and reached %q, want %s", r.Ended.Ending, r.Evidence.Sentence, r.Evidence.Message, *reached, point)
				}
			}
		})
	}
}

// carryOut does what a command of the kind asks for, against a server that has all that it needs.
func carryOut(t *testing.T, p *Points, traits *events.Traits) events.TaskResult {
	t.Helper()
	c := examples.Command(traits)
	template := ""
	if create, ok := c.(*events.CreatePod); ok {
		template = create.Template
	}
	objects := executor.NewObjects(func(*kubewire.Job) (string, error) { return template, nil })
	job, err := kubewire.Jobs.Of(testJob())
	if err != nil {
		t.Fatal(err)
	}
	objects.KeepJob(job)
	cronTemplate := ""
	if create, ok := c.(*events.CreateJob); ok {
		cronTemplate = create.Template
	}
	objects.WithCronJobs(func(*kubewire.CronJob) (string, error) { return cronTemplate, nil }).KeepCronJob(testCronJob())
	if write, ok := c.(*events.WriteCronStatus); ok {
		write.Base = 10
	}
	var workloads executor.WorkloadAPI
	if traits.Kind == events.CommandResizeGroup {
		workloads = p.Workloads(&fakeWorkloads{})
	}
	e, err := executor.New(executor.Config{
		API: p.API(wholeapi.Of(&fakeAPI{})), Groups: p.Groups(&fakeGroups{}), Workloads: workloads, Crons: p.Crons(&fakeCrons{}), Objects: objects, Mode: events.ModeDelegated,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Submit(events.Task{
		Name: events.CommandID{Decided: 7}, Life: identity, Stream: events.JobStream(testUID), Command: c,
		Job: events.JobRef{Namespace: "default", Name: "demo", UID: testUID}, Pod: events.PodRef{Name: "demo-0", UID: events.PodOf(c)},
		Status: &events.JobStatus{}, Base: 10, Workload: "demo",
	})
	call, ok := e.Next(1)
	if !ok {
		t.Fatal("nothing is to be done")
	}
	return call.Do(t.Context())
}

func TestCallsForGroupsPassBeforeAndAfterTheirEffect(t *testing.T) {
	calls := map[string]func(executor.GroupAPI) error{
		ListWorkloads:  func(a executor.GroupAPI) error { _, err := a.ListWorkloads(t.Context(), ""); return err },
		ListPodGroups:  func(a executor.GroupAPI) error { _, err := a.ListPodGroups(t.Context(), ""); return err },
		GetWorkload:    func(a executor.GroupAPI) error { _, err := a.GetWorkload(t.Context(), "", ""); return err },
		CreateWorkload: func(a executor.GroupAPI) error { _, err := a.CreateWorkload(t.Context(), nil); return err },
		CreatePodGroup: func(a executor.GroupAPI) error { _, err := a.CreatePodGroup(t.Context(), nil); return err },
	}
	checkPoints(t, calls, func(refused error) (executor.GroupAPI, *int) {
		server := &fakeGroups{err: refused}
		return server, &server.calls
	}, (*Points).Groups)
}

// fakeGroups has one Workload, which is the Job's.
type fakeGroups struct {
	calls int
	err   error
}

func (f *fakeGroups) answer() error {
	f.calls++
	return f.err
}

func (f *fakeGroups) ListWorkloads(context.Context, string) ([]v1alpha2.Workload, error) {
	return nil, f.answer()
}

func (f *fakeGroups) ListPodGroups(context.Context, string) ([]v1alpha2.PodGroup, error) {
	return nil, f.answer()
}

func (f *fakeGroups) GetWorkload(context.Context, string, string) (*v1alpha2.Workload, error) {
	w := &v1alpha2.Workload{ObjectMeta: metav1.ObjectMeta{Name: "demo", OwnerReferences: []metav1.OwnerReference{
		{UID: testUID, Controller: new(true)},
	}}}
	w.Spec.PodGroupTemplates = []v1alpha2.PodGroupTemplate{{Name: "demo"}}
	return w, f.answer()
}

func (f *fakeGroups) CreateWorkload(_ context.Context, w *v1alpha2.Workload) (*v1alpha2.Workload, error) {
	return w, f.answer()
}

func (f *fakeGroups) CreatePodGroup(_ context.Context, g *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error) {
	return g, f.answer()
}

func TestCallsForWorkloadsPassBeforeAndAfterTheirEffect(t *testing.T) {
	calls := map[string]func(executor.WorkloadAPI) error{
		ListWorkloads:  func(a executor.WorkloadAPI) error { _, _, err := a.ReadWorkloads(t.Context(), "", ""); return err },
		GetWorkload:    func(a executor.WorkloadAPI) error { _, err := a.ReadWorkload(t.Context(), "", ""); return err },
		CreateWorkload: func(a executor.WorkloadAPI) error { _, err := a.MakeWorkload(t.Context(), "", nil); return err },
		PatchWorkload:  func(a executor.WorkloadAPI) error { _, err := a.PatchWorkload(t.Context(), "", "", nil); return err },
		GetPodGroup:    func(a executor.WorkloadAPI) error { _, err := a.ReadPodGroup(t.Context(), "", ""); return err },
		CreatePodGroup: func(a executor.WorkloadAPI) error { _, err := a.MakePodGroup(t.Context(), "", nil); return err },
		PatchPodGroup:  func(a executor.WorkloadAPI) error { _, err := a.PatchPodGroup(t.Context(), "", "", nil); return err },
	}
	checkPoints(t, calls, func(refused error) (executor.WorkloadAPI, *int) {
		server := &fakeWorkloads{fakeGroups{err: refused}}
		return server, &server.calls
	}, (*Points).Workloads)
}

// fakeWorkloads takes everything.
type fakeWorkloads struct{ fakeGroups }

func (f *fakeWorkloads) ReadWorkloads(context.Context, string, string) ([]*kubewire.Workload, string, error) {
	return nil, "", f.answer()
}

func (f *fakeWorkloads) ReadWorkload(context.Context, string, string) (*kubewire.Workload, error) {
	return &kubewire.Workload{}, f.answer()
}

func (f *fakeWorkloads) MakeWorkload(context.Context, string, []byte) (kubewire.Stored, error) {
	return kubewire.Stored{}, f.answer()
}

func (f *fakeWorkloads) PatchWorkload(context.Context, string, string, []byte) (kubewire.Stored, error) {
	return kubewire.Stored{}, f.answer()
}

func (f *fakeWorkloads) ReadPodGroup(context.Context, string, string) (*kubewire.PodGroup, error) {
	return &kubewire.PodGroup{}, f.answer()
}

func (f *fakeWorkloads) MakePodGroup(context.Context, string, []byte) (kubewire.Stored, error) {
	return kubewire.Stored{}, f.answer()
}

func (f *fakeWorkloads) PatchPodGroup(context.Context, string, string, []byte) (kubewire.Stored, error) {
	return kubewire.Stored{}, f.answer()
}
