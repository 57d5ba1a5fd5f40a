package kube

import (
	"context"
	"time"

	"github.com/jobledger/jobledger/events"
)

// gatherFor is the longest time for which a new count of a repeated Event waits before it is sent. Example: a Job that
// creates a hundred pods raises the count of one Event some ninety times. All changes within 3 seconds cost one
// request, and the final count is the same.
const gatherFor = 3 * time.Second

// recounts holds the count changes of repeated Events that wait to be sent, in the order in which they began to wait.
// Only the newest count of each Event is kept.
type recounts []*recounted

// recounted is a repeated Event whose new count waits to be sent.
type recounted struct {
	event Event // the newest occurrence
	id    string
	send  toSend
	first events.Sequence // oldest record whose occurrence was not sent yet
	since time.Time
}

// put queues a count change. If one of the same Event already waits, it is replaced.
func (r *recounts) put(e *Event, id string, t *toSend, now time.Time) {
	for _, waits := range *r {
		if waits.send.name == t.name && waits.event.Job.Namespace == e.Job.Namespace {
			waits.event, waits.id, waits.send = *e, id, *t
			return
		}
	}
	*r = append(*r, &recounted{event: *e, id: id, send: *t, first: e.Record, since: now})
}

// take removes and returns the waiting count changes for which asked returns true, in order.
func (r *recounts) take(asked func(*recounted) bool) (taken []*recounted) {
	left := (*r)[:0]
	for _, waits := range *r {
		if asked(waits) {
			taken = append(taken, waits)
		} else {
			left = append(left, waits)
		}
	}
	clear((*r)[len(left):])
	*r = left
	return taken
}

// oldest returns the oldest record whose occurrence was not sent yet; ok is false when no count change waits.
func (r recounts) oldest() (at events.Sequence, ok bool) {
	for _, waits := range r {
		if !ok || waits.first < at {
			at, ok = waits.first, true
		}
	}
	return at, ok
}

// due returns when the first count change has waited long enough; ok is false when none waits.
func (r recounts) due() (at time.Time, ok bool) {
	if len(r) == 0 {
		return at, false
	}
	return r[0].since.Add(gatherFor), true
}

// tell publishes e, the n-th Event of its record. If e only raises the count of an Event, it waits for further changes
// of that count. Otherwise tell sends the waiting counts of the same Job first, and then e.
func (w *writer) tell(ctx context.Context, e Event, n int) error {
	id := w.idOf(&e)
	t, ok := w.correlator.take(&e, func() string { return nameOf(&e, id, n) })
	if !ok {
		return nil
	}
	if t.count > 1 {
		w.waiting.put(&e, id, &t, time.Now())
		return nil
	}
	if err := w.settle(ctx, func(r *recounted) bool { return r.event.Job.UID == e.Job.UID }); err != nil {
		return err
	}
	return w.deliver(ctx, &e, id, &t)
}

// settleDue sends the count changes of repeated Events that have waited long enough.
func (w *writer) settleDue(ctx context.Context) error {
	if at, ok := w.waiting.due(); !ok || time.Now().Before(at) {
		return nil
	}
	before := time.Now().Add(-gatherFor)
	return w.settle(ctx, func(r *recounted) bool { return !r.since.After(before) })
}

func (w *writer) settleAll(ctx context.Context) error {
	return w.settle(ctx, func(*recounted) bool { return true })
}

// settle sends the count changes for which asked returns true. If ctx ends, it returns ctx's error, and the unsent ones
// wait on.
func (w *writer) settle(ctx context.Context, asked func(*recounted) bool) error {
	taken := w.waiting.take(asked)
	for i, r := range taken {
		if err := w.deliver(ctx, &r.event, r.id, &r.send); err != nil {
			w.waiting = append(taken[i:], w.waiting...)
			return err
		}
	}
	return nil
}
