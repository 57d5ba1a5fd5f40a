package natstest

import (
	"context"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// Life is the identity (ID and epoch) of every log that a [Ledger] creates.
var Life = events.Identity{LogID: "5b9e0c1d2f3a44556677889900aabbcc", Epoch: 1}

// Ledger is a log in memory that a test lets grow, batch by batch, with the records of a simulated busy cluster.
type Ledger struct {
	Log  *memlog.Log
	Left []events.Batch // batches (groups of records) that Grow has not appended yet
	T    testing.TB
}

// NewLedger returns an empty log, with about n records that Grow appends to it.
func NewLedger(t testing.TB, n int) *Ledger {
	return &Ledger{T: t, Log: memlog.New(Life), Left: Source(t, n)}
}

// Source returns the first n records of a busy cluster, in whole batches. It makes at least 12,000 records and reuses
// them for later calls.
var Source = func() func(testing.TB, int) []events.Batch {
	var mu sync.Mutex
	var made []events.Batch
	records := 0
	return func(t testing.TB, n int) []events.Batch {
		mu.Lock()
		defer mu.Unlock()
		if records < n {
			records = max(n, 12_000)
			log := memlog.New(Life)
			if _, err := joblog.Write(log, joblog.Busy(records)); err != nil {
				t.Fatal(err)
			}
			made = Batches(t, log)
		}
		for i, b := range made {
			if int(b.Records[len(b.Records)-1].Sequence) >= n {
				return made[:i+1]
			}
		}
		return made
	}
}()

// Batches returns the batches of a log.
func Batches(t testing.TB, log store.Reader) []events.Batch {
	var all []events.Batch
	var b events.Batch
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Records = append(b.Records, r); r.Last {
			all, b = append(all, b), events.Batch{}
		}
	}
	return all
}

// Grow appends whole batches until the log has at least n records; with n = 0 it appends all that are left.
func (l *Ledger) Grow(n int) *Ledger {
	l.T.Helper()
	for len(l.Left) > 0 && (n == 0 || int(l.Log.Head().Sequence) < n) {
		l.Append(l.Left[0])
		l.Left = l.Left[1:]
	}
	return l
}

// Append appends a batch, and returns when it is durable.
func (l *Ledger) Append(b events.Batch) {
	l.T.Helper()
	commit := l.Log.Append(b, true)
	<-commit.Done()
	if err := commit.Err(); err != nil {
		l.T.Fatal(err)
	}
}

// Controller appends one record about the controller itself, such as its start.
func (l *Ledger) Controller(kind events.Kind, facts events.Facts) {
	l.T.Helper()
	var previous events.Sequence
	for r, err := range l.Log.ReadStream(context.Background(), events.Controller, 0, store.Backward) {
		if err != nil {
			l.T.Fatal(err)
		}
		previous = r.Sequence
		break
	}
	head := l.Log.Head()
	l.Append(events.Batch{Records: []events.Record{{
		Header: events.Header{
			Sequence: head.Sequence + 1, Time: head.Time + 1, Stream: events.Controller, Previous: previous, Kind: kind,
			Critical: kind.Critical(), Last: true,
		},
		Facts: facts, FactsSalt: events.Salt{1},
	}}})
}
