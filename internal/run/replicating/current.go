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
	askEvery   = 250 * time.Millisecond // time between questions to the stream's leader about the end of the stream
	mostBehind = time.Second            // a process that is further behind does not bid for the Lease
	checkEvery = time.Minute            // time between checks of the settings
)

// current is how far behind a follower is. It is safe for concurrent use.
type current struct {
	mu    sync.Mutex
	place uint64    // the newest place that the stream's leader reported at asked
	asked time.Time // when place was asked for; zero while no place is awaited
	asOf  time.Time // all that the stream had at this time was read
	err   error     // why the newest request failed
}

// note records the answer to a request made at asked.
func (c *current) note(asked time.Time, place uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil && c.asked.IsZero() {
		c.place, c.asked = place, asked
	}
}

// read records that all messages through place were read. If that reaches the awaited place, the follower is current as
// of that request.
func (c *current) read(place uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && place >= c.place {
		c.asOf, c.asked = c.asked, time.Time{}
	}
}

// behind returns why the process is behind at now; nil if it is not.
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

// forget makes the process behind until all that the stream has is read again.
func (c *current) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.place, c.asked, c.asOf = 0, time.Time{}, time.Time{}
}

// last returns as of when the process was current; zero if it never was.
func (c *current) last() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asOf
}

// Behind returns why this process may not take the Lease now: it is not connected, or has not read all that the stream
// had a second ago. It returns nil if it may.
func (m *Member) Behind() error {
	if f := m.follower.Load(); f != nil {
		m.current.read(f.Place())
	}
	return m.current.behind(time.Now())
}

// Released returns a channel that gets a value when the leader has released the stream: it is about to give the Lease
// back. Call it after Begin.
func (m *Member) Released() <-chan struct{} { return m.released }

// ask asks the stream's leader for the end of the stream.
func (m *Member) ask(ctx context.Context) {
	asked := time.Now()
	bound, cancel := context.WithTimeout(ctx, mostBehind)
	defer cancel()
	place, err := m.stream.Newest(bound)
	if err = m.heed(bound, asked, place, err); err != nil {
		place = 0
	}
	m.current.note(asked, place, err)
}

// Watch asks the stream's leader for the end of the stream, until Take is called. Until ctx ends, it also checks the
// stream's settings each minute. It calls say with why the process is behind, or with "" if it is not. It returns an
// error if a setting loses data.
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
			say(m.lost.words(m.Short(), text))
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

// check checks the settings once more. A server that does not answer changes nothing.
func (m *Member) check(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	now, done, err := m.look(bound)
	switch {
	case !done:
		return nil
	case err != nil:
		return fmt.Errorf("--%s: %w", Flag, err)
	case now.Incarnation != m.of().Incarnation && m.leads.Load():
		return fmt.Errorf("--%s: %w: another one was made under its name", Flag, stream.ErrSettings)
	}
	return nil
}
