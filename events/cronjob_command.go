package events

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// CreateJob asks for the creation of a Job of a CronJob (C-150 to C-156). The executor takes the template from the
// CronJob object by its hash. It answers RefusedTemplate when the object now has another template.
type CreateJob struct {
	Name     string
	Due      Time   // the due time that the Job runs for; 0 for a manual run
	Template string // hash of the jobTemplate
	Stamp    string // value of the annotation with the due time (C-154); empty for none
	Trigger  string // value of the annotation that asked for the run; the Job is then marked as created by hand
}

// DeleteRun asks for the deletion of a Job of a CronJob, and of its pods in the background (C-124, C-147).
type DeleteRun struct {
	Job  types.UID
	Name string
	// true: the policy is Replace, and another Job takes the place of this one. false: more finished Jobs exist than
	// the history limit keeps
	Replacing bool
}

// WriteCronStatus asks for a write of the whole status of a CronJob (C-171).
type WriteCronStatus struct {
	Base                      uint64 // resourceVersion that the CronJob must still have
	Active                    []RunName
	LastSchedule, LastSuccess Time // in whole seconds; 0 for unset
}

// ReadCronJob asks for a read of the CronJob from the API server, not from a cache. The answer arrives as an
// observation (C-103).
type ReadCronJob struct{}

// ReadRun asks for a read of a Job by its name from the API server, not from a cache. If the Job belongs to the
// CronJob, it arrives as an observation (C-109, C-147, C-160).
type ReadRun struct {
	Job       types.UID // its known UID; empty when unknown
	Name      string
	Replacing bool // the Job is to be deleted, and another Job takes its place
}

func (*CreateJob) Traits() *Traits       { return &traits[CommandCreateJob] }
func (*DeleteRun) Traits() *Traits       { return &traits[CommandDeleteRun] }
func (*WriteCronStatus) Traits() *Traits { return &traits[CommandWriteCronStatus] }
func (*ReadCronJob) Traits() *Traits     { return &traits[CommandReadCronJob] }
func (*ReadRun) Traits() *Traits         { return &traits[CommandReadRun] }

func (c *CreateJob) phrase(func(types.UID) string) string {
	if c.Due == 0 {
		return c.Traits().Verb + " " + c.Name + ", as was asked for"
	}
	return fmt.Sprintf("%s %s for %s", c.Traits().Verb, c.Name, time.Unix(0, int64(c.Due)).UTC().Format(time.RFC3339))
}

func (c *DeleteRun) phrase(func(types.UID) string) string {
	if c.Replacing {
		return c.Traits().Verb + " " + c.Name + " to replace it"
	}
	return c.Traits().Verb + " " + c.Name
}

func (c *WriteCronStatus) phrase(func(types.UID) string) string {
	return fmt.Sprintf("%s: active=%d", c.Traits().Verb, len(c.Active))
}

func (c *ReadCronJob) phrase(func(types.UID) string) string { return c.Traits().Verb }

func (c *ReadRun) phrase(func(types.UID) string) string { return c.Traits().Verb + " " + c.Name }

// aboutRun holds the fields that commands about a Job of a CronJob have in common.
type aboutRun struct {
	name      string
	uid       types.UID
	due       Time
	replacing bool
}

func (c *CreateJob) run() aboutRun { return aboutRun{name: c.Name, due: c.Due} }
func (c *DeleteRun) run() aboutRun { return aboutRun{c.Name, c.Job, 0, c.Replacing} }
func (c *ReadRun) run() aboutRun   { return aboutRun{c.Name, c.Job, 0, c.Replacing} }

// RunNameOf returns the name of the Job that a command with TargetRun is about; empty for all others.
func RunNameOf(c Command) string { return runOf(c).name }

// runOf returns the Job that a command with TargetRun is about; zero for all others.
func runOf(c Command) aboutRun {
	if about, ok := c.(interface{ run() aboutRun }); ok {
		return about.run()
	}
	return aboutRun{}
}

func (c *CreateJob) weight() int {
	return 20 + len(c.Name) + len(c.Template) + len(c.Stamp) + len(c.Trigger)
}

func (c *WriteCronStatus) weight() int { return 34 + runsWeight(c.Active) }

func runsWeight(all []RunName) int {
	n := 0
	for i := range all {
		n += 10 + uidWeight + len(all[i].Name)
	}
	return n
}

func cronWeight(c *CronStep) int {
	if c == nil {
		return 0
	}
	n := 4 + uidWeight*len(c.Left) + textWeight(c.Trigger)
	for i := range c.Ticks {
		t := &c.Ticks[i]
		n += 24 + len(t.Job)/2 + textWeight(t.Name) + textWeight(t.Zone) + textWeight(t.By)
		if t.Observed {
			n += 8
		}
		if t.UnwatchedUntil != 0 {
			n += 20
		}
	}
	if c.Ledger != nil {
		n += 24 + textWeight(c.Ledger.Schedule) + textWeight(c.Ledger.Zone)
	}
	for _, notice := range c.Notices {
		n += 4 + len(notice.Reason) + len(notice.Message)
	}
	return n
}

func (f *CronJobSeen) weight() int {
	n := saltWeight + 70 + textWeight(f.Schedule) + len(f.Template) + len(f.Redacted) + runsWeight(f.Active)
	for _, z := range f.Zones {
		n += 4 + len(z.Name) + len(z.Hash)
	}
	if f.Trigger != nil {
		n += 10 + len(f.Trigger.Value) + len(f.Trigger.By)
	}
	return n
}
