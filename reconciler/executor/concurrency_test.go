package executor

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// round ends as many calls as there are slots.
func (l *limiter) endRound(now events.Time, s signal) {
	for range l.slots() {
		l.ended(now, now, s, true, 0)
	}
}

func TestLimiterDoublesToItsMaximum(t *testing.T) {
	l := newLimiter(64)
	now := events.At(epoch)
	var sizes []int
	for range 5 {
		sizes = append(sizes, l.slots())
		l.endRound(now, fast)
	}
	if sizes[0] != 8 || sizes[1] != 16 || sizes[2] != 32 || sizes[3] != 64 || sizes[4] != 64 {
		t.Errorf("slots by round: %v, want 8 16 32 64 64", sizes)
	}
}

func TestLimiterGrowsOnlyWhileItIsUsedUp(t *testing.T) {
	l := newLimiter(64)
	for range 100 {
		l.ended(1, 2, fast, false, 0)
	}
	if l.slots() != firstConcurrency {
		t.Errorf("%d slots after calls that left some free, want %d", l.slots(), firstConcurrency)
	}
}

func TestLimiterHalvesOncePerRoundAndThenGrowsSlowly(t *testing.T) {
	l := newLimiter(64)
	now := events.At(epoch)
	for range 3 {
		l.endRound(now, fast)
	}
	started := now
	now = now.Add(time.Second)
	for range 64 { // all of them were sent before the first answer
		l.ended(started, now, overloaded, true, 0)
	}
	if l.slots() != 32 {
		t.Fatalf("%d slots after a round of refusals, want 32", l.slots())
	}
	if want := now.Add(pauseUnasked); l.paused != want {
		t.Errorf("paused until %v, want %v", l.paused.Go(), want.Go())
	}
	now = now.Add(2 * time.Second)
	for range 3 {
		l.endRound(now, fast)
	}
	if n := l.slots(); n < 34 || n > 35 {
		t.Errorf("%d slots three rounds later, want one more each round", n)
	}
	l.ended(now, now.Add(time.Second), overloaded, true, 0)
	if n := l.slots(); n != 17 {
		t.Errorf("%d slots after another refusal, want half", n)
	}
}

func TestLimiterNeverStops(t *testing.T) {
	l := newLimiter(64)
	now := events.At(epoch)
	for range 20 {
		now = now.Add(time.Second)
		l.ended(now, now, overloaded, true, 0)
	}
	if l.slots() != 1 || l.share() != 1 {
		t.Errorf("%d slots, share %d, want 1 each", l.slots(), l.share())
	}
}

func TestLimiterTellsAFewSlowCallsFromASlowServer(t *testing.T) {
	now := events.At(epoch)
	few := newLimiter(16)
	for i := range 800 {
		s := fast
		if i%3 == 0 {
			s = slow // a webhook in one namespace
		}
		few.ended(now, now, s, true, 0)
	}
	if few.slots() != 16 {
		t.Errorf("%d slots when a third of the calls is slow, want all 16", few.slots())
	}
	all := newLimiter(16)
	all.endRound(now, slow)
	if all.slots() != 4 || all.paused != 0 {
		t.Errorf("%d slots, paused %d when all calls are slow, want half and no pause", all.slots(), all.paused)
	}
}
