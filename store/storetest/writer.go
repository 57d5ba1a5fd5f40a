package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
)

// Start is the time of the first batch of a Writer. Each further batch is one second later.
var Start = events.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// Writer builds batches that continue a log. It is not safe for concurrent use.
type Writer struct {
	t    testing.TB
	log  store.Log
	next events.Sequence
	time events.Time
	last map[events.Stream]events.Sequence
}

// NewWriter returns a Writer that continues a log. It first reads the log's durable records.
func NewWriter(t testing.TB, log store.Log) *Writer {
	t.Helper()
	w := &Writer{t: t, log: log, next: 1, time: Start, last: map[events.Stream]events.Sequence{}}
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatalf("read the log to continue it: %v", err)
		}
		w.next, w.time, w.last[r.Stream] = r.Sequence+1, r.Time.Add(time.Second), r.Sequence
	}
	return w
}

// Item is the content of a record, without its sequence and time, which the Writer adds.
type Item struct {
	Stream   events.Stream
	Kind     events.Kind
	Facts    events.Facts
	Evidence events.Evidence
}

// Created returns record 1 of a log, which creates the log.
func Created(id events.Identity) Item {
	return Item{
		Stream: events.Controller, Kind: events.KindLogCreated,
		Facts: &events.LogCreated{LogID: id.LogID, Epoch: id.Epoch, Format: events.LeastFormat},
	}
}

// Job returns a record that adds a Job.
func Job(uid types.UID, namespace, name string) Item {
	return Item{
		Stream: events.JobStream(uid), Kind: events.KindJobAdded,
		Facts:    &events.JobSeen{Version: 1, Generation: 1, Created: Start, Managed: true, ManagedBy: events.ManagedBy},
		Evidence: events.Evidence{Namespace: namespace, Name: name},
	}
}

// Pod returns a record with the n-th change of a Job's pod. It has about 170 bytes in stored form.
func Pod(job types.UID, n int) Item {
	return Item{
		Stream: events.JobStream(job), Kind: events.KindPodChanged,
		Facts: &events.PodSeen{
			UID: types.UID(fmt.Sprintf("%s-pod", job)), Version: uint64(n), Phase: events.PodRunning, Created: Start,
			Tracked: true, Owner: job, Selected: true, Index: int32(n % 100), Ordinal: uint64(n), Scheduled: true,
		},
		Evidence: events.Evidence{Namespace: "default", Name: fmt.Sprintf("demo-%d", n)},
	}
}

// Text returns a record with a change of a pod and a message of `bytes` bytes.
func Text(job types.UID, bytes int) Item {
	item := Pod(job, 1)
	message := make([]byte, bytes)
	for i := range message {
		message[i] = 'a' + byte(i%26)
	}
	item.Evidence.Message = string(message)
	return item
}

// Batch returns the next batch, with one record for each item, without appending it.
func (w *Writer) Batch(items ...Item) events.Batch {
	var b events.Batch
	for i, item := range items {
		r := events.Record{
			Header: events.Header{
				Sequence: w.next, Time: w.time, Stream: item.Stream, Previous: w.last[item.Stream],
				Kind: item.Kind, Critical: item.Kind.Critical(), Last: i == len(items)-1,
			},
			Facts: item.Facts, Evidence: item.Evidence,
		}
		binary.BigEndian.PutUint64(r.FactsSalt[:], uint64(w.next))
		// A record without evidence is stored without a salt for it.
		if !reflect.DeepEqual(r.Evidence, events.Evidence{}) {
			binary.BigEndian.PutUint64(r.EvidenceSalt[:], ^uint64(w.next))
		}
		w.last[item.Stream] = w.next
		w.next++
		b.Records = append(b.Records, r)
	}
	w.time = w.time.Add(time.Second)
	return b
}

// Next returns the sequence of the next record to be built.
func (w *Writer) Next() events.Sequence { return w.next }

// Append appends the next batch, with one record for each item. soon starts its commit without delay.
func (w *Writer) Append(soon bool, items ...Item) store.Commit {
	return w.log.Append(w.Batch(items...), soon)
}

// Durable appends the next batch, with one record for each item, waits until it is durable, and returns it.
func (w *Writer) Durable(items ...Item) events.Batch {
	w.t.Helper()
	b := w.Batch(items...)
	Await(w.t, w.log.Append(b, true))
	return b
}

// Create appends record 1 of an empty log and waits until it is durable.
func (w *Writer) Create() { w.t.Helper(); w.Durable(Created(w.log.Identity())) }

// Await waits until a commit has ended. If it failed, the test fails.
func Await(t testing.TB, c store.Commit) {
	t.Helper()
	if err := Outcome(t, c); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// Outcome waits until the commit has ended and returns its error.
func Outcome(t testing.TB, c store.Commit) error {
	t.Helper()
	select {
	case <-c.Done():
		return c.Err()
	case <-time.After(patience.Time()):
		t.Fatalf("commit: nothing came of it within %v", patience.Time())
		return nil
	}
}
