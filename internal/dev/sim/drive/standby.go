package drive

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// standby folds the durable part of the log while the process works, so that a later process can start from its state
// instead of reading the log. It follows one log at a time.
type standby struct {
	rng   *rand.Rand // a random stream of its own, so that its draws do not change other draws
	fold  *loop.Fold // nil while it follows no log
	log   string     // ID of the log that it follows
	taken int        // number of processes that started from its state
}

// In one of 5 steps the standby reads what is new in the log. If it follows no log, it begins to follow one in one of
// 40 steps. That is rare, so that it begins in the middle of Jobs and of files.
const (
	followEach = 5
	beginEach  = 40
)

// follow lets the standby read the log, or begin to follow it, at random.
func (s *standby) follow(log *memlog.Log) (err error) {
	switch n := s.rng.IntN(beginEach); {
	case s.fold != nil && s.log == log.Identity().LogID:
		if n < beginEach/followEach {
			err = s.fold.Follow(context.Background(), log)
		}
	case n == 0:
		s.log = log.Identity().LogID
		s.fold, err = loop.NewFold(context.Background(), log)
	}
	return err
}

// takeOver returns the state from which the next process starts, after it has compared this state with one folded from
// the log. nil means that the process must read the log itself. A standby that is ready is used only half of the time,
// at random, so that it also follows the log over the start of another process.
func (s *standby) takeOver(log *memlog.Log) (*projector.World, error) {
	if s.fold == nil || s.log != log.Identity().LogID {
		return nil, nil
	}
	if err := s.fold.Follow(context.Background(), log); err != nil {
		return nil, err
	}
	recovered, err := loop.Recover(context.Background(), log)
	if err != nil {
		return nil, err
	}
	warm := s.fold.World()
	if err := same("a standby", warm, "a recovery", recovered); err != nil {
		return nil, err
	}
	if warm.Head != recovered.Head {
		return nil, fmt.Errorf("a standby is at record %d, a recovery at %d", warm.Head, recovered.Head)
	}
	if s.rng.IntN(2) == 0 {
		return nil, nil
	}
	*s = standby{rng: s.rng, taken: s.taken + 1}
	return warm, nil
}

// Warm returns how many processes started from the state of a standby.
func (d *Driver) Warm() int { return d.standby.taken }
