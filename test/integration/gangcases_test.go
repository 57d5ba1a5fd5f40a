package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// Cases of TestGangs. If the built-in controller has the same outcome, it runs the case beside ours.

func complete(succeeded int32) result {
	return result{condition: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: succeeded}
}

// tooFewLeft: the scheduler counts pods of a gang that have not ended. Of three pods of a gang of two, the last one
// waits for ever after the first two have ended, under both controllers, until minCount is lowered. If the third pod
// comes before the scheduler has seen the end of the second, it is placed, and minCount need not be lowered.
func tooFewLeft(w *world) {
	w.runsGangs()
	w.both("odd", completions(3), parallelism(2), gang(nil), runFor("1s"))
	for _, job := range each("odd") {
		w.eventually("the last pod of "+job+" is alone, or has ended", func() (bool, error) {
			succeeded := w.job(job).Status.Succeeded
			return len(waiting(w.pods(job))) == 1 && succeeded == 2 || succeeded == 3, nil
		})
	}
	for _, job := range each("odd") {
		if w.job(job).Status.Succeeded < 3 {
			w.patch(job, `{"scheduling":{"schedulingPolicy":{"gang":{"minCount":1}}}}`)
		}
		w.ends(job, complete(3))
	}
}

// waiting returns the pods without a node.
func waiting(pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != "" })
}

// delegations: a Job with an owner gets no Workload. With the annotation it gets a PodGroup of that template of its
// owner's Workload, which does not own the PodGroup. If the template is missing, the Job gets plain pods, and our
// controller reports it. Each Job has its own template: PodGroups of one template have the same name.
func delegations(w *world) {
	w.runsGangs()
	owner, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(w.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "set"}}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.makes(&schedulingv1beta1.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "sets"},
		Spec: schedulingv1beta1.WorkloadSpec{
			ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{Kind: "ConfigMap", Name: "set"},
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{
				basicTemplate("ours-driver"), basicTemplate("them-driver"), gangTemplate("ours-workers"), gangTemplate("them-workers"),
			},
		},
	})
	owned := func(delegates bool) option {
		return func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "set", UID: owner.UID, Controller: new(true)}}
			if delegates {
				j.Annotations = map[string]string{kubewire.GroupTemplateAnnotation: j.Name}
			}
		}
	}
	for kind, delegates := range map[string]bool{"owned": false, "driver": true, "workers": true, "lost": true} {
		w.both(kind, completions(2), parallelism(2), runFor("1s"), owned(delegates))
	}
	for _, kind := range []string{"owned", "lost"} {
		for _, job := range each(kind) {
			w.ends(job, complete(2))
			if l, g := w.group(job); l != nil || g != nil || inGroups(w.pods(job)) != 0 {
				w.t.Errorf("Job %s has a Workload %v, a PodGroup %v", job, l, g)
			}
		}
	}
	w.hasEvent(w.job("ours-lost"), "NoPodGroupTemplate", "")
	for _, kind := range []string{"driver", "workers"} {
		var groups []*schedulingv1beta1.PodGroup
		for _, job := range each(kind) {
			w.ends(job, complete(2))
			l, g := w.group(job)
			if l != nil || g == nil || inGroups(w.pods(job)) != 2 || g.Spec.WorkloadRef.WorkloadName != "sets" || g.Spec.WorkloadRef.TemplateName != job {
				w.t.Fatalf("Job %s has a Workload %v, a PodGroup %+v", job, l, g)
			}
			named(&g.ObjectMeta)
			g.Spec.WorkloadRef = nil
			g.Status = schedulingv1beta1.PodGroupStatus{}
			groups = append(groups, g)
		}
		w.same("PodGroups of "+kind, groups[1], groups[0])
	}
}

func basicTemplate(name string) schedulingv1beta1.PodGroupTemplate {
	return schedulingv1beta1.PodGroupTemplate{
		Name: name, SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
	}
}

func gangTemplate(name string) schedulingv1beta1.PodGroupTemplate {
	return schedulingv1beta1.PodGroupTemplate{
		Name: name, SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}},
	}
}

// inGroups counts pods that name a PodGroup.
func inGroups(pods []corev1.Pod) int {
	return len(slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Spec.SchedulingGroup == nil }))
}

// makes creates a Workload.
func (w *world) makes(l *schedulingv1beta1.Workload) {
	w.t.Helper()
	if _, err := w.client.SchedulingV1beta1().Workloads(w.namespace).Create(w.t.Context(), l, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// hasEvent waits for an Event of the Job with these words.
func (w *world) hasEvent(j *batchv1.Job, reason, words string) {
	w.t.Helper()
	w.eventually("Job "+j.Name+" has an Event "+reason, func() (bool, error) {
		list, err := w.client.CoreV1().Events(w.namespace).List(w.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(j.UID)})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool { return e.Reason == reason && strings.Contains(e.Message, words) }), nil
	})
}

// cronJobsWithout: a Job of a CronJob has an owner, so it gets plain pods under both controllers, even if it asks for a
// gang.
func cronJobsWithout(w *world) {
	w.runsGangs()
	for who, by := range map[string]*string{"ours": new(events.ManagedBy), "them": nil} {
		job := newJob(who, completions(1), gang(nil), managedBy(by))
		if _, err := w.client.BatchV1().CronJobs(w.namespace).Create(w.t.Context(), &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: who},
			Spec:       batchv1.CronJobSpec{Schedule: "@every 1s", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec}},
		}, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, who := range []string{"ours", "them"} {
		w.eventually("a Job of "+who+" succeeded", func() (bool, error) {
			c, err := w.client.BatchV1().CronJobs(w.namespace).Get(w.t.Context(), who, metav1.GetOptions{})
			return err == nil && c.Status.LastSuccessfulTime != nil, err
		})
	}
	workloads, err := w.client.SchedulingV1beta1().Workloads(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(workloads.Items) != 0 || inGroups(w.pods("")) != 0 {
		w.t.Errorf("there are Workloads %v, %v, and %d pods in groups", workloads, err, inGroups(w.pods("")))
	}
}

// takenName: a user's Workload has the name that the Job's would get. The Job waits and says so, and goes on once that
// Workload is gone.
func takenName(w *world) {
	w.rough = true // a create is refused
	c := w.runsGangs()
	w.stop(c)
	j := w.create(newJob("demo", completions(2), parallelism(2), gang(nil)))
	name := j.Name + "-" + fnvText("(types.UID)"+string(j.UID))
	w.makes(&schedulingv1beta1.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1beta1.WorkloadSpec{PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
			Name: "t", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
		}}},
	})
	w.start(c)
	w.hasEvent(j, "FailedWorkloadCreate", "already exists")
	w.isHeld(c, j, "the name of its Workload is taken", "already exists")
	if err := w.client.SchedulingV1beta1().Workloads(w.namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.ends("demo", complete(2))
	if l, g := w.group("demo"); l == nil || g == nil || l.Name != name || inGroups(w.pods("demo")) != 2 {
		w.t.Errorf("Workload %v, PodGroup %v, %d pods in it", l, g, inGroups(w.pods("demo")))
	}
}

// isHeld waits until get and explain say that the Job gets no pods, and why, and checks that it has none.
func (w *world) isHeld(c *controller.Controller, j *batchv1.Job, why, words string) {
	w.t.Helper()
	w.logSays("get says that Job "+j.Name+" has no PodGroup", func() (bool, error) {
		got, err := c.Job(w.t.Context(), j.Name)
		return err == nil && got.State == "Waiting" && got.Reason == "NoPodGroup", nil // an error: the log does not know it yet
	})
	said, err := c.CLI(w.t.Context(), "explain", "job/"+j.Name, "-n", w.namespace)
	said = strings.Join(strings.Fields(said), " ") // lines are wrapped
	if err != nil || !strings.Contains(said, "STUCK") || !strings.Contains(said, why) || !strings.Contains(said, words) {
		w.t.Errorf("explain says, %v, without %q and %q:\n%s", err, why, words, said)
	}
	table, err := c.CLI(w.t.Context(), "get", "jobs", "-n", w.namespace)
	if err != nil || !strings.Contains(table, "Waiting (NoPodGroup)") {
		w.t.Errorf("get jobs says, %v:\n%s", err, table)
	}
	if n := len(w.pods(j.Name)); n != 0 {
		w.t.Errorf("Job %s has %d pods", j.Name, n)
	}
}

// foreignWorkload: both controllers ignore a Workload that a user made for a Job, and make their own.
func foreignWorkload(w *world) {
	w.runsGangs()
	for _, job := range each("foreign") {
		w.makes(&schedulingv1beta1.Workload{
			ObjectMeta: metav1.ObjectMeta{Name: "of-" + job},
			Spec: schedulingv1beta1.WorkloadSpec{
				ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: job},
				PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
					Name: "t", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 9}},
				}},
			},
		})
	}
	w.both("foreign", completions(2), parallelism(2), gang(nil), runFor("1s"))
	w.alike("foreign")
	for _, job := range each("foreign") {
		w.ends(job, complete(2))
	}
}

// deletedPodGroup: a pod has failed, and while the next one waits for its backoff, a user deletes the PodGroup. The Job
// is not new, so it gets no second PodGroup. Under both controllers its next pod is a plain one, which does not wait
// for ever.
func deletedPodGroup(w *world) {
	w.runsGangs()
	w.both("gone", completions(1), gang(nil), outcome(controlplane.OutcomeFail), backoffLimit(1))
	for _, job := range each("gone") {
		w.eventually("the first pod of "+job+" failed", func() (bool, error) { return w.job(job).Status.Failed == 1, nil })
		_, g := w.group(job)
		if g == nil {
			w.t.Fatalf("Job %s has no PodGroup", job)
		}
		if err := w.client.SchedulingV1beta1().PodGroups(w.namespace).Delete(w.t.Context(), g.Name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, job := range each("gone") {
		w.ends(job, result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 2})
		if n := inGroups(w.pods(job)); n != 1 {
			w.t.Errorf("%d of the two pods of Job %s are in a group, want the first", n, job)
		}
	}
}

// withoutRight: a Job that asks for a gang waits, with the server's message; others get plain pods. With the right it
// goes on.
func withoutRight(w *world) {
	w.rough = true // it may not do all
	c := w.run("delegated", "--gang-scheduling", "--max-api-backoff="+longest.String())
	w.create(newJob("plain", completions(1)))
	j := w.create(newJob("asks", completions(2), parallelism(2), gang(nil)))
	w.ends("plain", complete(1))
	if n := inGroups(w.pods("plain")); n != 0 {
		w.t.Error("a pod names a PodGroup that nobody may make")
	}
	const words = "cannot create resource \"workloads\""
	w.hasEvent(j, "FailedWorkloadCreate", words)
	w.isHeld(c, j, "its Workload cannot be made or read (Forbidden)", words)
	if err := controller.GrantGangs(w.t.Context(), w.cp, w.namespace, w.namespace); err != nil {
		w.t.Fatal(err)
	}
	w.ends("asks", complete(2))
	if n := inGroups(w.pods("asks")); n != 2 {
		w.t.Errorf("%d of two pods are in the gang", n)
	}
	w.hasEvent(j, "PodGroupCreated", fmt.Sprintf("for Job %s", j.Name))
}

// same compares the built-in's object with ours.
func (w *world) same(what string, theirs, ours any) {
	w.t.Helper()
	if diff := cmp.Diff(theirs, ours); diff != "" {
		w.t.Errorf("%s (-built-in +ours):\n%s", what, diff)
	}
}

// TestGangsWhileTheirAPIIsOff: the API server is restarted without the API of Workloads, and later with it, while the
// controller keeps running. Meanwhile a Job that asks for a gang waits, and has no pod outside of a gang. Others go on
// with plain pods.
func TestGangsWhileTheirAPIIsOff(t *testing.T) {
	if !long {
		t.Skip("starts an API server three times: JOBLEDGER_LONG=1")
	}
	t.Parallel()
	const api = "--runtime-config=scheduling.k8s.io/v1beta1="
	w := newWorldOn(t, controlplane.ForTest(t, controlplane.Options{APIServerArgs: []string{"--request-timeout=10s"}}.WithGangs()))
	w.rough = true
	if err := controller.GrantGangs(t.Context(), w.cp, w.namespace, w.namespace); err != nil {
		t.Fatal(err)
	}
	c := w.run("delegated", append([]string{"--gang-scheduling", "--max-api-backoff=" + longest.String()}, lasting...)...)
	again := func(on string) {
		t.Helper()
		if err := w.cp.Interrupt(binaries.APIServer); err != nil {
			t.Fatal(err)
		}
		if err := w.cp.ResumeWith(t.Context(), binaries.APIServer, api+on); err != nil {
			t.Fatal(err)
		}
	}
	w.create(newJob("first", completions(2), parallelism(2), gang(nil)))
	w.ends("first", complete(2))
	again("false")
	w.create(newJob("plain", completions(1)))
	j := w.create(newJob("asks", completions(2), parallelism(2), gang(nil)))
	w.isHeld(c, j, "cannot be made or read (Forbidden)", "could not find the requested resource")
	w.podsRunAgain("plain")
	w.ends("plain", complete(1))
	again("true")
	w.create(newJob("after", completions(2), parallelism(2), gang(nil)))
	for job, inGang := range map[string]int{"first": 2, "plain": 0, "asks": 2, "after": 2} {
		w.podsRunAgain(job)
		w.ends(job, complete(*w.job(job).Spec.Completions))
		if n := inGroups(w.pods(job)); n != inGang {
			t.Errorf("%d pods of Job %s are in a gang, want %d", n, job, inGang)
		}
	}
	if !c.Running() {
		t.Error("the controller has ended")
	}
}
