package follow

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Cursor passes each durable record of a log to a function, in order, and waits for more. Log and Take are required.
type Cursor struct {
	Log store.Reader
	// Next is the sequence of the next record; 0 stands for the oldest one that the log still has. It advances when
	// Take has returned nil.
	Next events.Sequence
	// Take is called with each record. The record's memory is reused after Take has returned; its facts are not.
	Take func(context.Context, *events.Record) error
	// Idle, if not nil, is called whenever Take has been called for all durable records.
	Idle func(context.Context) error
	// Pruned, if not nil, is called when the log no longer has the records from next to first-1; the next record is
	// then first. With nil, such records are an error.
	Pruned func(next, first events.Sequence)

	record events.Record
}

// Run calls Take for all records that are or become durable. It returns nil when ctx ends or the log closes. Other
// errors come from the log, Take or Idle.
func (c *Cursor) Run(ctx context.Context) error {
	return Orderly(ctx, c.Follow(ctx))
}

// Orderly returns nil if ctx has ended or err is store.ErrClosed, which are normal ends; otherwise it returns err.
func Orderly(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
		err = nil
	}
	return err
}

// Follow does the same as Run, but always returns an error, also when ctx ends or the log closes.
func (c *Cursor) Follow(ctx context.Context) error {
	for {
		if err := c.CatchUp(ctx); err != nil {
			return err
		}
		if _, err := c.Log.Wait(ctx, max(c.Next, 1)-1); err != nil {
			return err
		}
	}
}

// CatchUp calls Take for all records that are durable now, and returns.
func (c *Cursor) CatchUp(ctx context.Context) error {
	err := c.read(ctx, c.Next)
	if errors.Is(err, store.ErrPruned) && c.Pruned != nil && c.Next != 0 {
		err = c.read(ctx, 0)
	}
	if err == nil && c.Idle != nil {
		err = c.Idle(ctx)
	}
	return err
}

func (c *Cursor) read(ctx context.Context, from events.Sequence) error {
	for r, err := range c.Log.Read(ctx, from) {
		if err != nil {
			return err
		}
		if c.Next != 0 && r.Sequence > c.Next && c.Pruned != nil {
			c.Pruned(c.Next, r.Sequence)
		}
		c.record = r
		if err := c.Take(ctx, &c.record); err != nil {
			return err
		}
		c.Next = r.Sequence + 1
	}
	return nil
}
