package words

import (
	"fmt"
	"strconv"

	"github.com/jobledger/jobledger/events"
)

// TemplateEdited is how CronChanges says that jobTemplate was edited. The text does not have the values.
const TemplateEdited = "jobTemplate edited"

// CronChanges says which fields of a CronJob's spec differ, with both values: "schedule: 0 3 * * * → 0 4 * * *".
func CronChanges(old, now *events.CronJobSeen) []string {
	var out []string
	field := func(name, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s %s → %s", name, a, b))
		}
	}
	field("schedule", strconv.Quote(old.Schedule), strconv.Quote(now.Schedule))
	field("timeZone", orUnset(old.TimeZone, func(s string) string { return s }), orUnset(now.TimeZone, func(s string) string { return s }))
	field("concurrencyPolicy", old.Policy, now.Policy)
	field("suspend", strconv.FormatBool(old.Suspend), strconv.FormatBool(now.Suspend))
	field("startingDeadlineSeconds", orUnset(old.Deadline, decimal[int64]), orUnset(now.Deadline, decimal[int64]))
	field("successfulJobsHistoryLimit", orUnset(old.KeepSucceeded, decimal[int32]), orUnset(now.KeepSucceeded, decimal[int32]))
	field("failedJobsHistoryLimit", orUnset(old.KeepFailed, decimal[int32]), orUnset(now.KeepFailed, decimal[int32]))
	if old.Template != now.Template {
		out = append(out, TemplateEdited)
	}
	return out
}

func orUnset[T any](v *T, text func(T) string) string {
	if v == nil {
		return "unset"
	}
	return text(*v)
}

func decimal[T ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }
