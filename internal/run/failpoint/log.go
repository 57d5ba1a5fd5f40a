package failpoint

import (
	"context"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Log returns log with points (where the process can be made to end) at appends, durable commits, outcomes and
// snapshots.
func (p *Points) Log(log store.Log) store.Log { return &pointLog{Log: log, points: p} }

type pointLog struct {
	store.Log
	points *Points

	mu      sync.Mutex
	told    events.Sequence // newest record that Wait reported as durable
	noticed events.Sequence // newest record that a caller has acted on; always noticed <= told
}

// Append implements store.Log, with points (where the process can be made to end) before and after the append. A batch
// with outcomes of commands passes two more points. The log uses soon.
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

// Wait implements store.Log: it waits for a durable record after the record after, with two points where the process
// can be made to end. Several goroutines call it. The first one that learns of a commit passes DurableBefore. The first
// one that waits again passes DurableAfter, because it has acted on the commit.
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

// SaveSnapshot implements store.Log, with a point before and after the snapshot is saved. At a point, the process can
// be made to end.
func (l *pointLog) SaveSnapshot(ctx context.Context, s store.Snapshot) error {
	l.points.pass(SnapshotBefore)
	if err := l.Log.SaveSnapshot(ctx, s); err != nil {
		return err
	}
	l.points.pass(SnapshotAfter)
	return nil
}
