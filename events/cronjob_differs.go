package events

// Differs returns the fields of the spec in which two versions of a CronJob differ, by their JSON names. It compares
// the hash of the whole jobTemplate, never the redacted text, because a newer program may know more fields of the same
// template.
func (f *CronJobSeen) Differs(other *CronJobSeen) (fields []string) {
	for _, field := range []struct {
		name    string
		differs bool
	}{
		{"schedule", f.Schedule != other.Schedule},
		{"timeZone", !equal(f.TimeZone, other.TimeZone)},
		{"concurrencyPolicy", f.Policy != other.Policy},
		{"suspend", f.Suspend != other.Suspend},
		{"startingDeadlineSeconds", !equal(f.Deadline, other.Deadline)},
		{"successfulJobsHistoryLimit", !equal(f.KeepSucceeded, other.KeepSucceeded)},
		{"failedJobsHistoryLimit", !equal(f.KeepFailed, other.KeepFailed)},
		{"jobTemplate", f.Template != other.Template},
	} {
		if field.differs {
			fields = append(fields, field.name)
		}
	}
	return fields
}
