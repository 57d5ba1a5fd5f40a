package following

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/lease"
)

func logAt(epoch uint64, head events.Sequence, lock string) lease.Log {
	return lease.Log{
		Identity: events.Identity{LogID: "log", Epoch: epoch}, Head: head, Hash: events.Hash{byte(head), byte(epoch)}, Lock: lock,
	}
}

// TestReady: when a standby may take the Lease, and whether it goes on in the epoch of its log.
func TestReady(t *testing.T) {
	held := func(l lease.Log) lease.Said { return lease.Said{Lease: "ns/jobledger", Holder: "other", Log: l} }
	released := func(l lease.Log) lease.Said { return lease.Said{Lease: "ns/jobledger", Log: l} }
	otherHash := logAt(1, 90, "theirs")
	otherHash.Hash[5] = 9
	for _, row := range []struct {
		sentence string
		before   lease.Said
		own      lease.Log
		followed time.Duration // how long before the Lease was seen like that it had all; negative for never
		waits    time.Duration
		claim    uint64 // 0 for the same epoch
	}{
		{"no Lease, no records", lease.Said{}, logAt(1, 0, "mine"), -1, 0, 0},
		{"no Lease, and records", lease.Said{}, logAt(1, 90, "mine"), -1, 0, 2},
		{"the Lease names the log before it begins", released(lease.Log{Identity: events.Identity{LogID: "log", Epoch: 1}}),
			lease.Log{Identity: events.Identity{LogID: "log", Epoch: 1}, Lock: "mine"}, -1, 0, 0},
		{"released, with this head", released(logAt(1, 90, "theirs")), logAt(1, 90, "mine"), 0, 0, 0},
		{"released, with a head that this log is beyond", released(logAt(1, 80, "theirs")), logAt(1, 90, "mine"), 0, 0, 2},
		{"released, with the same number in another history", released(otherHash), logAt(1, 90, "mine"), 0, 0, 2},
		{"released, and the last records did not come", released(logAt(1, 95, "theirs")), logAt(1, 90, "mine"), 0, 0, 2},
		{"expired, with this head", held(logAt(1, 90, "theirs")), logAt(1, 90, "mine"), 0, 0, 2},
		{"expired, with a record that is missing", held(logAt(1, 95, "theirs")), logAt(1, 90, "mine"), 3 * time.Second, 0, 2},
		{"expired, and not followed for long", held(logAt(1, 95, "theirs")), logAt(1, 90, "mine"), time.Minute, aloneFor, 2},
		{"expired, and never followed", held(logAt(1, 95, "theirs")), logAt(1, 90, "mine"), -1, aloneFor, 2},
		{"expired, in a later epoch, and never followed", held(logAt(4, 20, "theirs")), logAt(1, 90, "mine"), -1, aloneFor, 5},
		{"expired, not followed, and nothing is missing", held(logAt(1, 85, "theirs")), logAt(1, 90, "mine"), -1, 0, 2},
		{"it held the Lease itself", held(logAt(3, 85, "mine")), logAt(3, 90, "mine"), -1, 0, 0},
		{"it held the Lease, and did not come to its epoch", held(logAt(4, 90, "mine")), logAt(3, 90, "mine"), -1, 0, 5},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Config{Retry: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
				if row.followed >= 0 {
					s.asOf = time.Now()
					time.Sleep(row.followed)
				}
				s.Saw(row.before)
				began := time.Now()
				for s.Ready(row.before, row.own) != nil && time.Since(began) < time.Hour {
					time.Sleep(2 * time.Second)
				}
				if waited := time.Since(began); waited < row.waits || waited > row.waits+2*time.Second {
					t.Errorf("it waits %s, want %s", waited, row.waits)
				}
				claim, lost := s.Takeover()
				if claim != row.claim {
					t.Errorf("it claims epoch %d, want %d", claim, row.claim)
				}
				want := events.Loss{}
				if claim != 0 && row.before.LogID != "" {
					want = events.Loss{
						Witness: events.WitnessLease, Epoch: row.before.Epoch, Sequence: row.before.Head, Hash: row.before.Hash,
					}
				}
				if lost != want {
					t.Errorf("it says %+v, want %+v", lost, want)
				}
				if s.Saw(row.before); s.Claims() != 0 {
					t.Error("it claims an epoch after another one has taken the Lease")
				}
			})
		})
	}
}

// TestReadyAfterWhoHasMore: another process that does not lead has more records: it is waited for, as long as it
// answers.
func TestReadyAfterWhoHasMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Retry: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
		before := lease.Said{Holder: "other", Log: logAt(1, 90, "theirs")}
		s.Saw(before)
		s.asked, s.more = time.Now(), peer{client: &feed.Client{}, address: "there", head: feed.Head{Sequence: 99}}
		if err := s.Ready(before, logAt(1, 90, "mine")); err == nil {
			t.Error("it does not wait for who has more")
		}
		time.Sleep(heardWithin + time.Second)
		if err := s.Ready(before, logAt(1, 90, "mine")); err != nil {
			t.Errorf("it waits for who is silent: %v", err)
		}
	})
}

// TestBehind: who has not heard of a leader for long is behind, and says why.
func TestBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Logger: slog.New(slog.DiscardHandler)})
		if s.Behind() == nil {
			t.Error("it has read nothing yet")
		}
		s.asOf = time.Now()
		if err := s.Behind(); err != nil {
			t.Error(err)
		}
		time.Sleep(mostBehind + time.Second)
		why := errors.New("the cable")
		s.away(t.Context(), why)
		if err := s.Behind(); !errors.Is(err, why) {
			t.Errorf("it says %v", err)
		}
	})
}
