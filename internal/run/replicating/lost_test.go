package replicating_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/fence"
	"github.com/jobledger/jobledger/store/storetest"
)

// life is one run of a member that follows, as a process does.
type life struct {
	*replicating.Member
	t        *testing.T
	log      *boltlog.Log
	stop     context.CancelFunc // of following
	end      context.CancelFunc // of all
	followed chan error
	parts    sync.WaitGroup
}

func lives(t *testing.T, c replicating.Config, own replicating.Own) *life {
	t.Helper()
	m, log := began(t, c, own)
	l := &life{Member: m, t: t, log: log, followed: make(chan error, 1)}
	all, end := context.WithCancel(t.Context())
	following, stop := context.WithCancel(all)
	l.end, l.stop = end, stop
	l.parts.Go(func() { l.followed <- m.Follow(following) }) // ends with stop
	l.parts.Go(func() { _ = m.Watch(all, func(string) {}) }) // ends with end; says why by Behind
	l.parts.Go(func() { _ = m.Exchange(all) })               // ends with end
	t.Cleanup(func() { end(); l.parts.Wait() })
	return l
}

// lead makes it lead, and gives what Write returns.
func (l *life) lead() (term uint64, wrote chan error) {
	l.t.Helper()
	l.stop()
	if err := <-l.followed; err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := patience.Context(l.t.Context())
	defer cancel()
	term, err := l.Take(ctx, func() bool { return true })
	if err != nil {
		l.t.Fatal(err)
	}
	writing, stop := context.WithCancel(context.Background())
	wrote = make(chan error, 1)
	l.parts.Go(func() { wrote <- l.Write(writing) }) // ends with stop
	l.t.Cleanup(stop)
	before := l.end
	l.end = func() { before(); stop() }
	return term, wrote
}

// kill ends it. Its log stays.
func (l *life) kill() {
	l.t.Helper()
	l.end()
	l.parts.Wait()
	_ = l.log.Close() // that of one without a stream fails
	l.Close()
}

// copied stops a server, and copies its store.
func copied(t *testing.T, s *natstest.Server) (dir string) {
	t.Helper()
	s.Stop()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.Dir)); err != nil {
		t.Fatal(err)
	}
	s.Start()
	return dir
}

// goneBack starts a server with an older copy of its store.
func goneBack(t *testing.T, s *natstest.Server, dir string) {
	t.Helper()
	s.Stop()
	if err := errors.Join(os.RemoveAll(s.Dir), os.CopyFS(s.Dir, os.DirFS(dir))); err != nil {
		t.Fatal(err)
	}
	s.Start()
}

func admin(t *testing.T, s *natstest.Server) (context.Context, jetstream.JetStream) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	t.Cleanup(cancel)
	return ctx, s.JetStream()
}

func deleted(t *testing.T, s *natstest.Server, _ string) {
	t.Helper()
	ctx, js := admin(t, s)
	if err := js.DeleteStream(ctx, "log"); err != nil {
		t.Fatal(err)
	}
}

func purged(t *testing.T, s *natstest.Server, _ string) {
	t.Helper()
	ctx, js := admin(t, s)
	there, err := js.Stream(ctx, "log")
	if err == nil {
		err = there.Purge(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestALostStreamIsRefilled: the leader is killed, and the stream loses records that two logs have. The standby, which
// is not certain to have all, does not take it. The leader does when it is there again, and says from where on it
// filled it. The standby reads the stream from its beginning, and both logs and the stream are one chain.
func TestALostStreamIsRefilled(t *testing.T) {
	effort.Whole(t)
	for _, row := range []struct {
		sentence string
		lose     func(t *testing.T, s *natstest.Server, copy string)
		place    bool // it has one
		read     bool // who has read all of it before may claim it as it is
		from     events.Sequence
	}{
		{"deleted", deleted, false, false, 9},
		{"purged", purged, true, true, 9},
		{"restored from an older copy", goneBack, true, false, 5},
		{"deleted, and its server began anew", func(t *testing.T, s *natstest.Server, _ string) {
			t.Helper()
			goneBack(t, s, t.TempDir())
		}, false, false, 9},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			server := natstest.NewServer(t, natstest.Inside).Start()
			ca, cb := config(t, server), config(t, server)
			ca.Members, cb.Members = 2, 2
			a := lives(t, ca, replicating.Own{})
			if term, _ := a.lead(); term != 1 {
				t.Fatalf("it leads in term %d", term)
			}
			w := storetest.NewWriter(t, a.Member.Log(a.log))
			w.Create()
			w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-a", 2), storetest.Pod("job-a", 3))
			b := lives(t, cb, replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
			older := copied(t, server)
			w.Durable(storetest.Pod("job-b", 1), storetest.Pod("job-b", 2))
			w.Durable(storetest.Pod("job-b", 3), storetest.Pod("job-b", 4))
			head := a.log.Head()
			same(t, "the standby has all", b, head)
			own := replicating.Own{LogID: a.LogID(), Lease: a.Named(), LogOf: a.LogID()}
			led := a.Replica()
			a.kill()
			row.lose(t, server, older)

			ctx, cancel := patience.Context(t.Context())
			defer cancel()
			if !row.read {
				natstest.Eventually(t, "the standby knows that the stream is short", func() error { return isShort(b) })
			}
			const unproved = "the one that led last is none of them"
			if err := b.Yields(ctx, false, led); err == nil || !strings.Contains(err.Error(), unproved) {
				t.Errorf("it would lead: %v", err)
			}
			a = lives(t, ca, own)
			natstest.Eventually(t, "the leader knows that the stream is short", func() error { return isShort(a) })
			if err := errors.Join(a.Yields(ctx, true, led), b.Yields(ctx, false, led)); err != nil {
				t.Error(err) // both have all: the leader before answers
			}
			term, _ := a.lead()
			f := a.Refilled()
			if term < 2 || f == nil || f.From != row.from || f.Through != head.Sequence || (f.Place > 0) != row.place {
				t.Errorf("in term %d it refilled %+v of %d records", term, f, head.Sequence)
			}
			if err := a.Recorded(); err != nil || a.Refilled() != nil {
				t.Errorf("%v, %+v is left", err, a.Refilled())
			}
			w = storetest.NewWriter(t, a.Member.Log(a.log))
			w.Durable(storetest.Pod("job-c", 1), storetest.Pod("job-c", 2))
			same(t, "the standby has the rest", b, a.log.Head())
			natstest.Eventually(t, "the standby is current", b.Behind)
			if b.Named() != a.Named() || row.place != strings.HasSuffix(own.Lease, a.Named()) {
				t.Errorf("the stream is %s to the one, %s to the other, and was %s", a.Named(), b.Named(), own.Lease)
			}
			v, err := replicating.Verify(ctx, replicating.VerifyConfig{Dial: ca.Dial, Stream: "log", Members: 2})
			if err != nil || !v.OneChain || v.Compared != 2 || v.Stream.Head.Record != uint64(a.log.Head().Sequence) {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// isShort reports, as nil, that the stream lacks records of the member's log.
func isShort(l *life) error {
	if l.Short() == nil {
		return errors.New("it is not")
	}
	return nil
}

// same waits until a log has that head.
func same(t *testing.T, what string, l *life, head store.Head) {
	t.Helper()
	natstest.Eventually(t, what, func() error {
		if _, own := l.log.Durable(); own != head {
			return fmt.Errorf("it ends with %d, not %d", own.Sequence, head.Sequence)
		}
		return nil
	})
}

// TestALeaderEndsWhenItsStreamIsLost: deleted, or purged by somebody else. With nothing to write it asks every 2 s.
func TestALeaderEndsWhenItsStreamIsLost(t *testing.T) {
	for _, row := range []struct {
		sentence string
		lose     func(*testing.T, *natstest.Server, string)
		want     error
	}{{"deleted", deleted, fence.ErrWentBack}, {"purged", purged, replicating.ErrPurged}} {
		t.Run(row.sentence, func(t *testing.T) {
			server := natstest.NewServer(t, natstest.Inside).Start()
			c := config(t, server)
			c.CutEvery = 100 * time.Millisecond
			a := lives(t, c, replicating.Own{})
			_, wrote := a.lead()
			w := storetest.NewWriter(t, a.Member.Log(a.log))
			w.Create()
			w.Durable(storetest.Pod("job-a", 1))
			row.lose(t, server, "")
			ctx, cancel := patience.Context(t.Context())
			defer cancel()
			select {
			case err := <-wrote:
				if !errors.Is(err, row.want) {
					t.Errorf("it ends with %v", err)
				}
			case <-ctx.Done():
				t.Error("it goes on")
			}
		})
	}
}

// TestAnotherReplicaWithMoreIsToLead: if its log goes on with this one. One with another history does not count.
func TestAnotherReplicaWithMoreIsToLead(t *testing.T) {
	for sentence, goesOn := range map[string]bool{"it goes on with this log": true, "it has another history": false} {
		t.Run(sentence, func(t *testing.T) {
			server := natstest.NewServer(t, natstest.Inside).Start()
			c := config(t, server)
			c.Members = 2
			a := lives(t, c, replicating.Own{})
			a.lead()
			w := storetest.NewWriter(t, a.Member.Log(a.log))
			w.Create()
			w.Durable(storetest.Pod("job-a", 1))
			longer, err := boltlog.Open(t.TempDir(), store.Options{LogID: a.LogID()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = longer.Close() })
			if goesOn {
				b := store.StoredBatches{First: 1, After: a.log.Head().Hash, BeginsFile: true}
				for stored, err := range a.log.ReadStored(t.Context(), 1) {
					if err != nil {
						t.Fatal(err)
					}
					b.Records = append(b.Records, stored)
				}
				c := longer.AppendStored(b, true)
				if <-c.Done(); c.Err() != nil {
					t.Fatal(c.Err())
				}
			}
			other := storetest.NewWriter(t, longer)
			if !goesOn {
				other.Create()
			}
			other.Durable(storetest.Pod("job-x", 1), storetest.Pod("job-x", 2), storetest.Pod("job-x", 3))
			gives(t, server, a.Member, longer)
			ctx, cancel := patience.Context(t.Context())
			defer cancel()
			want := "it is to lead"
			if !goesOn {
				want = "1 other replicas answer"
			}
			natstest.Eventually(t, "the other replica answers", func() error {
				if err := a.Yields(ctx, false, "forged"); err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("it says %v, want %q", err, want) //nolint:errorlint // it may be nil
				}
				return nil
			})
			if err := a.Yields(ctx, true, ""); (err != nil) != goesOn {
				t.Errorf("certain to have all, it says %v", err)
			}
		})
	}
}
