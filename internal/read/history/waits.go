package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// waits returns what the Job waits for at time now, such as the end of a backoff; the wait that ends first comes first.
func waits(j *projector.Job, now events.Time) []Wait {
	if !j.Known() || !j.Managed || j.Spec == nil || j.Finished() {
		return nil
	}
	var out []Wait
	add := func(until events.Time, format string, args ...any) {
		if until > now {
			out = append(out, Wait{For: fmt.Sprintf(format, args...), Until: recordjson.Instant(until)})
		}
	}
	decision := rules.DecideAt(j, now)
	more := makesMore(j, &decision)
	if next := j.NextPodWait(); more { // if no pod has failed, next.Until is 0, and add ignores it
		add(next.Until, "the next pod: backoff after %s", words.Count(next.Failures, "failed pod"))
	}
	if j.RetryingCreate() == nil && more {
		add(j.Creating().Until, "the next create: %s", retried(*j.Creating()))
	}
	add(j.Writing().Until, "the next status write: %s", retried(*j.Writing()))
	if r := j.NextClaim(now); r.Until != 0 {
		add(r.Until, "the next adoption or release of a pod: %s", retried(r))
	}
	for _, c := range j.Creates() {
		if c.Flight() == nil && c.MustList {
			add(c.Sent.Add(j.Settings.RequestTimeout), "a look for pod #%d: its create may still take effect", c.Ordinal)
		}
	}
	add(j.StoppingUntil(), "%s that is being deleted: it may end by itself until it counts as failed", words.Count(int(j.Tally().Stopping), "pod"))
	add(dropsInDoubt(j), "a surplus pod: the removal of its finalizer may still take effect")
	add(j.LatePod, "an end of the Job: a create that was tried twice, or an adoption, may still give it a pod")
	if limit, start := j.Spec.ActiveDeadlineSeconds, j.StartTime(); limit != nil && start != 0 && !j.Spec.Suspend {
		add(start.Add(time.Duration(min(*limit, 1<<31))*time.Second), "activeDeadlineSeconds")
	}
	if j.Write() == nil {
		add(j.Lagging.Add(j.Settings.ProgressDelay), "a status write that shows progress")
	}
	if wake := decision.Wake; !slices.ContainsFunc(out, func(w Wait) bool { return w.Until == recordjson.Instant(wake) }) {
		add(wake, "the next look")
	}
	slices.SortStableFunc(out, func(a, b Wait) int { return cmp.Compare(a.Until, b.Until) })
	return out
}

// makesMore reports whether the Job may create more pods: it is not suspended, and its end is not decided. due is what
// the controller would decide now.
func makesMore(j *projector.Job, due *reconciler.Decision) bool {
	if j.Spec.Suspend || j.Ending() {
		return false
	}
	var asked []events.Command
	for i := range due.Steps {
		asked = append(asked, due.Steps[i].Commands...)
	}
	if w := j.Write(); w != nil {
		asked = append(asked, w.Command)
	}
	return !slices.ContainsFunc(asked, func(c events.Command) bool {
		write, ok := c.(*events.WriteStatus)
		return ok && status.SaysEnd(write.Change.Conditions)
	})
}

// dropsInDoubt returns the time until which the tracking finalizer may still disappear from a pod: no answer came to an
// earlier removal, so it may still take effect. It returns 0 if there is no such removal.
func dropsInDoubt(j *projector.Job) (until events.Time) {
	for _, p := range j.Unremoved() {
		until = max(until, p.DropDoubt)
	}
	return until
}

// retried describes the failures before a retry: "refused (Forbidden, 3 failures in a row)".
func retried(r commands.Retry) string {
	if r.Class == 0 {
		return fmt.Sprintf("outcome of the last try unknown (%s in a row)", words.Count(int(r.Count), "failure"))
	}
	return fmt.Sprintf("refused (%s, %s in a row)", r.Class, words.Count(int(r.Count), "failure"))
}
