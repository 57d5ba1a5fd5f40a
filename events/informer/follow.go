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
)

// Waits between the end of a watch that cannot be resumed and the next list. Each is drawn from between itself and its
// double, so that controllers that lost one server do not come back in step.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
	calm       = 2 * time.Minute // a watch that lasted so long begins with the first wait again
)

// follower keeps a reflector going for one resource, and starts another when told to.
type follower struct {
	listing  *listing
	source   *source
	expected any
	store    cache.ReflectorStore
	log      *slog.Logger

	mu     sync.Mutex
	cancel context.CancelFunc // of the reflector that runs; nil when none does
}

// run reflects until ctx ends.
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

// restart makes run begin with a new list.
func (f *follower) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
}

// reflect lists and watches with one reflector until ctx ends. The reflector itself resumes a watch that merely ended;
// it comes back here when it has to list again, or could not.
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

// wait returns true after d, or false when ctx ended before.
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
