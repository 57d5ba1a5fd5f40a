package reconciler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// keepHistory deletes the oldest finished Jobs beyond the limits, those that succeeded first (C-120 to C-127). One that
// is being deleted counts out of the excess. One whose deletion failed is left alone until something happens (C-125),
// or for a long time.
func (p *plan) keepHistory() {
	cp := p.cron
	var commands []events.Command
	for _, kind := range []struct {
		result events.JobResult
		limit  *int32
	}{{events.ResultComplete, cp.Seen.KeepSucceeded}, {events.ResultFailed, cp.Seen.KeepFailed}} {
		if kind.limit == nil {
			continue
		}
		var ended []*projector.Run
		for _, r := range cp.SortedRuns() {
			if r.Result == kind.result && !r.Vanished() { // else one more would go for one that is gone (C-121)
				ended = append(ended, r)
			}
		}
		excess := len(ended) - int(*kind.limit)
		if excess <= 0 {
			continue
		}
		slices.SortStableFunc(ended, oldestFirst)
		for _, r := range ended[:excess] {
			if !r.Deleting() && !p.keeps(r) {
				commands = append(commands, &events.DeleteRun{Job: r.Job, Name: r.Name})
			}
		}
	}
	p.askFirst(HistoryLimit, fmt.Sprintf("%d finished Jobs more than are kept: delete them", len(commands)), commands...)
}

// resync is after how long a CronJob is looked at again whose deletion failed, when nothing happens to it. The built-in
// looks at each after 12 to 24 h (C-099).
const resync = 12 * time.Hour

// keeps reports whether a Job is left alone, as its deletion failed. To a suspended CronJob nothing may happen any
// more: so the deletion is tried again when it would have been due next as it was suspended, and some time.
func (p *plan) keeps(r *projector.Run) bool {
	cp := p.cron
	if !has(cp.pass.Kept, r.Job) {
		return false
	}
	if cp.Pending > cp.Now {
		p.wake(cp.Pending)
	}
	return p.wake(cp.Now.Add(resync))
}

// oldestFirst orders Jobs by their start; those without one come last (C-122).
func oldestFirst(a, b *projector.Run) int {
	switch {
	case a.Started == b.Started:
		return 0
	case a.Started == 0:
		return 1
	case b.Started == 0:
		return -1
	}
	return cmp.Compare(a.Started, b.Started)
}
