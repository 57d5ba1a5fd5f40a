package takeover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/line"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

const (
	firstPause = 50 * time.Millisecond // between questions where the stream ends; doubles each time
	mostPause  = time.Second           // upper bound of the pause
	backTime   = 30 * time.Second      // a stream that for so long claims to end before the local log has lost records
)

var (
	// ErrNotHeld: the Lease was not held when it had to be.
	ErrNotHeld = errors.New("the Lease is not held")
	// ErrLess: the stream ends before the local log, which has only records that the stream acknowledged.
	ErrLess = errors.New("the stream of the log has less than the log on this disk")
	// ErrUndelivered: the stream acknowledged the claim at a place, and has another message there.
	ErrUndelivered = errors.New("the stream of the log does not have the claim that it acknowledged")
)

// Follower is a replica.Follower of the log.
type Follower interface {
	State() natslog.State
	// Same reports whether the stream still has the newest message that was read, or cut it.
	Same(ctx context.Context) (bool, error)
	// Through returns when all messages through place are read and their records are durable in the log.
	Through(ctx context.Context, place uint64) error
}

// Log is the local log, which the Follower writes.
type Log interface {
	Readable
	Durable() (events.Identity, store.Head)
	Term() uint64
	SetTerm(term uint64) error
}

// Config configures a takeover. All fields but Least, Begins, Back, Short, Refills and Step are required.
type Config struct {
	Stream   *stream.Stream
	Follower Follower
	Line     *line.Line // has not claimed yet, and does not run
	Log      Log
	Holds    func() bool          // whether the Lease is certainly held now
	Least    events.ReaderVersion // the least version of a reader of the claim

	// Begins lets a log with records begin an empty stream. Without it, an empty stream counts as one with less than
	// the log.
	Begins bool
	Back   time.Duration // how long the stream may seem shorter than the local log before ErrLess; 0 for 30 s

	// Short is asked when the stream ends before the local log: whether this log has all that the stream ever
	// acknowledged. It returns where the stream goes on: behind its end, or, for a stream without a claim, behind a
	// record of its choice. The claim is refused if the stream ends elsewhere, so an end that is stale does no harm.
	// Without Short, such a stream is ErrLess.
	Short func(ctx context.Context, state natslog.State) (Base, error)
	// Refills is called before the claim of such a stream, with what will be stored there again.
	Refills func(*events.StreamRefilled) error
	// Step is called after each step of a refill: a claim, and each group.
	Step func(step string)
}

// The steps of a refill.
const (
	Claimed = "claimed" // the stream is claimed behind its end
	Grouped = "grouped" // a group of records is stored there again
)

// Take claims the stream and returns the new term. While the stream does not answer, it waits; the caller ends ctx when
// the Lease is lost. Errors: ErrNotHeld, ErrLess, ErrUndelivered; store.ErrFenced if another process claimed the stream
// first; the follower's errors, and Short's; ctx's error.
func Take(ctx context.Context, c Config) (term uint64, err error) {
	if !c.Holds() {
		return 0, fmt.Errorf("take over the log: %w", ErrNotHeld)
	}
	if c.Back == 0 {
		c.Back = backTime
	}
	if err := c.follow(ctx); err != nil {
		return 0, fmt.Errorf("take over the log: %w", err)
	}
	for err = line.ErrOvertaken; errors.Is(err, line.ErrOvertaken); {
		term, err = c.claim(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("take over the log: %w", err)
	}
	if err := c.delivered(ctx, term); err != nil {
		return 0, fmt.Errorf("take over the log in term %d: %w", term, err)
	}
	if !c.Holds() {
		return 0, fmt.Errorf("take over the log in term %d: %w", term, ErrNotHeld)
	}
	return term, nil
}

// follow brings the log to the end of the stream. A server that was cut off may report a stale end, so follow asks
// again while that is before the end of the local log. An end that is stale by a few places does no harm: the claim
// then meets the messages there.
func (c *Config) follow(ctx context.Context) error {
	began := time.Now()
	for tries := 0; ; tries++ {
		place, err := c.Stream.Newest(ctx)
		if err == nil {
			if err := c.Follower.Through(ctx, place); err != nil {
				return err
			}
			same := false
			switch same, err = c.Follower.Same(ctx); {
			case err == nil && !same:
				return fmt.Errorf("%w: it has another message at place %d than the one that was read there", ErrLess,
					c.Follower.State().Place)
			case err == nil && (c.reached() || c.Short != nil):
				return nil
			}
			if ends, own := c.ends(); time.Since(began) >= c.Back {
				return fmt.Errorf("%w: it ends with record %d, the log with %d", ErrLess, ends, own)
			}
		}
		dial.Wait(ctx, dial.Pause(tries, firstPause, mostPause))
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// reached reports whether the stream, as read, goes at least as far as the log, or whether the log may begin the
// stream.
func (c *Config) reached() bool {
	ends, own := c.ends()
	return ends >= own || c.Begins && c.Follower.State().Term == 0
}

func (c *Config) ends() (stream, own events.Sequence) {
	_, head := c.Log.Durable()
	return c.Follower.State().Head.Sequence, head.Sequence
}

// claim claims the stream behind all that was read, and refills it if it ends before the log. If it meets records in
// its place, it follows these, and returns line.ErrOvertaken.
func (c *Config) claim(ctx context.Context) (term uint64, err error) {
	state := c.Follower.State()
	id, head := c.Log.Durable()
	base, short := Base{Identity: id, Head: head}, !c.reached()
	if short {
		if base, err = c.Short(ctx, state); err != nil {
			return 0, err
		}
		refill := events.StreamRefilled{From: base.Head.Sequence + 1, Through: head.Sequence, Place: state.Place}
		if err := c.Refills(&refill); err != nil {
			return 0, err
		}
	}
	term = max(c.Log.Term(), state.Term+1)
	if short {
		term = max(term, c.Log.Term()+1, base.Term+1) // the stream may have lost claims
	}
	if !c.Holds() {
		return 0, ErrNotHeld
	}
	err = c.Line.Claim(ctx, state, line.Term{Identity: base.Identity, Head: base.Head, Term: term, Least: c.Least})
	if errors.Is(err, line.ErrOvertaken) {
		if err := c.Follower.Through(ctx, c.Line.State().Place); err != nil {
			return 0, err
		}
	}
	if err != nil || !short {
		return term, err
	}
	c.Step(Claimed)
	return term, c.refill(ctx, base, head)
}

// refill stores the records of the log behind base in the stream.
func (c *Config) refill(ctx context.Context, base Base, head store.Head) error {
	groups := func(yield func(store.Group, error) bool) {
		for g, err := range Groups(ctx, c.Log, base, head.Sequence, c.Least) {
			if !yield(g, err) {
				return
			}
			c.Step(Grouped) // the line has stored it
		}
	}
	return c.Line.Refill(ctx, groups, func() error {
		if !c.Holds() {
			return ErrNotHeld
		}
		return nil
	})
}

// delivered waits until the claim has come back at its place and all records before it are durable, and then begins the
// term.
func (c *Config) delivered(ctx context.Context, term uint64) error {
	claimed := c.Line.State()
	if err := c.Follower.Through(ctx, claimed.Place); err != nil {
		return err
	}
	_, head := c.Log.Durable()
	came := c.Follower.State()
	if came.Place != claimed.Place || came.Term != term || came.Writer != claimed.Writer || head != claimed.Head {
		return fmt.Errorf("%w: at place %d", ErrUndelivered, claimed.Place)
	}
	return c.Log.SetTerm(term)
}
