package informer

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/events"
)

// Backoff between the end of a watch that cannot be resumed and the next list. Each wait is a random duration from the
// value to its double, so that controllers that lost one server do not all return at once.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
	calm       = 2 * time.Minute // a watch that lasted this long resets the backoff
)

// follower keeps a reflector running for one resource, and restarts it on request.
type follower struct {
	resource events.Resource
	source   *source
	expected any
	store    cache.ReflectorStore
	log      *slog.Logger

	mu     sync.Mutex
	cancel context.CancelFunc // stops the current reflector; nil when none runs
}

// run runs reflectors until ctx ends.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		f.mu.Lock()
		once, cancel := context.WithCancel(ctx)
		f.cancel = cancel
		f.mu.Unlock()
		f.reflect(once)
		cancel()
	}
}

// restart ends the current reflector, so that run begins with a new list.
func (f *follower) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
}

// reflect lists and watches with one reflector until ctx ends. The reflector resumes a watch that merely ended. Its
// call returns when it must list again or failed to; reflect then waits and calls it again.
func (f *follower) reflect(ctx context.Context) {
	logger := logr.FromSlogHandler(f.log.Handler())
	r := cache.NewReflectorWithOptions(f.source, f.expected, f.store, cache.ReflectorOptions{
		Logger: &logger, Name: "events/informer",
	})
	pause := firstPause
	for {
		began := time.Now()
		err := r.ListAndWatchWithContext(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errListAgain) {
			continue
		}
		if err != nil {
			f.log.Warn("cannot list or watch; will try again", "error", err)
		}
		if time.Since(began) >= calm {
			pause = firstPause
		}
		if !wait(ctx, pause+rand.N(pause)) {
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// wait returns true after d, or false when ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
