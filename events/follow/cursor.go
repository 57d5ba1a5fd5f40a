package follow

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Cursor is where one consumer is in a log. Log and Take are required.
type Cursor struct {
	Log store.Reader
	// Next is the record that is taken next; 0 for the first that is kept. It moves on when Take has returned without an
	// error.
	Next events.Sequence
	// Take takes a record, which is another one as soon as Take has returned; its facts stay.
	Take func(context.Context, *events.Record) error
	// Idle, if there is one, is called whenever all that is durable has been taken.
	Idle func(context.Context) error
	// Pruned, if there is one, is told that the log no longer keeps the records from Next on to the one before first,
	// which is taken next. Without it that is an error.
	Pruned func(next, first events.Sequence)

	record events.Record
}

// Run takes what is durable and what becomes so until ctx ends or the log closes, and then returns nil. Any other error
// is the log's, Take's or Idle's.
func (c *Cursor) Run(ctx context.Context) error {
	return Orderly(ctx, c.Follow(ctx))
}

// Orderly is the error with which a consumer ended, but nil when it was stopped in good order.
func Orderly(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
		err = nil
	}
	return err
}

// Follow is Run, but that each of its ends is an error.
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

// CatchUp takes what is durable now and was not taken.
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
