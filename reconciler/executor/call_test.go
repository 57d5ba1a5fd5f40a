package executor

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
)

func TestCreateMakesThePodOfItsOrdinal(t *testing.T) {
	w := newWorld(t)
	r := w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
	w.wants(r, events.Done, 0, true)
	pod := w.server.Pod("default", identity.PodName(w.job.UID, "demo-", 1))
	if pod == nil {
		t.Fatal("there is no pod under the ordinal's name")
	}
	if r.Ended.UID != pod.UID || r.Ended.Version != versionOf(pod) || r.Evidence.Name != pod.Name || r.Evidence.Namespace != "default" {
		t.Errorf("result %+v of %+v, want pod %s at %s", r.Ended, r.Evidence, pod.UID, pod.ResourceVersion)
	}
}

// TestACreateSealsItsAnnotation: anyone can write the annotation. The seal proves that this log made the pod.
func TestACreateSealsItsAnnotation(t *testing.T) {
	key := events.Key{1}
	w := newWorld(t, func(c *Config) { c.Seal = key.Seal })
	w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
	pod := w.server.Pod("default", identity.PodName(w.job.UID, "demo-", 1))
	if seal := pod.Annotations[events.SealAnnotation]; seal == "" || seal != key.Seal("default", identity.CommandOf(w.job.UID, 1)) {
		t.Errorf("the seal is %q", seal)
	}
}

// J-060: a create that is tried twice meets the pod of the first try, and makes no second one.
func TestCreateMeetsThePodOfAnEarlierTry(t *testing.T) {
	w := newWorld(t)
	create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}
	w.client.FailNext(apiserver.Fault{Kind: apiserver.TimeoutAfter})
	w.wants(w.do(w.task(create)), events.OutcomeUnknown, 0, true)
	pod := w.server.Pod("default", identity.PodName(w.job.UID, "demo-", 1))
	if pod == nil {
		t.Fatal("the request that timed out had no effect: the test proves nothing")
	}

	again := *create
	again.Again = true
	r := w.do(w.task(&again))
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != pod.UID || r.Ended.Version != versionOf(pod) {
		t.Errorf("done with %s at %d, want the pod of the first try, %s at %s", r.Ended.UID, r.Ended.Version, pod.UID, pod.ResourceVersion)
	}
	if len(r.Observations) != 1 || r.Observations[0].Facts.(*events.PodSeen).UID != pod.UID {
		t.Errorf("observations %v, want the pod as it is now: it may have ended already", r.Observations)
	}
	if r.Evidence.Message != "" {
		t.Errorf("a success carries the words of a refusal: %s", r.Evidence.Message)
	}
}

func TestCreateUnderANameThatIsTaken(t *testing.T) {
	rows := []struct {
		sentence string
		change   func(*corev1.Pod)
	}{
		{"by a pod of nobody", func(p *corev1.Pod) { p.OwnerReferences, p.Annotations = nil, nil }},
		{"by a pod that carries our annotation but is another Job's", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }},
		{"by a pod of the Job that another log's create made", func(p *corev1.Pod) {
			other := events.Identity{LogID: identity.LogID, Epoch: 2}
			p.Annotations[events.CommandAnnotation] = other.CommandOf(p.OwnerReferences[0].UID, 1)
		}},
		{"by a pod of the Job that another create made", func(p *corev1.Pod) {
			p.Annotations[events.CommandAnnotation] = identity.CommandOf(p.OwnerReferences[0].UID, 2)
		}},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t)
			create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}
			pod := made(t, wire(w.job), events.ManagedBy, "", create)
			row.change(pod)
			if _, err := w.other.CreatePod(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			r := w.do(w.task(create))
			w.wants(r, events.Refused, events.RefusedNameTaken, true)
			if len(r.Observations) != 0 {
				t.Errorf("another's pod was observed: %v", r.Observations)
			}
		})
	}
}

func TestCreateWhoseNameIsTakenByNobodyKnowsWhomIsUnknown(t *testing.T) {
	w := newWorld(t)
	pod := w.create(1)
	w.client.FailNext(apiserver.Fault{}, apiserver.Fault{Kind: apiserver.TooManyRequests, RetryAfter: time.Second})
	r := w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template(), Again: true}))
	w.wants(r, events.OutcomeUnknown, 0, true)
	if r.Ended.UID != "" || pod.UID == "" {
		t.Errorf("unknown, but with UID %q", r.Ended.UID)
	}
}

func TestCreateFromATemplateThatWasNotDecidedOnIsNotSent(t *testing.T) {
	w := newWorld(t)
	decided := w.template()
	changed := w.job.DeepCopy()
	changed.Spec.Template.Labels["rev"] = "2"
	changed.Generation++
	changed.ResourceVersion = "999"
	w.objects.KeepJob(wire(changed))
	create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: decided}
	w.wants(w.do(w.task(create)), events.Refused, events.RefusedTemplate, false)

	w.objects.DropJob(w.job.UID)
	w.wants(w.do(w.task(create)), events.Refused, events.RefusedTemplate, false)
	if n := w.wrote(); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// J-063: a template without labels makes no pod, and the refusal says why.
func TestCreateFromATemplateWithoutLabelsIsNotSent(t *testing.T) {
	w := newWorld(t)
	w.job.Spec.Template.Labels = nil
	w.job.ResourceVersion = "999"
	w.job.Generation++
	w.objects.KeepJob(wire(w.job))
	r := w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
	w.wants(r, events.Refused, events.RefusedInvalid, false)
	if r.Evidence.Sentence == "" {
		t.Error("nobody is told why")
	}
}

// J-093: the finalizer goes by a patch; a pod that is not found, or has another UID, is gone.
// J-254: the patch carries the pod's UID.
func TestDropFinalizer(t *testing.T) {
	w := newWorld(t)
	pod := w.create(1)
	r := w.do(w.about(pod, &events.DropFinalizer{Pod: pod.UID}))
	w.wants(r, events.Done, 0, true)
	after := w.server.Pod("default", pod.Name)
	if len(after.Finalizers) != 0 || r.Ended.Version != versionOf(after) || r.Ended.UID != pod.UID {
		t.Errorf("finalizers %v, done with %s at %d", after.Finalizers, r.Ended.UID, r.Ended.Version)
	}

	other := w.about(pod, &events.DropFinalizer{Pod: "another"})
	other.Pod.UID = "another"
	w.wants(w.do(other), events.Refused, events.RefusedNotFound, true)
	none := w.about(pod, &events.DropFinalizer{Pod: pod.UID})
	none.Pod.Name = "gone"
	w.wants(w.do(none), events.Refused, events.RefusedNotFound, true)
}

// J-093: finalizers of others stay.
func TestDropFinalizerLeavesOthers(t *testing.T) {
	rows := []struct {
		sentence  string
		mode      events.Mode
		managedBy string
		want      []string
	}{
		{"in delegated mode only ours goes", events.ModeDelegated, events.ManagedBy, []string{"example.com/hold", events.BuiltinTrackingFinalizer}},
		{"in delegated mode only ours goes from a pod whose Job nobody saw", events.ModeDelegated, "", []string{"example.com/hold", events.BuiltinTrackingFinalizer}},
		{"of a Job that is ours only ours goes", events.ModeAll, events.ManagedBy, []string{"example.com/hold", events.BuiltinTrackingFinalizer}},
		{"of a Job that names the built-in controller the built-in's goes", events.ModeAll, events.BuiltinManagedBy, []string{"example.com/hold", events.TrackingFinalizer}},
		{"in mode all either goes when the Job has no managedBy, or was never seen", events.ModeAll, "", []string{"example.com/hold"}},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			w := newWorld(t, func(c *Config) { c.Mode = row.mode })
			pod, err := w.other.CreatePod(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: "p",
					Finalizers: []string{"example.com/hold", events.BuiltinTrackingFinalizer, events.TrackingFinalizer},
				},
				Spec: w.job.Spec.Template.Spec,
			})
			if err != nil {
				t.Fatal(err)
			}
			task := w.about(pod, &events.DropFinalizer{Pod: pod.UID})
			task.ManagedBy = row.managedBy
			w.wants(w.do(task), events.Done, 0, true)
			if diff := cmp.Diff(row.want, w.server.Pod("default", "p").Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdoptAndRelease(t *testing.T) {
	w := newWorld(t)
	pod, err := w.other.CreatePod(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "p", Finalizers: []string{"example.com/hold", events.BuiltinTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "x"}},
		},
		Spec: w.job.Spec.Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	before := pod.DeepCopy()
	version := func() uint64 { return apiserver.VersionOf(w.server.Pod("default", "p")) }
	old := version()
	w.server.Touch("somebody", apiserver.Pods, "default", "p")
	w.wants(w.do(w.about(pod, &events.AdoptPod{Pod: pod.UID, Version: old})), events.Refused, events.RefusedConflict, true)
	if owner := metav1.GetControllerOf(w.server.Pod("default", "p")); owner != nil {
		t.Fatalf("adopted at a version that was no longer so, by %v", owner)
	}
	w.wants(w.do(w.about(pod, &events.AdoptPod{Pod: pod.UID, Version: version(), Mark: true})), events.Done, 0, true)
	adopted := w.server.Pod("default", "p")
	if mark, want := adopted.Annotations[events.CommandAnnotation], identity.CommandOf(w.job.UID, 0); mark != want {
		t.Errorf("the annotation is %q, want %q", mark, want)
	}
	if owner := metav1.GetControllerOf(adopted); owner == nil || owner.UID != w.job.UID || owner.Kind != "Job" || !*owner.BlockOwnerDeletion {
		t.Errorf("owners %v", adopted.OwnerReferences)
	}
	if diff := cmp.Diff([]string{events.TrackingFinalizer, "example.com/hold"}, adopted.Finalizers); diff != "" {
		t.Errorf("finalizers after the adoption (-want +got):\n%s", diff)
	}

	w.wants(w.do(w.about(pod, &events.ReleasePod{Pod: pod.UID, Version: old})), events.Refused, events.RefusedConflict, true)
	w.wants(w.do(w.about(pod, &events.ReleasePod{Pod: pod.UID, Version: version()})), events.Done, 0, true)
	released := w.server.Pod("default", "p")
	if diff := cmp.Diff(before.OwnerReferences, released.OwnerReferences); diff != "" {
		t.Errorf("owners after the release (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example.com/hold"}, released.Finalizers); diff != "" {
		t.Errorf("finalizers after the release (-want +got):\n%s", diff)
	}
}

// J-083: a deletion carries the pod's UID, so another pod of that name is not deleted.
// J-254: a late deletion does not hit it either.
// J-031: a pod that the Job has counted is adopted without the finalizer, so it is not counted again.
func TestAdoptACountedPod(t *testing.T) {
	w := newWorld(t)
	pod, err := w.other.CreatePod(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "p", Finalizers: []string{"example.com/hold", events.BuiltinTrackingFinalizer, events.TrackingFinalizer},
		},
		Spec: w.job.Spec.Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wants(w.do(w.about(pod, &events.AdoptPod{Pod: pod.UID, Spent: true})), events.Done, 0, true)
	adopted := w.server.Pod("default", "p")
	if owner := metav1.GetControllerOf(adopted); owner == nil || owner.UID != w.job.UID {
		t.Errorf("owners %v", adopted.OwnerReferences)
	}
	if diff := cmp.Diff([]string{"example.com/hold"}, adopted.Finalizers); diff != "" {
		t.Errorf("finalizers after the adoption (-want +got):\n%s", diff)
	}
}

func TestDeletePod(t *testing.T) {
	w := newWorld(t)
	pod := w.create(1)
	stale := w.about(pod, &events.DeletePod{Pod: "another"})
	stale.Pod.UID = "another"
	w.wants(w.do(stale), events.Refused, events.RefusedConflict, true)

	r := w.do(w.about(pod, &events.DeletePod{Pod: pod.UID}))
	w.wants(r, events.Done, 0, true)
	if w.server.Pod("default", pod.Name).DeletionTimestamp == nil || r.Ended.UID != pod.UID || r.Ended.Version != 0 {
		t.Errorf("the pod is not being deleted, or done with %s at %d", r.Ended.UID, r.Ended.Version)
	}

	none := w.about(pod, &events.DeletePod{Pod: pod.UID})
	none.Pod.Name = "gone"
	w.wants(w.do(none), events.Refused, events.RefusedNotFound, true)
}

func TestPodWhoseNameIsNotKnownIsNotTakenForGone(t *testing.T) {
	w := newWorld(t)
	nameless := w.task(&events.DeletePod{Pod: "u"})
	nameless.Pod.UID = "u"
	w.wants(w.do(nameless), events.Refused, events.RefusedInvalid, false)
	mismatched := w.task(&events.DropFinalizer{Pod: "u"})
	mismatched.Pod = events.PodRef{Name: "p", UID: "v"}
	w.wants(w.do(mismatched), events.Refused, events.RefusedInvalid, false)
}

// write returns a status write: the Job's present status, with one pod active.
func (w *world) write(base uint64) events.Task {
	t := w.task(&events.WriteStatus{Base: base})
	t.Status, t.Base = &events.JobStatus{Active: 1, Ready: 0, Terminating: 0, HasUncounted: true, StartTime: events.At(epoch)}, base
	return t
}

func TestWriteStatusChain(t *testing.T) {
	w := newWorld(t)
	first := w.do(w.write(versionOf(w.job)))
	w.wants(first, events.Done, 0, true)
	stored := w.server.Job("default", "demo")
	if first.Ended.Version != versionOf(stored) || first.Ended.UID != w.job.UID {
		t.Fatalf("done with %s at %d, stored %s", first.Ended.UID, first.Ended.Version, stored.ResourceVersion)
	}
	if stored.Status.Active != 1 || stored.Status.UncountedTerminatedPods == nil || *stored.Status.Ready != 0 || !stored.Status.StartTime.Time.Equal(epoch) {
		t.Errorf("stored status %+v", stored.Status)
	}

	// The next write builds on the object that this write returned. No watch event is needed in between.
	second := w.write(first.Ended.Version)
	second.Status.Active = 2
	w.wants(w.do(second), events.Done, 0, true)

	// A late watch event does not bring the old version back.
	w.objects.KeepJob(wire(w.job))
	calls := w.wrote()
	w.wants(w.do(w.write(versionOf(w.job))), events.Refused, events.RefusedConflict, false)
	if w.wrote() != calls {
		t.Error("a status computed from an old version was sent")
	}
}

func TestWriteStatusOverAVersionThatIsNotTheServersIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.server.Touch("somebody", apiserver.Jobs, "default", "demo")
	w.wants(w.do(w.write(versionOf(w.job))), events.Refused, events.RefusedConflict, true)

	// A live read brings the newer version. The write on top of it goes through and leaves the metadata unchanged.
	read := w.do(w.task(&events.ReadJob{}))
	w.wants(read, events.Done, 0, true)
	if len(read.Observations) != 1 || read.Observations[0].Facts.(*events.JobSeen).Version != read.Ended.Version {
		t.Errorf("observations %v of a read at %d", read.Observations, read.Ended.Version)
	}
	w.wants(w.do(w.write(read.Ended.Version)), events.Done, 0, true)
	if w.server.Job("default", "demo").Annotations[apiserver.AnnotationTouched] == "" {
		t.Error("the write undid somebody's annotation (J-207)")
	}
}

func TestReadJob(t *testing.T) {
	w := newWorld(t)
	older := w.task(&events.ReadJob{})
	older.Job.UID = "older"
	r := w.do(older)
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != w.job.UID || len(r.Observations) != 0 {
		t.Errorf("another Job of the name: done with %s, observations %v", r.Ended.UID, r.Observations)
	}

	known := w.task(&events.ReadJob{})
	known.Base = versionOf(w.job) + 1
	var proofs []events.Rewind
	w.executor.config.Behind = func(life events.Identity, proof events.Rewind) {
		if life == identity {
			proofs = append(proofs, proof)
		}
	}
	r = w.do(known)
	w.wants(r, events.Refused, events.RefusedConflict, true)
	want := events.Rewind{Resource: events.Jobs, Known: known.Base, Found: versionOf(w.job), Object: w.job.UID}
	if len(r.Observations) != 0 || len(proofs) != 1 || proofs[0] != want {
		t.Errorf("a Job older than known: observations %v, proofs %v", r.Observations, proofs)
	}

	gone := w.task(&events.ReadJob{})
	gone.Job.Name = "gone"
	w.wants(w.do(gone), events.Refused, events.RefusedNotFound, true)
}

func TestReadPod(t *testing.T) {
	w := newWorld(t)
	r := w.do(w.task(&events.ReadPod{Ordinal: 1, Index: events.NoIndex}))
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != "" || len(r.Observations) != 0 {
		t.Errorf("no pod, but done with %q and %v", r.Ended.UID, r.Observations)
	}

	pod := w.create(1)
	r = w.do(w.task(&events.ReadPod{Ordinal: 1, Index: events.NoIndex}))
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != pod.UID || r.Ended.Version != versionOf(pod) || len(r.Observations) != 1 {
		t.Errorf("done with %q at %d and %v, want pod %s", r.Ended.UID, r.Ended.Version, r.Observations, pod.UID)
	}

	name := identity.PodName(w.job.UID, "demo-", 2)
	if _, err := w.other.CreatePod(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: w.job.Spec.Template.Spec,
	}); err != nil {
		t.Fatal(err)
	}
	r = w.do(w.task(&events.ReadPod{Ordinal: 2, Index: events.NoIndex}))
	w.wants(r, events.Done, 0, true)
	if r.Ended.UID != "" || len(r.Observations) != 0 || r.Evidence.Sentence == "" {
		t.Errorf("another's pod: done with %q, %v, %q", r.Ended.UID, r.Observations, r.Evidence.Sentence)
	}
}

func TestCallOfALifeBeforeTheRewindIsGivenBackUnsent(t *testing.T) {
	w := newWorld(t)
	old := w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()})
	next := identity
	next.Epoch++
	w.objects.Reset(next)
	w.objects.KeepJob(wire(w.job))
	w.wants(w.do(old), events.Withdrawn, 0, false)
	anew := w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()})
	anew.Life = next
	w.wants(w.do(anew), events.Done, 0, true)
}

func TestCallWhoseContextHasEndedIsGivenBackUnsent(t *testing.T) {
	w := newWorld(t)
	w.executor.Submit(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
	call, _ := w.executor.Next(events.At(epoch))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.wants(call.Do(ctx), events.Withdrawn, 0, false)
}

func TestFaultsEndAsWhatTheyAre(t *testing.T) {
	rows := []struct {
		fault  apiserver.FaultKind
		ending events.Ending
		class  events.RefusalClass
		pod    bool // whether there is one afterwards
	}{
		{apiserver.TimeoutBefore, events.OutcomeUnknown, 0, false},
		{apiserver.TimeoutAfter, events.OutcomeUnknown, 0, true},
		{apiserver.TooManyRequests, events.Refused, events.RefusedTooManyRequests, false},
		{apiserver.ServerError, events.OutcomeUnknown, 0, false},
		{apiserver.QuotaExceeded, events.Refused, events.RefusedQuota, false},
		{apiserver.WebhookDenied, events.Refused, events.RefusedForbidden, false},
	}
	for _, row := range rows {
		t.Run(row.fault.String(), func(t *testing.T) {
			w := newWorld(t)
			w.client.FailNext(apiserver.Fault{Kind: row.fault, RetryAfter: time.Second})
			r := w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
			w.wants(r, row.ending, row.class, true)
			if got := w.server.Pod("default", r.Evidence.Name) != nil; got != row.pod {
				t.Errorf("pod exists: %t, want %t", got, row.pod)
			}
			if r.Evidence.Message == "" {
				t.Error("the server's words are missing")
			}
		})
	}
}

func TestNamespaceThatIsBeingDeletedSaysSo(t *testing.T) {
	w := newWorld(t)
	if err := w.other.DeleteNamespace(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	r := w.do(w.task(&events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: w.template()}))
	w.wants(r, events.Refused, events.RefusedNamespaceTerminating, true)
}

func TestStatusGoesOverTheWireAsItIs(t *testing.T) {
	second := func(s int) metav1.Time { return metav1.NewTime(epoch.Add(time.Duration(s) * time.Second)) }
	long := batchv1.JobCondition{
		Type: "Other", Status: corev1.ConditionTrue, Reason: "Theirs", Message: "a text of which the log holds the beginning only",
		LastTransitionTime: second(1), LastProbeTime: second(2),
	}
	known := events.JobCondition{
		Type: "Other", Status: "True", Reason: "Theirs", Message: "a text of…", Since: events.At(second(1).Time), Probed: events.At(second(2).Time),
	}
	erased, changed := known, known
	erased.Message = ""
	changed.Status, changed.Message = "False", "ours"
	s := &events.JobStatus{
		Active: 1, Ready: events.Unset, Terminating: 2, Succeeded: 3, Failed: 4, CompletedIndexes: "0-2", FailedIndexes: new(""),
		HasUncounted: true, UncountedFailed: []types.UID{"a"}, StartTime: events.At(epoch.Add(300 * time.Millisecond)),
		Conditions: []events.JobCondition{known},
	}
	want := batchv1.JobStatus{
		Active: 1, Terminating: new(int32(2)), Succeeded: 3, Failed: 4, CompletedIndexes: "0-2", FailedIndexes: new(""),
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a"}},
		StartTime:               new(second(0)), Conditions: []batchv1.JobCondition{long},
	}
	if diff := cmp.Diff(want, apiStatus(s, []batchv1.JobCondition{long})); diff != "" {
		t.Errorf("a condition that stays is sent as it is stored (-want +got):\n%s", diff)
	}
	s.Conditions[0] = erased
	if got := apiStatus(s, []batchv1.JobCondition{long}).Conditions[0].Message; got != long.Message {
		t.Errorf("a condition whose message was erased from the log is sent with %q", got)
	}
	s.Conditions[0] = changed
	if got := apiStatus(s, []batchv1.JobCondition{long}).Conditions[0]; got.Message != "ours" || got.Status != corev1.ConditionFalse {
		t.Errorf("a condition that changes is sent as %+v", got)
	}
}

var _ API = wholeapi.Of((*apiserver.Client)(nil))
