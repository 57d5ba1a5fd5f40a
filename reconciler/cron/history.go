package cron

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/reconciler"
)

// keepHistory deletes the oldest finished Jobs beyond the history limits, successful Jobs first (C-120 to C-127). A Job
// that is already being deleted counts as one of the deletions. A Job whose deletion failed is left alone until the
// CronJob changes (C-125), or until the delay resync is over.
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
		var ended []*cronjob.Run
		for _, r := range cp.SortedRuns() {
			// Do not count a Job that is gone: one Job too many would be deleted (C-121)
			if r.Result == kind.result && !r.Vanished() {
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
	p.askFirst(reconciler.HistoryLimit, fmt.Sprintf("%d finished Jobs more than are kept: delete them", len(commands)), commands...)
}

// resync is the delay after which a failed deletion is tried again if nothing else changes. The built-in controller
// looks at each CronJob every 12 to 24 h (C-099).
const resync = 12 * time.Hour

// keeps reports whether Job r is left alone because its deletion failed. A suspended CronJob may never change again, so
// the deletion is also tried at the due time that was next when the CronJob was suspended, and after resync.
func (p *plan) keeps(r *cronjob.Run) bool {
	cp := p.cron
	if !has(cp.pass.Kept, r.Job) {
		return false
	}
	if cp.Pending > cp.Now {
		p.WakeAt(cp.Pending)
	}
	return p.WakeAt(cp.Now.Add(resync))
}

// oldestFirst orders Jobs by start time; Jobs without one come last (C-122).
func oldestFirst(a, b *cronjob.Run) int {
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
