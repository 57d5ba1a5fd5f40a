package incidents

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
)

// option changes a Job before it is created.
type option func(*batchv1.Job)

// newJob returns a Job of one pod with one container, main. The pod runs for two seconds and succeeds, unless the
// options say otherwise.
func newJob(name, image string, options ...option) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name, "team": "data"}},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationRunFor: "2s"}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "registry.corp/" + image}},
			},
		}},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

func template(change func(*corev1.PodTemplateSpec)) option {
	return func(j *batchv1.Job) { change(&j.Spec.Template) }
}

func spec(change func(*batchv1.JobSpec)) option {
	return func(j *batchv1.Job) { change(&j.Spec) }
}

func annotate(key, value string) option {
	return template(func(p *corev1.PodTemplateSpec) { p.Annotations[key] = value })
}

// fails: its pods fail with an exit code.
func fails(code string) option {
	return func(j *batchv1.Job) {
		annotate(controlplane.AnnotationOutcome, controlplane.OutcomeFail)(j)
		annotate(controlplane.AnnotationExitCode, code)(j)
	}
}

// indexesFail: the pods of these indexes fail with an exit code.
func indexesFail(indexes, code string) option {
	return func(j *batchv1.Job) {
		annotate(controlplane.AnnotationFailIndexes, indexes)(j)
		annotate(controlplane.AnnotationExitCode, code)(j)
	}
}

func runsFor(d string) option { return annotate(controlplane.AnnotationRunFor, d) }

func runsOn() option { return annotate(controlplane.AnnotationOutcome, controlplane.OutcomeRun) }

func stopsAfter(d string) option { return annotate(controlplane.AnnotationStopAfter, d) }

func limit(n int32) option {
	return spec(func(s *batchv1.JobSpec) { s.BackoffLimit = &n })
}

func size(completions, parallelism int32) option {
	return spec(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = &completions, &parallelism })
}

func indexed(completions, parallelism int32) option {
	return func(j *batchv1.Job) {
		size(completions, parallelism)(j)
		j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
}

func deadline(seconds int64) option {
	return spec(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = &seconds })
}
