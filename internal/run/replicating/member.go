package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/line"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/natslog/takeover"
)

// errNoReplica is returned for a log that cannot be a replica.
var errNoReplica = errors.New("this kind of log cannot follow a stream")

// Options returns o with the stream's log ID and key, and the hook of its writer.
func (m *Member) Options(o store.Options) store.Options {
	o.LogID, o.Key, o.Before = m.file.Log, &m.config.Key, m.line.Before
	return o
}

// Log wraps the opened log for the leader: its Room includes the stream.
func (m *Member) Log(log store.Opened) store.Log { return line.Of(log, m.line) }

// Begin takes the opened log, and finds where the stream continues it. It writes REPLICA to the log's directory. If the
// stream no longer has records that the log lacks, it fetches them from another replica. Until Take has succeeded, only
// the Member may append to the log.
func (m *Member) Begin(ctx context.Context, log store.Opened) error {
	to, ok := log.(replica.Log)
	if !ok {
		return errNoReplica
	}
	m.log = log
	m.file.Begun = !m.begins // no other goroutine reads it yet
	if err := m.file.write(m.config.Dir); err != nil {
		return err
	}
	err := m.begin(ctx, to)
	for errors.Is(err, replica.ErrBehind) {
		if err = m.catchUp(ctx, to); err == nil {
			err = m.begin(ctx, to)
		}
	}
	if err != nil {
		return explain(err)
	}
	m.follower.Expect(m.line.Key())
	return nil
}

// begin finds where the stream continues the log.
func (m *Member) begin(ctx context.Context, log replica.Log) error {
	return m.until(ctx, "follow the stream", func(ctx context.Context) (done bool, err error) {
		m.follower, err = replica.Begin(ctx, m.stream, log, m.config.Reader)
		for _, last := range []error{nil, replica.ErrBehind, store.ErrDiverged, store.ErrCorrupt, events.ErrNewer} {
			done = done || errors.Is(err, last)
		}
		return done, err
	})
}

// Follow follows the stream until ctx ends, and then returns nil. It returns an error if the log cannot be continued.
func (m *Member) Follow(ctx context.Context) error {
	if err := m.follower.Run(ctx); ctx.Err() == nil {
		return explain(err)
	}
	return nil
}

// explain adds what an operator can do.
func explain(err error) error {
	switch {
	case errors.Is(err, replica.ErrBehind), errors.Is(err, stream.ErrCut):
		return fmt.Errorf("%w: started again, it fetches them from another replica", err)
	case errors.Is(err, store.ErrOtherKey):
		return fmt.Errorf("%w: all controllers of a replicated log have one key, see --%s", err, KeyFlag)
	case errors.Is(err, store.ErrDiverged):
		return fmt.Errorf("%w: this log and the stream have different histories. Keep both, and compare with another "+
			"replica's log", err)
	}
	return err
}

// Take claims the stream. Call it after Follow has returned, with the Lease held and a ctx that ends with the Lease.
// After an error the process must end.
func (m *Member) Take(ctx context.Context, holds func() bool) (term uint64, err error) {
	m.takes.Store(true)
	to, ok := m.log.(takeover.Log)
	if !ok {
		return 0, errNoReplica
	}
	term, err = takeover.Take(ctx, takeover.Config{
		Stream: m.stream, Follower: m.follower, Line: m.line, Log: to, Holds: holds, Least: m.config.Least,
		Begins: m.begins,
	})
	if err != nil {
		return 0, explain(err)
	}
	m.leads.Store(true)
	begun := m.file
	begun.Begun = true
	return term, begun.write(m.config.Dir)
}

// ErrAway: the stream has not acknowledged appended records for Config.GiveUp.
var ErrAway = errors.New("the stream of the log does not answer: the Lease is given back, for one that reaches it")

const (
	giveUp  = 15 * time.Second // default of Config.GiveUp
	lookFor = time.Second      // time between checks of it
)

// Write stores the log's appended records in the stream until ctx ends, and then returns nil. Before ctx ends the log
// must be closed, or have nothing left to commit. It returns an error, such as ErrAway, if the process cannot continue.
func (m *Member) Write(ctx context.Context) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { // ends with running
		tick := time.NewTicker(lookFor)
		defer tick.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-tick.C:
				if m.line.Waits() > cmp.Or(m.config.GiveUp, giveUp) {
					stop(ErrAway)
				}
			}
		}
	}()
	cutting := make(chan struct{})
	go func() { // ends with running
		defer close(cutting)
		(&cutter{m: m}).run(running)
	}()
	err := m.line.Run(running)
	stop(nil)
	<-cutting
	switch cause := context.Cause(running); {
	case ctx.Err() != nil:
		return nil // stopped on request
	case errors.Is(cause, ErrAway):
		return cause
	}
	return err
}

// Release records in the stream that this process sends nothing more. All appended records must be durable.
func (m *Member) Release(ctx context.Context) error {
	id, head := m.log.Durable()
	return m.line.Release(ctx, id, head)
}

// Head returns the durable end of the log.
func (m *Member) Head() (events.Identity, store.Head) { return m.log.Durable() }
