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

// errNoReplica is of a log of another kind.
var errNoReplica = errors.New("this kind of log cannot follow a stream")

// Options are how the log is opened: with the stream's ID and key, and with the hook of its writer.
func (m *Member) Options(o store.Options) store.Options {
	o.LogID, o.Key, o.Before = m.file.Log, &m.config.Key, m.line.Before
	return o
}

// Log is the opened log for who leads: its Room knows the stream, too.
func (m *Member) Log(log store.Opened) store.Log { return line.Of(log, m.line) }

// Begin takes the opened log, and finds where the stream goes on from it. It notes in the log's directory that the log
// is a replica. What the stream no longer has, and the log lacks, comes from another replica. Until Take has succeeded
// nobody else appends.
func (m *Member) Begin(ctx context.Context, log store.Opened) error {
	to, ok := log.(replica.Log)
	if !ok {
		return errNoReplica
	}
	m.log = log
	m.file.Begun = !m.begins // nobody else reads it yet
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

// begin finds where the stream goes on from the log.
func (m *Member) begin(ctx context.Context, log replica.Log) error {
	return m.until(ctx, "follow the stream", func(ctx context.Context) (done bool, err error) {
		m.follower, err = replica.Begin(ctx, m.stream, log, m.config.Reader)
		for _, last := range []error{nil, replica.ErrBehind, store.ErrDiverged, store.ErrCorrupt, events.ErrNewer} {
			done = done || errors.Is(err, last)
		}
		return done, err
	})
}

// Follow follows the stream until ctx ends, and returns nil then. Another error says why the log cannot be continued.
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

// Take claims the stream. Follow has returned, and the Lease is held; ctx ends with it. The process must end after an
// error.
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

// ErrAway: the stream has not acknowledged for long what was appended.
var ErrAway = errors.New("the stream of the log does not answer: the Lease is given back, for one that reaches it")

const (
	giveUp  = 15 * time.Second // a leader waits so long for the stream, unless Config says otherwise
	lookFor = time.Second      // it looks so often whether it does
)

// Write stores in the stream what is appended to the log, until ctx ends, and returns nil then. The log is closed, or
// has nothing to commit, before that. Another error says why the process cannot go on; ErrAway is one.
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
		return nil // it was stopped
	case errors.Is(cause, ErrAway):
		return cause
	}
	return err
}

// Release says in the stream that nothing follows of this process. All that was appended is durable.
func (m *Member) Release(ctx context.Context) error {
	id, head := m.log.Durable()
	return m.line.Release(ctx, id, head)
}

// Head is the durable end of the log.
func (m *Member) Head() (events.Identity, store.Head) { return m.log.Durable() }
