package replicating

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jobledger/jobledger/store/natslog/stream"
)

const (
	askEvery   = 250 * time.Millisecond // the stream's leader is asked so often where the stream ends
	mostBehind = time.Second            // behind by more, a process does not want the Lease
	checkEvery = time.Minute            // the settings are looked at so often
)

// current is how far behind a follower is. It is safe for concurrent use.
type current struct {
	mu    sync.Mutex
	place uint64    // the newest that the stream's leader had when it was asked
	asked time.Time // for that; zero when there is none to be reached
	asOf  time.Time // all that the stream had then was read
	err   error     // why the newest request failed
}

// note says what came of a request that was made then.
func (c *current) note(asked time.Time, place uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil && c.asked.IsZero() {
		c.place, c.asked = place, asked
	}
}

// read says that all up to a place was read. What the stream had as of a request was read when that was reached.
func (c *current) read(place uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && place >= c.place {
		c.asOf, c.asked = c.asked, time.Time{}
	}
}

// behind says why the process is behind at that time; nil when it is not.
func (c *current) behind(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case now.Sub(c.asOf) <= mostBehind:
		return nil
	case c.err != nil:
		return fmt.Errorf("the stream of the log does not say where it ends: %w", c.err)
	case c.asOf.IsZero():
		return errors.New("the stream of the log is being read")
	}
	return fmt.Errorf("the stream of the log is read as of %s ago", now.Sub(c.asOf).Round(time.Second))
}

// Behind says why this process may not take the Lease now: it is not connected, or has not read all that the stream had
// a second ago. Nil when it may.
func (m *Member) Behind() error {
	m.current.read(m.follower.Place())
	return m.current.behind(time.Now())
}

// ask asks the stream's leader where the stream ends.
func (m *Member) ask(ctx context.Context) {
	asked := time.Now()
	bound, cancel := context.WithTimeout(ctx, mostBehind)
	defer cancel()
	place, err := m.stream.Newest(bound)
	m.current.note(asked, place, err)
}

// Watch asks the stream's leader where the stream ends, until Take is called, and until ctx ends each minute whether
// the stream's settings are still good. say is told why the process is behind, or empty when it is not. The error is of
// settings that lose data.
func (m *Member) Watch(ctx context.Context, say func(string)) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for looked := time.Now(); ; {
		if !m.takes.Load() {
			m.ask(ctx)
			text := ""
			if err := m.Behind(); err != nil {
				text = err.Error()
			}
			say(text)
		}
		if time.Since(looked) >= checkEvery {
			looked = time.Now()
			if err := m.check(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// check looks at the settings once more. A server that does not answer changes nothing.
func (m *Member) check(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	now, done, err := m.look(bound)
	switch {
	case !done:
		return nil
	case err != nil:
		return fmt.Errorf("--%s: %w", Flag, err)
	case now.Incarnation != m.file.Incarnation:
		return fmt.Errorf("--%s: %w: another one was made under its name", Flag, stream.ErrSettings)
	}
	return nil
}
