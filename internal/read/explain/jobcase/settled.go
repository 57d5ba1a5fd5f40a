package jobcase

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// PassedAt returns the record by which the Job's activeDeadlineSeconds had passed; none if the Job did not end because
// of it.
func (c *Case) PassedAt() explain.Mark {
	switch s := c.Settled; {
	case s == nil || s.Reason != "DeadlineExceeded":
		return explain.Mark{}
	case s.Decided.Record != 0:
		return s.Decided
	default:
		return s.Seen
	}
}

// Settling says when and why it was decided that the Job ends: by a decision of ours, or by the status that another
// controller wrote.
type Settling struct {
	Rule    string
	Reason  string
	Message string // message of the Job's condition
	Failure bool

	Decided explain.Mark // our decision; none if another controller runs the Job
	Causes  []events.Sequence
	Stored  explain.Mark // record by which the API server has stored the condition
	Seen    explain.Mark // first record whose status shows the condition
	Over    explain.Mark // first record whose status shows the Job as finished

	// Same is set if another controller ended the Job, and our rules would have ended it in the same way before its
	// status showed it. Evidence is then the record from which our rules derive this.
	Same     bool
	Evidence explain.Mark
}

// ends has the conditions with which a Job ends, or is about to end; the value is true for a failure.
var ends = map[string]bool{
	status.SuccessCriteriaMet: false, status.Complete: false,
	status.FailureTarget: true, status.Failed: true,
}

// settlingOf returns how the steps of a decision end the Job; nil if they do not. at is the record of the decision.
func settlingOf(steps []events.Step, at explain.Mark) *Settling {
	for i := range steps {
		for _, command := range steps[i].Commands {
			write, ok := command.(*events.WriteStatus)
			if !ok {
				continue
			}
			for _, k := range write.Change.Conditions {
				if failure, isEnd := ends[k.Type]; isEnd && k.Status == "True" {
					return &Settling{Rule: steps[i].Rule, Reason: k.Reason, Message: k.Message, Failure: failure, Decided: at}
				}
			}
		}
	}
	return nil
}

// seeStatus updates c.Settled with what a version of the Job (record r) shows about the Job's end.
func (c *Case) seeStatus(r *events.Record, f *events.JobSeen) {
	j := c.Folded
	if j == nil {
		return
	}
	var shown *events.JobCondition
	for i, k := range j.Base.Conditions {
		if _, isEnd := ends[k.Type]; isEnd && k.Status == "True" {
			shown = &j.Base.Conditions[i]
			break
		}
	}
	if shown == nil {
		c.Settled = c.unstored(r)
		return
	}
	failure := ends[shown.Type]
	// If c.Settled is not the end that the status shows, another controller decided that end: replace c.Settled.
	if c.Settled == nil || c.Settled.Failure != failure || c.Settled.Reason != shown.Reason {
		c.Settled = &Settling{Reason: shown.Reason, Message: shown.Message, Failure: failure}
		if s := c.spare; s != nil && s.Failure == failure && s.Reason == shown.Reason {
			c.Settled.Rule, c.Settled.Same, c.Settled.Evidence = s.Rule, true, s.Evidence
		}
	}
	if c.Settled.Message == "" {
		c.Settled.Message = shown.Message
	}
	if c.Settled.Seen.Record == 0 {
		c.Settled.Seen = explain.MarkOf(r)
		if c.Settled.Stored.Record == 0 {
			c.Settled.Stored = c.Settled.Seen
		}
	}
	if c.Settled.Over.Record == 0 && j.Finished() {
		c.Settled.Over = explain.MarkOf(r)
	}
}

// unstored returns our decision to end the Job while the status does not show it yet. It returns nil after the write of
// the status was refused because the Job had changed.
func (c *Case) unstored(r *events.Record) *Settling {
	if c.Settled != nil && c.Settled.Seen.Record == 0 && c.Folded.Write() != nil {
		return c.Settled
	}
	return nil
}

// Conclusion returns the record of the status with which the Job ended; none if it has not.
func (c *Case) Conclusion() explain.Mark {
	if c.Settled == nil {
		return explain.Mark{}
	}
	return cmp.Or(c.Settled.Over, c.Settled.Stored, c.Settled.Seen)
}

// AfterVerdict reports whether try t (a pod) ended after it was decided that the Job ends.
func (c *Case) AfterVerdict(t *try.Try) bool {
	return c.Settled != nil && c.Settled.Bound() != 0 && t.End().Record >= c.Settled.Bound()
}

func (c *Case) LastEnd() explain.Mark {
	var last explain.Mark
	for _, t := range c.Tries {
		if e := t.End(); e.Record > last.Record {
			last = e
		}
	}
	return last
}

func (c *Case) SettledMarks() []explain.Mark {
	if c.Settled == nil {
		return nil
	}
	return explain.Marks(c.Settled.Decided, c.Settled.Stored)
}

// SettledBy returns the try (pod) because of whose end the Job ended; nil if there is none.
func (c *Case) SettledBy() *try.Try {
	trigger := c.Trigger(c.Settled)
	for _, t := range c.Tries {
		if len(trigger) > 0 && t.End().Record == trigger[0].Record && c.Settles(t) {
			return t
		}
	}
	return nil
}

// Settles reports whether the Job can have ended because of try t (a pod). A success does not exceed a limit. A failure
// does not complete a Job, except that of the last pod of a work queue.
func (c *Case) Settles(t *try.Try) bool { return c.settledBy(c.Settled, t) }

func (c *Case) settledBy(s *Settling, t *try.Try) bool {
	succeeded := t.Phase == events.PodSucceeded || t.MaySucceed
	switch s.Reason {
	case "BackoffLimitExceeded", "PodFailurePolicy", "MaxFailedIndexesExceeded":
		return t.Phase != events.PodSucceeded
	case "SuccessPolicy":
		return succeeded
	case "CompletionsReached":
		return succeeded || c.Folded != nil && c.Folded.WorkQueue
	}
	return true
}

// StoredBy returns the record that shows the final condition as stored by the API server.
func (s *Settling) StoredBy() explain.Mark {
	return cmp.Or(s.Stored, s.Seen, s.Decided)
}

// Trigger returns the record that led to the decision to end the Job: usually the end of a try (pod).
func (c *Case) Trigger(s *Settling) []explain.Mark {
	if s.Same {
		return explain.Marks(s.Evidence)
	}
	var last *try.Try
	for _, t := range c.Tries {
		at := t.End()
		if s.Decided.Record != 0 && !slices.Contains(s.Causes, at.Record) {
			continue
		}
		if !c.settledBy(s, t) {
			continue
		}
		if at.Record != 0 && (s.Bound() == 0 || at.Record <= s.Bound()) && (last == nil || at.Record > last.End().Record) {
			last = t
		}
	}
	if last == nil || (s.Decided.Record == 0 && s.Reason == "DeadlineExceeded") {
		return nil
	}
	return explain.Marks(last.End())
}

// Bound returns the record with which the end of the Job was decided.
func (s *Settling) Bound() events.Sequence {
	if s.Decided.Record != 0 {
		return s.Decided.Record
	}
	return s.Seen.Record
}
