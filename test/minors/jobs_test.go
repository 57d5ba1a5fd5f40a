package minors

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
)

// option changes a Job before it is created.
type option func(*batchv1.Job)

// newJob returns a Job for the built-in controller with one pod, which succeeds at once, unless options say otherwise.
func newJob(name string, options ...option) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
			Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "any"}}},
		}},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

func indexed(completions, parallelism int32) option {
	return func(j *batchv1.Job) {
		j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
		j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism
	}
}

func annotate(key, value string) option {
	return func(j *batchv1.Job) { j.Spec.Template.Annotations[key] = value }
}

func backoffLimit(n int32) option    { return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n } }
func managedBy(who string) option    { return func(j *batchv1.Job) { j.Spec.ManagedBy = &who } }
func suspended(j *batchv1.Job)       { j.Spec.Suspend = new(true) }
func replaceFailed(j *batchv1.Job)   { j.Spec.PodReplacementPolicy = new(batchv1.Failed) }
func runFor(duration string) option  { return annotate(controlplane.AnnotationRunFor, duration) }
func failIndexes(list string) option { return annotate(controlplane.AnnotationFailIndexes, list) }

// anyTwo: the Job succeeds when two of its indexes succeed.
func anyTwo(j *batchv1.Job) {
	indexed(6, 2)(j)
	j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(2))}}}
}

// perIndex: an index fails at its first failure. If the server drops the fields, the whole Job has one retry.
func perIndex(j *batchv1.Job) {
	indexed(3, 3)(j)
	failIndexes("1")(j)
	backoffLimit(1)(j)
	j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = new(int32(0)), new(int32(2))
}

// mix returns the Jobs that both controllers run. Their ends do not depend on timing.
func mix() []*batchv1.Job {
	return []*batchv1.Job{
		newJob("plain"),
		newJob("indexed", indexed(4, 2), runFor("200ms")),
		newJob("failing", annotate(controlplane.AnnotationOutcome, controlplane.OutcomeFail), backoffLimit(1)),
		newJob("suspended", suspended),
		newJob("halted", runFor("3s")),
		newJob("per-index", perIndex),
		newJob("any-two", anyTwo, runFor("1s")),
		// Its pod is deleted. That is a failure; if the server drops podReplacementPolicy, its backoff of 10 s begins
		// with the deletion.
		newJob("replaced", replaceFailed, runFor("6s"), annotate(controlplane.AnnotationStopAfter, "18s")),
	}
}

// outcome is how a Job ended.
type outcome struct {
	condition                batchv1.JobConditionType
	reason                   string
	succeeded, failed        int32
	completed, failedIndexes string
	early                    bool // a deleted pod was replaced before it had ended
}

func finished(j *batchv1.Job) bool { return ended(j).condition != "" }

func ended(j *batchv1.Job) (o outcome) {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			o.condition, o.reason = c.Type, c.Reason
		}
	}
	o.succeeded, o.failed, o.completed = j.Status.Succeeded, j.Status.Failed, j.Status.CompletedIndexes
	if j.Status.FailedIndexes != nil {
		o.failedIndexes = *j.Status.FailedIndexes
	}
	if j.Spec.SuccessPolicy != nil { // how many more pods had succeeded is random
		o.succeeded, o.failed, o.completed = 0, 0, ""
	}
	return o
}

// play creates the Jobs, plays their users, and returns how each Job ended.
func (p *place) play() map[string]outcome {
	p.Helper()
	jobs := mix()
	for _, j := range jobs {
		p.create(j)
	}
	p.await("the suspended Job says so", func() bool { return isTrue(p.job("suspended"), batchv1.JobSuspended) })
	p.patch("suspended", `{"spec":{"suspend":false}}`)
	p.await("the Job that is halted runs", func() bool { return p.job("halted").Status.Active == 1 })
	p.patch("halted", `{"spec":{"suspend":true}}`)
	p.await("it has no pod", func() bool { return len(p.pods("halted")) == 0 && isTrue(p.job("halted"), batchv1.JobSuspended) })
	p.patch("halted", `{"spec":{"suspend":false}}`)
	early := p.replace("replaced")
	p.await("all Jobs are finished", func() bool {
		for _, j := range jobs {
			if !finished(p.job(j.Name)) {
				return false
			}
		}
		return true
	})
	all := map[string]outcome{}
	for _, j := range jobs {
		all[j.Name] = ended(p.job(j.Name))
	}
	o := all["replaced"]
	o.early = early
	all["replaced"] = o
	return all
}

func isTrue(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// replace deletes the pod of a Job, which takes long to end, and reports whether its replacement comes before the end.
func (p *place) replace(job string) (early bool) {
	p.Helper()
	var first string
	p.await("the pod that is deleted runs", func() bool {
		for name, pod := range p.pods(job) {
			if first = name; pod.Status.Phase == corev1.PodRunning {
				return true
			}
		}
		return false
	})
	if err := p.client.CoreV1().Pods(p.namespace).Delete(p.ctx, first, metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
	p.await("another pod comes", func() bool {
		pods := p.pods(job)
		old, there := pods[first]
		early = there && old.Status.Phase == corev1.PodRunning
		return len(pods) > 1 || !there && len(pods) > 0
	})
	return early
}
