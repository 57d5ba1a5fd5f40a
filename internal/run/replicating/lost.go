package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// A stream is lost if its servers say that there is none (deleted, or their data are gone), or if it ends before a
// message that was read (restored from an older copy, or its newest part was not on their disks). Followers then wait
// for the process that leads next, and begin with the stream again; see refill.go for that process.

// ErrGone: the servers say that they have no stream of that name, and there was one.
var ErrGone = errors.New("the stream of the log is gone: its NATS servers say that they have none of that name")

// errShort: the stream lost records that this process's log has.
var errShort = errors.New("the stream of the log has less than the logs of its replicas")

// lostFor is how long the servers must say so. A server that was cut off may say it for a moment.
const lostFor = 3 * time.Second

// lost is what the servers say about a stream that lost messages. It is safe for concurrent use.
type lost struct {
	mu    sync.Mutex
	gone  time.Time               // since when there is said to be none; zero while there is one
	back  time.Time               // since when it is said to end before the newest message that was read
	stop  context.CancelCauseFunc // ends the follower; nil while there is none
	named string                  // the stream that the Lease names
	waits string                  // why this process does not lead a stream that is short
}

// words returns what to say of a stream that is short; text of another one.
func (l *lost) words(short error, text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if short == nil {
		l.waits = ""
		return text
	}
	return cmp.Or(l.waits, short.Error())
}

// follows sets what ends the follower.
func (l *lost) follows(stop context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = stop
}

// said records an answer, and ends the follower with ErrWentBack once the same one has been given for lostFor.
func (l *lost) said(at time.Time, gone, back bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := func(before time.Time, is bool) time.Time {
		switch {
		case !is:
			return time.Time{}
		case before.IsZero():
			return at
		}
		return before
	}
	l.gone, l.back = since(l.gone, gone), since(l.back, back)
	for _, began := range []time.Time{l.gone, l.back} {
		if !began.IsZero() && at.Sub(began) >= lostFor && l.stop != nil {
			l.stop(fmt.Errorf("%w, as its servers have said for %s", replica.ErrWentBack, lostFor))
		}
	}
}

// isGone reports whether there has been no stream for lostFor.
func (l *lost) isGone(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.gone.IsZero() && now.Sub(l.gone) >= lostFor
}

// heed looks for a loss in the answer of the servers to where the stream ends, which was asked at a time. It returns
// err, or why the process is behind.
func (m *Member) heed(ctx context.Context, asked time.Time, place uint64, err error) error {
	if stream.Gone(err) {
		m.lost.said(asked, true, false)
		return ErrGone
	}
	f := m.follower.Load()
	if err == nil {
		err = m.begun(f)
	}
	if err != nil || f == nil || place >= f.Place() {
		if err == nil {
			m.lost.said(asked, false, false)
		}
		return err
	}
	now, err := m.stream.Ask(ctx) // one whose messages were all cut has no newest one
	switch {
	case err != nil:
		return err
	case now.Last >= f.Place():
		m.lost.said(asked, false, false)
		return nil
	}
	m.lost.said(asked, false, true)
	return fmt.Errorf("%w: it ends at place %d, and was read through %d", errShort, now.Last, f.Place())
}

// begun notes in REPLICA that the stream has a claim. One without any has lost it then, for this process and for the next
// one in this directory.
func (m *Member) begun(f *replica.Follower) error {
	if f == nil || m.of().Begun {
		return nil
	}
	if _, term := f.Ends(); term == 0 {
		return nil
	}
	return m.note(func(f *File) { f.Begun = true })
}

// mayBegin reports whether the log may begin a stream without a claim, although it has records.
func (m *Member) mayBegin() bool { return m.begins && !m.of().Begun }

// again waits for the stream, and begins with it again.
func (m *Member) again(ctx context.Context) error {
	log, ok := m.log.(replica.Log)
	if !ok {
		return errNoReplica
	}
	err := m.until(ctx, "find the stream of the log again", func(ctx context.Context) (done bool, err error) {
		return m.recognize(ctx)
	})
	if err != nil {
		return fmt.Errorf("--%s: %w", Flag, err)
	}
	return m.resume(ctx, log)
}

// recognize looks for the stream that goes on with the one before, and notes it.
func (m *Member) recognize(ctx context.Context) (done bool, err error) {
	f, done, err := m.look(ctx)
	if !done || err != nil {
		return done, err
	}
	before := m.of()
	if f.Log != before.Log || !m.succeeds(&before, &f) {
		return true, fmt.Errorf("%w: another one was made under its name, incarnation %s of log %s. The one before was "+
			"incarnation %s of log %s; to go on with this one: --%s",
			stream.ErrSettings, f.Incarnation, f.Log, before.Incarnation, before.Log, NewStreamFlag)
	}
	return true, m.note(func(now *File) { now.Incarnation = f.Incarnation })
}

// succeeds reports whether a stream is the one before, or was made in its place: by a holder of the log's key, or as
// the Lease says.
func (m *Member) succeeds(before, f *File) bool {
	m.lost.mu.Lock()
	named := m.lost.named
	m.lost.mu.Unlock()
	return before.Stream == f.Stream &&
		(f.Incarnation == before.Incarnation || f.after == before.Incarnation || named == f.Of())
}

// Saw is told which stream the Lease names.
func (m *Member) Saw(named string) {
	m.lost.mu.Lock()
	defer m.lost.mu.Unlock()
	m.lost.named = cmp.Or(named, m.lost.named)
}

// Waits is told why this process does not lead a stream that is short, for Watch to say.
func (m *Member) Waits(why error) {
	m.lost.mu.Lock()
	told := m.lost.waits == why.Error()
	m.lost.waits = why.Error()
	m.lost.mu.Unlock()
	if !told {
		m.config.Logger.Warn("this process does not lead, since the stream of the log lost records", "why", why)
	}
}

// Short returns why the stream cannot just be claimed: ErrGone, or another error if it ends before this process's log.
// It returns nil if it can, or if that is not known.
func (m *Member) Short() error {
	if m.lost.isGone(time.Now()) {
		return ErrGone
	}
	f := m.follower.Load()
	if f == nil || m.Behind() != nil {
		return nil //nolint:nilerr // not known
	}
	_, own := m.log.Durable()
	ends, term := f.Ends()
	if ends >= own.Sequence || term == 0 && m.mayBegin() {
		return nil
	}
	return fmt.Errorf("%w: it ends with record %d, and this log with %d", errShort, ends, own.Sequence)
}
