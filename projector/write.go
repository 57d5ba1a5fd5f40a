package projector

import (
	"iter"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/indexset"
)

// Write returns the status write in flight; nil for none.
func (j *Job) Write() *commands.Flight { return j.book.Itself.Flight(events.SlotStatus) }

// Writing returns the shared backoff of status writes and live reads.
func (j *Job) Writing() *commands.Retry { return j.book.Shared(events.BackoffWrites) }

func (j *Job) launchWrite(f *commands.Flight) {
	j.book.Launch(f, &j.book.Itself)
	j.written(&f.Command.(*events.WriteStatus).Change)
}

// written marks the pods that the new status write c accounts for: the pods that it lists, or, if it finishes the Job,
// all pods that have ended.
func (j *Job) written(c *events.StatusChange) {
	if c.StartTime != 0 {
		j.asked = c.StartTime
	}
	if c.Ends() {
		for _, pods := range []iter.Seq[*Pod]{j.unlisted.all, j.holding.all} {
			j.marked = slices.AppendSeq(j.marked, pods)
		}
	}
	for _, uids := range [][]types.UID{c.AddSucceeded, c.AddFailed} {
		for _, uid := range uids {
			if p := j.byUID[uid]; p != nil {
				j.marked = append(j.marked, p)
			}
		}
	}
	if c.CompleteIndexes != "" && !c.Ends() {
		indexes := indexset.Parse(c.CompleteIndexes, math.MaxInt32)
		for p := range j.Unlisted() {
			if p.Phase == events.PodSucceeded && indexes.Has(p.Index) {
				j.marked = append(j.marked, p)
			}
		}
	}
	for _, p := range j.marked {
		j.update(p, func() { p.written = true })
	}
}

// confirm adds the change of a successful status write to the published status (Base). name is the ID of the write. The
// cost depends on the change, not on the size of the Job.
func (j *Job) confirm(name events.CommandID) {
	f := j.Write()
	if f == nil || f.Name() != name {
		return
	}
	change := f.Command.(*events.WriteStatus).Change
	j.Writing().Clear()
	j.endSettled()
	j.Lagging = 0
	j.published.confirmed(&change, j.Now, j.Spec)
	defer j.book.Land(f)
	if len(change.Conditions) > 0 || change.TrimTo != nil {
		j.recount()
		return
	}
	for _, uid := range change.Counted {
		delete(j.uncounted, uid)
		j.refresh(uid, -1)
	}
	for _, uid := range change.AddSucceeded {
		j.uncounted[uid] = false
		j.refresh(uid, 1)
	}
	for _, uid := range change.AddFailed {
		j.uncounted[uid] = true
		j.refresh(uid, 1)
	}
	completed, failed := indexset.Parse(change.CompleteIndexes, j.Completions), indexset.Parse(change.FailIndexes, j.Completions)
	for i := range completed.All {
		j.complete(i) // even if the pod that completed it shows another index by now
		j.reviewIndex(i)
	}
	for i := range failed.All {
		j.reviewIndex(i)
	}
	if change.CompleteIndexes != "" || change.FailIndexes != "" {
		for p := range j.Unlisted() {
			if p.Phase == events.PodSucceeded && j.accounted(p) {
				j.update(p, func() {})
			}
		}
		// Count the pods with a command in flight again: other pods may have completed their indexes
		for _, f := range j.book.InOrder() {
			if p := j.podOf(f); p != nil {
				j.update(p, func() {})
			}
		}
	}
}

// writeEnded updates the Job when a status write has ended.
func (j *Job) writeEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	if f.Ending != events.Done || f.Version <= j.Version {
		j.unconfirmed(flight, f)
		return
	}
	j.Version = f.Version
	j.confirm(f.Command)
}

// unconfirmed updates the Job when a status write has ended that did not change the published status (Base): it was
// refused, its outcome is unknown, or an observation came first.
func (j *Job) unconfirmed(flight *commands.Flight, f *events.CommandEnded) {
	if f.Ending == events.OutcomeUnknown {
		j.doubtEnd(f.Over)
	}
	j.book.Land(flight)
	switch f.Ending {
	case events.Refused:
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
		if stale(f.Class) {
			j.Recheck, j.Look = true, true
		}
		switch {
		case f.Class != events.RefusedConflict:
		case f.Sent:
			j.Writing().Until = j.Now.Add(j.Settings.APIBackoff) // by then a newer version is seen or read
		case j.Writing().Count == 1:
			// If nothing was sent, read the Job at once. But a second such error in a row waits for the backoff
			j.Writing().Until = j.Now
		}
	case events.OutcomeUnknown:
		j.Writing().Refused(j.Settings, flight.Since, j.Now, f)
		j.Recheck, j.Look = true, true
	case events.Done: // the watch showed the new status before the answer came: Base includes the write
		j.Writing().Clear()
	case events.Withdrawn:
	}
}

// stale reports whether a refused status write may have been based on an outdated object. The Job is then read before
// the next write (J-237). Other refusals apply to every write: missing rights, rate limits, a webhook.
func stale(c events.RefusalClass) bool {
	return c == events.RefusedConflict || c == events.RefusedInvalid || c == events.RefusedNotFound
}

// doubtEnd sets EndInDoubt for a status write whose outcome is unknown. It does so only if the write says how the Job
// ends or accounts for a pod: such a pod may lose its finalizer, and would not count without the write. The write was
// based on one version of the Job, so a newer version ends the doubt. The next write also ends it, and so does the time
// after which the API server drops a request. over says that the server has answered. Then a live read without a newer
// version ends the doubt, too: the read comes after its backoff, when etcd has stored or dropped the write.
func (j *Job) doubtEnd(over bool) {
	f := j.Write()
	if f == nil {
		return
	}
	if w := f.Command.(*events.WriteStatus); len(w.Change.Conditions) > 0 || len(j.marked) > 0 {
		j.endDoubted(j.Now, j.Settings.RequestTimeout, over)
	}
}

// endDoubted sets EndInDoubt: until timeout has passed, the API server may still store a write that decides the Job's
// end or a pod's count. over says that the server has answered the write.
func (w *waits) endDoubted(now events.Time, timeout time.Duration, over bool) {
	w.endOver = over && (w.endOver || w.EndInDoubt <= now)
	w.EndInDoubt = now.Add(timeout)
}

// endSettled clears EndInDoubt: no status write of unknown outcome can be stored any more.
func (w *waits) endSettled() { w.EndInDoubt, w.endOver = 0, false }
