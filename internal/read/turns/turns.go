package turns

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Defaults of Config: 8 turns for all users, 2 of them for one user, and a wait of up to 2 s.
const (
	UsualAll  = 8
	UsualEach = 2
	UsualWait = 2 * time.Second
)

// ErrBusy is the error of Take if no turn (the permission to work) became free in time.
var ErrBusy = errors.New("too many questions are asked at once: try again in a few seconds")

// Config has the limits of a Turns. The zero Config uses the defaults.
type Config struct {
	All  int           // number of turns, for all users together; 0 for UsualAll
	Each int           // number of turns that one user may have; 0 for UsualEach
	Wait time.Duration // how long Take waits for a free turn; 0 for UsualWait
}

// Turns limits how much work is done at the same time. It has a fixed number of turns: who takes one may work, and then
// gives it back.
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

// Take waits until user gets a turn, the permission to work. The caller must call done exactly once, to give the turn
// back. If no turn becomes free in time, the error is ErrBusy. If ctx ends, it is the error of ctx.
func (t *Turns) Take(ctx context.Context, user string) (done func(), err error) {
	wait := time.NewTimer(t.config.Wait)
	defer wait.Stop()
	return t.within(ctx, user, wait.C)
}

// Wait is Take without a time limit: it waits until user gets a turn, or ctx ends.
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

// try takes a turn for user, if one is free. If not, it returns a channel that is closed when any turn is given back.
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
