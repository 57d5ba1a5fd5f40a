package subscribe_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// stateFile opens the state of the durable subscription d.
func stateFile(t testing.TB, path string) *subscribe.StateFile {
	t.Helper()
	f, err := subscribe.OpenStateFile(path, cluster, "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func record(sequence events.Sequence) subscribe.Taken {
	return subscribe.Taken{ID: nats.ID{Log: life, Sequence: sequence}}
}

// TestADurableSubscriptionGoesOnBehindWhatWasTaken: records 1 to 5 were taken. The subscription goes on behind them,
// whatever the server has forgotten while there was no subscriber.
func TestADurableSubscriptionGoesOnBehindWhatWasTaken(t *testing.T) {
	t.Run("everything", func(t *testing.T) { goesOnBehindWhatWasTaken(t) })
	t.Run("one kind", func(t *testing.T) { goesOnBehindWhatWasTaken(t, nats.Filter{Event: events.KindTimerFired.String()}) })
}

func goesOnBehindWhatWasTaken(t *testing.T, filters ...nats.Filter) {
	for _, row := range []struct {
		sentence  string
		meanwhile func(t *testing.T, s *natstest.Server, js jetstream.JetStream, state *subscribe.StateFile)
		first     events.Sequence
		gap       string
		made      bool // it had to be made again
	}{
		{"nothing happened", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			put(t, js, life, 1, timers(6, 9)...)
		}, 6, "", false},
		{"the stream was made anew and filled", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			remake(t, js)
			put(t, js, life, 1, timers(1, 9)...)
		}, 6, "", true},
		{"the stream was made anew, and a part of it purged", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			remake(t, js)
			put(t, js, life, 1, timers(8, 9)...)
		}, 8, "records 6 to 7 are missing", true},
		{"the server lost its disk", func(t *testing.T, s *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			s.Stop()
			if err := os.RemoveAll(filepath.Join(s.Dir, "jetstream")); err != nil {
				t.Fatal(err)
			}
			s.Start()
			natstest.MakeStream(t, js, streamConfig)
			put(t, js, life, 1, timers(1, 9)...)
		}, 6, "", true},
		{"somebody deleted the durable subscription", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			if err := js.DeleteConsumer(t.Context(), stream, "d"); err != nil {
				t.Fatal(err)
			}
			put(t, js, life, 1, timers(6, 9)...)
		}, 6, "", true},
		{"the stream was purged", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			put(t, js, life, 1, timers(6, 7)...)
			st, err := js.Stream(t.Context(), stream)
			if err == nil {
				err = st.Purge(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			put(t, js, life, 1, timers(8, 9)...)
		}, 8, "records 6 to 7 are missing", false},
		{"the server did not hear of the last that were taken", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, state *subscribe.StateFile) {
			put(t, js, life, 1, timers(6, 9)...)
			if err := state.Save(record(7)); err != nil {
				t.Fatal(err)
			}
		}, 8, "", false},
		{"the server lost all acknowledgements", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			st, err := js.Stream(t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			as, err := st.Consumer(t.Context(), "d")
			if err == nil {
				err = st.DeleteConsumer(t.Context(), "d")
			}
			if err != nil {
				t.Fatal(err)
			}
			config := as.CachedInfo().Config
			config.OptStartSeq, config.Metadata = 1, map[string]string{"jobledger.dev/begins-with": nats.ID{Log: life, Sequence: 1}.String()}
			if _, err := st.CreateConsumer(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			put(t, js, life, 1, timers(6, 9)...)
		}, 6, "", false},
		{"another machine took some", func(t *testing.T, _ *natstest.Server, js jetstream.JetStream, _ *subscribe.StateFile) {
			put(t, js, life, 1, timers(6, 7)...)
			other := start(t, js, subscribe.Config{Durable: "d", Filters: filters}, nil)
			whole(t, other.await(2), 6)
			if err := other.end(); err != nil {
				t.Fatal(err)
			}
			put(t, js, life, 1, timers(8, 9)...)
		}, 8, "", false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := natstest.NewServer(t).Start()
			js := makeStream(t, s)
			state := stateFile(t, filepath.Join(t.TempDir(), "deep", "down", "d.json"))
			config := subscribe.Config{Durable: "d", State: state, Filters: filters}
			sub := start(t, js, config, nil)
			natstest.Eventually(t, "it subscribes", func() error { return consumers(js, 1) })
			put(t, js, life, 1, timers(1, 5)...)
			whole(t, sub.await(5), 1)
			if err := sub.end(); err != nil {
				t.Fatal(err)
			}
			row.meanwhile(t, s, js, state)
			made := make(chan subscribe.Notice, 10)
			config.Notice = func(n subscribe.Notice) { made <- n }
			config.Start = subscribe.All() // as a unit file says it each time
			next := start(t, js, config, nil)
			got := next.await(int(10 - row.first))
			gap := ""
			if got[0].Gap != (subscribe.Gap{}) {
				gap = got[0].Gap.String()
			}
			if gap != row.gap {
				t.Errorf("the first has gap %q, want %q", gap, row.gap)
			}
			got[0].Gap = subscribe.Gap{}
			whole(t, got, row.first)
			put(t, js, life, 1, timers(10, 10)...)
			whole(t, next.await(int(11 - row.first))[1:], row.first+1)
			if err := next.end(); err != nil {
				t.Fatal(err)
			}
			close(made)
			var said []string
			for n := range made {
				said = append(said, n.String())
			}
			want := ""
			if row.made {
				want = "the durable subscription d was made: it goes on with record " + nats.ID{Log: life, Sequence: 6}.String()
			}
			if got := strings.Join(said, "; "); got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
			if taken, err := state.Load(); err != nil || taken.ID.Sequence != 10 {
				t.Errorf("the state is %+v, %v", taken, err)
			}
		})
	}
}

// TestAStateAloneRemembersToo: a state is enough for a subscription that the server does not remember.
func TestAStateAloneRemembersToo(t *testing.T) {
	js := makeStream(t, natstest.NewServer(t).Start())
	put(t, js, life, 1, timers(1, 5)...)
	config := subscribe.Config{Start: subscribe.All(), State: stateFile(t, filepath.Join(t.TempDir(), "s"))}
	sub := start(t, js, config, nil)
	whole(t, sub.await(5), 1)
	if err := sub.end(); err != nil {
		t.Fatal(err)
	}
	remake(t, js)
	put(t, js, life, 1, timers(1, 8)...)
	whole(t, start(t, js, config, nil).await(3), 6)
}

// TestTwoDoNotShareAStateFile: two subscribers with one file would overwrite each other's progress. The second one
// waits, and goes on behind the first.
func TestTwoDoNotShareAStateFile(t *testing.T) {
	for _, durable := range []string{"", "d"} {
		t.Run("durable "+durable, func(t *testing.T) {
			js := makeStream(t, natstest.NewServer(t).Start())
			put(t, js, life, 1, timers(1, 5)...)
			path := filepath.Join(t.TempDir(), "s")
			first := stateFile(t, path)
			config := subscribe.Config{Durable: durable, Start: subscribe.All(), State: first}
			one := start(t, js, config, nil)
			whole(t, one.await(5), 1)
			config.State = stateFile(t, path)
			two := start(t, js, config, nil)
			two.says(t, "another subscriber keeps what it takes in "+path)
			put(t, js, life, 1, timers(6, 8)...)
			whole(t, one.await(8), 1)
			if err := errors.Join(one.end(), first.Close()); err != nil {
				t.Fatal(err)
			}
			put(t, js, life, 1, timers(9, 10)...)
			whole(t, two.await(2), 9)
			if got := two.events(); len(got) != 2 {
				t.Errorf("the second has %d events", len(got))
			}
		})
	}
}

// TestTidyingTakesNothingOfOthers: a name may be a pattern.
func TestTidyingTakesNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	others := []string{"a.1.tmp", "[ab].x.tmp", "[ab].1.tmp.old"}
	for _, name := range append(others, "[ab].1.tmp") {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	stateFile(t, filepath.Join(dir, "[ab]"))
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "[ab].1.tmp")); !os.IsNotExist(err) {
		t.Errorf("what was left behind stays: %v", err)
	}
}

// full is a State on a disk that is full.
type full struct{}

func (full) Load() (subscribe.Taken, error) { return subscribe.Taken{}, nil }
func (full) Save(subscribe.Taken) error     { return errors.New("no space left") }

// TestAStateThatCannotBeKeptIsToldOfOnce: the report says what else remembers the progress. Without a durable name
// nothing does.
func TestAStateThatCannotBeKeptIsToldOfOnce(t *testing.T) {
	js := makeStream(t, natstest.NewServer(t).Start())
	put(t, js, life, 1, timers(1, 5)...)
	for durable, says := range map[string]string{"": "is kept nowhere, so the next start is handed records again: no space", "d": "is known to the server alone: no space"} {
		told := make(chan subscribe.Notice, 10)
		sub := start(t, js, subscribe.Config{Durable: durable, Start: subscribe.All(), State: full{}, Notice: func(n subscribe.Notice) {
			if n.Kind != subscribe.NoticeMade {
				told <- n
			}
		}}, nil)
		whole(t, sub.await(5), 1)
		if n := <-told; n.Kind != subscribe.NoticeNotKept || n.ID.Sequence != 1 || len(told) > 0 || !strings.Contains(n.String(), says) {
			t.Errorf("with the name %q it says %q, and %d more", durable, n, len(told))
		}
	}
}

func TestAStateFileIsKeptWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	abandoned := path + ".1.tmp" // by a process that was killed
	if err := os.WriteFile(abandoned, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(abandoned, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	f := stateFile(t, path)
	if taken, err := f.Load(); err != nil || taken != (subscribe.Taken{}) {
		t.Fatalf("before anything was kept it says %+v, %v", taken, err)
	}
	for sequence := events.Sequence(1); sequence < 300; sequence++ {
		want := record(sequence)
		want.Chain[3] = byte(sequence)
		if err := f.Save(want); err != nil {
			t.Fatal(err)
		}
		if got, err := stateFile(t, path).Load(); err != nil || got != want {
			t.Fatalf("it says %+v, %v, want %+v", got, err, want)
		}
	}
	if left, err := filepath.Glob(path + "?*"); err != nil || len(left) > 0 {
		t.Errorf("beside it is %q, %v", left, err)
	}
}

func TestAStateFileThatIsNotItsOwnIsRefused(t *testing.T) {
	const good = `{"version":1,"cluster":"test","subscription":"d","last":"5b9e0c1d2f3a44556677889900aabbcc.1.7"}`
	for _, row := range []struct{ sentence, text, want string }{
		{"its own", good, ""},
		{"cut short", good[:40], "it does not hold the last event of a subscription: unexpected end of JSON"},
		{"empty", "", "it does not hold the last event of a subscription"},
		{"of another cluster", strings.ReplaceAll(good, "test", "prod"), `it is of the subscription "d" to cluster "prod", not of "d" to "test"`},
		{"of another subscription", strings.ReplaceAll(good, `"d"`, `"e"`), `it is of the subscription "e" to cluster "test"`},
		{"of a version to come", strings.ReplaceAll(good, ":1,", ":2,"), "its version is 2, and 1 is known"},
		{"with no ID", strings.ReplaceAll(good, ".1.7", ""), "want <log ID>.<epoch>.<sequence>"},
		{"with half a chain value", strings.ReplaceAll(good, `"last"`, `"chain":"abcd","last"`), `"abcd" is no chain value`},
	} {
		path := filepath.Join(t.TempDir(), "d")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := subscribe.OpenStateFile(path, cluster, "d")
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.sentence, err, row.want)
		}
	}
	if _, err := subscribe.OpenStateFile("/proc/nope/d", cluster, "d"); err == nil {
		t.Error("a directory that cannot be made is taken")
	}
}
