package kube

import (
	"context"
	"time"

	"github.com/jobledger/jobledger/events"
)

// gatherFor is how long the count of an Event that happened again may be told late. A Job that makes a hundred pods
// raises the count of one Event some ninety times; the API server is asked once for all that come within that time, and
// what it keeps in the end is the same.
const gatherFor = 3 * time.Second

// recounts are the Events whose counts are yet to be told, each as it is by now, in the order in which they began to
// wait.
type recounts []*recounted

// recounted is an Event that happened again.
type recounted struct {
	event Event // the newest
	id    string
	send  toSend
	first events.Sequence // the oldest record that it tells of and that was not told
	since time.Time
}

// put lets an Event wait. It takes the place of the one of its name that waits, if there is one.
func (r *recounts) put(e *Event, id string, t *toSend, now time.Time) {
	for _, waits := range *r {
		if waits.send.name == t.name && waits.event.Job.Namespace == e.Job.Namespace {
			waits.event, waits.id, waits.send = *e, id, *t
			return
		}
	}
	*r = append(*r, &recounted{event: *e, id: id, send: *t, first: e.Record, since: now})
}

// take takes out those that are asked for, in their order.
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

// oldest is the first record of which something waits; ok is false when nothing does.
func (r recounts) oldest() (at events.Sequence, ok bool) {
	for _, waits := range r {
		if !ok || waits.first < at {
			at, ok = waits.first, true
		}
	}
	return at, ok
}

// due is when the first of them has waited long enough; ok is false when none waits.
func (r recounts) due() (at time.Time, ok bool) {
	if len(r) == 0 {
		return at, false
	}
	return r[0].since.Add(gatherFor), true
}

// tell writes one Event, the nth of its record, as write does; but one that only raises a count waits for others that
// raise it further. It is told before anything else is told of its object.
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

// settleDue tells those that have waited long enough.
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

// settle tells those that are asked for. The error is ctx's; those that were not told wait on.
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
