package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/notation"
)

const namespace = "default"

// newJob returns the Job that a line of a scenario describes: its name, then words. It knows the words of
// [notation.Spec], and also "pending" (pods never start by themselves), "grace=N" (seconds that pods have to stop) and
// "shared" (several Jobs have the same selector).
func newJob(line string) (*batchv1.Job, error) {
	words := strings.Fields(line)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: words[0]},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kubelet.AnnotationOutcome: kubelet.OutcomeRun}},
			Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}}},
		}},
	}
	return job, setWords(job, words[1:])
}

func setWords(job *batchv1.Job, words []string) error {
	for _, word := range words {
		if err := setWord(job, word); err != nil {
			return fmt.Errorf("job %s: %s: %w", job.Name, word, err)
		}
	}
	return nil
}

// setWord changes a Job by one word of a scenario, such as "parallelism=2".
func setWord(job *batchv1.Job, word string) error {
	key, value, _ := strings.Cut(word, "=")
	spec, template := &job.Spec, &job.Spec.Template
	switch key {
	case "pending":
		template.Annotations[kubelet.AnnotationOutcome] = kubelet.OutcomePending
		return nil
	case "grace":
		seconds, err := strconv.ParseInt(value, 10, 64)
		template.Spec.TerminationGracePeriodSeconds = &seconds
		return err
	case "shared":
		labels := map[string]string{"app": "shared"}
		spec.ManualSelector, spec.Selector, template.Labels = new(true), &metav1.LabelSelector{MatchLabels: labels}, maps.Clone(labels)
		return nil
	case "node":
		template.Spec.NodeSelector = map[string]string{"pool": value}
		return nil
	case "managedBy":
		spec.ManagedBy = &value
		return nil
	case "deadline":
		if value == "none" {
			spec.ActiveDeadlineSeconds = nil
			return nil
		}
	case "ttl":
		if value == "none" {
			spec.TTLSecondsAfterFinished = nil
			return nil
		}
	}
	var said events.JobSpec
	if ok, err := notation.Spec(&said, word); err != nil || !ok {
		return fmt.Errorf("no word of a Job: %w", err)
	}
	return setSaid(spec, key, &said)
}

// setSaid copies one field from said, the spec that notation has filled in, to the Job's spec.
func setSaid(spec *batchv1.JobSpec, key string, said *events.JobSpec) error {
	switch key {
	case "parallelism":
		spec.Parallelism = said.Parallelism
	case "completions":
		spec.Completions = said.Completions
	case "indexed":
		spec.CompletionMode = new(batchv1.IndexedCompletion)
	case "backoffLimit":
		spec.BackoffLimit = said.BackoffLimit
	case "perIndex":
		spec.BackoffLimitPerIndex = said.BackoffLimitPerIndex
	case "maxFailed":
		spec.MaxFailedIndexes = said.MaxFailedIndexes
	case "deadline":
		spec.ActiveDeadlineSeconds = said.ActiveDeadlineSeconds
	case "ttl":
		spec.TTLSecondsAfterFinished = said.TTLSecondsAfterFinished
	case "suspend":
		spec.Suspend = &said.Suspend
	case "replace":
		spec.PodReplacementPolicy = new(batchv1.PodReplacementPolicy(said.PodReplacementPolicy))
	case "onFailure":
		spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	case "policy":
		return json.Unmarshal([]byte(said.PodFailurePolicy), &spec.PodFailurePolicy)
	case "success":
		return json.Unmarshal([]byte(said.SuccessPolicy), &spec.SuccessPolicy)
	default:
		return fmt.Errorf("the oracle does not know this word")
	}
	return nil
}

// kubelets parses the words of a scenario about its nodes: "start=1s" (time from the node to Running), "stop=5s" (from
// the deletion to the end), "confirm=1s" (from the end to its confirmation), "clean" (a stopped pod exits with 0, not
// 143).
func kubelets(words string) (kubelet.Config, error) {
	c := kubelet.Config{Start: kubelet.Range{Min: time.Second}, Stop: kubelet.Range{Min: 3 * time.Second}}
	for _, word := range strings.Fields(words) {
		key, value, _ := strings.Cut(word, "=")
		if key == "clean" {
			c.CleanStop = 1
			continue
		}
		field := map[string]*kubelet.Range{"start": &c.Start, "stop": &c.Stop, "confirm": &c.Confirm}[key]
		d, err := time.ParseDuration(value)
		if field == nil || err != nil {
			return c, fmt.Errorf("no word of a kubelet: %s (%w)", word, err)
		}
		field.Min = d
	}
	return c, nil
}
