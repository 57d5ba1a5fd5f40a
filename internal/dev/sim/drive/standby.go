package drive

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// standby folds what is durable of the log while the process works, so that a later process can go on from its world.
// It is of one log at a time.
type standby struct {
	rng   *rand.Rand // of its own: no other draw changes with it
	fold  *loop.Fold // nil while there is none
	log   string     // ID of its log
	taken int        // processes that began with its world
}

// How often it follows, of so many steps, and how often it begins: late, so that it begins within Jobs and files.
const (
	followEach = 5
	beginEach  = 40
)

// follow lets it fold, by its own draw.
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

// takeOver gives the world to begin with, after a comparison with a recovery; nil for none: then a recovery is to be
// made. Of two times that it could it does so once, so that it also follows on behind the start of another process.
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

// Warm is how many processes began with the world of a standby.
func (d *Driver) Warm() int { return d.standby.taken }
