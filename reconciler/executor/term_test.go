package executor

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// inTerm gives the world the executor of a process that has opened the log in this term.
func (w *world) inTerm(term uint64) {
	w.Helper()
	config := w.executor.config
	config.Term = term
	var err error
	if w.executor, err = New(config); err != nil {
		w.Fatal(err)
	}
}

// TestACreateMeetsItselfInALaterTerm: a process sends a create, and ends before the answer comes. The next process, in
// the next term, sends it again under the same name. It takes the pod of the earlier term as the Job's own and does not
// change it, and no second pod is made.
func TestACreateMeetsItselfInALaterTerm(t *testing.T) {
	w := newWorld(t)
	w.inTerm(3)
	create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}
	w.client.FailNext(apiserver.Fault{Kind: apiserver.TimeoutAfter})
	w.wants(w.do(w.task(create)), events.OutcomeUnknown, 0, true)
	first := w.server.Pod("default", identity.PodName(w.job.UID, "demo-", 1))
	if first == nil || first.Annotations[events.TermAnnotation] != "3" {
		t.Fatalf("the first try made %+v", first)
	}

	w.inTerm(4)
	again := *create
	again.Again = true
	r := w.do(w.task(&again))
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != first.UID || len(r.Observations) != 1 || r.Observations[0].Facts.(*events.PodSeen).UID != first.UID {
		t.Errorf("done with %s, observed %v; want the pod of the first try, %s", r.Ended.UID, r.Observations, first.UID)
	}
	pods := w.server.List(apiserver.Pods).Items
	if len(pods) != 1 || pods[0].GetAnnotations()[events.TermAnnotation] != "3" {
		t.Errorf("there are the pods %v, want the one of term 3", pods)
	}
}

// TestOnlyWhatIsCreatedBearsTheTerm: the pods, Workloads and PodGroups that we create bear it, whatever the Job's
// template says. The users' own objects do not: a Job, or a pod that is adopted.
func TestOnlyWhatIsCreatedBearsTheTerm(t *testing.T) {
	w := newGangWorld(t)
	w.inTerm(12)
	w.wants(w.do(w.write(versionOf(w.job))), events.Done, 0, true)
	w.job = w.server.Job("default", "demo").DeepCopy()
	w.job.Generation++ // as if a user had changed it
	w.job.Spec.Template.Annotations = map[string]string{events.TermAnnotation: "a user's", "note": "kept"}
	w.objects.KeepJob(wire(w.job))
	pod := w.create(1)
	if got := w.server.Pod("default", pod.Name).Annotations; got[events.TermAnnotation] != "12" || got["note"] != "kept" {
		t.Errorf("the pod bears %v", got)
	}

	made := w.do(w.task(&events.CreateWorkload{MinCount: 3}))
	w.wants(made, events.Done, 0, true)
	create := w.task(&events.CreatePodGroup{})
	create.Workload = made.Evidence.Name
	w.wants(w.do(create), events.Done, 0, true)
	workloads, err := w.other.ListWorkloads(t.Context(), "default")
	if err != nil || len(workloads) != 1 || workloads[0].Annotations[events.TermAnnotation] != "12" {
		t.Errorf("the Workloads are %+v, %v", workloads, err)
	}
	groups, err := w.other.ListPodGroups(t.Context(), "default")
	if err != nil || len(groups) != 1 || groups[0].Annotations[events.TermAnnotation] != "12" {
		t.Errorf("the PodGroups are %+v, %v", groups, err)
	}

	orphan, err := w.other.CreatePod(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: w.job.Spec.Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wants(w.do(w.about(orphan, &events.AdoptPod{Pod: orphan.UID, Version: versionOf(orphan), Mark: true})), events.Done, 0, true)
	users := map[string]metav1.Object{"pod": w.server.Pod("default", "p"), "Job": w.server.Job("default", "demo")}
	for what, o := range users {
		if _, bears := o.GetAnnotations()[events.TermAnnotation]; bears {
			t.Errorf("the user's %s bears %v", what, o.GetAnnotations())
		}
	}
	if owner := metav1.GetControllerOf(users["pod"]); owner == nil || users["Job"].(*batchv1.Job).Status.StartTime == nil {
		t.Errorf("the pod is owned by %v, the Job's status is %+v: the test proves nothing", owner, users["Job"].(*batchv1.Job).Status)
	}
}
