package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

const (
	each        = time.Second     // how often controllers are asked
	headWithin  = 2 * time.Second // time limit for asking all controllers which record is their newest
	partWithin  = 20 * time.Second
	mostAtATime = 16 // most controllers asked at the same time
)

// Run copies the controllers' log until ctx ends, and then returns nil. It returns an error if the copy cannot be
// written.
func (m *Mirror) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, m.close()) }()
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		if err := m.round(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// round chooses a controller, and copies all its new records. If the controller fails, the next round tries again.
func (m *Mirror) round(ctx context.Context) error {
	a, err := m.choose(ctx)
	if err != nil {
		m.gone(ctx, err)
		return nil
	}
	m.chosen(a)
	for {
		at := m.config.Clock()
		head := a.head
		more, err := m.step(ctx, &a)
		var own *writeError
		switch {
		case errors.As(err, &own):
			return own
		case err != nil:
			m.gone(ctx, err)
			return nil
		}
		m.answered(a, head, at, !more)
		if !more {
			return nil
		}
	}
}

// choose asks all controllers which log they have and how long it is, and returns the one to copy from. It prefers a
// controller that leads, then one with the same log as the copy, then the one with the most records.
func (m *Mirror) choose(ctx context.Context) (answered, error) {
	ctx, cancel := context.WithTimeout(ctx, headWithin)
	defer cancel()
	var (
		mu     sync.Mutex
		all    []answered
		failed error
		wait   sync.WaitGroup
	)
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = cmp.Or(failed, err) // the first error is kept: one suffices for the report
	}
	limit, logID := make(chan struct{}, mostAtATime), m.logID()
	for _, client := range m.config.Clients {
		addresses, err := client.Addresses(ctx)
		if err != nil {
			fail(err)
		}
		for _, address := range addresses {
			wait.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				head, err := client.Head(ctx, address)
				if err != nil {
					fail(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, answered{client, address, head})
				if head.Leads && (logID == "" || head.LogID == logID) {
					// The answer of the leader suffices. Do not wait for addresses of machines that are gone.
					cancel()
				}
			})
		}
	}
	wait.Wait()
	if len(all) == 0 {
		return answered{}, cmp.Or(failed, errNobody)
	}
	return best(all, logID), nil
}

// errNobody is returned if the controllers' name has no address.
var errNobody = errors.New("there is no controller")

// best returns the controller to copy from; choose says which. logID is the ID of the log in the copy.
func best(all []answered, logID string) answered {
	better := func(a, b *answered) bool {
		if a.head.Leads != b.head.Leads {
			return a.head.Leads
		}
		if ours := a.head.LogID == logID; ours != (b.head.LogID == logID) {
			return ours
		}
		if a.head.Sequence != b.head.Sequence {
			return a.head.Sequence > b.head.Sequence
		}
		return a.address < b.address // so that the choice is the same each time
	}
	found := all[0]
	for i := range all[1:] {
		if better(&all[i+1], &found) {
			found = all[i+1]
		}
	}
	return found
}

// logID returns the ID of the log that is copied; empty if there is no copy yet.
func (m *Mirror) logID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		return ""
	}
	return m.kept.log.Identity().LogID
}

// step asks for new records once, and adds the answer to the copy. more is true if the controller has further records.
func (m *Mirror) step(ctx context.Context, a *answered) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	m.mu.Lock()
	k := m.kept
	m.mu.Unlock()
	if k == nil {
		return m.begin(ctx, a)
	}
	own := k.log.Head()
	switch id := k.log.Identity().LogID; {
	case a.head.LogID != id && a.head.Leads:
		return false, m.again(a, fmt.Errorf("the controller has log %s, and the copy is of %s", a.head.LogID, id))
	case a.head.LogID != id:
		return false, fmt.Errorf("%s has log %s and does not lead, and the copy is of %s", a.name(), a.head.LogID, id)
	case a.head.Sequence == own.Sequence && k.compared:
		return false, nil // nothing new
	case a.head.Sequence < own.Sequence && !a.head.Leads:
		return false, fmt.Errorf("%s does not lead and is behind: it has record %d, and the copy %d",
			a.name(), a.head.Sequence, own.Sequence)
	}
	part, err := a.client.Records(ctx, a.address, own.Sequence+1, own.Hash)
	switch {
	case errors.Is(err, store.ErrDiverged), errors.Is(err, store.ErrPruned):
		return false, m.again(a, err)
	case err != nil:
		return false, err
	case part.Head.Sequence < own.Sequence:
		return false, m.again(a, fmt.Errorf("the log of the controller ends with record %d, and the copy has %d",
			part.Head.Sequence, own.Sequence))
	}
	if err := k.take(ctx, part.Runs); err != nil {
		return false, &writeError{err}
	}
	a.head = part.Head
	return part.Head.Sequence > k.log.Head().Sequence, nil
}

// begin starts a new copy, with the records of one answer. more is true if the controller has further records.
func (m *Mirror) begin(ctx context.Context, a *answered) (more bool, err error) {
	part, err := a.client.Records(ctx, a.address, 0, events.Hash{})
	if err != nil {
		return false, err
	}
	if len(part.Runs) == 0 {
		return false, errors.New("the log of the controller has no record yet")
	}
	k, err := m.makeKept(ctx, part)
	if err != nil {
		return false, &writeError{err}
	}
	m.logger.Info("a copy of the log is begun", "controller", a.name(), "logID", part.Head.LogID,
		"from", uint64(part.Runs[0].First), "through", uint64(k.log.Head().Sequence), "head", uint64(part.Head.Sequence))
	m.mu.Lock()
	m.kept = k
	m.mu.Unlock()
	a.head = part.Head
	return part.Head.Sequence > k.log.Head().Sequence, nil
}

// again deletes the copy, because it cannot be continued, and returns why as an error. The next round starts a new
// copy.
func (m *Mirror) again(a *answered, why error) error {
	m.logger.Warn("the copy of the log is thrown away and begun again", "controller", a.name(), "error", why)
	if err := errors.Join(m.close(), m.remove()); err != nil {
		return &writeError{err}
	}
	return fmt.Errorf("the copy of the log is begun again: %w", why)
}

// writeError says that the copy cannot be written; it ends Run.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// chosen logs that records come from another controller than before.
func (m *Mirror) chosen(a answered) {
	m.mu.Lock()
	was := m.seen.asked
	gone := m.seen.gone
	m.mu.Unlock()
	if was.address != a.address || was.head.Leads != a.head.Leads || gone != nil {
		m.logger.Info("the log is read from", "controller", a.name(), "leads", a.head.Leads,
			"head", uint64(a.head.Sequence))
	}
}

// answered notes that a controller answered with head, when this machine's clock was at. whole is true if the copy has
// all records up to head.
func (m *Mirror) answered(a answered, head feed.Head, at time.Time, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.asked, m.seen.at, m.seen.gone, m.seen.whole = a, m.config.Clock(), nil, whole
	if whole { // the copy has all records up to the time head.Now
		m.seen.known = known{now: max(events.Time(head.Now), events.Time(head.Time)), at: at}
	}
}

// gone notes why there is no controller to copy from, and logs this once.
func (m *Mirror) gone(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen.gone == nil {
		m.logger.Warn("no controller gives its records", "at", m.config.Where, "error", err)
	}
	m.seen.gone = err
}

// name returns a controller's name for messages.
func (a *answered) name() string {
	return strings.TrimSpace(words.Clean(a.head.Name) + " at " + a.address)
}
