package drive

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// standby folds the durable part of the log while the process works, so that a later process can start from its world.
// It follows one log at a time.
type standby struct {
	rng   *rand.Rand // its own, so that other draws do not change
	fold  *loop.Fold // nil while there is none
	log   string     // ID of its log
	taken int        // processes that began with its world
}

// One of followEach steps follows the log, and one of beginEach begins to. The second is rare, so that the standby
// begins in the middle of Jobs and files.
const (
	followEach = 5
	beginEach  = 40
)

// follow lets the standby fold, by a draw of its own.
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

// takeOver returns the world for the next process, after a comparison with a recovery; nil means that a recovery is
// needed. It returns the world at a random half of the opportunities, so that a standby also follows the log over the
// start of another process.
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

// Warm returns how many processes started from the world of a standby.
func (d *Driver) Warm() int { return d.standby.taken }
