package publish_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// serverCluster is three servers in this process that hold streams together.
type serverCluster []*natstest.Server

func newCluster(t testing.TB) serverCluster {
	var routes []string
	var c serverCluster
	for i := range 3 {
		port := natstest.FreePort(t)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
		c = append(c, natstest.NewServer(t, func(o *natsd.Options) {
			o.ServerName = fmt.Sprintf("server-%d", i)
			o.Cluster = natsd.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}
			o.Routes = natsd.RoutesFromStr(strings.Join(routes, ","))
		}))
	}
	for _, s := range c {
		s.Start()
	}
	natstest.Eventually(t, "the servers are a cluster", func() error {
		for _, s := range c {
			if !s.Run.JetStreamIsCurrent() {
				return errors.New("they are not")
			}
		}
		return nil
	})
	return c
}

func (c serverCluster) url() string {
	var all []string
	for _, s := range c {
		all = append(all, s.URL())
	}
	return strings.Join(all, ",")
}

// leader waits until the stream has a leader and all its replicas are up to date.
func (c serverCluster) leader(t *testing.T, js jetstream.JetStream) *natstest.Server {
	t.Helper()
	var leader string
	natstest.Eventually(t, "the stream is whole on all servers", func() error {
		bound, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		st, err := js.Stream(bound, stream)
		if err != nil {
			return err
		}
		info := st.CachedInfo().Cluster
		if info.Leader == "" || len(info.Replicas) != 2 {
			return fmt.Errorf("cluster %+v", info)
		}
		for _, r := range info.Replicas {
			if !r.Current {
				return fmt.Errorf("replica %+v", *r)
			}
		}
		leader = info.Leader
		return nil
	})
	for _, s := range c {
		if s.Run.Name() == leader {
			return s
		}
	}
	t.Fatalf("no server is called %s", leader)
	return nil
}

// TestAStreamOfThreeServersLosesNothingWhenItsLeaderChanges: records are published and taken. Meanwhile the leader of
// the stream hands over, and at last it is stopped. The servers then take up to ten seconds to choose the next one.
func TestAStreamOfThreeServersLosesNothingWhenItsLeaderChanges(t *testing.T) {
	c, l := newCluster(t), natstest.NewLedger(t, 6600)
	p := natstest.Publish(t, c[0], l.Log, func(config *publish.Config) {
		config.Dial.URL, config.Stream.Replicas = c.url(), 3
	})
	l.Grow(500)
	p.CaughtUp(t)
	js := natstest.JetStream(t, c.url())
	var taken [2]taker
	for i, durable := range []string{"", "d"} {
		taken[i].subscribe(t, natstest.JetStream(t, c.url()), durable)
	}

	c.leader(t, js)
	l.Grow(3500)
	if _, err := js.Conn().Request("$JS.API.STREAM.LEADER.STEPDOWN."+stream, nil, patience.Time()); err != nil {
		t.Fatal(err)
	}
	p.CaughtUp(t)
	if effort.IsLong() {
		leader := c.leader(t, js)
		l.Grow(0)
		leader.Stop()
		p.CaughtUp(t)
	}

	t.Logf("%d times publishing went back", p.Status().Retreats)
	for i := range taken {
		taken[i].wantWhole(t, l)
	}
	for _, s := range c {
		if s.Run != nil {
			wantWhole(t, s, l.Log)
		}
	}
}

// taker is a subscriber that keeps the events that it took.
type taker struct {
	mu  sync.Mutex
	all []nats.ID
	gap []subscribe.Gap
}

func (s *taker) subscribe(t *testing.T, js jetstream.JetStream, durable string) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	config := subscribe.Config{Cluster: cluster, Durable: durable, Start: subscribe.All()}
	go func() { // ends with ctx
		ended <- subscribe.Run(ctx, js, config, func(_ context.Context, e *subscribe.Event) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.all = append(s.all, e.ID)
			if e.Gap != (subscribe.Gap{}) {
				s.gap = append(s.gap, e.Gap)
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("a subscriber ended: %v", err)
		}
	})
}

// wantWhole checks that each record was taken once, in order.
func (s *taker) wantWhole(t *testing.T, l *natstest.Ledger) {
	t.Helper()
	head := int(l.Log.Head().Sequence)
	natstest.Eventually(t, "all is taken", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.all) < head {
			return fmt.Errorf("%d of %d", len(s.all), head)
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, id := range s.all {
		if id.Sequence != events.Sequence(i+1) {
			t.Fatalf("event %d is record %d", i+1, id.Sequence)
		}
	}
	if len(s.all) != head || len(s.gap) > 0 {
		t.Errorf("%d events of %d records; gaps %v", len(s.all), head, s.gap)
	}
}
