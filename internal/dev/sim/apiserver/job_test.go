package apiserver

import (
	"math"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNewJobIsDefaultedAndGetsItsSelector(t *testing.T) {
	in := testJob("demo")
	in.Status.Failed = 7
	job := must(newServer(1).Client("test").CreateJob(ctx, in))(t)
	s := job.Spec
	if *s.Parallelism != 1 || *s.Completions != 1 || *s.BackoffLimit != 6 || *s.CompletionMode != batchv1.NonIndexedCompletion ||
		*s.Suspend || *s.ManualSelector || *s.PodReplacementPolicy != batchv1.TerminatingOrFailed {
		t.Errorf("defaults: %+v", s)
	}
	if s.Selector.MatchLabels[batchv1.ControllerUidLabel] != string(job.UID) || !Selects(job, s.Template.Labels) ||
		s.Template.Labels[batchv1.JobNameLabel] != "demo" || s.Template.Labels["job-name"] != "demo" || s.Template.Labels["controller-uid"] != string(job.UID) {
		t.Errorf("selector %v, template labels %v", s.Selector, s.Template.Labels)
	}
	if job.Generation != 1 || job.UID == "" || job.ResourceVersion == "" || job.Status.Failed != 0 || !job.CreationTimestamp.Time.Equal(start) {
		t.Errorf("metadata %+v, status %+v", job.ObjectMeta, job.Status)
	}
	if len(in.Spec.Template.Labels) != 0 || in.UID != "" {
		t.Error("the caller's object was changed")
	}
}

func TestJobDefaultsThatDepend(t *testing.T) {
	for _, row := range []struct {
		name string
		edit func(*batchv1.JobSpec)
		want func(*batchv1.JobSpec) bool
	}{
		{"completions stay nil when only parallelism is set", func(s *batchv1.JobSpec) { s.Parallelism = new(int32(3)) },
			func(s *batchv1.JobSpec) bool { return s.Completions == nil && *s.Parallelism == 3 }},
		{"parallelism is 1 when only completions are set", func(s *batchv1.JobSpec) { s.Completions = new(int32(3)) },
			func(s *batchv1.JobSpec) bool { return *s.Completions == 3 && *s.Parallelism == 1 }},
		{"backoffLimit is unlimited with backoffLimitPerIndex",
			func(s *batchv1.JobSpec) {
				s.CompletionMode, s.Completions, s.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), new(int32(3)), new(int32(1))
			},
			func(s *batchv1.JobSpec) bool { return *s.BackoffLimit == math.MaxInt32 }},
		{"a podFailurePolicy replaces pods only when Failed, and its conditions default to True",
			func(s *batchv1.JobSpec) {
				s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
					Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}},
				}}}
			},
			func(s *batchv1.JobSpec) bool {
				return *s.PodReplacementPolicy == batchv1.Failed && s.PodFailurePolicy.Rules[0].OnPodConditions[0].Status == corev1.ConditionTrue
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := testJob("demo")
			row.edit(&in.Spec)
			job := must(newServer(1).Client("test").CreateJob(ctx, in))(t)
			if !row.want(&job.Spec) {
				t.Errorf("spec %+v", job.Spec)
			}
		})
	}
}

func TestJobsThatAreRefused(t *testing.T) {
	for _, row := range []struct {
		name, field string
		edit        func(*batchv1.Job)
	}{
		{"a name that is no DNS name", "metadata.name", func(j *batchv1.Job) { j.Name = "A_b" }},
		{"restart policy Always", "spec.template.spec.restartPolicy", func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = "" }},
		{"no container", "spec.template.spec.containers", func(j *batchv1.Job) { j.Spec.Template.Spec.Containers = nil }},
		{"negative parallelism", "spec.parallelism", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(-1)) }},
		{"Indexed without completions", "spec.completions", func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Spec.Parallelism = new(batchv1.IndexedCompletion), new(int32(1))
		}},
		{"a manual selector that does not match", "spec.template.metadata.labels", func(j *batchv1.Job) {
			j.Spec.ManualSelector, j.Spec.Selector = new(true), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}},
		{"managedBy without a domain", "spec.managedBy", func(j *batchv1.Job) { j.Spec.ManagedBy = new("me") }},
		{"backoffLimitPerIndex in a NonIndexed Job", "spec.backoffLimitPerIndex", func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(int32(1)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := testJob("demo")
			row.edit(in)
			_, err := newServer(1).Client("test").CreateJob(ctx, in)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), row.field) {
				t.Errorf("got %v, want a complaint about %s", err, row.field)
			}
		})
	}
}

func TestJobUpdates(t *testing.T) {
	w := newWorld(t)
	job := w.job.DeepCopy()
	job.Spec.Parallelism, job.Status.Failed = new(int32(3)), 9
	job = must(w.UpdateJob(ctx, job))(t)
	if job.Generation != 2 || job.Status.Failed != 0 || VersionOf(job) <= VersionOf(w.job) {
		t.Errorf("generation %d, failed %d, version %s", job.Generation, job.Status.Failed, job.ResourceVersion)
	}

	_, err := w.UpdateJob(ctx, w.job) // an old version
	wantErr(t, apierrors.IsConflict, err)

	again := must(w.UpdateJob(ctx, job))(t)
	if again.ResourceVersion != job.ResourceVersion {
		t.Error("an update that changes nothing moved the resource version")
	}

	job.Spec.ManagedBy = new("example.com/other")
	_, err = w.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsInvalid, err)

	job.Spec.ManagedBy, job.Spec.Template.Spec.Containers[0].Image = nil, "other"
	_, err = w.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsInvalid, err)

	job.UID, job.Spec.Template = "another", w.job.Spec.Template
	_, err = w.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsConflict, err)

	job.Name = "absent"
	_, err = w.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsNotFound, err)
}

func TestTemplateMayChangeWhileSuspended(t *testing.T) {
	in := testJob("demo")
	in.Spec.Suspend = new(true)
	c := newServer(1).Client("test")
	job := must(c.CreateJob(ctx, in))(t)
	job.Spec.Template.Spec.NodeSelector = map[string]string{"zone": "a"}
	job = must(c.UpdateJob(ctx, job))(t)
	job.Status.Active = 1
	job = must(c.UpdateJobStatus(ctx, job))(t)
	job.Spec.Template.Spec.NodeSelector = nil
	_, err := c.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsInvalid, err)
}

// J-207: a status update changes no spec, and writes the sent metadata.
// J-235: times are stored with whole seconds.
func TestStatusUpdateIgnoresTheSpec(t *testing.T) {
	w := newWorld(t)
	job := w.job.DeepCopy()
	job.Spec.Parallelism = new(int32(50))
	job.Labels = map[string]string{"team": "a"}
	precise := metav1.NewTime(start.Add(1500 * time.Millisecond))
	job.Status.Active, job.Status.StartTime = 1, &precise
	job = must(w.UpdateJobStatus(ctx, job))(t)
	if *job.Spec.Parallelism != 1 || job.Generation != 1 || job.Status.Active != 1 || job.Labels["team"] != "a" {
		t.Errorf("spec %+v, metadata %+v, status %+v", job.Spec, job.ObjectMeta, job.Status)
	}
	if want := start.Add(time.Second); !job.Status.StartTime.Time.Equal(want) {
		t.Errorf("startTime %v, want %v", job.Status.StartTime, want)
	}
	job.ResourceVersion = ""
	_, err := w.UpdateJobStatus(ctx, job)
	wantErr(t, apierrors.IsInvalid, err)
	job.ResourceVersion = w.job.ResourceVersion
	_, err = w.UpdateJobStatus(ctx, job)
	wantErr(t, apierrors.IsConflict, err)
}

func TestCompletionsChangeOnlyInTandem(t *testing.T) {
	in := testJob("demo")
	in.Spec.CompletionMode, in.Spec.Completions, in.Spec.Parallelism = new(batchv1.IndexedCompletion), new(int32(4)), new(int32(4))
	c := newServer(1).Client("test")
	job := must(c.CreateJob(ctx, in))(t)
	job.Spec.Completions = new(int32(2))
	_, err := c.UpdateJob(ctx, job)
	wantErr(t, apierrors.IsInvalid, err)
	job.Spec.Parallelism = new(int32(2))
	must(c.UpdateJob(ctx, job))(t)
}
