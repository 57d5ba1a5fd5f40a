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

// A stream is lost in two cases. Its servers say that it does not exist: it was deleted, or their data are gone. Or it
// ends before a message that was read already: it was restored from an older copy, or its newest messages were not on
// the servers' disks. Processes that copy the log then wait for the next leader, which stores the lost records again
// (refill.go); afterwards they read the stream from its beginning.

// ErrGone is returned if there was a stream, and the servers say that they do not have it any more.
var ErrGone = errors.New("the stream of the log is gone: its NATS servers say that they have none of that name")

// errShort is returned if the stream lost records that this process's log has.
var errShort = errors.New("the stream of the log has less than the logs of its replicas")

// lostFor is how long the servers must report the loss before it counts. A server that was cut off from the others may
// report a loss for a moment.
const lostFor = 3 * time.Second

// lost notes what the servers say about a stream that is gone or has lost messages. It is safe for concurrent use.
type lost struct {
	mu    sync.Mutex
	gone  time.Time               // since when the servers say that there is no stream; zero while there is one
	back  time.Time               // since when the stream ends before a message that was read; zero while it does not
	stop  context.CancelCauseFunc // stops the reading of the stream; nil while it is not read
	named string                  // the stream that the Lease names
	waits string                  // why this process does not lead with a stream that lost records
}

// words returns the text for probes: if short is not nil, a text about the stream's lost records; otherwise text.
func (l *lost) words(short error, text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if short == nil {
		l.waits = ""
		return text
	}
	return cmp.Or(l.waits, short.Error())
}

// follows sets the function that stops the reading of the stream.
func (l *lost) follows(stop context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = stop
}

// said stores an answer of the servers: gone if there is no stream, back if it ends before a message that was read. If
// the loss has been reported for 3 seconds, it stops the reading of the stream with ErrWentBack.
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

// isGone reports whether the servers have said for 3 seconds that there is no stream.
func (l *lost) isGone(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.gone.IsZero() && now.Sub(l.gone) >= lostFor
}

// heed looks for a loss in the answer of NATS about the newest message; the request was sent at the time asked. It
// returns why this process counts as behind; nil if nothing is wrong.
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
	// The newest message has a lower number than one that was read. That is no loss if all messages were cut off: then
	// the stream has no newest one, but its last number (now.Last) is as high as before.
	now, err := m.stream.Ask(ctx)
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

// begun notes in the file REPLICA that a leader has written to the stream. If the stream is empty later, this shows
// that it has lost records.
func (m *Member) begun(f *replica.Follower) error {
	if f == nil || m.of().Begun {
		return nil
	}
	if _, term := f.Ends(); term == 0 {
		return nil
	}
	return m.note(func(f *File) { f.Begun = true })
}

// mayBegin reports whether this log may be the first to write to an empty stream, although the log has records already.
func (m *Member) mayBegin() bool { return m.begins && !m.of().Begun }

// again waits until the stream exists, and reads it from its beginning.
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

// recognize finds the stream, which may have replaced the one before, and notes its ID (incarnation). A stream of
// another log is an error.
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

// succeeds reports whether f describes the same stream as before, or one that replaced it, as its metadata or the Lease
// say.
func (m *Member) succeeds(before, f *File) bool {
	m.lost.mu.Lock()
	named := m.lost.named
	m.lost.mu.Unlock()
	return before.Stream == f.Stream &&
		(f.Incarnation == before.Incarnation || f.after == before.Incarnation || named == f.Of())
}

// Saw stores the name of the stream that the Lease names.
func (m *Member) Saw(named string) {
	m.lost.mu.Lock()
	defer m.lost.mu.Unlock()
	m.lost.named = cmp.Or(named, m.lost.named)
}

// Waits stores the reason why this process does not lead with a stream that lost records. Watch passes it on to probes.
func (m *Member) Waits(why error) {
	m.lost.mu.Lock()
	told := m.lost.waits == why.Error()
	m.lost.waits = why.Error()
	m.lost.mu.Unlock()
	if !told {
		m.config.Logger.Warn("this process does not lead, since the stream of the log lost records", "why", why)
	}
}

// Short returns an error if the stream lost records that this process's log has: ErrGone if there is no stream,
// otherwise another error. It returns nil if the stream lost none, or if that is not known.
func (m *Member) Short() error {
	if m.lost.isGone(time.Now()) {
		return ErrGone
	}
	f := m.follower.Load()
	if f == nil || m.Behind() != nil {
		return nil //nolint:nilerr // the stream cannot be read, so it is not known
	}
	_, own := m.log.Durable()
	ends, term := f.Ends()
	if ends >= own.Sequence || term == 0 && m.mayBegin() {
		return nil
	}
	return fmt.Errorf("%w: it ends with record %d, and this log with %d", errShort, ends, own.Sequence)
}
