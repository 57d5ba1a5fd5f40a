package feed

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

const (
	waitsFor = time.Second // how long an answer without records waits for a new record
	// number of answers that may wait for a new record at a time; further ones are sent at once
	waitAtOnce    = 8
	followerGone  = 3 * time.Second // a follower that has not asked for so long counts as gone
	mostFollowers = 16              // number of followers that are remembered
)

// Follower is a process that copies this log, and may become the leader next.
type Follower struct {
	Name    string          // its holder identity in the Lease
	Through events.Sequence // last record that it has on disk, with all records before it
	Heard   time.Time       // when it asked last
}

// followers remembers the processes that copy this log and may become the leader. Call init first.
type followers struct {
	mu      sync.Mutex
	all     map[string]Follower
	waiting int
	changed chan struct{} // closed and replaced at each request, which wakes those who wait
	ends    chan struct{} // closed when the log's last record is written
}

func (f *followers) init() {
	f.all, f.changed, f.ends = map[string]Follower{}, make(chan struct{}), make(chan struct{})
}

// note remembers which process sent the request, and through which record its log is complete.
func (f *followers) note(a *asked) {
	if a.follower == "" || a.from == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.all[a.follower] = Follower{Name: a.follower, Through: a.from - 1, Heard: now}
	if len(f.all) > mostFollowers {
		oldest := slices.MinFunc(f.listLocked(), func(a, b Follower) int { return a.Heard.Compare(b.Heard) })
		delete(f.all, oldest.Name)
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// await remembers which process sent the request. If the request asks for the next record, which does not exist yet,
// await waits for that record, for up to a second.
func (f *followers) await(ctx context.Context, log *given, a *asked) {
	f.note(a)
	if !a.wait || a.from != log.Head().Sequence+1 || !f.begin() {
		return
	}
	defer f.end()
	ctx, cancel := context.WithTimeout(ctx, waitsFor)
	defer cancel()
	go func() {
		select {
		case <-f.ends:
			cancel() // end the wait: no more records will be written
		case <-ctx.Done():
		}
	}()
	_, _ = log.Wait(ctx, a.from-1) // if it fails, the answer has the records that exist
}

// begin reports whether one more answer may wait for a new record now. If so, the caller must call end afterwards.
func (f *followers) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting >= waitAtOnce {
		return false
	}
	f.waiting++
	return true
}

func (f *followers) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
}

func (f *followers) listLocked() (all []Follower) {
	for _, one := range f.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Follower) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Followers returns, sorted by name, the processes that copy this log and asked for records within the last 3 seconds.
func (g *Giver) Followers() []Follower {
	g.followers.mu.Lock()
	defer g.followers.mu.Unlock()
	return slices.DeleteFunc(g.followers.listLocked(), func(f Follower) bool { return time.Since(f.Heard) > followerGone })
}

// Known returns, sorted by name, all processes that copy this log and are remembered, including those that no longer
// ask.
func (g *Giver) Known() []Follower {
	g.followers.mu.Lock()
	defer g.followers.mu.Unlock()
	return g.followers.listLocked()
}

// End tells all processes that copy this log that this process has written its last record, and is about to release its
// Lease. Those that ask later are told, too. Call it at most once.
func (g *Giver) End() { close(g.followers.ends) }

// ending reports whether End was called.
func (g *Giver) ending() bool {
	select {
	case <-g.followers.ends:
		return true
	default:
		return false
	}
}

// Shipped waits until each process that still copies this log has all records up to through, or until ctx ends. It
// returns the processes that lack some.
func (g *Giver) Shipped(ctx context.Context, through events.Sequence) (lack []Follower) {
	for {
		g.followers.mu.Lock()
		changed := g.followers.changed
		g.followers.mu.Unlock()
		lack = slices.DeleteFunc(g.Followers(), func(f Follower) bool { return f.Through >= through })
		if len(lack) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return lack
		}
	}
}
