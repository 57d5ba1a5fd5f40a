package apiserver

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conformanceJob returns a Job that no controller handles.
func conformanceJob(name string, change ...edit) *batchv1.Job {
	job := testJob(name)
	job.Namespace = conformanceNamespace
	job.Spec.ManagedBy = new("example.com/nobody")
	edits(change...)(job)
	return job
}

// jobScript covers creation, defaults, updates and deletion of Jobs.
func jobScript(s api, t *transcript) {
	created, err := s.createJob(conformanceJob("a"))
	t.say("create: %s", answer(err))
	t.say("  %s", aboutSpec(created))
	t.say("  labels %v, selector %v", labelNames(created.Spec.Template.Labels), labelNames(created.Spec.Selector.MatchLabels))
	_, err = s.createJob(conformanceJob("a"))
	t.say("create again: %s", answer(err))

	for _, row := range []struct {
		name   string
		change edit
	}{
		{"parallelism only", spec(func(s *batchv1.JobSpec) { s.Parallelism = new(int32(2)) })},
		{"completions only", spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(2)) })},
		{"indexed", spec(func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Completions = new(batchv1.IndexedCompletion), new(int32(3))
		})},
		{"backoff limit per index", spec(func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Completions, s.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), new(int32(3)), new(int32(1))
		})},
		{"indexed without completions", spec(func(s *batchv1.JobSpec) {
			s.CompletionMode, s.Parallelism = new(batchv1.IndexedCompletion), new(int32(3))
		})},
		{"ignore rule", spec(func(s *batchv1.JobSpec) {
			s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}},
			}}}
		})},
		{"restart policy missing", spec(func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = "" })},
		{"no containers", spec(func(s *batchv1.JobSpec) { s.Template.Spec.Containers = nil })},
		{"negative parallelism", spec(func(s *batchv1.JobSpec) { s.Parallelism = new(int32(-1)) })},
		{"managed by no domain", spec(func(s *batchv1.JobSpec) { s.ManagedBy = new("me") })},
		{"per-index limit without index", spec(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(1)) })},
		{"manual selector that does not match", spec(func(s *batchv1.JobSpec) {
			s.ManualSelector, s.Selector = new(true), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			s.Template.Labels = map[string]string{"a": "c"}
		})},
		{"manual selector", spec(func(s *batchv1.JobSpec) {
			s.ManualSelector, s.Selector = new(true), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			s.Template.Labels = map[string]string{"a": "b"}
		})},
	} {
		job, err := s.createJob(conformanceJob("create-"+strings.ReplaceAll(row.name, " ", "-"), row.change))
		t.say("create, %s: %s", row.name, answer(err))
		if err == nil {
			t.say("  %s", aboutSpec(job))
		}
	}

	for _, row := range []struct {
		name   string
		change edit
	}{
		{"nothing", nothing},
		{"parallelism", spec(func(s *batchv1.JobSpec) { s.Parallelism = new(int32(5)) })},
		{"a label", func(j *batchv1.Job) { j.Labels = map[string]string{"x": "y"} }},
		{"the status", status(func(s *batchv1.JobStatus) { s.Failed = 3 })},
		{"completions", spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(5)) })},
		{"managedBy", spec(func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/somebody") })},
		{"managedBy to nothing", spec(func(s *batchv1.JobSpec) { s.ManagedBy = nil })},
		{"completion mode", spec(func(s *batchv1.JobSpec) { s.CompletionMode = new(batchv1.IndexedCompletion) })},
		{"the image", spec(func(s *batchv1.JobSpec) { s.Template.Spec.Containers[0].Image = "other" })},
		{"another UID", func(j *batchv1.Job) { j.UID = "other" }},
		{"the creation time", func(j *batchv1.Job) { j.CreationTimestamp = *at(0) }},
		{"a deletion time", func(j *batchv1.Job) { j.DeletionTimestamp = at(0) }},
		{"no UID", func(j *batchv1.Job) { j.UID = "" }},
		{"a finalizer", func(j *batchv1.Job) { j.Finalizers = []string{"example.com/hold"} }},
		{"no finalizer", func(j *batchv1.Job) { j.Finalizers = nil }},
		{"an old resource version", func(j *batchv1.Job) { j.ResourceVersion = created.ResourceVersion }},
		{"suspend", spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) })},
		{"node selector while suspended", spec(func(s *batchv1.JobSpec) { s.Template.Spec.NodeSelector = map[string]string{"a": "b"} })},
		{"the image while suspended", spec(func(s *batchv1.JobSpec) { s.Template.Spec.Containers[0].Image = "other" })},
	} {
		before, _ := s.job("a")
		sent := before.DeepCopy()
		row.change(sent)
		after, err := s.updateJob(sent)
		t.say("update, %s: %s", row.name, answer(err))
		if err == nil {
			t.say("  version moved: %v, generation +%d, failed %d", after.ResourceVersion != before.ResourceVersion, after.Generation-before.Generation, after.Status.Failed)
		}
	}

	pod := conformancePod("held", []string{fin})
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(created, batchv1.SchemeGroupVersion.WithKind("Job"))}
	_, err = s.createPod(pod)
	t.say("create a pod of it: %s", answer(err))
	t.say("delete in the foreground: %s", answer(s.deleteJob("a", metav1.DeletePropagationForeground)))
	gone, err := s.job("a")
	t.say("  get: %s", answer(err))
	t.say("  finalizers %v, deleting %v, grace %v, generation %d", gone.Finalizers, gone.DeletionTimestamp != nil, *gone.DeletionGracePeriodSeconds, gone.Generation)
	t.say("delete again: %s", answer(s.deleteJob("a", metav1.DeletePropagationForeground)))
	gone.Finalizers = append(gone.Finalizers, "example.com/more")
	_, err = s.updateJob(gone)
	t.say("add a finalizer while it is deleted: %s", answer(err))
	gone, _ = s.job("a")
	gone.Finalizers = nil
	_, err = s.updateJob(gone)
	t.say("remove the last finalizer: %s", answer(err))
	_, err = s.job("a")
	t.say("  get: %s", answer(err))
	t.say("delete what is gone: %s", answer(s.deleteJob("a", metav1.DeletePropagationBackground)))
}

func aboutSpec(j *batchv1.Job) string {
	s := j.Spec
	num := func(n *int32) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	text := fmt.Sprintf("parallelism %s, completions %s, backoffLimit %s, mode %s, suspend %v, replacement %s, restart %s, generation %d",
		num(s.Parallelism), num(s.Completions), num(s.BackoffLimit), *s.CompletionMode, *s.Suspend, *s.PodReplacementPolicy, s.Template.Spec.RestartPolicy, j.Generation)
	if s.PodFailurePolicy != nil {
		text += fmt.Sprintf(", condition status %s", s.PodFailurePolicy.Rules[0].OnPodConditions[0].Status)
	}
	return text
}

func labelNames(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// conformancePod returns a pod that no scheduler and no kubelet handles.
func conformancePod(name string, finalizers []string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: conformanceNamespace, Name: name, Finalizers: finalizers, Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody", RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false),
			Containers: []corev1.Container{{Name: "main", Image: "work"}},
		},
	}
}

// podScript covers creation, patches and deletion of Pods.
func podScript(s api, t *transcript) {
	owner, err := s.createJob(conformanceJob("owner"))
	t.say("create the owner: %s", answer(err))
	created, err := s.createPod(conformancePod("p", nil))
	t.say("create: %s", answer(err))
	t.say("  %s, grace %d", aboutPod(created), *created.Spec.TerminationGracePeriodSeconds)
	_, err = s.createPod(conformancePod("p", nil))
	t.say("create again: %s", answer(err))
	both := conformancePod("q", nil)
	both.GenerateName = "q-"
	named, err := s.createPod(both)
	t.say("create with name and generateName: %s, %s", answer(err), named.Name)
	long := conformancePod("", nil)
	long.GenerateName = strings.Repeat("a", 70) + "-"
	named, err = s.createPod(long)
	t.say("create by a long generateName: %s, %d characters, prefix kept %d", answer(err), len(named.Name), len(named.Name)-len(strings.TrimLeft(named.Name, "a")))
	versioned := conformancePod("v", nil)
	versioned.ResourceVersion = "4"
	_, err = s.createPod(versioned)
	t.say("create with a resource version: %s", answer(err))

	ref := func(extra string) string {
		return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","name":"owner","uid":%q,"controller":true,"blockOwnerDeletion":true%s}`, owner.UID, extra)
	}
	for _, row := range []struct{ name, patch string }{
		{"add a finalizer", `{"metadata":{"finalizers":["example.com/a"]}}`},
		{"add another", `{"metadata":{"finalizers":["example.com/b"]}}`},
		{"add the same", `{"metadata":{"finalizers":["example.com/b"]}}`},
		{"delete one", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}`},
		{"delete one that is not there", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}`},
		{"adopt: add owner and finalizer, drop another", `{"metadata":{"uid":"` + string(created.UID) + `","ownerReferences":[` + ref("") + `],"finalizers":["` + fin + `"],"$deleteFromPrimitiveList/finalizers":["example.com/b"]}}`},
		{"release: delete the owner by UID and the finalizer", `{"metadata":{"uid":"` + string(created.UID) + `","ownerReferences":[{"$patch":"delete","uid":"` + string(owner.UID) + `"}],"$deleteFromPrimitiveList/finalizers":["` + fin + `"]}}`},
		{"release again", `{"metadata":{"uid":"` + string(created.UID) + `","ownerReferences":[{"$patch":"delete","uid":"` + string(owner.UID) + `"}],"$deleteFromPrimitiveList/finalizers":["` + fin + `"]}}`},
		{"own it again", `{"metadata":{"ownerReferences":[` + ref("") + `]}}`},
		{"replace the owners by none", `{"metadata":{"ownerReferences":[{"$patch":"replace"}]}}`},
		{"another UID", `{"metadata":{"uid":"other","finalizers":["example.com/a"]}}`},
		{"an old resource version", `{"metadata":{"resourceVersion":"` + created.ResourceVersion + `","finalizers":["example.com/a"]}}`},
		{"a label and none", `{"metadata":{"labels":{"app":null,"x":"y"}}}`},
		{"the status", `{"status":{"phase":"Failed"}}`},
		{"the host name", `{"spec":{"hostname":"h"}}`},
		{"no JSON", `{`},
		{"a bad finalizer", `{"metadata":{"finalizers":["bad finalizer"]}}`},
	} {
		before, _ := s.pod("p")
		after, err := s.patchPod("p", row.patch)
		t.say("patch, %s: %s", row.name, answer(err))
		if err == nil {
			t.say("  version moved: %v; %s, owners %d, labels %v", after.ResourceVersion != before.ResourceVersion, aboutPod(after), len(after.OwnerReferences), labelNames(after.Labels))
		}
	}
	_, err = s.patchPod("absent", `{}`)
	t.say("patch what is absent: %s", answer(err))

	deletions(s, t)
}

// deletions covers the effect of DELETE on a pod in each state.
func deletions(s api, t *transcript) {
	bind := func(name string) { t.say("  bind: %s", answer(s.bind(name))) }
	phase := func(phase corev1.PodPhase) func(string) {
		return func(name string) { t.say("  %s: %s", phase, answer(s.phase(name, phase))) }
	}
	seconds := func(n int64) *int64 { return &n }
	for i, row := range []struct {
		name       string
		finalizers []string
		before     []func(string)
		deletes    []*int64
	}{
		{"no node", nil, nil, []*int64{nil}},
		{"no node, finalizer", []string{fin}, nil, []*int64{nil, nil, seconds(0)}},
		{"on a node", nil, []func(string){bind}, []*int64{nil, nil, seconds(60), seconds(5), seconds(0)}},
		{"running", nil, []func(string){bind, phase(corev1.PodRunning)}, []*int64{nil, seconds(0)}},
		{"running, finalizer", []string{fin}, []func(string){bind, phase(corev1.PodRunning)}, []*int64{nil, seconds(0), seconds(0)}},
		{"running, finalizer, ends while it is deleted", []string{fin}, []func(string){bind, phase(corev1.PodRunning)}, []*int64{nil}},
		{"succeeded", nil, []func(string){bind, phase(corev1.PodRunning), phase(corev1.PodSucceeded)}, []*int64{nil}},
		{"failed, finalizer", []string{fin}, []func(string){bind, phase(corev1.PodFailed)}, []*int64{nil, seconds(0)}},
		{"running, asked for 0", nil, []func(string){bind, phase(corev1.PodRunning)}, []*int64{seconds(0)}},
		{"running, finalizer, asked for 7", []string{fin}, []func(string){bind, phase(corev1.PodRunning)}, []*int64{seconds(7)}},
	} {
		name := fmt.Sprintf("d%d", i)
		created, err := s.createPod(conformancePod(name, row.finalizers))
		t.say("delete, %s: created %s", row.name, answer(err))
		for _, f := range row.before {
			f(name)
		}
		t.say("  wrong UID: %s; wrong version: %s", answer(s.deletePod(name, DeleteOptions{UID: "other"})), answer(s.deletePod(name, DeleteOptions{ResourceVersion: "1"})))
		for _, grace := range row.deletes {
			before, _ := s.pod(name)
			err := s.deletePod(name, DeleteOptions{UID: created.UID, GraceSeconds: grace})
			after, getErr := s.pod(name)
			t.say("  delete (%s): %s", graceText(grace), answer(err))
			if getErr == nil {
				t.say("    version moved: %v, generation +%d, %s", after.ResourceVersion != before.ResourceVersion, after.Generation-before.Generation, aboutPod(after))
			} else {
				t.say("    %s", answer(getErr))
			}
		}
		left, err := s.pod(name)
		if err != nil {
			continue
		}
		_, err = s.patchPod(name, `{"metadata":{"finalizers":["example.com/late"]}}`)
		t.say("  add a finalizer: %s", answer(err))
		if strings.Contains(row.name, "ends") {
			t.say("  Failed: %s", answer(s.phase(name, corev1.PodFailed)))
		}
		patched, err := s.patchPod(name, fmt.Sprintf(`{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, left.UID, fin))
		t.say("  drop the finalizer: %s, finalizers %v, version as before: %v", answer(err), patched.Finalizers, patched.ResourceVersion == left.ResourceVersion)
		_, err = s.pod(name)
		t.say("  get: %s", answer(err))
		if apierrors.IsNotFound(err) {
			shown, err := s.removal(name)
			t.say("  shown as removed: %s, finalizers %v, version later: %v", answer(err), shown.Finalizers, shown.ResourceVersion != left.ResourceVersion)
		} else {
			t.say("  and confirm: %s", answer(s.deletePod(name, DeleteOptions{GraceSeconds: seconds(0)})))
		}
	}
}

func graceText(n *int64) string {
	if n == nil {
		return "its own grace"
	}
	return fmt.Sprintf("grace %d", *n)
}

func aboutPod(p *corev1.Pod) string {
	text := fmt.Sprintf("phase %s, finalizers %v", p.Status.Phase, sorted(p.Finalizers))
	if p.DeletionTimestamp != nil {
		text += fmt.Sprintf(", deleting with grace %d", *p.DeletionGracePeriodSeconds)
	}
	return text
}

// statusScript covers every row of the status rules that has a reachable stored status.
func statusScript(s api, t *transcript) {
	for i, row := range statusRows {
		if row.rule == "J-206" && strings.Contains(row.name, "deleting") || row.name == "an update carries the resource version it was read at" {
			continue // the first is in jobScript; in the second the model is stricter, see beginUpdate
		}
		t.say("%s %s", row.rule, row.name)
		for _, side := range []struct {
			name   string
			change edit
		}{{"accepted", row.accepted}, {"refused", row.refused}} {
			if side.change == nil {
				continue
			}
			job := conformanceJob(fmt.Sprintf("s%d-%s", i, side.name), spec(func(s *batchv1.JobSpec) {
				s.Completions, s.Parallelism, s.CompletionMode, s.Suspend = new(int32(5)), new(int32(5)), new(batchv1.NonIndexedCompletion), new(false)
			}), status(func(s *batchv1.JobStatus) { s.StartTime = at(0) }))
			row.stored(job)
			stored, err := s.createJob(job)
			if err != nil {
				t.say("  create: %s", answer(err))
				continue
			}
			stored.Status = job.Status
			if stored, err = s.updateJobStatus(stored); err != nil {
				t.say("  first status: %s", answer(err))
				continue
			}
			side.change(stored)
			_, err = s.updateJobStatus(stored)
			t.say("  %s: %s", side.name, answer(err))
		}
	}
}
