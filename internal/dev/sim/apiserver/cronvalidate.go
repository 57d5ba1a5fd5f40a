package apiserver

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/zones"
)

// maxCronJobName leaves 11 of the 63 characters of a Job's name for the suffix that a CronJob adds, such as
// "-29101234".
const maxCronJobName = 52

var cronSpec = field.NewPath("spec")

// validateCronJob returns the errors for which the API server refuses a new CronJob (C-003 to C-009).
func validateCronJob(cronJob *batchv1.CronJob) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&cronJob.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validateCronSpec(&cronJob.Spec, &batchv1.CronJobSpec{})...)
	if len(cronJob.Name) > maxCronJobName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), cronJob.Name, "must be no more than 52 characters"))
	}
	return errs
}

// validateCronJobUpdate returns the errors for which the API server refuses an update of a CronJob. A value that stays
// the same is accepted, even if it breaks a rule that is newer than the value.
func validateCronJobUpdate(stored, cronJob *batchv1.CronJob) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaUpdate(&cronJob.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	return append(errs, validateCronSpec(&cronJob.Spec, &stored.Spec)...)
}

// validateCronSpec validates a spec that replaces old; for a new CronJob old is empty.
func validateCronSpec(s, old *batchv1.CronJobSpec) field.ErrorList {
	errs := validateSchedule(s, old)
	if s.TimeZone != nil && (old.TimeZone == nil || *old.TimeZone != *s.TimeZone) {
		errs = append(errs, validateZone(*s.TimeZone)...)
	}
	if n := s.StartingDeadlineSeconds; n != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(*n, cronSpec.Child("startingDeadlineSeconds"))...)
	}
	if n := s.SuccessfulJobsHistoryLimit; n != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*n), cronSpec.Child("successfulJobsHistoryLimit"))...)
	}
	if n := s.FailedJobsHistoryLimit; n != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*n), cronSpec.Child("failedJobsHistoryLimit"))...)
	}
	switch s.ConcurrencyPolicy {
	case batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(cronSpec.Child("concurrencyPolicy"), s.ConcurrencyPolicy,
			[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}))
	}
	return append(errs, validateJobTemplate(&s.JobTemplate.Spec)...)
}

// validateSchedule checks that a schedule parses (C-005, C-006). It must not name a zone, unless the old one did.
func validateSchedule(s, old *batchv1.CronJobSpec) field.ErrorList {
	path := cronSpec.Child("schedule")
	if s.Schedule == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	_, err := schedule.Parse(s.Schedule, nil, locate)
	errs := refuseIf(err != nil, path, s.Schedule, fmt.Sprint(err))
	if !schedule.NamesZone(s.Schedule) {
		return errs
	}
	if !schedule.NamesZone(old.Schedule) {
		return append(errs, field.Invalid(path, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	return append(errs, refuseIf(s.TimeZone != nil, path, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")...)
}

var zonePart = regexp.MustCompile(`^[A-Za-z0-9._+][A-Za-z0-9._+-]{0,13}$`)

// validateZone checks that a time zone has a valid name, and that the server's zone database has it (C-007).
func validateZone(name string) field.ErrorList {
	path := cronSpec.Child("timeZone")
	if name == "" {
		return field.ErrorList{field.Invalid(path, name, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(path, name, "unknown time zone "+name)}
		}
	}
	errs := refuseIf(strings.EqualFold(name, "Local"), path, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	_, err := schedule.Locate(name, locate)
	return append(errs, refuseIf(err != nil, path, name, fmt.Sprint(err))...)
}

// locate returns a time zone from the server's zone database.
func locate(name string) (*time.Location, error) {
	if rules, ok := zones.Find(name); ok {
		return time.LoadLocationFromTZData(name, rules.TZif)
	}
	return nil, schedule.UnknownZone(name)
}

// validateJobTemplate checks the job template (C-009). It must not set a selector, because the server generates one for
// each Job. Of the other fields it checks only those that a test may get wrong by accident.
func validateJobTemplate(s *batchv1.JobSpec) field.ErrorList {
	path := cronSpec.Child("jobTemplate", "spec")
	errs := refuseIf(s.Selector != nil, path.Child("selector"), s.Selector, "`selector` will be auto-generated")
	if s.ManualSelector != nil && *s.ManualSelector {
		errs = append(errs, field.NotSupported(path.Child("manualSelector"), *s.ManualSelector, []string{"nil", "false"}))
	}
	errs = append(errs, validateCounts(s, path)...)
	return append(errs, validateTemplate(s, path.Child("template", "spec"))...)
}
