package jobcase

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// NotBefore returns the time before which the next try (pod) could not start, because try t failed. It is 0 if no try
// was to follow. If a next try came earlier than our rules allow, it is the time of that try: the controller that
// created it may have computed another end of the backoff.
func (c *Case) NotBefore(t *try.Try) events.Time {
	if t.Again == 0 {
		return 0
	}
	if next := c.follower(t); next != nil {
		return min(t.Again, next.Came())
	}
	if c.noneFollows(t) {
		return 0
	}
	return t.Again
}

// HeldUntil returns the end of the backoff that delayed the next try (pod) after t, by our clock; 0 if there was none.
func (c *Case) HeldUntil(t *try.Try) events.Time {
	if next := c.follower(t); next != nil && t.Again != 0 {
		return min(t.Again, next.Seen.At)
	}
	return c.NotBefore(t)
}

// follower returns the next try (pod) of the same index that was created after try t had ended; nil if there is none.
func (c *Case) follower(t *try.Try) (next *try.Try) {
	for _, x := range c.Tries {
		later := x.Seen.Record > t.End().Record && x.Created.Add(time.Second) > t.End().At
		if x != t && x.Index == t.Index && later && (next == nil || x.Came() < next.Came()) {
			next = x
		}
	}
	return next
}

// noneFollows reports whether no try (pod) will follow t: the end of the Job is decided, or by our rules it must be,
// the index has failed, or the Job is being deleted.
func (c *Case) noneFollows(t *try.Try) bool {
	if c.Over() || c.Settled != nil || c.spare != nil && !c.Ours() || c.Deletion().Record != 0 {
		return true
	}
	return c.Folded != nil && c.Folded.FailedIndexes().Has(t.Index)
}
