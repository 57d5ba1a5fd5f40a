package failpoint

import (
	"context"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Log wraps a log so that appends, durable commits, outcomes and snapshots pass points.
func (p *Points) Log(log store.Log) store.Log { return &pointLog{Log: log, points: p} }

type pointLog struct {
	store.Log
	points *Points

	mu      sync.Mutex
	told    events.Sequence // newest record that Wait reported as durable
	noticed events.Sequence // newest record that a caller has acted on. Invariant: noticed <= told
}

// Append passes the points before and after an append, and those of an outcome if the batch has outcomes of commands.
func (l *pointLog) Append(b events.Batch, soon bool) store.Commit {
	outcomes := hasOutcomes(b)
	if outcomes {
		l.points.pass(OutcomeBefore)
	}
	l.points.pass(AppendBefore)
	commit := l.Log.Append(b, soon)
	l.points.pass(AppendAfter)
	if outcomes {
		l.points.pass(OutcomeAfter)
	}
	return commit
}

func hasOutcomes(b events.Batch) bool {
	for i := range b.Records {
		if _, ok := b.Records[i].Facts.(*events.CommandEnded); ok {
			return true
		}
	}
	return false
}

// Wait passes the points of durability. It has several callers. The first one that learns of a commit passes
// DurableBefore. The first one that has acted on the commit, and waits for the next, passes DurableAfter.
func (l *pointLog) Wait(ctx context.Context, after events.Sequence) (events.Sequence, error) {
	l.mu.Lock()
	if after > l.noticed && after <= l.told {
		l.noticed = after
		l.points.pass(DurableAfter)
	}
	l.mu.Unlock()
	head, err := l.Log.Wait(ctx, after)
	if err != nil {
		return head, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if head > l.told {
		l.points.pass(DurableBefore)
		l.told = head
	}
	return head, nil
}

// SaveSnapshot passes the points before and after a snapshot.
func (l *pointLog) SaveSnapshot(ctx context.Context, s store.Snapshot) error {
	l.points.pass(SnapshotBefore)
	if err := l.Log.SaveSnapshot(ctx, s); err != nil {
		return err
	}
	l.points.pass(SnapshotAfter)
	return nil
}
