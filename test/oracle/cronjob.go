package oracle

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// otherController is the value of managedBy in the Jobs that CronJobs of a scenario create. No controller runs these
// Jobs; actions of the scenario begin and end them, in the same way in both clusters (C-230).
const otherController = "oracle.jobledger.dev/deeds"

// newCronJob returns the CronJob that a line of a scenario describes: its name, then words. In a word, ~ stands for a
// space.
//
//	schedule=*/5~*~*~*~*  zone=Europe/Berlin  policy=Forbid  suspend=true  deadline=100  keep=1  keepFailed=0
//	image=v2  label=x  note=x                 (of the jobTemplate)
//
// zone and deadline may be none.
func newCronJob(line string) (*batchv1.CronJob, error) {
	words := strings.Fields(line)
	cronJob := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: words[0], Labels: map[string]string{"of": "the-cronjob"}, Annotations: map[string]string{"of": "the CronJob"},
		},
		Spec: batchv1.CronJobSpec{Schedule: "@hourly", JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
			Spec: batchv1.JobSpec{
				ManagedBy: new(otherController),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "v1"}},
				}},
			},
		}},
	}
	return cronJob, setCronWords(cronJob, words[1:])
}

func setCronWords(cronJob *batchv1.CronJob, words []string) error {
	for _, word := range words {
		if err := setCronWord(cronJob, word); err != nil {
			return fmt.Errorf("cronjob %s: %s: %w", cronJob.Name, word, err)
		}
	}
	return nil
}

// setCronWord changes a CronJob as one word says, such as "policy=Forbid".
func setCronWord(cronJob *batchv1.CronJob, word string) error {
	key, value, _ := strings.Cut(word, "=")
	value = strings.ReplaceAll(value, "~", " ")
	spec, template := &cronJob.Spec, &cronJob.Spec.JobTemplate
	switch key {
	case "schedule":
		spec.Schedule = value
	case "zone":
		if spec.TimeZone = &value; value == "none" {
			spec.TimeZone = nil
		}
	case "policy":
		spec.ConcurrencyPolicy = batchv1.ConcurrencyPolicy(value)
	case "suspend":
		spec.Suspend = new(value == "true")
	case "image":
		template.Spec.Template.Spec.Containers[0].Image = value
	case "label":
		template.Labels = map[string]string{"app": value}
	case "note":
		template.Annotations = map[string]string{"note": value, batchv1.CronJobScheduledTimestampAnnotation: "of the template"}
	default:
		return setCronNumber(spec, key, value)
	}
	return nil
}

func setCronNumber(spec *batchv1.CronJobSpec, key, value string) error {
	if key == "deadline" && value == "none" {
		spec.StartingDeadlineSeconds = nil
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return err
	}
	switch key {
	case "deadline":
		spec.StartingDeadlineSeconds = &n
	case "keep":
		spec.SuccessfulJobsHistoryLimit = new(int32(n))
	case "keepFailed":
		spec.FailedJobsHistoryLimit = new(int32(n))
	default:
		return fmt.Errorf("the oracle does not know this word")
	}
	return nil
}
