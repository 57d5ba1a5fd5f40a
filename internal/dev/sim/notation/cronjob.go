package notation

import (
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// NewCronJob returns a CronJob with a schedule and the API's defaults.
func NewCronJob(created events.Time) events.CronJobSeen {
	return events.CronJobSeen{
		Created: created.Second(), Schedule: "0 * * * *", Policy: "Allow", Template: "t1",
		KeepSucceeded: new(int32(3)), KeepFailed: new(int32(1)),
	}
}

// CronJob changes a CronJob by one word of a script. A space in a schedule is written as an underscore. ok is false if
// the word is not about a CronJob.
func CronJob(c *events.CronJobSeen, word string, now events.Time) (ok bool, err error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "schedule":
		c.Schedule = strings.ReplaceAll(value, "_", " ")
	case "zone":
		if c.TimeZone = &value; value == "none" {
			c.TimeZone = nil
		}
	case "policy":
		c.Policy = value
	case "suspend":
		c.Suspend = value != "false"
	case "startBy": // startingDeadlineSeconds
		if c.Deadline = nil; value != "none" {
			var seconds int64
			seconds, err = strconv.ParseInt(value, 10, 64)
			c.Deadline = &seconds
		}
	case "keepSucceeded":
		c.KeepSucceeded, err = number(value)
	case "keepFailed":
		c.KeepFailed, err = number(value)
	case "template":
		c.Template = value
	case "created":
		c.Created, err = moment(value, now)
	case "deleting":
		c.Deleted = now.Second()
	case "active":
		c.Active = nil
		for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
			c.Active = append(c.Active, events.RunName{UID: uids("uid-" + name)[0], Name: name, Version: 7})
		}
	case "lastSchedule":
		c.LastSchedule, err = moment(value, now)
	case "lastSuccess":
		c.LastSuccess, err = moment(value, now)
	default:
		return false, nil
	}
	return true, err
}

// Run changes a Job of a CronJob by one word of a script. ok is false if the word is not about such a Job.
func Run(r *events.RunSeen, word string, now events.Time) (ok bool, err error) {
	key, value, given := strings.Cut(word, "=")
	switch key {
	case "Complete": // Complete=TIME; without a time it means now
		r.Result, r.Succeeded, r.Completed = events.ResultComplete, true, now.Second()
		if given {
			r.Completed, err = moment(value, now)
		}
	case "Failed":
		r.Result = events.ResultFailed
	case "succeeded": // the list has the condition Complete, but Failed stands before it
		r.Succeeded = true
		r.Completed, err = moment(value, now)
	case "started":
		r.Started = now.Second()
		if given {
			r.Started, err = moment(value, now)
		}
	case "deleting":
		r.Deleted = now.Second()
	case "due":
		r.Due, err = moment(value, now)
	case "manual":
		r.Manual, r.By, r.Due = true, value, 0
	default:
		return false, nil
	}
	return true, err
}

// moment parses a time of now's day, such as 09:15 or 09:15:20, a time of another day, such as 2026-03-01T09:15, or a
// time that Time parses.
func moment(text string, now events.Time) (events.Time, error) {
	if at, err := Moment(text, now); err == nil {
		return at, nil
	}
	return Time(text, now)
}

// Moment parses a time of now's day, such as 09:15 or 09:15:20, or of another day, such as 2026-03-01T09:15.
func Moment(text string, now events.Time) (events.Time, error) {
	if !strings.Contains(text, "T") {
		text = now.Go().UTC().Format("2006-01-02T") + text
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04", text)
	}
	return events.At(at), err
}
