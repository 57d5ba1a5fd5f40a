package publish_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// anotherLog is one that publishes to the same stream, with that many records.
func anotherLog(t *testing.T, records int) *natstest.Ledger {
	other := &natstest.Ledger{T: t, Log: memlog.New(events.Identity{LogID: "another", Epoch: 1})}
	other.Controller(events.KindLogCreated, &events.LogCreated{LogID: "another", Epoch: 1, Format: 1})
	for range records - 1 {
		other.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	}
	return other
}

// publishAll publishes a log, and ends.
func publishAll(t *testing.T, s *natstest.Server, l *natstest.Ledger) {
	t.Helper()
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	p.Stop()
}

// afterPowerCut restarts the server with the store in saved: messages that it acknowledged since are gone.
func afterPowerCut(t *testing.T, s *natstest.Server, saved string) {
	t.Helper()
	s.Stop()
	copyTree(t, saved, s.Dir)
	s.Start()
}

// save copies the store of a server, which is stopped for that.
func save(t *testing.T, s *natstest.Server) (dir string) {
	t.Helper()
	s.Stop()
	dir = t.TempDir()
	copyTree(t, s.Dir, dir)
	s.Start()
	return dir
}

// TestWhatTheServerLostBehindAnotherLogIsPublishedAgain: the newest message in the stream is of another log, so it does
// not say how far ours had got.
func TestWhatTheServerLostBehindAnotherLogIsPublishedAgain(t *testing.T) {
	for _, row := range []struct {
		sentence string
		ours     int // records that the stream holds before the other log's
		theirs   int
	}{
		{"nothing of ours is left", 0, 2},
		{"the beginning of ours is left", 300, 2},
		{"the beginning of ours is left, far back", 300, 1100}, // more than are looked through at first
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, row.ours+400)
			if row.ours > 0 {
				publishAll(t, s, l.Grow(row.ours))
			}
			left := l.Log.Head().Sequence
			publishAll(t, s, anotherLog(t, row.theirs))
			saved := save(t, s)
			publishAll(t, s, l.Grow(row.ours+200))
			afterPowerCut(t, s, saved)
			publishAll(t, s, l.Grow(0))

			all := messages(t, s)
			if want := int(l.Log.Head().Sequence) + row.theirs; len(all) != want {
				t.Fatalf("the stream has %d messages, want %d", len(all), want)
			}
			next := events.Sequence(1)
			for i, e := range all {
				if e.ID.Log != life {
					if at := i - int(left); at < 0 || at >= row.theirs {
						t.Fatalf("message %d is %s", i+1, e.ID)
					}
					continue
				}
				if e.ID.Sequence != next || e.Floor != 1 {
					t.Fatalf("message %d is record %d with floor %d, want record %d with floor 1", i+1, e.ID.Sequence, e.Floor, next)
				}
				next++
			}
		})
	}
}

// TestALogThatAnotherOneFollowedGoesOnWhereItEnded: two logs take turns, which they should not. Nothing is lost, and
// nothing comes twice.
func TestALogThatAnotherOneFollowedGoesOnWhereItEnded(t *testing.T) {
	s, l, other := natstest.NewServer(t).Start(), natstest.NewLedger(t, 700), anotherLog(t, 2)
	for n := 100; n < 600; n += 100 {
		publishAll(t, s, l.Grow(n))
		other.Controller(events.KindControllerStopped, &events.ControllerStopped{})
		publishAll(t, s, other)
	}
	publishAll(t, s, l.Grow(0))
	wantBothWhole(t, s, l, other)
}

// wantBothWhole checks that the stream has all records of both logs, once and in order.
func wantBothWhole(t *testing.T, s *natstest.Server, l, other *natstest.Ledger) {
	t.Helper()
	next := map[string]events.Sequence{life.LogID: 1, "another": 1}
	for i, e := range messages(t, s) {
		if e.ID.Sequence != next[e.ID.Log.LogID] {
			t.Fatalf("message %d is %s, want record %d", i+1, e.ID, next[e.ID.Log.LogID])
		}
		next[e.ID.Log.LogID]++
	}
	for _, l := range []*natstest.Ledger{l, other} {
		if id := l.Log.Identity().LogID; next[id] != l.Log.Head().Sequence+1 {
			t.Errorf("of log %s all before %d are there, want %d", id, next[id], l.Log.Head().Sequence+1)
		}
	}
}

// TestAnotherLogThatWritesMeanwhileTakesNothingAway: our first message after those of another log is refused, because
// its place is taken. Our second message would be accepted, by its place alone.
func TestAnotherLogThatWritesMeanwhileTakesNothingAway(t *testing.T) {
	s, l, other := natstest.NewServer(t).Start(), natstest.NewLedger(t, 900), anotherLog(t, 1)
	p := natstest.Publish(t, s, l.Log)
	l.Grow(100)
	p.CaughtUp(t)
	for n := range 3 { // one of the other, then two, then three
		publishAll(t, s, other)
		for range n + 2 {
			other.Controller(events.KindControllerStopped, &events.ControllerStopped{})
		}
		l.Grow(int(l.Log.Head().Sequence) + 200)
		p.CaughtUp(t)
	}
	publishAll(t, s, other)
	wantBothWhole(t, s, l, other)
}

// TestAMessageOfSomebodyElseDoesNotStopIt: a client with the right to publish writes to the stream by mistake, also
// while the publisher runs.
func TestAMessageOfSomebodyElseDoesNotStopIt(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 900)
	publishAll(t, s, l.Grow(100))
	p := natstest.Publish(t, s, l.Log)
	js := s.JetStream()
	for n := 300; n <= 900; n += 300 {
		publishStray(t, js)
		l.Grow(n)
		p.CaughtUp(t)
	}
	wantWhole(t, s, l.Log)
}

// TestWhatOneStreamKnewAnotherMayNot: messages were deleted by hand, so the server knew the records, at other places.
// The stream that takes its place does not know them.
func TestWhatOneStreamKnewAnotherMayNot(t *testing.T) {
	for _, row := range []struct {
		sentence string
		lose     func(t *testing.T, s *natstest.Server, saved string)
	}{
		{"the stream was made anew", func(t *testing.T, s *natstest.Server, _ string) {
			if err := s.JetStream().DeleteStream(t.Context(), stream); err != nil {
				t.Fatal(err)
			}
		}},
		{"the server is as it was before", func(t *testing.T, s *natstest.Server, saved string) { afterPowerCut(t, s, saved) }},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 900)
			publishAll(t, s, l.Grow(300))
			saved := save(t, s)
			publishAll(t, s, l.Grow(600))
			got, err := s.JetStream().Stream(t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			head := uint64(l.Log.Head().Sequence)
			for n := range uint64(3) {
				if err := got.DeleteMsg(t.Context(), head-n); err != nil {
					t.Fatal(err)
				}
			}
			p := natstest.Publish(t, s, l.Log)
			p.CaughtUp(t)
			if st := p.Status(); st.Retreats == 0 {
				t.Fatalf("the server did not say that it knew anything: %+v", st)
			}
			row.lose(t, s, saved)
			l.Grow(0)
			natstest.Eventually(t, "all is published", func() error {
				if st := p.Status(); st.Lag > 0 || st.Problem != "" || st.Acked != l.Log.Head().Sequence {
					return fmt.Errorf("status %+v", st)
				}
				return nil
			})
			wantWhole(t, s, l.Log)
		})
	}
}

// TestWhatAnEmptyStreamLostIsPublishedAgain: all messages were over their age, or purged, so no message says how far we
// had got. The stream's last sequence does.
func TestWhatAnEmptyStreamLostIsPublishedAgain(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 900)
	publishAll(t, s, l.Grow(300))
	left := l.Log.Head().Sequence
	got, err := s.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	saved := save(t, s)
	p := natstest.Publish(t, s, l.Log)
	l.Grow(600)
	p.CaughtUp(t)
	afterPowerCut(t, s, saved)
	l.Grow(0)
	natstest.Eventually(t, "all is published", func() error {
		if st := p.Status(); st.Lag > 0 || st.Problem != "" || st.Acked != l.Log.Head().Sequence {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
	all := messages(t, s)
	if want := int(l.Log.Head().Sequence - left); len(all) != want {
		t.Fatalf("the stream has %d messages, want %d", len(all), want)
	}
	for i, e := range all {
		if want := left + 1 + events.Sequence(i); e.ID.Sequence != want || e.Floor != 1 { // all before it were published, too
			t.Fatalf("message %d is record %d with floor %d, want record %d with floor 1", i+1, e.ID.Sequence, e.Floor, want)
		}
	}
}
