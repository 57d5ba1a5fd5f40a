package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// Width is the largest number of characters of a verdict.
const Width = 100

// Of returns the verdict on a Job, one line that says how it ended and why, by its state in the log.
func Of(j *projector.Job) string { return On(j, &j.Base) }

// On returns the verdict on a Job as if it had status s, which may not be stored yet.
func On(j *projector.Job, s *status.Status) string {
	c := accountOf(j, s)
	switch {
	case c.end.Result == events.ResultComplete:
		return c.line("COMPLETE"+c.took(), c.ended(c.complete)...)
	case c.end.Result == events.ResultFailed:
		return c.line("FAILED"+c.took(), c.ended(c.failed)...)
	case !j.Known() && !j.Gone:
		return c.line("UNKNOWN", "its object has not been seen")
	case j.Gone:
		return c.line("DELETED"+c.sofar()+", before its end", c.unfinished("had", "had")...)
	case j.Deleted != 0:
		return c.line("BEING DELETED"+c.sofar()+", before its end", c.unfinished("has", "have")...)
	case j.Spec != nil && j.Spec.Suspend:
		return c.line("SUSPENDED for "+span(j.Suspended(j.Now)), c.unfinished("has", "have")...)
	}
	return c.line("UNFINISHED"+c.sofar(), c.unfinished("has", "have")...)
}

// account is the input of a verdict: a Job, its status, its end, and the spec by which it ended.
type account struct {
	job    *projector.Job
	status *status.Status
	end    events.JobRetired
	spec   *events.JobSpec // nil if unknown
	terms  projector.Terms // of spec
	// certain is false if the Job may have ended by another spec.
	certain bool
}

func accountOf(j *projector.Job, s *status.Status) *account {
	c := &account{job: j, status: s, end: *projector.RetirementOf(s)}
	c.spec, c.terms, c.certain = j.LastSpec()
	return c
}

// line returns the verdict: head, then as many clauses as fit into Width. The caller gives the most important clause
// first.
func (c *account) line(head string, clauses ...string) string {
	text, mark := head, ": "
	for _, clause := range clauses {
		if clause == "" {
			continue
		}
		if len(text)+len(mark)+len(clause) > Width {
			if mark == ": " {
				text += clip(mark+clause, Width-len(text))
			}
			break
		}
		text += mark + clause
		mark = "; "
	}
	return text
}

// took says how long the Job ran, from its start to its end. For a Job that was suspended, it says how long the Job
// took from its creation on, and how much of that it was suspended.
func (c *account) took() string {
	suspended := c.job.Suspended(c.end.Finished)
	switch {
	case suspended >= time.Second && c.job.Created != 0:
		return fmt.Sprintf(" %s after its creation, %s of it suspended", span(c.end.Finished.Sub(c.job.Created)), span(suspended))
	case c.end.Started == 0:
		return ""
	}
	if d := c.end.Finished.Sub(c.end.Started); d >= time.Second {
		return " after " + span(d)
	}
	return " in under 1 s"
}

// sofar says, for an unfinished Job, how old it was when its newest record was written.
func (c *account) sofar() string {
	if c.job.Created == 0 || c.job.Now == 0 {
		return ""
	}
	return " " + span(c.job.Now.Sub(c.job.Created)) + " after its creation"
}

// ended returns the clauses of why (the reasons of the end). But if the reason in the status cannot be true by the spec,
// it returns what the status says, and what contradicts it. If it is unknown by which spec the Job ended, nothing
// contradicts the reason, and the reasons name no field that may have been edited since.
func (c *account) ended(why func() []string) []string {
	if doubt := c.doubt(); doubt != "" && c.certain {
		return c.doubted(doubt)
	}
	return why()
}

// complete returns the clauses for a complete Job: why it is complete, and which failures came before.
func (c *account) complete() []string {
	var why string
	switch c.end.Reason {
	case "SuccessPolicy":
		why = "its successPolicy is met by " + c.succeeded()
		var rule int
		if n, err := fmt.Sscanf(c.message(status.Complete), "Matched rules at index %d", &rule); n == 1 && err == nil {
			why = fmt.Sprintf("successPolicy.rules[%d] is met by %s", rule, c.succeeded())
		}
	case "CompletionsReached", "":
		if why = count(c.end.Succeeded, "pod") + " succeeded"; c.terms.Indexed {
			why = c.indexesOf(c.completed()) + " completed"
		}
	default:
		why = c.reason()
	}
	survived := c.tries(Width-len("COMPLETE"+c.took()+": "+why)-len("; survived: "), false)
	if survived != "" {
		survived = "survived: " + survived
	}
	return []string{why, survived, c.stopped()}
}

// byEditable are the reasons of an end by a field that users may edit, also after the end (J-212).
var byEditable = []events.Reason{"BackoffLimitExceeded", "DeadlineExceeded", "MaxFailedIndexesExceeded"}

// failed returns the clauses for a failed Job: why it failed, how its tries (pods) ended, and how many it stopped.
func (c *account) failed() []string {
	head := len("FAILED" + c.took() + ": ")
	spec := c.spec
	switch {
	case spec == nil:
	case !c.certain && slices.Contains(byEditable, c.end.Reason):
	case c.end.Reason == "BackoffLimitExceeded":
		limit := fmt.Sprintf("backoffLimit is %d", c.backoffLimit())
		return []string{c.tries(Width-head-len("; ")-len(limit), true), limit, c.stopped()}
	case c.end.Reason == "DeadlineExceeded" && spec.ActiveDeadlineSeconds != nil:
		why := fmt.Sprintf("activeDeadlineSeconds %d passed", *spec.ActiveDeadlineSeconds)
		return []string{why, c.stopped(), c.tries(Width-head-len(why)-len("; "+c.stopped()+"; "), false)}
	case c.end.Reason == "PodFailurePolicy":
		return c.failJob(head)
	case c.end.Reason == "MaxFailedIndexesExceeded" && spec.MaxFailedIndexes != nil:
		why := fmt.Sprintf("%s failed, maxFailedIndexes is %d", c.failedIndexes(), *spec.MaxFailedIndexes)
		return []string{why, c.tries(Width-head-len(why)-len("; "), false), c.stopped()}
	case c.end.Reason == "FailedIndexes":
		why, limit := c.failedIndexes()+" failed", c.perIndex()
		room := Width - head - len(why) - len("; ")
		if tries := c.tries(room-len("; "+limit), false); limit != "" && tries != "" {
			return []string{why, tries, limit, c.stopped()}
		}
		return []string{why, c.tries(room, false), limit, c.stopped()}
	}
	why := c.reason()
	return []string{why, c.tries(Width-head-len(why)-len("; "), false), c.stopped()}
}

// failJob returns the clauses for a Job that a rule of the podFailurePolicy failed: the rule, and the exit of the
// container that matched. head is the number of characters of the line before these clauses.
func (c *account) failJob(head int) []string {
	ends := c.job.Ends
	for i := range ends {
		e := &ends[i]
		if e.Action != "FailJob" {
			continue
		}
		why := fmt.Sprintf("podFailurePolicy.rules[%d] is FailJob", e.Rule)
		in := ""
		if c.terms.Indexed && e.Index >= 0 {
			in = fmt.Sprintf(" in index %d", e.Index)
		}
		what := tried(e, 1, false) + in
		if head+len(what)+len("; ")+len(why) > Width {
			what = tried(e, 1, true) + in
		}
		return []string{what, why, c.stopped()}
	}
	// No counted try (pod) shows the FailJob rule, because its pod was counted as deleted before the rule matched.
	// Then only the message in the status names the rule.
	message, rule := c.message(status.Failed), 0
	if i := strings.LastIndex(message, failJobRule); i >= 0 {
		if n, err := fmt.Sscanf(message[i:], failJobRule+"%d", &rule); n == 1 && err == nil {
			why := fmt.Sprintf("podFailurePolicy.rules[%d] is FailJob", rule)
			return []string{c.tries(Width-head-len("; ")-len(why), false), why, c.stopped()}
		}
	}
	return []string{"its status says PodFailurePolicy: " + foreign(message, 50), c.stopped()}
}

// failJobRule is the end of the message in the condition Failed of a Job that a rule failed. The built-in controller
// writes it, and so do we.
const failJobRule = " matching FailJob rule at index "

// unfinished returns the clauses for a Job that has not ended: how many pods run, succeeded and failed. one is the verb
// for one pod ("has"), several for more ("have").
func (c *account) unfinished(one, several string) []string {
	t := c.job.Tally()
	var active, succeeded string
	switch n := t.Active + t.Terminating; n {
	case 0:
	case 1:
		active = fmt.Sprintf("1 pod %s not ended", one)
	default:
		active = fmt.Sprintf("%d pods %s not ended", n, several)
	}
	if n := c.job.SucceededCount(); n > 0 {
		succeeded = count(n, "pod") + " succeeded"
	}
	return []string{active, succeeded, c.tries(Width/2, false)}
}

// reason returns the clause for a Job whose reason this package does not know: the reason in the final condition.
func (c *account) reason() string {
	if c.end.Reason == "" {
		return "no reason is given"
	}
	return "reason " + foreign(string(c.end.Reason), 40)
}

// message returns the message of a condition in the status; empty if there is none.
func (c *account) message(condition string) string {
	if found := c.status.Condition(condition); found != nil {
		return found.Message
	}
	return ""
}

func (c *account) backoffLimit() int64 {
	if c.spec == nil || c.spec.BackoffLimit == nil {
		return 6 // the API's default, if the spec is unknown or sets none
	}
	return int64(*c.spec.BackoffLimit)
}

// indexesOf says which part of the Job's indexes n are: "3 of 10 indexes". If it is unknown how many indexes the Job had
// when it ended, it says "3 indexes".
func (c *account) indexesOf(n int32) string {
	switch {
	case !c.certain:
		return count(n, "index")
	case n == c.terms.Completions:
		return "all " + count(n, "index")
	}
	return fmt.Sprintf("%d of %s", n, count(c.terms.Completions, "index"))
}

// succeeded names the indexes that succeeded, or says that all did. If the names would be long, it gives only their
// number.
func (c *account) succeeded() string {
	if n := c.completed(); n == c.terms.Completions || n != c.status.Completed.Len() {
		return c.indexesOf(n)
	}
	return c.named(&c.status.Completed)
}

// completed returns the number of completed indexes. It may be lower than status.succeeded, which the API server
// refuses to lower in some writes (J-236).
func (c *account) completed() int32 { return cmp.Or(c.status.Completed.Len(), c.end.Succeeded) }

// failedIndexes names the failed indexes. If the names would be long, it gives only their number.
func (c *account) failedIndexes() string { return c.named(&c.status.FailedIndexes) }

func (c *account) named(set *indexset.Set) string {
	n, names := set.Len(), set.Text()
	switch {
	case len(names) > 20:
		return c.indexesOf(n)
	case !c.certain:
		return strings.TrimPrefix(count(n, "index"), fmt.Sprint(n, " ")) + " " + names
	case n == 1:
		return fmt.Sprintf("index %s of %d", names, c.terms.Completions)
	}
	return fmt.Sprintf("indexes %s of %d", names, c.terms.Completions)
}

// perIndex says why the failed indexes got no further try (pod): because of backoffLimitPerIndex, or of a rule of the
// podFailurePolicy. If both occurred, it returns "".
func (c *account) perIndex() string {
	limit := c.spec.BackoffLimitPerIndex
	failing := func(e *projector.TryEnd) bool {
		return e.Kind == projector.TryFailed || e.Kind == projector.TryDisrupted
	}
	ruled := func(e *projector.TryEnd) bool { return e.Action == "FailIndex" }
	switch n := c.told(ruled); {
	case limit == nil:
	case n == 0 && c.told(failing) < c.end.Failed && (c.spec.PodFailurePolicy != "" || c.spec.Policies != ""):
		// A pod that failed was not seen, and a rule of the policy may have failed its index
	case n == 0:
		return fmt.Sprintf("backoffLimitPerIndex is %d", *limit)
	case n == c.told(failing):
		for i := range c.job.Ends {
			if e := &c.job.Ends[i]; ruled(e) {
				return fmt.Sprintf("podFailurePolicy.rules[%d] is FailIndex", e.Rule)
			}
		}
	}
	return ""
}

// stopped says how many pods the Job itself stopped, because it did not need them any more; empty if none.
func (c *account) stopped() string {
	if n := c.told(func(e *projector.TryEnd) bool { return e.Kind == projector.TryStopped }); n > 0 {
		return count(n, "pod") + was(n) + "stopped"
	}
	return ""
}

// told returns how many tries (pods) ended in those ways for which meant is true. It adds up the counts in job.Ends,
// which has one entry for each way.
func (c *account) told(meant func(*projector.TryEnd) bool) (n int32) {
	ends := c.job.Ends
	for i := range ends {
		if meant(&ends[i]) {
			n += int32(ends[i].Count)
		}
	}
	return n
}

func count(n int32, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(thing, "y"))
	case strings.HasSuffix(thing, "x"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func was(n int32) string {
	if n == 1 {
		return " was "
	}
	return " were "
}
