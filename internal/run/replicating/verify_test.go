package replicating_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/storetest"
)

// verifies compares the replicas of the server's stream, when that many are heard.
func verifies(t *testing.T, server *natstest.Server, heard int, change ...func(*replicating.VerifyConfig)) replicating.Verified {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	c := replicating.VerifyConfig{Dial: dial.Config{URL: server.URL()}, Stream: "log", Members: heard, Listen: time.Hour}
	for _, f := range change {
		f(&c)
	}
	v, err := replicating.Verify(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if v.Heard != heard {
		t.Fatalf("%d replicas are heard, want %d: %+v", v.Heard, heard, v)
	}
	return v
}

// standings of the replicas, by name.
func standings(v replicating.Verified) (all []replicating.Standing) {
	for _, r := range v.Replicas {
		all = append(all, r.Standing)
	}
	return all
}

// TestReplicasOnOneChain: a leader and its standby have the stream's records. The standby is behind then, also behind
// the beginning of a stream that was cut, and is on the chain all the same.
func TestReplicasOnOneChain(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, w := led(t, config(t, server))
	own := replicating.Own{Lease: a.Named(), LogOf: a.LogID()}
	b, second := filled(t, config(t, server), own)
	follows(t, b, second, first)
	exchanges(t, b)

	same := []replicating.Standing{replicating.OnChain, replicating.OnChain}
	v := verifies(t, server, 2)
	if !v.OneChain || !slices.Equal(standings(v), same) || v.Stream.Head.Record != uint64(first.Head().Sequence) ||
		v.Stream.LogID != a.LogID() || v.Stream.Term != 1 || v.Stream.Void != 0 || v.Stream.Messages == 0 {
		t.Errorf("found %+v", v)
	}
	leading := 0
	for _, r := range v.Replicas {
		if r.Leads {
			leading++
		}
		if r.Behind != 0 || !r.Answers || r.Head.Hash != first.Head().Hash.String() {
			t.Errorf("it says %+v", r)
		}
	}
	if leading != 1 {
		t.Errorf("%d of them lead", leading)
	}
	behind := func() (n uint64) {
		v := verifies(t, server, 2)
		if !v.OneChain || !slices.Equal(standings(v), same) {
			t.Errorf("found %+v", v)
		}
		for _, r := range v.Replicas {
			n += r.Behind
		}
		return n
	}
	before := first.Head().Sequence
	w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	if n := behind(); n != uint64(first.Head().Sequence-before) {
		t.Errorf("the one that follows no more is %d records behind", n)
	}
	w.Durable(storetest.Pod("job-a", 3))
	cut(t, server)
	w.Durable(storetest.Pod("job-a", 4))
	if n := behind(); n != uint64(first.Head().Sequence-before) {
		t.Errorf("of a stream that was cut behind it, it is %d records behind", n)
	}

	dir := t.TempDir() // a log on this machine, which nobody has open
	c := config(t, server)
	c.Dir = dir
	e, third := filled(t, c, own)
	follows(t, e, third, first)
	e.Close()
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	v = verifies(t, server, 2, withOwn(t, dir))
	if last := v.Replicas[2]; !v.OneChain || last.Standing != replicating.OnChain || last.Name != "mine" || v.Compared != 3 {
		t.Errorf("found %+v", v)
	}
}

// withOwn compares the log in dir, too.
func withOwn(t *testing.T, dir string) func(*replicating.VerifyConfig) {
	t.Helper()
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return func(c *replicating.VerifyConfig) { c.Own, c.OwnName = log, "mine" }
}

// TestAReplicaOfAnotherHistoryIsFound: it has another record, or one that the stream does not have.
func TestAReplicaOfAnotherHistoryIsFound(t *testing.T) {
	for _, row := range []struct {
		sentence string
		records  int
		says     string
	}{
		{"it has another record at its end", 2, "its chain value is"},
		{"it has more than the stream", 500, "the stream has lost messages"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			server := natstest.NewServer(t, natstest.Inside).Start()
			a, _, _ := led(t, config(t, server))
			forged, err := boltlog.Open(t.TempDir(), store.Options{LogID: a.LogID()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = forged.Close() })
			w := storetest.NewWriter(t, forged)
			w.Create()
			for n := range row.records {
				w.Durable(storetest.Pod("job-other", n))
			}
			gives(t, server, a, forged)
			v := verifies(t, server, 2)
			off := slices.IndexFunc(v.Replicas, func(r replicating.VerifiedReplica) bool { return r.Standing == replicating.OffChain })
			if v.OneChain || off < 0 || v.Replicas[off].ID != "forged" || !strings.Contains(v.Replicas[off].Why, row.says) {
				t.Errorf("found %+v", v)
			}
		})
	}
}

// TestAReplicaThatDoesNotAnswer is named, and judged by what it told.
func TestAReplicaThatDoesNotAnswer(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	a, first, _ := led(t, config(t, server))
	b, second := filled(t, config(t, server), replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
	follows(t, b, second, first)
	conn := server.JetStream().Conn()
	told := make(chan *natsgo.Msg, 100)
	if _, err := conn.ChanSubscribe(exchange.Subject("log"), told); err != nil {
		t.Fatal(err)
	}
	t.Run("while it answers", func(t *testing.T) { exchanges(t, b); verifies(t, server, 2) })
	id := ""
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		all := map[string][]byte{}
		for {
			select {
			case m := <-told:
				all[string(m.Data)] = m.Data
			case <-tick.C:
				for _, data := range all { // what it told goes on
					_ = conn.Publish(exchange.Subject("log"), data)
				}
			case <-stop:
				return
			}
		}
	}()
	v := verifies(t, server, 2)
	close(stop)
	<-ended
	silent := 0
	for _, r := range v.Replicas {
		if !r.Answers {
			silent++
			id = r.ID
			if r.Standing != replicating.OnChain || !strings.Contains(r.Why, "does not answer") {
				t.Errorf("it says %+v", r)
			}
		}
	}
	if silent != 1 || id == "" || !v.OneChain {
		t.Errorf("%d do not answer: %+v", silent, v)
	}
}

// TestWhatCannotBeVerified: there is no stream, nobody has written it yet, or the log on this machine is another one.
func TestWhatCannotBeVerified(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	c := replicating.VerifyConfig{Dial: dial.Config{URL: server.URL()}, Stream: "log", Members: 1, Listen: time.Millisecond}
	refused := func(says string) {
		t.Helper()
		if _, err := replicating.Verify(ctx, c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it ends with %v, want %q", err, says)
		}
	}
	refused("there is no stream log")
	m, _ := began(t, config(t, server), replicating.Own{})
	if _, err := replicating.Verify(ctx, c); !errors.Is(err, replicating.ErrNoMessages) {
		t.Errorf("of an empty stream: %v", err)
	}
	leads(t, m, 1)
	v, err := replicating.Verify(ctx, c)
	if err != nil || v.OneChain || v.Compared != 0 {
		t.Errorf("where nobody is heard it finds %+v, %v", v, err)
	}
	other, err := boltlog.Open(t.TempDir(), store.Options{LogID: "other"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	c.Own, c.OwnName = readOnly{other}, "the log here"
	refused("they have nothing in common")
}

// readOnly is an open log as one for reading.
type readOnly struct{ *boltlog.Log }

func (readOnly) Readable(events.ReaderVersion) error { return nil }
