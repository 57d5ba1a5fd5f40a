package following_test

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/storetest"
)

// controller is a process with a log, which others can read.
type controller struct {
	*testing.T
	name  string
	dir   string
	log   store.Opened
	leads atomic.Bool
	giver atomic.Pointer[feed.Giver]
	vain  atomic.Int32 // requests while there was none
	at    *httptest.Server
}

func newController(t *testing.T, name string) *controller {
	t.Helper()
	c := &controller{T: t, name: name, dir: filepath.Join(t.TempDir(), name)}
	c.at = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if giver := c.giver.Load(); giver != nil {
			giver.ServeHTTP(w, r)
			return
		}
		c.vain.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(c.at.Close)
	t.Cleanup(c.ends)
	return c
}

// opens opens its log, with that ID if it is a new one, and gives it to others.
func (c *controller) opens(logID string) {
	c.Helper()
	var err error
	if c.log, err = open.Log(c.dir, store.Options{LogID: logID, RotateBytes: 32 << 10}); err != nil {
		c.Fatal(err)
	}
	giver := feed.NewGiver(feed.Config{Name: c.name, Leads: c.leads.Load, Process: func() string { return c.name }})
	giver.Open(c.log.(store.Shared))
	c.giver.Store(giver)
}

// ends closes its log.
func (c *controller) ends() {
	c.Helper()
	c.leads.Store(false)
	if c.giver.Swap(nil) == nil {
		return
	}
	if err := c.log.Close(); err != nil {
		c.Error(err)
	}
}

// writes writes records as a leader, some in small batches, some that fill files.
func (c *controller) writes(n int) {
	c.Helper()
	w := storetest.NewWriter(c, c.log)
	if w.Next() == 1 {
		w.Create()
	}
	for i := range n {
		w.Durable(storetest.Pod("job-a", i), storetest.Text("job-b", 900))
	}
}

// epoch begins an epoch as a leader.
func (c *controller) epoch(n uint64) {
	c.Helper()
	storetest.NewWriter(c, c.log).Durable(storetest.Item{
		Stream: events.Controller, Kind: events.KindEpochChanged,
		Facts: &events.EpochChanged{Epoch: n, Reason: events.EpochRestored},
	})
}

// follows makes a standby of it, of all these controllers.
func (c *controller) follows(all ...*controller) *following.Standby {
	c.Helper()
	var clients []*feed.Client
	for _, other := range append(all, c) { // it is one of them itself
		pool := x509.NewCertPool()
		pool.AddCert(other.at.Certificate())
		client, err := feed.NewClient(other.at.URL, pool, func() (string, error) { return "a token", nil })
		if err != nil {
			c.Fatal(err)
		}
		c.Cleanup(client.Close)
		clients = append(clients, client)
	}
	return following.New(following.Config{
		Log: c.dir, Clients: clients, Where: "here", Self: c.name, Retry: 2 * time.Second,
		Logger: slog.New(slog.DiscardHandler), Leads: c.leads.Load,
		Followers: func() []feed.Follower { return c.giver.Load().Known() },
	})
}

// until follows until the log has a record.
func (c *controller) until(s *following.Standby, through events.Sequence) error {
	c.Helper()
	ctx, cancel := patience.Context(c.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Follow(ctx) }()
	if through > 0 {
		if _, err := c.log.Wait(ctx, through-1); err != nil {
			c.Error(err)
		}
		cancel()
	}
	return <-ended
}

func (c *controller) same(other *controller) {
	c.Helper()
	if a, b := c.log.Head(), other.log.Head(); a != b {
		c.Errorf("%s ends with %+v, and %s with %+v", c.name, a, other.name, b)
	}
}

// said is what the Lease says while that controller holds it.
func (c *controller) said() lease.Said {
	id, head := c.log.Durable()
	return lease.Said{Lease: "ns/jobledger", Holder: c.name, Log: lease.Log{Identity: id, Head: head.Sequence, Hash: head.Hash}}
}

// pair is a leader with records, and a standby that has them.
func pair(t *testing.T) (a, b *controller, s *following.Standby) {
	t.Helper()
	a, b = newController(t, "a"), newController(t, "b")
	a.opens("log")
	a.writes(60)
	a.leads.Store(true)
	s = b.follows(a)
	id, err := s.Prepare(t.Context(), a.said())
	if err != nil || id != "log" {
		t.Fatalf("%q: %v", id, err)
	}
	b.opens(id)
	if err := s.Begin(b.log); err != nil {
		t.Fatal(err)
	}
	if err := b.until(s, a.log.Head().Sequence); err != nil {
		t.Fatal(err)
	}
	return a, b, s
}

// TestAnEmptyDirectoryBecomesACopy: file by file, and what the leader writes later comes, too.
func TestAnEmptyDirectoryBecomesACopy(t *testing.T) {
	a, b, s := pair(t)
	b.same(a)
	a.writes(40)
	if err := b.until(s, a.log.Head().Sequence); err != nil {
		t.Fatal(err)
	}
	b.same(a)
	if err := s.Behind(); err != nil {
		t.Error(err)
	}
	if all := a.giver.Load().Followers(); len(all) != 1 || all[0].Name != "b" {
		t.Errorf("the leader knows of %+v", all)
	}
	if err := following.RefuseAlone(b.dir); err == nil || !strings.Contains(err.Error(), "--follow") {
		t.Errorf("it may be run alone: %v", err)
	}
	if err := following.RefuseAlone(t.TempDir()); err != nil {
		t.Error(err)
	}
}

// TestALeaderThatEndsSaysSo: with its last record, and not before the standby has that.
func TestALeaderThatEndsSaysSo(t *testing.T) {
	a, b, s := pair(t)
	select {
	case <-s.Released():
		t.Error("a leader that goes on was taken for one that ends")
	default:
	}
	a.writes(40)
	a.giver.Load().End()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Follow(ctx) }() // ends with ctx
	select {
	case <-s.Released():
		b.same(a)
	case <-ctx.Done():
		t.Error("the standby was not told that its leader ends")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestTheOldLeaderKeepsItsEnd: it wrote records that nobody had got, and another one went on. Then its end is a branch,
// it has the other one's records, and both have one history.
func TestTheOldLeaderKeepsItsEnd(t *testing.T) {
	a, b, _ := pair(t)
	common := b.log.Head().Sequence
	a.writes(30)
	had := a.log.Head()
	a.ends()
	b.epoch(2)
	b.writes(50)
	b.leads.Store(true)

	s := a.follows(b)
	id, err := s.Prepare(t.Context(), b.said())
	if err != nil || id != "log" {
		t.Fatalf("%q: %v", id, err)
	}
	a.opens(id)
	if got := a.log.Head().Sequence; got != common {
		t.Errorf("it ends with record %d, and both have %d", got, common)
	}
	if err := s.Begin(a.log); err != nil {
		t.Fatal(err)
	}
	if err := a.until(s, b.log.Head().Sequence); err != nil {
		t.Fatal(err)
	}
	a.same(b)
	branch, err := open.Archive(filepath.Join(a.dir, open.BranchName(1, common+1)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = branch.Close() }()
	if branch.Head() != had {
		t.Errorf("the branch ends with %+v, want %+v", branch.Head(), had)
	}
	says, err := open.Branches(a.dir)
	if err != nil || len(says) != 1 || !strings.HasPrefix(says[0], "records ") {
		t.Errorf("it says %q: %v", says, err)
	}
}

// TestAnotherHistoryWhileFollowing: the leader's records do not continue the log. It ends, in words, and appends none.
func TestAnotherHistoryWhileFollowing(t *testing.T) {
	for sentence, more := range map[string]int{"the leader has more": 60, "the leader has less": 2} {
		a, b, s := pair(t)
		a.leads.Store(false)
		b.writes(20) // as a leader whose Lease is lost
		had := b.log.Head()
		a.epoch(2)
		a.writes(more)
		a.leads.Store(true)
		if err := b.until(s, 0); !errors.Is(err, following.ErrDiverged) {
			t.Errorf("%s: it says %v", sentence, err)
		}
		if b.log.Head() != had {
			t.Errorf("%s: it ends with %+v", sentence, b.log.Head())
		}
	}
}

// TestWhoHasMoreIsCopiedFirst: nobody leads, and a third process has records of the leader that is gone.
func TestWhoHasMoreIsCopiedFirst(t *testing.T) {
	a, b, s := pair(t)
	a.leads.Store(false) // it ends, and answers still
	a.writes(5)
	if err := b.until(s, a.log.Head().Sequence); err != nil {
		t.Fatal(err)
	}
	b.same(a)
}

// TestOfTwoEmptyOnesNoneCopies: there is no log yet, and none is waited for.
func TestOfTwoEmptyOnesNoneCopies(t *testing.T) {
	a, b := newController(t, "a"), newController(t, "b")
	for _, said := range []lease.Said{{}, {Log: lease.Log{Identity: events.Identity{LogID: "log", Epoch: 1}}}} {
		id, err := b.follows(a).Prepare(t.Context(), said)
		if err != nil || id != said.LogID {
			t.Errorf("the Lease names %q: %q, %v", said.LogID, id, err)
		}
	}
}

// TestAnEmptyOneWaitsForTheLog: the Lease names a log that somebody has.
func TestAnEmptyOneWaitsForTheLog(t *testing.T) {
	a, b := newController(t, "a"), newController(t, "b")
	a.opens("log")
	a.writes(3)
	said := a.said()
	giver := a.giver.Swap(nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan string, 1)
	go func() {
		id, err := b.follows(a).Prepare(ctx, said)
		if err != nil {
			id = err.Error()
		}
		got <- id
	}()
	err := patience.Until(ctx, time.Millisecond, nil, func() (bool, error) { return a.vain.Load() >= 3, nil })
	if err != nil || len(got) > 0 {
		t.Fatalf("it does not wait: %v", err)
	}
	a.giver.Store(giver)
	if id := <-got; id != "log" {
		t.Error(id)
	}
}
