package executor

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// server is a limiter with a server that works in rounds: each round has as many calls as there are slots, and all of
// them take the same time.
type server struct {
	limiter
	now   events.Time
	place place
}

func newServer(limit int) *server {
	return &server{limiter: newLimiter(limit), now: events.At(epoch), place: place{namespace: "default"}}
}

// call ends a call that began when the call before it ended. No other call was in flight meanwhile.
func (s *server) call(took time.Duration, what signal) {
	begun := s.now
	s.now = s.now.Add(took)
	s.ended(finished{started: begun, ended: s.now, place: s.place, signal: what, full: true})
}

// endRound ends as many calls as there are slots.
func (s *server) endRound(took time.Duration, what signal) {
	for range int(s.size) {
		begun := s.now
		s.ended(finished{started: begun, ended: begun.Add(took), place: s.place, signal: what, full: true})
	}
	s.now = s.now.Add(took)
}

const quick = 4 * time.Millisecond

func TestLimiterGrowsWhileAnswersTakeNoLonger(t *testing.T) {
	s := newServer(64)
	s.call(quick, answered)
	var sizes []int
	for range 11 {
		sizes = append(sizes, int(s.size))
		s.endRound(quick*3/2, answered)
	}
	if sizes[0] != 8 || sizes[1] != 14 || sizes[2] != 20 || sizes[10] != 64 || s.size != 64 {
		t.Errorf("sizes by round: %v, want 6 more each round up to 64", sizes)
	}
}

func TestLimiterKeepsTheServersQueueShort(t *testing.T) {
	s := newServer(64)
	s.call(quick, answered)
	s.size = 64
	for range 10 {
		s.endRound(max(quick, time.Duration(int(s.size))*quick/3), answered) // it works on 3 at once
	}
	if s.size < 9 || s.size > 13 {
		t.Errorf("%.1f slots at a server that works on 3 at once, want the 6 that the tolerance allows and 6 more", s.size)
	}
}

func TestLimiterGrowsOnlyWhileItIsUsedUp(t *testing.T) {
	s := newServer(64)
	for range 100 {
		s.ended(finished{started: s.now, ended: s.now.Add(quick), place: s.place})
	}
	if s.size != firstConcurrency {
		t.Errorf("%.1f slots after calls that left some free, want %d", s.size, firstConcurrency)
	}
}

func TestLimiterHalvesOncePerRoundOfRefusalsAndThenGrowsSlowly(t *testing.T) {
	s := newServer(64)
	s.call(quick, answered)
	s.size = 64
	started := s.now
	s.now = s.now.Add(time.Second)
	for range 64 { // all of them were sent before the first answer
		s.ended(finished{started: started, ended: s.now, place: s.place, signal: overloaded, full: true})
	}
	if s.size != 32 {
		t.Fatalf("%.1f slots after a round of refusals, want 32", s.size)
	}
	if want := s.now.Add(pauseUnasked); s.paused != want {
		t.Errorf("paused until %v, want %v", s.paused.Go(), want.Go())
	}
	s.now = s.now.Add(2 * time.Second)
	for range 3 {
		s.endRound(quick, answered)
	}
	if s.size != 35 {
		t.Errorf("%.1f slots three rounds later, want one more each round", s.size)
	}
	s.call(quick, overloaded)
	if s.size != 17.5 {
		t.Errorf("%.1f slots after another refusal, want half", s.size)
	}
}

func TestLimiterNeverStops(t *testing.T) {
	s := newServer(64)
	for range 20 {
		s.call(time.Second, overloaded)
	}
	if s.slots(s.now) != 1 || s.share(s.now) != 1 {
		t.Errorf("%d slots, share %d, want 1 each", s.slots(s.now), s.share(s.now))
	}
	for range 20 {
		s.endRound(30*time.Second, late)
	}
	if s.slots(s.now) < 1 {
		t.Errorf("%d slots at a server that does not answer", s.slots(s.now))
	}
}

func TestLimiterComparesLikeWithLike(t *testing.T) {
	rows := []struct {
		sentence string
		calls    func(s *server)
		want     float64
	}{
		{"slow calls of one namespace, from the first on, are a webhook's doing", func(s *server) {
			s.place.namespace = "hooked"
			for range 20 {
				s.endRound(time.Second, answered)
			}
		}, 64},
		{"a third of the calls being slow says nothing of the server", func(s *server) {
			for i := range 1200 {
				took := quick
				if i%3 == 0 {
					took = time.Second
				}
				s.ended(finished{started: s.now, ended: s.now.Add(took), place: s.place, full: true})
			}
		}, 64},
		{"a refusal's latency says nothing", func(s *server) {
			for range 20 {
				s.endRound(quick/100, refused)
			}
			for range 20 {
				s.endRound(quick, answered)
			}
		}, 64},
		{"a server that answers no more is asked little", func(s *server) {
			s.size = 64
			s.endRound(30*time.Second, late)
		}, headroom},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			s := newServer(64)
			s.call(quick, answered)
			if row.calls(s); s.size != row.want {
				t.Errorf("%.1f slots, want %.1f", s.size, row.want)
			}
		})
	}
}

func TestLimiterProbesAndForgetsOldLatencies(t *testing.T) {
	s := newServer(64)
	s.call(quick, answered)
	s.now = s.minute.Add(probeEvery)
	s.call(10*quick, answered)
	if s.slots(s.now) != probeSize || s.slots(s.now.Add(probeFor)) != int(s.size) {
		t.Errorf("%d slots when a minute is over and %d a moment later, want %d and %d",
			s.slots(s.now), s.slots(s.now.Add(probeFor)), probeSize, int(s.size))
	}
	if smallest, _ := s.note(&finished{started: s.now, ended: s.now.Add(time.Second), place: s.place}); smallest != quick {
		t.Errorf("the smallest latency is %v, want %v, of the minute before", smallest, quick)
	}
	s.now = s.minute.Add(probeEvery)
	s.call(12*quick, answered)
	if smallest, _ := s.note(&finished{started: s.now, ended: s.now.Add(time.Second), place: s.place}); smallest != 10*quick {
		t.Errorf("the smallest latency is %v, want %v: the server is slower now", smallest, 10*quick)
	}
}
