package drive

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// standby folds the durable part of the log into the state of the Jobs while the process works. A later process can
// start from this state instead of reading the log. It follows one log at a time.
type standby struct {
	rng   *rand.Rand // random numbers of its own, so that other choices of the run stay the same
	fold  *loop.Fold // folds the log; nil while it follows none
	log   string     // ID of the log that it follows
	taken int        // how many processes have started from its state
}

// How often the standby reads what is new in the log: in one of 5 steps. If it follows no log, it begins to in one of
// 40 steps. That is rare, so that it begins in the middle of Jobs and of files.
const (
	followEach = 5
	beginEach  = 40
)

// follow makes the standby read on in the log, or begin to follow it, in some steps, which are chosen at random.
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

// takeOver returns the state with which the next process starts; nil if the process must read the log itself. It
// compares the state with one that is folded from the log. Half of the time, at random, it is not used although it is
// ready, so that the standby also follows the log over the start of another process.
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

// Warm returns how many processes have started from the state of a standby.
func (d *Driver) Warm() int { return d.standby.taken }
