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
	firstPause = 50 * time.Millisecond // before the stream is asked again where it ends; then twice as long each time
	mostPause  = time.Second           // at most
	backTime   = 30 * time.Second      // a stream that is said to end before the own log for so long has lost records
)

var (
	// ErrNotHeld: the Lease was not held when it had to be.
	ErrNotHeld = errors.New("the Lease is not held")
	// ErrLess: the stream ends before the own log, which has nothing that the stream did not acknowledge.
	ErrLess = errors.New("the stream of the log has less than the log on this disk")
	// ErrUndelivered: the stream acknowledged the claim in a place, and has something else there.
	ErrUndelivered = errors.New("the stream of the log does not have the claim that it acknowledged")
)

// Follower is a replica.Follower of the log.
type Follower interface {
	State() natslog.State
	// Through returns when all through that place was read and is durable in the log.
	Through(ctx context.Context, place uint64) error
}

// Log is the own log, which the Follower writes.
type Log interface {
	Durable() (events.Identity, store.Head)
	Term() uint64
	SetTerm(term uint64) error
}

// Config is what a takeover needs. All fields but Least, Begins and Back are required.
type Config struct {
	Stream   *stream.Stream
	Follower Follower
	Line     *line.Line // which has not claimed yet, and is not run
	Log      Log
	Holds    func() bool          // whether the Lease is held for certain, now
	Least    events.ReaderVersion // what a reader of the claim needs at least

	// Begins lets a log with records begin a stream that has no message. Without it such a stream has less than the log.
	Begins bool
	Back   time.Duration // how long to believe that an answer is from the past; 0 for 30 s
}

// Take claims the stream and returns the term that begins. The errors are ErrNotHeld, ErrLess, ErrUndelivered;
// store.ErrFenced when another process claimed the stream first; those of the follower; and ctx's, which is to end when
// the Lease is lost. While the stream does not answer it waits.
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

// follow brings the log to the end of the stream. A server that was cut off says where the stream ended in the past, so
// it is asked again while that is before the end of the own log. One place too few at the end does no harm: the claim
// meets what is there.
func (c *Config) follow(ctx context.Context) error {
	began := time.Now()
	for tries := 0; ; tries++ {
		place, err := c.Stream.Newest(ctx)
		if err == nil {
			if err := c.Follower.Through(ctx, place); err != nil {
				return err
			}
			if c.reached() {
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

// reached reports whether the stream, as far as it was read, ends with the record with which the log ends.
func (c *Config) reached() bool {
	ends, own := c.ends()
	return ends >= own || c.Begins && c.Follower.State().Term == 0
}

func (c *Config) ends() (stream, own events.Sequence) {
	_, head := c.Log.Durable()
	return c.Follower.State().Head.Sequence, head.Sequence
}

// claim claims the stream behind all that was read. What it meets in its place is followed first.
func (c *Config) claim(ctx context.Context) (term uint64, err error) {
	state := c.Follower.State()
	id, head := c.Log.Durable()
	term = max(c.Log.Term(), state.Term+1)
	if !c.Holds() {
		return 0, ErrNotHeld
	}
	err = c.Line.Claim(ctx, state, line.Term{Identity: id, Head: head, Term: term, Least: c.Least})
	if errors.Is(err, line.ErrOvertaken) {
		if err := c.Follower.Through(ctx, c.Line.State().Place); err != nil {
			return 0, err
		}
	}
	return term, err
}

// delivered waits until the claim came back at its place, with all before it on the disk, and begins its term there.
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
