package turns

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Defaults of Config.
const (
	UsualAll  = 8
	UsualEach = 2
	UsualWait = 2 * time.Second
)

// ErrBusy is returned if no turn became free in time.
var ErrBusy = errors.New("too many questions are asked at once: try again in a few seconds")

// Config sets the limits. The zero Config uses the defaults.
type Config struct {
	All  int           // turns taken at the same time, by all users; 0 for UsualAll
	Each int           // turns taken at the same time, by one user; 0 for UsualEach
	Wait time.Duration // how long Take waits for a turn; 0 for UsualWait
}

// Turns limits how much work is done at the same time: who has a turn may work.
type Turns struct {
	config Config

	mu    sync.Mutex
	held  map[string]int // number of turns that each user has
	count int
	freed chan struct{} // closed, and replaced, whenever a turn is given back
}

// New returns a Turns with all turns free.
func New(config Config) *Turns {
	if config.All <= 0 {
		config.All = UsualAll
	}
	if config.Each <= 0 {
		config.Each = UsualEach
	}
	if config.Wait <= 0 {
		config.Wait = UsualWait
	}
	return &Turns{config: config, held: map[string]int{}, freed: make(chan struct{})}
}

// Take waits for a free turn for user. The caller must call done exactly once, to give the turn back. If none becomes
// free in time, Take fails with ErrBusy. If ctx ends, it fails with the error of ctx.
func (t *Turns) Take(ctx context.Context, user string) (done func(), err error) {
	wait := time.NewTimer(t.config.Wait)
	defer wait.Stop()
	return t.within(ctx, user, wait.C)
}

// Wait is Take without a time limit: it waits until a turn is free or ctx ends.
func (t *Turns) Wait(ctx context.Context, user string) (done func(), err error) {
	return t.within(ctx, user, nil)
}

func (t *Turns) within(ctx context.Context, user string, over <-chan time.Time) (done func(), err error) {
	for {
		got, freed := t.try(user)
		if got {
			return func() { t.give(user) }, nil
		}
		select {
		case <-freed:
		case <-over:
			return nil, ErrBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try takes a turn if one is free. If not, it returns a channel that is closed when a turn is given back.
func (t *Turns) try(user string) (got bool, freed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count >= t.config.All || t.held[user] >= t.config.Each {
		return false, t.freed
	}
	t.count++
	t.held[user]++
	return true, nil
}

func (t *Turns) give(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count--
	if t.held[user]--; t.held[user] == 0 {
		delete(t.held, user)
	}
	close(t.freed)
	t.freed = make(chan struct{})
}
