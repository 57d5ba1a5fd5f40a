package subscribe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// remake deletes the stream and makes one under its name.
func remake(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	natstest.RemakeStream(t, js, streamConfig)
}

// timers are the records from one to another, all of one Job.
func timers(from, to events.Sequence) (all []events.Record) {
	for seq := from; seq <= to; seq++ {
		all = append(all, timer(seq, seq-1, jobA))
	}
	return all
}

// TestNothingOfThePastComesAfterTheStreamWasMadeAnew: the publisher fills the new stream with all records that the log
// has. A subscriber gets only newer ones.
func TestNothingOfThePastComesAfterTheStreamWasMadeAnew(t *testing.T) {
	kinds := []nats.Filter{{Event: events.KindTimerFired.String()}}
	for _, row := range []struct {
		sentence string
		start    subscribe.Start
		filters  []nats.Filter
		there    events.Sequence // records that the stream holds at first
		taken    events.Sequence // the newest that is published, and taken, before it is made anew
		first    events.Sequence // the first that is taken after it
	}{
		{"from now, and nothing came yet", subscribe.Now(), nil, 5, 5, 6},
		{"from now", subscribe.Now(), nil, 5, 8, 9},
		{"from now, of one kind, and nothing came yet", subscribe.Now(), kinds, 5, 5, 6},
		{"from now, of one kind", subscribe.Now(), kinds, 5, 8, 9},
		{"from a sequence to come", subscribe.From(9), nil, 5, 5, 9},
		{"after a record to come", subscribe.After(nats.ID{Log: life, Sequence: 8}), nil, 5, 5, 9},
		{"from a time to come", subscribe.Since(timer(9, 0, jobA).Time.Go()), nil, 0, 0, 9},
		{"all", subscribe.All(), nil, 5, 8, 9},
	} {
		for _, durable := range []string{"", "d"} {
			t.Run(row.sentence+" "+durable, func(t *testing.T) {
				js := makeStream(t, natstest.NewServer(t).Start())
				put(t, js, life, 1, timers(1, row.there)...)
				sub := start(t, js, subscribe.Config{Durable: durable, Start: row.start, Filters: row.filters}, nil)
				natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
				put(t, js, life, 1, timers(row.there+1, row.taken)...)
				natstest.Eventually(t, "it has what was published", func() error {
					if got := sub.events(); row.taken > row.there && (len(got) == 0 || got[len(got)-1].ID.Sequence < row.taken) {
						return fmt.Errorf("it has %d events", len(got))
					}
					return nil
				})
				before := len(sub.events())
				remake(t, js)
				put(t, js, life, 1, timers(1, 12)...)
				whole(t, sub.await(before + int(13-row.first))[before:], row.first)
			})
		}
	}
}

// TestAStreamThatIsStillEmptyIsFollowed: the publisher has made the stream, and fills it later.
func TestAStreamThatIsStillEmptyIsFollowed(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			js := makeStream(t, natstest.NewServer(t).Start())
			sub := start(t, js, subscribe.Config{Durable: durable, Start: subscribe.All()}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timers(1, 5)...)
			sub.await(5)
			remake(t, js)
			natstest.Eventually(t, "it subscribes to the new one", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timers(1, 8)...)
			whole(t, sub.await(8), 1)
		})
	}
}

// TestNothingOfThePastComesFromAStoreThatWasRestored: the server's store is restored, so the stream and the durable
// subscription are older than before.
func TestNothingOfThePastComesFromAStoreThatWasRestored(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			put(t, js, life, 1, timers(1, 20)...)
			sub := start(t, js, subscribe.Config{Durable: durable}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			s.Stop()
			backup := t.TempDir()
			if err := os.CopyFS(backup, os.DirFS(s.Dir)); err != nil {
				t.Fatal(err)
			}
			s.Start()
			natstest.Eventually(t, "the server answers", func() error { return consumers(js, 0) })
			put(t, js, life, 1, timers(21, 40)...)
			sub.await(20)
			s.Stop()
			if err := os.RemoveAll(filepath.Join(s.Dir, "jetstream")); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(s.Dir, os.DirFS(backup)); err != nil {
				t.Fatal(err)
			}
			s.Start()
			natstest.Eventually(t, "the server answers", func() error { return consumers(js, 0) })
			put(t, js, life, 1, timers(21, 45)...)
			whole(t, sub.await(25), 21)
		})
	}
}

// TestWhatTheStreamThatWasMadeAnewLacksIsReported: also to a subscriber that asks for some kinds of events and could
// not see it otherwise.
func TestWhatTheStreamThatWasMadeAnewLacksIsReported(t *testing.T) {
	for _, row := range []struct {
		sentence string
		filters  []nats.Filter
		floor    events.Sequence
		want     string
	}{
		{"all, purged", nil, 1, "records 6 to 9 are missing"},
		{"all, pruned from the log", nil, 10, "records 6 to 9 were never published: the log did not keep them until then"},
		{"a kind, purged", []nats.Filter{{Event: events.KindTimerFired.String()}}, 1, "records 6 to 9 are missing"},
		{"a Job, purged", []nats.Filter{{Name: "job-" + jobA}}, 1, "records 6 to 9 are missing"},
		{"a kind, pruned from the log", []nats.Filter{{Event: events.KindTimerFired.String()}}, 10,
			"records 6 to 9 were never published: the log did not keep them until then"},
	} {
		for _, durable := range []string{"", "d"} {
			t.Run(row.sentence+" "+durable, func(t *testing.T) {
				js := makeStream(t, natstest.NewServer(t).Start())
				sub := start(t, js, subscribe.Config{Durable: durable, Filters: row.filters}, nil)
				natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
				put(t, js, life, 1, timers(1, 5)...)
				sub.await(5)
				remake(t, js)
				put(t, js, life, row.floor, timers(10, 12)...)
				got := sub.await(8)[5:]
				if got[0].ID.Sequence != 10 || got[0].Gap.String() != row.want {
					t.Errorf("record %d comes, gap %q, want 10 and %q", got[0].ID.Sequence, got[0].Gap, row.want)
				}
				got[0].Gap = subscribe.Gap{}
				whole(t, got, 10)
			})
		}
	}
}

// TestASubscriberIsToldThatTheStreamWasMadeAnew: the report says with which record it goes on.
func TestASubscriberIsToldThatTheStreamWasMadeAnew(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			js := makeStream(t, natstest.NewServer(t).Start())
			notices := make(chan subscribe.Notice, 100)
			sub := start(t, js, subscribe.Config{
				Durable: durable, Start: subscribe.All(), Notice: func(n subscribe.Notice) { notices <- n },
			}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timers(1, 5)...)
			sub.await(5)
			remake(t, js)
			put(t, js, life, 1, timers(1, 6)...)
			sub.await(6)
			close(notices)
			var said []string
			for n := range notices {
				said = append(said, n.String())
			}
			next := nats.ID{Log: life, Sequence: 6}.String()
			want := []string{"the stream was deleted and created again: going on with record " + next}
			if durable != "" {
				want = append([]string{"the durable subscription d was made: it begins with the oldest that the stream has"},
					"the stream was deleted and created again: going on with record "+next, "the durable subscription d was made: it goes on with record "+next)
			}
			if !slices.Equal(said, want) {
				t.Errorf("it says %q, want %q", said, want)
			}
		})
	}
}

// TestAnotherEpochIsNoPast: its records have lower sequences than those that were taken, and are newer.
func TestAnotherEpochIsNoPast(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			js := makeStream(t, natstest.NewServer(t).Start())
			sub := start(t, js, subscribe.Config{Durable: durable, Start: subscribe.All()}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timers(1, 9)...)
			sub.await(9)
			remake(t, js)
			restored := events.Identity{LogID: life.LogID, Epoch: 2}
			put(t, js, life, 1, timers(1, 4)...)
			put(t, js, restored, 1, timers(5, 8)...)
			got := sub.await(13)[9:]
			if got[0].Before != (nats.ID{Log: life, Sequence: 9}) {
				t.Errorf("before it was %s", got[0].Before)
			}
			for i, e := range got {
				if want := (nats.ID{Log: restored, Sequence: events.Sequence(5 + i)}); e.ID != want {
					t.Errorf("event %d is %s, want %s", i, e.ID, want)
				}
			}
		})
	}
}
