package observation

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/trigger"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Bounds of texts of a CronJob, in bytes. An API server accepts none that come near them.
const (
	maxSchedule = 1 << 10
	maxZoneName = 256
	maxTrigger  = 512
)

// observeLocked returns the observation of a CronJob at this version, with its status and the rules of its time zones.
func (r *cronJobs) observeLocked(cronJob *kubewire.CronJob, version uint64) (events.Observation, error) {
	hash, err := cronTemplateHash(cronJob, r.feed.key)
	if err != nil {
		return events.Observation{}, err
	}
	template, err := json.Marshal(redactedJob(&cronJob.Spec.JobTemplate))
	if err != nil {
		return events.Observation{}, fmt.Errorf("encode redacted jobTemplate of CronJob %s/%s: %w", cronJob.Namespace, cronJob.Name, err)
	}
	s := &cronJob.Spec
	seen := &events.CronJobSeen{
		Version:       version,
		Generation:    cronJob.Generation,
		Created:       events.At(cronJob.CreationTimestamp.Time),
		Deleted:       instant(cronJob.DeletionTimestamp),
		Schedule:      bounded(s.Schedule, maxSchedule),
		Policy:        string(s.ConcurrencyPolicy),
		Suspend:       s.Suspend != nil && *s.Suspend,
		Deadline:      s.StartingDeadlineSeconds,
		KeepSucceeded: s.SuccessfulJobsHistoryLimit,
		KeepFailed:    s.FailedJobsHistoryLimit,
		Template:      hash,
		Redacted:      textHash(cronJob.Namespace, string(template)),
		LastSchedule:  instant(cronJob.Status.LastScheduleTime),
		LastSuccess:   instant(cronJob.Status.LastSuccessfulTime),
		Trigger:       triggerOf(cronJob),
	}
	if s.TimeZone != nil {
		zone := bounded(*s.TimeZone, maxZoneName)
		seen.TimeZone = &zone
	}
	for _, ref := range cronJob.Status.Active {
		seen.Active = append(seen.Active, events.RunName{UID: boundedUID(ref.UID), Name: bounded(ref.Name, maxName), Version: number(ref.ResourceVersion)})
	}
	o := events.Observation{
		Job: cronRef(cronJob), Facts: seen, Evidence: events.Evidence{Namespace: cronJob.Namespace, Name: cronJob.Name},
		Editors: r.feed.editors.of(cronJob.ManagedFields), Template: stored(template), TemplateSize: len(template),
	}
	r.addZones(&o, seen)
	return o, nil
}

// addZones adds the known rules of the time zones that the schedule names.
func (r *cronJobs) addZones(o *events.Observation, seen *events.CronJobSeen) {
	for _, name := range schedule.Named(seen.Schedule, seen.TimeZone) {
		rules, asked := r.zones[name]
		if !asked {
			rules, _ = zones.Find(name)
			r.zones[name] = rules
		}
		if rules.Name != "" {
			seen.Zones = append(seen.Zones, events.ZoneName{Name: rules.Name, Hash: rules.Hash})
			o.Zones = append(o.Zones, events.ZoneRules{Name: rules.Name, Hash: rules.Hash, TZif: rules.TZif})
		}
	}
}

// number parses a resourceVersion that any user may have written; 0 when it is not a number.
func number(version string) uint64 {
	n, err := ParseVersion(version)
	if err != nil {
		return 0
	}
	return n
}

// triggerOf returns the request in the trigger annotation. A value that trigger.Parse rejects has Asked 0, so it is not
// carried out.
func triggerOf(cronJob *kubewire.CronJob) *events.RunTrigger {
	value, ok := cronJob.Annotations[trigger.Annotation]
	if !ok {
		return nil
	}
	t := &events.RunTrigger{Value: bounded(value, maxTrigger)}
	if request, err := trigger.Parse(value); err == nil {
		t.Asked, t.By = events.At(request.At), request.By
	}
	for _, e := range cronJob.ManagedFields {
		if e.FieldsV1 != nil {
			continue // the entry says who changed the spec, not who wrote the trigger annotation
		}
		if t.By == "" {
			t.By = "someone"
		}
		t.By += " by " + bounded(e.Manager, maxReason)
		break
	}
	return t
}

// CronTemplateHash returns a function that hashes a CronJob's jobTemplate with the key, as TemplateHash does for a Job.
// The executor compares the hash, so that Jobs are made only from the template that was decided on.
func CronTemplateHash(key events.Key) func(*kubewire.CronJob) (string, error) {
	return func(cronJob *kubewire.CronJob) (string, error) { return cronTemplateHash(cronJob, key) }
}

// cronTemplateHash hashes the metadata that Jobs copy from the jobTemplate, and the spec as the server sent it.
func cronTemplateHash(cronJob *kubewire.CronJob, key events.Key) (string, error) {
	t, err := cronJob.JobTemplate()
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(metadataTaken{Labels: t.Labels, Annotations: t.Annotations})
	if err != nil {
		return "", fmt.Errorf("hash jobTemplate of CronJob %s/%s: %w", cronJob.Namespace, cronJob.Name, err)
	}
	return key.Hash("jobTemplate", cronJob.Namespace, append(append(content, 0), t.Spec...)), nil
}

// taken returns the parts of a jobTemplate that are copied into its Jobs (C-153, C-156). It shares memory with t.
func taken(t *batchv1.JobTemplateSpec) *batchv1.JobTemplateSpec {
	return &batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
}

// redactedJob returns a copy of a jobTemplate with annotation values hidden, and with its pod template redacted.
func redactedJob(t *batchv1.JobTemplateSpec) *batchv1.JobTemplateSpec {
	t = taken(t).DeepCopy()
	hideValues(t.Annotations)
	t.Spec.Template = *redacted(&t.Spec.Template)
	return t
}
