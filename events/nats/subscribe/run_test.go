package subscribe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

func TestASubscriptionBeginsWhereItIsTold(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 2000).Grow(1000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	records := records(t, l)
	head := len(records)
	middle := records[400]
	js := s.JetStream()
	for _, row := range []struct {
		sentence string
		start    subscribe.Start
		first    int // its sequence; 0 for the next to be written
	}{
		{"from the start", subscribe.All(), 1},
		{"from a sequence", subscribe.From(417), 417},
		{"from the head", subscribe.From(events.Sequence(head)), head},
		{"from a sequence to come", subscribe.From(events.Sequence(head + 30)), head + 30},
		{"from a time", subscribe.Since(middle.Time.Go()), int(firstAt(records, middle.Time))},
		{"from a time between two records", subscribe.Since(middle.Time.Go().Add(1)), int(firstAt(records, middle.Time+1))},
		{"from a time before all", subscribe.Since(time.Unix(0, 1)), 1},
		{"from a time to come", subscribe.Since(records[head-1].Time.Go().Add(1)), head + 1},
		{"after a record", subscribe.After(nats.ID{Log: life, Sequence: 800}), 801},
		{"after the head", subscribe.After(nats.ID{Log: life, Sequence: events.Sequence(head)}), head + 1},
		{"from now", subscribe.Now(), 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			now := int(l.Log.Head().Sequence)
			first := row.first
			if first == 0 {
				first = now + 1
			}
			sub := start(t, js, subscribe.Config{Start: row.start}, nil)
			defer sub.stop()
			if first > now {
				natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
				l.Grow(now + 40)
				p.CaughtUp(t)
				now = int(l.Log.Head().Sequence)
			}
			whole(t, sub.await(now-first+1), events.Sequence(first))
		})
	}
}

// TestAnEmptyStreamDoesNotSayWhichLogItIsFor: only its first message does.
func TestAnEmptyStreamDoesNotSayWhichLogItIsFor(t *testing.T) {
	for _, row := range []struct {
		sentence string
		start    subscribe.Start
		first    events.Sequence
	}{
		{"from now", subscribe.Now(), 1},
		{"from the start", subscribe.All(), 1},
		{"from a sequence", subscribe.From(3), 3},
		{"after a record", subscribe.After(nats.ID{Log: life, Sequence: 2}), 3},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			sub := start(t, js, subscribe.Config{Start: row.start}, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA), timer(4, 3, jobA))
			got := sub.await(int(5 - row.first))
			whole(t, got, row.first)
		})
	}
}

// consumers reports whether the stream has at least that many.
func consumers(js jetstream.JetStream, want int) error {
	st, err := js.Stream(context.Background(), stream)
	if err != nil {
		return err
	}
	if got := st.CachedInfo().State.Consumers; got < want {
		return fmt.Errorf("%d consumers, want %d", got, want)
	}
	return nil
}

func firstAt(records []events.Record, at events.Time) events.Sequence {
	i := slices.IndexFunc(records, func(r events.Record) bool { return r.Time >= at })
	return records[i].Sequence
}

func TestFiltersSelect(t *testing.T) {
	s := natstest.NewServer(t).Start()
	l := natstest.NewLedger(t, 1500).Grow(0)
	natstest.Publish(t, s, l.Log).CaughtUp(t)
	js := s.JetStream()
	all := start(t, js, subscribe.Config{Start: subscribe.All()}, nil).await(len(records(t, l)))
	job := all[slices.IndexFunc(all, func(e subscribe.Event) bool { return e.Subject.Kind == nats.KindJob && e.ID.Sequence > 200 })].Subject
	for _, row := range []struct {
		sentence string
		filters  []nats.Filter
		passes   func(nats.Subject) bool
	}{
		{"a namespace", []nats.Filter{{Namespace: job.Namespace}}, func(s nats.Subject) bool { return s.Namespace == job.Namespace }},
		{"a Job", []nats.Filter{{Namespace: job.Namespace, Kind: nats.KindJob, Name: job.Name}},
			func(s nats.Subject) bool {
				return s.Namespace == job.Namespace && s.Name == job.Name && s.Kind == nats.KindJob
			}},
		{"decisions and what came of them", []nats.Filter{{Event: "Decided"}, {Event: "CommandEnded"}},
			func(s nats.Subject) bool { return s.Event == "Decided" || s.Event == "CommandEnded" }},
		{"the controller", []nats.Filter{{Kind: nats.KindController}}, func(s nats.Subject) bool { return s.Kind == nats.KindController }},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			var want []events.Sequence
			for _, e := range all {
				if row.passes(e.Subject) {
					want = append(want, e.ID.Sequence)
				}
			}
			sub := start(t, js, subscribe.Config{Start: subscribe.All(), Filters: row.filters}, nil)
			if got := sub.sequences(len(want)); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("records %v, want %v", got, want)
			}
			for _, e := range sub.events() {
				if e.Gap != (subscribe.Gap{}) {
					t.Errorf("a gap before record %d: %s", e.ID.Sequence, e.Gap)
				}
			}
		})
	}
}

func TestWhatIsMissingInTheStreamIsReported(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	restored := events.Identity{LogID: life.LogID, Epoch: 2}
	put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 0, jobB), timer(6, 5, jobA))
	put(t, js, life, 9, timer(9, 3, jobB))
	put(t, js, restored, 9, timer(9, 6, jobA))
	told := func(filters ...nats.Filter) string {
		var b strings.Builder
		n := 6
		if len(filters) > 0 {
			n = 4
		}
		for _, e := range start(t, js, subscribe.Config{Start: subscribe.All(), Filters: filters}, nil).await(n) {
			fmt.Fprintf(&b, "%d.%d", e.ID.Log.Epoch, e.ID.Sequence)
			if e.Gap != (subscribe.Gap{}) {
				fmt.Fprintf(&b, " (%s)", e.Gap)
			}
			if e.Before != (nats.ID{}) {
				fmt.Fprintf(&b, " (after %d.%d)", e.Before.Log.Epoch, e.Before.Sequence)
			}
			b.WriteString("; ")
		}
		return b.String()
	}
	want := "1.1; 1.2; 1.3; 1.6 (records 4 to 5 are missing); 1.9 (records 7 to 8 were never published: the log did not keep them until then); " +
		"2.9 (records up to 8 were never published: the log did not keep them until then) (after 1.9); "
	if got := told(); got != want {
		t.Errorf("all: %s\nwant %s", got, want)
	}
	want = "1.1; 1.2; 1.6 (records 3 to 5 of job/" + jobA + " are missing); 2.9 (after 1.6); "
	if got := told(nats.Filter{Namespace: "default", Kind: nats.KindJob, Name: "job-" + jobA}); got != want {
		t.Errorf("a Job: %s\nwant %s", got, want)
	}
}

func TestWhatTheStreamDroppedIsReported(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA))
	sub := start(t, js, subscribe.Config{Durable: "d", Start: subscribe.All()}, nil)
	sub.await(3)
	if err := sub.end(); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "all is acknowledged", func() error { return pending(js, "d", 3) })
	put(t, js, life, 1, timer(4, 3, jobA), timer(5, 4, jobA), timer(6, 5, jobA), timer(7, 6, jobA))
	st, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	limited := st.CachedInfo().Config
	limited.MaxMsgs = 2
	if _, err := js.UpdateStream(t.Context(), limited); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		sentence string
		config   subscribe.Config
		want     string
	}{
		{"to a durable subscription", subscribe.Config{Durable: "d"}, "records 4 to 5 are missing"},
		{"from a sequence", subscribe.Config{Start: subscribe.From(3)}, "records 3 to 5 are missing"},
		{"after a record", subscribe.Config{Start: subscribe.After(nats.ID{Log: life, Sequence: 4})}, "record 5 is missing"},
	} {
		got := start(t, js, row.config, nil).await(2)
		if got[0].ID.Sequence != 6 || got[0].Gap.String() != row.want || got[1].Gap != (subscribe.Gap{}) {
			t.Errorf("%s: record %d, %q; %q, want 6, %q", row.sentence, got[0].ID.Sequence, got[0].Gap, got[1].Gap, row.want)
		}
	}
}

func TestTheSameMessageTwiceInTheStreamIsTakenOnce(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	records := []events.Record{timer(1, 0, jobA), timer(2, 1, jobA)}
	put(t, js, life, 1, records...)
	var once uint64 = 2
	natstest.Eventually(t, "the server forgets the IDs", func() error {
		put(t, js, life, 1, records...)
		st, err := js.Stream(t.Context(), stream)
		if err != nil || st.CachedInfo().State.LastSeq > once {
			return err
		}
		return errors.New("it does not")
	})
	put(t, js, life, 1, timer(3, 2, jobA))
	whole(t, start(t, js, subscribe.Config{Start: subscribe.All()}, nil).await(3), 1)
}

func TestRefusedEventsComeAgainInTheirPlace(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA))
			config := subscribe.Config{Durable: durable, Start: subscribe.All(), FirstPause: time.Millisecond, Tries: 4}
			tries, refuse := 0, 3
			take := func(_ context.Context, e *subscribe.Event) error {
				if e.ID.Sequence != 2 {
					return nil
				}
				if tries++; e.Try != tries {
					return fmt.Errorf("try %d, want %d", e.Try, tries)
				}
				if tries <= refuse {
					return errors.New("not now")
				}
				return nil
			}
			whole(t, start(t, js, config, take).await(3), 1)
			if tries != 4 {
				t.Errorf("%d tries, want 4", tries)
			}
			if durable != "" {
				config.Durable = "other"
			}
			tries, refuse = 0, 100
			sub := start(t, js, config, take)
			whole(t, sub.await(1), 1)
			var refused *subscribe.RefusedError
			if err := <-sub.ended; !errors.As(err, &refused) || refused.ID.Sequence != 2 || refused.Tries != 4 {
				t.Errorf("it ended with %v, want a refusal of record 2", err)
			} else {
				sub.ended <- err
			}
		})
	}
}

func TestTheServerGoesAndComesBack(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			l := natstest.NewLedger(t, 3000).Grow(500)
			p := natstest.Publish(t, s, l.Log)
			p.CaughtUp(t)
			sub := start(t, s.JetStream(), subscribe.Config{Durable: durable, Start: subscribe.All()}, nil)
			for n := 1000; n <= 3000; n += 500 {
				sub.await(n - 800) // while it takes events
				s.Stop()
				l.Grow(n)
				s.Start()
				p.CaughtUp(t)
			}
			whole(t, sub.await(int(l.Log.Head().Sequence)), 1)
			if err := sub.end(); err != nil {
				t.Error(err)
			}
			if len(sub.trouble) == 0 || sub.trouble[len(sub.trouble)-1] != "" {
				t.Errorf("its troubles were %q, want some, and their end", sub.trouble)
			}
		})
	}
}

func TestAStreamMadeAnewIsFollowedFromTheNewestThatWasTaken(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			put(t, js, life, 1, timer(1, 0, jobA), timer(2, 1, jobA), timer(3, 2, jobA))
			sub := start(t, js, subscribe.Config{Durable: durable, Start: subscribe.All()}, nil)
			sub.await(3)
			remake(t, js)
			put(t, js, life, 1, timer(2, 1, jobA), timer(3, 2, jobA), timer(4, 3, jobA), timer(5, 4, jobA))
			whole(t, sub.await(5), 1)
		})
	}
}

func TestWhatCannotWorkIsSaid(t *testing.T) {
	s := natstest.NewServer(t).Start()
	js := makeStream(t, s)
	put(t, js, life, 1, timer(1, 0, jobA))
	start(t, js, subscribe.Config{Durable: "taken", Start: subscribe.All()}, nil).await(1)
	for _, row := range []struct {
		sentence string
		config   subscribe.Config
		want     string
	}{
		{"no cluster", subscribe.Config{}, "the cluster has no name"},
		{"a name that cannot be", subscribe.Config{Cluster: cluster, Durable: "a.b"}, `cannot be called "a.b"`},
		{"filters that overlap", subscribe.Config{Cluster: cluster, Filters: []nats.Filter{{Event: "Decided"}, {Namespace: "a"}}}, "select the same events"},
		{"a name with another filter", subscribe.Config{Cluster: cluster, Durable: "taken", Filters: []nats.Filter{{Namespace: "a"}}},
			"taken is to [jobledger.v1.test.>], this one to [jobledger.v1.test.a.*.*.*]"},
	} {
		err := subscribe.Run(t.Context(), js, row.config, func(context.Context, *subscribe.Event) error { return nil })
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.sentence, err, row.want)
		}
	}
}

// pending returns nil when the durable subscription has acknowledged all through that place.
func pending(js jetstream.JetStream, durable string, place uint64) error {
	c, err := js.Consumer(context.Background(), stream, durable)
	if err != nil {
		return err
	}
	if floor := c.CachedInfo().AckFloor.Stream; floor < place {
		return fmt.Errorf("acknowledged through %d", floor)
	}
	if n := c.CachedInfo().NumWaiting; n > 0 {
		return fmt.Errorf("the server still holds %d requests of a subscriber: what comes now is delivered to it", n)
	}
	return nil
}
