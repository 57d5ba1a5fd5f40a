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
	askEvery   = 250 * time.Millisecond // time between requests to NATS for the newest message of the stream
	mostBehind = time.Second            // if a process last had the whole stream longer ago, it does not take the Lease
	checkEvery = time.Minute            // time between checks of the stream's settings
)

// current knows how far a process that copies the log has read the NATS stream. A place is the sequence number of a
// message in the stream. It is safe for concurrent use.
type current struct {
	mu    sync.Mutex
	place uint64    // place of the newest message, as NATS answered to the request sent at asked
	asked time.Time // when that request was sent; zero if everything through place is read
	asOf  time.Time // everything that was in the stream at this time is read
	err   error     // error of the newest request; nil if it succeeded
}

// note stores the answer to a request for the newest place in the stream; asked is when the request was sent.
func (c *current) note(asked time.Time, place uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil && c.asked.IsZero() {
		c.place, c.asked = place, asked
	}
}

// read notes that all messages through place are read. If that is the newest place that note stored, everything is read
// that was in the stream when that request was sent.
func (c *current) read(place uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && place >= c.place {
		c.asOf, c.asked = c.asked, time.Time{}
	}
}

// behind returns why the process is too far behind the stream at the time now; nil if it is not.
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

// forget makes the process count as behind until it has read everything in the stream once more.
func (c *current) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.place, c.asked, c.asOf = 0, time.Time{}, time.Time{}
}

// last returns the newest time for which everything then in the stream is read; zero if there is none.
func (c *current) last() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asOf
}

// Behind returns why this process may not take the Lease now: it has no connection to NATS, or has not read everything
// that was in the stream a second ago. It returns nil if it may.
func (m *Member) Behind() error {
	if f := m.follower.Load(); f != nil {
		m.current.read(f.Place())
	}
	return m.current.behind(time.Now())
}

// Released returns a channel that gets a value when the leader has written its last record to the stream and is about
// to release the Lease. Call it after Begin.
func (m *Member) Released() <-chan struct{} { return m.released }

// ask asks NATS for the sequence number of the newest message in the stream, and stores the answer.
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

// Watch asks NATS four times a second for the newest message of the stream, until Take is called. It calls say with the
// reason why this process is behind, or with "" if it is not. Until ctx ends, it also checks the stream's settings each
// minute, and returns an error if a setting can lose data.
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

// check returns an error if a setting of the stream can lose data; nil also if the server does not answer.
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
