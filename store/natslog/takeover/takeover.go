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
	firstPause = 50 * time.Millisecond // pause before the stream's newest message is asked for again; doubles each time
	mostPause  = time.Second           // upper bound of the pause
	backTime   = 30 * time.Second      // time for which a stream must seem shorter than the log, to count as shorter
)

var (
	// ErrNotHeld: the Lease was not held when it had to be.
	ErrNotHeld = errors.New("the Lease is not held")
	// ErrLess is the error when the stream ends before the local log: it has lost records, because the local log only
	// has records that the stream acknowledged once.
	ErrLess = errors.New("the stream of the log has less than the log on this disk")
	// ErrUndelivered is the error when the stream acknowledged this process's claim (the message with which it becomes
	// the writer), but has another message in its place.
	ErrUndelivered = errors.New("the stream of the log does not have the claim that it acknowledged")
)

// Follower is what a takeover needs of replica.Follower, which brings the local log to the end of the stream.
type Follower interface {
	State() natslog.State
	// Same reports whether the stream still has the newest message that was read, or has removed it as an old one.
	Same(ctx context.Context) (bool, error)
	// Through returns when all messages up to place (a sequence in the stream) were read, and their records are durable
	// in the log.
	Through(ctx context.Context, place uint64) error
}

// Log is the log on this process's disk, to which the Follower appends and which the process will write.
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
	Line     *line.Line // sends messages to the stream; no Claim and no Run before the takeover
	Log      Log
	Holds    func() bool          // reports whether this process certainly holds the Lease now
	Least    events.ReaderVersion // minimum version of a reader of the messages that the takeover stores

	// Begins allows a log with records to begin an empty stream. Without it, an empty stream counts as one that has
	// lost records.
	Begins bool
	Back   time.Duration // time for which the stream may seem shorter than the local log, before ErrLess; 0 for 30 s

	// Short is called when the stream ends before the local log. It must return an error unless this log has all
	// records that the stream ever acknowledged. It returns the record after which the stream continues: the last one
	// in the stream or, if no process was ever its writer, any record of the log. The end of the stream as read may be
	// stale; then the server refuses the claim. If Short is nil, Take returns ErrLess instead.
	Short func(ctx context.Context, state natslog.State) (Base, error)
	// Refills is called before the lost records are stored in the stream again. Its argument says which records these
	// are.
	Refills func(*events.StreamRefilled) error
	// Step is called after each step of a refill: after the claim, and after each group.
	Step func(step string)
}

// The steps of a refill (lost records are stored in the stream again), as passed to Config.Step.
const (
	Claimed = "claimed" // this process has become the writer, after the last record that the stream has
	Grouped = "grouped" // a group of records was stored again
)

// Take makes this process the writer of the stream, and returns its term (number of the writer). While the stream does
// not answer, it waits, so the caller must end ctx when the Lease is lost. Errors are ErrNotHeld, ErrLess,
// ErrUndelivered, store.ErrFenced if another process became the writer first, errors of the follower and of Short, and
// ctx's error.
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

// follow brings the log to the end of the stream. A server that was cut off from the others may report a stale end. So
// follow asks again as long as that end is before the end of the local log. If the end is stale by a few messages only,
// the claim finds another message in its place, and is made again after it.
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

// reached reports whether the stream, as far as it was read, has all records of the local log. It is also true if the
// stream never had a writer and this log may begin it.
func (c *Config) reached() bool {
	ends, own := c.ends()
	return ends >= own || c.Begins && c.Follower.State().Term == 0
}

func (c *Config) ends() (stream, own events.Sequence) {
	_, head := c.Log.Durable()
	return c.Follower.State().Head.Sequence, head.Sequence
}

// claim makes this process the writer, by a claim message after the newest message that was read. If the stream ends
// before the log, it then stores the missing records. If records of the old writer came before the claim, it appends
// them to the log and returns line.ErrOvertaken.
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
		// If the stream has lost messages, it may also have lost claims of later writers: use a higher term than any
		// known one.
		term = max(term, c.Log.Term()+1, base.Term+1)
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

// refill stores in the stream the records of the log after base, up to head.
func (c *Config) refill(ctx context.Context, base Base, head store.Head) error {
	groups := func(yield func(store.Group, error) bool) {
		for g, err := range Groups(ctx, c.Log, base, head.Sequence, c.Least) {
			if !yield(g, err) {
				return
			}
			c.Step(Grouped) // when the next group is asked for, Line.Refill has stored the previous one
		}
	}
	return c.Line.Refill(ctx, groups, func() error {
		if !c.Holds() {
			return ErrNotHeld
		}
		return nil
	})
}

// delivered waits until the claim (the message that makes this process the writer) was read back from the stream, and
// all records before it are durable. Then it sets the log's term (number of the writer).
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
