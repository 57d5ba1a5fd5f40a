package following

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

// peer is another controller that may have this log, and its last answer about it.
type peer struct {
	client  *feed.Client
	address string
	head    feed.Head
}

func (p *peer) String() string {
	return strings.TrimSpace(words.Clean(p.head.Name) + " at " + p.address)
}

// errNobody is returned if no other controller answers.
var errNobody = errors.New("no other controller answers")

// ask asks all controllers which log they have and how long it is. It returns those other controllers that have the log
// with this ID; an empty ID stands for any log. A leader comes first, then logs in a later epoch (life of the log),
// then those with the most records.
func (s *Standby) ask(ctx context.Context, logID string) (all []peer, err error) {
	ctx, cancel := context.WithTimeout(ctx, headWithin)
	defer cancel()
	var (
		mu     sync.Mutex
		failed error
		wait   sync.WaitGroup
	)
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = cmp.Or(failed, err) // the first error is kept: one suffices for the report
	}
	limit := make(chan struct{}, mostAtATime)
	for _, client := range s.config.Clients {
		addresses, err := client.Addresses(ctx)
		if err != nil {
			fail(err)
		}
		for _, address := range addresses {
			wait.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				head, err := client.Head(ctx, address)
				switch {
				case err != nil:
					fail(err)
				case head.Process == s.config.Self:
				case logID != "" && head.LogID != logID:
					fail(fmt.Errorf("the controller at %s has log %s, and this is log %s", address, head.LogID, logID))
				default:
					mu.Lock()
					defer mu.Unlock()
					all = append(all, peer{client, address, head})
				}
			})
		}
	}
	wait.Wait()
	sortPeers(all)
	if len(all) == 0 {
		return nil, cmp.Or(failed, errNobody)
	}
	return all, nil
}

// Follow copies the leader's records into this log until ctx ends, and then returns nil. It returns an error if copying
// cannot continue: the log cannot be written, or the leader's log has other records than this one.
func (s *Standby) Follow(ctx context.Context) error {
	for tries := 0; ctx.Err() == nil; tries++ {
		got, err := s.round(ctx)
		if final := (*finalError)(nil); errors.As(err, &final) && ctx.Err() == nil {
			return final.error
		}
		if err != nil {
			s.away(ctx, err)
		}
		if got {
			tries = 0
		}
		pause(ctx, tries)
	}
	return nil
}

// finalError wraps an error after which Follow does not try again, but returns.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// round copies records from one controller: from the leader, or without a leader from the controller with the most
// records. It returns when that fails, or when it is time to ask all controllers again. got is true if it found
// a leader, or copied records of another controller.
func (s *Standby) round(ctx context.Context) (got bool, err error) {
	all, err := s.ask(ctx, s.log.Identity().LogID)
	own := s.log.Head().Sequence
	s.mu.Lock()
	s.asked, s.more = time.Now(), peer{}
	for _, p := range all {
		if !all[0].head.Leads && p.head.Epoch >= s.said.Epoch && p.head.Sequence > max(own, s.more.head.Sequence) {
			s.more = p
		}
	}
	more := s.more
	s.mu.Unlock()
	switch {
	case err != nil:
		return false, err
	case all[0].head.Leads:
		return true, s.take(ctx, all[0])
	}
	if more.client != nil {
		if err := s.take(ctx, more); err != nil {
			return false, err
		}
	}
	return more.client != nil, errNoLeader
}

// errNoLeader is returned if controllers answer, but none of them leads.
var errNoLeader = errors.New("no controller says that it holds the Lease")

// take copies records from one controller. From a leader it copies until that one no longer leads; from another
// controller, until this log has all its records.
func (s *Standby) take(ctx context.Context, p peer) error {
	for ctx.Err() == nil {
		at, own := time.Now(), s.log.Head()
		part, err := s.part(ctx, &p, own)
		if err != nil {
			return s.refused(ctx, &p, own, err)
		}
		if part.Head.LogID != s.log.Identity().LogID {
			return fmt.Errorf("%s has log %s now", &p, part.Head.LogID)
		}
		if err := s.store(ctx, part.Runs); err != nil {
			return err
		}
		p.head = part.Head
		s.took(&p, at)
		s.release(&p)
		switch own := s.log.Head().Sequence; {
		case part.Head.Sequence < own:
			return s.fewer(ctx, &p)
		case !part.Head.Leads && part.Head.Sequence == own:
			return nil
		// If an answer without records comes at once, too many requests wait at that controller already: pause.
		case len(part.Runs) == 0 && time.Since(at) < firstPause:
			pause(ctx, 0)
		}
	}
	return nil
}

// part asks a controller for the records after own, the last record of this log.
func (s *Standby) part(ctx context.Context, p *peer, own store.Head) (*feed.Part, error) {
	within := partWithin
	if p.head.Sequence <= own.Sequence { // then the controller may wait for a new record before it answers
		within = pollWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return p.client.Follow(ctx, p.address, s.config.Self, own.Sequence+1, own.Hash)
}

// store appends the records to this log, and returns when they are durable.
func (s *Standby) store(ctx context.Context, runs []feed.Run) error {
	var last store.Commit
	for i, run := range runs {
		last = s.log.AppendStored(run, i == len(runs)-1)
	}
	if last == nil {
		return nil
	}
	<-last.Done() // waits for the disk even if ctx has ended
	if err := last.Err(); err != nil {
		return &finalError{fmt.Errorf("append what the leader gave: %w", err)}
	}
	return nil
}

// refused returns the error that follows if a controller refuses a request. The error ends Follow only if that
// controller leads.
func (s *Standby) refused(ctx context.Context, p *peer, own store.Head, err error) error {
	err = fmt.Errorf("%s: %w", p, err)
	if !p.head.Leads || ctx.Err() != nil {
		return err
	}
	switch {
	case errors.Is(err, store.ErrPruned):
		return &finalError{fmt.Errorf("%w: it no longer has what follows record %d. Started again, this controller moves its "+
			"log aside and copies that of the leader", err, own.Sequence)}
	case errors.Is(err, store.ErrDiverged):
		return &finalError{fmt.Errorf("%w (%w)", ErrDiverged, err)}
	}
	return err
}

// fewer is called if a controller's log is shorter than this one: it compares both logs at the end of the shorter one.
// A leader that has just taken over may write other records under the numbers of records in this log.
func (s *Standby) fewer(ctx context.Context, p *peer) error {
	at := p.head.Sequence
	own, err := s.log.Chain(at)
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, headWithin)
	defer cancel()
	theirs, err := p.client.Chain(bound, p.address, at)
	if err == nil && theirs != own {
		err = store.ErrDiverged
	}
	if err == nil {
		err = fmt.Errorf("it ends with record %d, and this log with %d", at, s.log.Head().Sequence)
	}
	return s.refused(ctx, p, s.log.Head(), err)
}

// took notes an answer of a controller; at is the time at which its request was sent. If the controller leads, and this
// log has all of its records now, this log was complete at that time.
func (s *Standby) took(p *peer, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more.address == p.address && s.log.Head().Sequence >= s.more.head.Sequence {
		s.more = peer{}
	}
	if !p.head.Leads {
		return
	}
	if s.peer != p.address || s.gone != nil {
		s.logger.Info("the log is followed", "leader", p.String(), "head", uint64(p.head.Sequence))
	}
	s.peer, s.gone = p.address, nil
	s.leader = heard{p.head.Process, p.head.Sequence, time.Now(), true}
	if p.head.Sequence <= s.log.Head().Sequence {
		s.asOf = at
		s.now = max(events.Time(p.head.Now), events.Time(p.head.Time))
	}
}

// release reports on the channel freed that the leader has sent its last record and is about to release the Lease. The
// goroutine that waits for the Lease reads the channel.
func (s *Standby) release(p *peer) {
	if !p.head.Leads || !p.head.Ends || p.head.Sequence != s.log.Head().Sequence {
		return
	}
	select {
	case s.freed <- struct{}{}:
	default: // that goroutine has not read the previous value yet
	}
}

// away notes why no records can be copied from a leader. It logs this at most once a minute.
func (s *Standby) away(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil || time.Since(s.told) >= time.Minute {
		s.told = time.Now()
		s.logger.Warn("no leader gives its records", "at", s.config.Where, "error", err)
	}
	s.gone = err
}

// pause waits until ctx ends, or for a time that doubles with each of tries, from 0.1 s up to 1 s.
func pause(ctx context.Context, tries int) {
	wait := time.NewTimer(min(firstPause<<min(tries, 10), mostPause))
	defer wait.Stop()
	select {
	case <-ctx.Done():
	case <-wait.C:
	}
}
