package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/jobledger/jobledger/events"
)

// features reports the features that the server lacks, and that a controller with these settings or the files of
// deploy/ need.
func features(ctx context.Context, c *Config) []Finding {
	_, v, err := serverVersion(c)
	if err != nil {
		return []Finding{{Level: Unknown, Text: err.Error()}}
	}
	found := slices.Concat(
		jobFields(ctx, c, v), workloads(c), schedulingKept(ctx, c), alphaGroups(ctx, c, v), mutatingPolicies(c), streamedLists(ctx, c))
	if found == nil {
		return well(fmt.Sprintf("the server lacks nothing that --manage=%s uses", c.Settings.Mode))
	}
	return found
}

// fieldsAlwaysKept is the first version of Kubernetes in which the API server keeps all Job fields that this program
// uses, whatever its feature gates are.
var fieldsAlwaysKept = version.MajorMinor(1, 35)

// jobField is a field of a Job that the API server drops while its feature gate is off. All gates are on by default.
type jobField struct {
	name, gate string
	kept       func(*batchv1.JobSpec) bool
}

var gatedFields = []jobField{
	{"managedBy", "JobManagedBy", func(s *batchv1.JobSpec) bool { return s.ManagedBy != nil }},
	{"podReplacementPolicy", "JobPodReplacementPolicy", func(s *batchv1.JobSpec) bool { return s.PodReplacementPolicy != nil }},
	{"successPolicy", "JobSuccessPolicy", func(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil }},
	{"backoffLimitPerIndex", "JobBackoffLimitPerIndex", func(s *batchv1.JobSpec) bool { return s.BackoffLimitPerIndex != nil }},
}

// jobFields reports the fields of a Job that the server drops. It finds them by a dry-run create, which stores nothing.
func jobFields(ctx context.Context, c *Config, v *version.Version) []Finding {
	if c.Settings.Mode == events.ModeObserve || v.LessThan(oldest) || !v.LessThan(fieldsAlwaysKept) {
		return nil
	}
	namespace := c.Settings.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	made, err := c.Client.BatchV1().Jobs(namespace).Create(ctx, everyField(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		f := Finding{
			Level: Unknown, Text: fmt.Sprintf("whether the server keeps every field of a Job: the dry run of a create in namespace %s failed: %v", namespace, err),
		}
		if apierrors.IsForbidden(err) {
			f.Do = "look as one who may create Jobs, such as an administrator"
		}
		return []Finding{f}
	}
	var dropped, gates []string
	for _, field := range gatedFields {
		if !field.kept(&made.Spec) {
			dropped, gates = append(dropped, "spec."+field.name), append(gates, field.gate)
		}
	}
	if dropped == nil {
		return nil
	}
	f := Finding{
		Level: Warning, Text: fmt.Sprintf("the server drops %s from new Jobs; they run without", list(dropped)),
		Do: "switch on the feature gates of kube-apiserver: " + strings.Join(gates, ", "),
	}
	switch off := func(gate string) bool { return slices.Contains(gates, gate) }; {
	case off("JobManagedBy") && off("JobPodReplacementPolicy"):
		f.Level, f.Text = Problem, fmt.Sprintf("the server drops %s from new Jobs, and refuses SuccessCriteriaMet in the status of most, so they do not complete", list(dropped))
	case off("JobManagedBy") && c.Settings.Mode == events.ModeDelegated:
		f.Level, f.Text = Problem, fmt.Sprintf("the server drops %s from new Jobs, so no Job is ours", list(dropped))
	}
	return []Finding{f}
}

// everyField returns a Job that sets each of the gatedFields. The Job is suspended, in case a server stores it.
func everyField() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "jobledger-doctor-"},
		Spec: batchv1.JobSpec{
			Suspend: new(true), CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(1)), Parallelism: new(int32(1)),
			ManagedBy: new(events.ManagedBy), PodReplacementPolicy: new(batchv1.Failed), BackoffLimitPerIndex: new(int32(1)),
			SuccessPolicy: &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "none"}},
			}},
		},
	}
}

// mutatingPolicies checks whether deploy/policy/mutating.yaml, which is for delegated Jobs, can be applied.
func mutatingPolicies(c *Config) []Finding {
	if c.Settings.Mode != events.ModeDelegated {
		return nil
	}
	served, err := c.Client.Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if err != nil {
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("whether the server has MutatingAdmissionPolicies: %v", err)}}
	}
	if slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "mutatingadmissionpolicies" }) {
		return nil
	}
	return []Finding{{
		Level: Note, Text: "the server has no MutatingAdmissionPolicy (admissionregistration.k8s.io/v1), so deploy/policy/mutating.yaml cannot be applied",
		Do: "set spec.managedBy where Jobs are made; deploy/policy/validating.yaml refuses those without it",
	}}
}

// streamedLists checks whether the server can stream the first list as a watch. The watch that tries this selects no
// object and ends at once.
func streamedLists(ctx context.Context, c *Config) []Finding {
	w, err := c.Client.BatchV1().Jobs(c.Settings.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=jobledger-doctor", SendInitialEvents: new(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: new(int64(1)),
	})
	switch {
	case err == nil:
		w.Stop()
	case apierrors.IsInvalid(err):
		return []Finding{{Level: Note, Text: "the server does not stream lists (feature gate WatchList): a start lists in pages instead, which works as well"}}
	case apierrors.IsForbidden(err): // the check named rights reports that the right is missing
	default:
		return []Finding{{Level: Unknown, Text: fmt.Sprintf("whether the server streams lists: %v", err)}}
	}
	return nil
}
