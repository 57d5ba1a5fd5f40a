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

// errNoReplica is returned for a kind of log that cannot copy records from a stream.
var errNoReplica = errors.New("this kind of log cannot follow a stream")

// Options returns o with what a replicated log needs: the ID and the key of the log, and a function that stores records
// in the stream before the log does.
func (m *Member) Options(o store.Options) store.Options {
	o.LogID, o.Key, o.Before = m.LogID(), &m.config.Key, m.line.Before
	return o
}

// Log returns the log that the leader writes: its method Room says that the disk is full if the stream is full or does
// not answer.
func (m *Member) Log(log store.Opened) store.Log { return line.Of(log, m.line) }

// Begin sets the opened log, writes the file REPLICA, and finds the first message of the stream that the log lacks. If
// records that the log lacks were removed from the stream, it fetches them from another replica. Until Take has
// succeeded, only the Member may append to the log.
func (m *Member) Begin(ctx context.Context, log store.Opened) error {
	to, ok := log.(replica.Log)
	if !ok {
		return errNoReplica
	}
	m.log = log
	if err := m.note(func(f *File) { f.Begun = !m.begins }); err != nil || m.stale {
		return err
	}
	return m.resume(ctx, to)
}

// resume finds the first message of the stream that the log lacks. If records in between were removed from the stream,
// it fetches them from another replica.
func (m *Member) resume(ctx context.Context, log replica.Log) error {
	err := m.begin(ctx, log)
	for errors.Is(err, replica.ErrBehind) {
		if err = m.catchUp(ctx, log); err == nil {
			err = m.begin(ctx, log)
		}
	}
	if err != nil {
		return explain(err)
	}
	m.stale = false
	return nil
}

func (m *Member) begin(ctx context.Context, log replica.Log) error {
	return m.until(ctx, "follow the stream", func(ctx context.Context) (done bool, err error) {
		f, err := replica.Begin(ctx, m.stream, log, m.config.Reader)
		if err == nil {
			f.Expect(m.line.Key())
			f.TellReleased(m.released)
			m.follower.Store(f)
		}
		for _, last := range []error{nil, replica.ErrBehind, store.ErrDiverged, store.ErrCorrupt, events.ErrNewer} {
			done = done || errors.Is(err, last)
		}
		return done, err
	})
}

// Follow copies records from the stream into the log until ctx ends, and then returns nil. If the stream is gone or
// lost messages, it waits for the stream, and reads it from its beginning. It returns an error if the log cannot be
// continued.
func (m *Member) Follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if m.stale {
			if err := m.again(ctx); err != nil && ctx.Err() == nil {
				return err
			}
			continue
		}
		following, stop := context.WithCancelCause(ctx)
		m.lost.follows(stop)
		err := m.follower.Load().Run(following)
		m.lost.follows(nil)
		cause := context.Cause(following)
		stop(nil)
		if noted := m.begun(m.follower.Load()); err == nil {
			err = noted
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller has ended it
		case errors.Is(err, replica.ErrWentBack), errors.Is(cause, replica.ErrWentBack):
			m.config.Logger.Warn("the stream of the log is read from its beginning again", "error", cmp.Or(cause, err))
			m.stale = true
			m.current.forget()
		default:
			return explain(err)
		}
	}
	return nil
}

// explain adds to an error what the operator can do.
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

// takeWithin limits each step by which a process becomes the leader. After this time without progress, the process
// gives the Lease up, so that another one can try.
const takeWithin = 30 * time.Second

var errSlow = fmt.Errorf("the stream of the log does not answer: the Lease is given back after %s", takeWithin)

// Take makes this process the stream's only writer, and returns its term (the number of this time as writer). Call it
// after Follow has returned, with the Lease held, and with a ctx that ends when the Lease is lost; holds reports
// whether the Lease is still held. If the stream is gone, Take creates it again. If the stream lost records, Take
// stores them again from this log; the caller must have called Short and Yields before. After an error the process must
// end.
func (m *Member) Take(ctx context.Context, holds func() bool) (term uint64, err error) {
	m.takes.Store(true)
	to, ok := m.log.(takeover.Log)
	follows, ok1 := m.log.(replica.Log)
	if !ok || !ok1 {
		return 0, errNoReplica
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(takeWithin, func() { cancel(errSlow) })
	defer slow.Stop()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errSlow) {
			err = fmt.Errorf("%w: %w", errSlow, err)
		}
	}()
	if m.stale {
		if err := m.restore(ctx, holds, follows); err != nil {
			return 0, err
		}
	}
	term, err = takeover.Take(ctx, takeover.Config{
		Stream: m.stream, Follower: m.follower.Load(), Line: m.line, Log: to, Holds: holds, Least: m.config.Least,
		Begins: m.mayBegin(), Short: m.base, Refills: m.refills,
		Step: func(step string) {
			slow.Reset(takeWithin)
			m.step(step)
		},
	})
	if err != nil {
		return 0, explain(err)
	}
	if m.first, err = m.stream.First(ctx); err != nil {
		return 0, err
	}
	m.leads.Store(true)
	return term, m.note(func(f *File) { f.Begun = true })
}

// ErrAway is returned if the stream has not acknowledged records for as long as Config.GiveUp.
var ErrAway = errors.New("the stream of the log does not answer: the Lease is given back, for one that reaches it")

const (
	giveUp  = 15 * time.Second // default of Config.GiveUp
	lookFor = time.Second      // time between checks whether this time is over
)

// Write stores the records that are appended to the log in the stream until ctx ends, and then returns nil. Before ctx
// ends, the log must be closed, or every record must be stored. It returns an error, such as ErrAway, if the process
// cannot continue.
func (m *Member) Write(ctx context.Context) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { // ends when running (a context) ends
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
	go func() { // ends when running (a context) ends
		defer close(cutting)
		if err := (&cutter{m: m, first: m.first}).run(running); err != nil {
			stop(err)
		}
	}()
	err := m.line.Run(running)
	stop(nil)
	<-cutting
	switch cause := context.Cause(running); {
	case ctx.Err() != nil:
		return nil // ctx ended, so this is no failure
	case errors.Is(cause, ErrAway), errors.Is(cause, ErrPurged):
		return cause
	}
	return err
}

// Release writes into the stream that this process has written its last record. All appended records must be durable.
func (m *Member) Release(ctx context.Context) error {
	id, head := m.log.Durable()
	return m.line.Release(ctx, id, head)
}

// Head returns the log's last durable record.
func (m *Member) Head() (events.Identity, store.Head) { return m.log.Durable() }
