package subscribe_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// publishWith publishes records with the chain values of their log. It moves chain behind them.
func publishWith(t testing.TB, js jetstream.JetStream, life events.Identity, chain *events.Hash, contentType string, records ...events.Record) {
	t.Helper()
	e := nats.Encoder{Cluster: cluster, Chain: chain, ContentType: contentType}
	for _, r := range records {
		m, err := e.Encode(&r, life, events.JobRef{Namespace: "default", Name: "job-" + r.Stream.ID}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.PublishMsg(t.Context(), &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}); err != nil {
			t.Fatal(err)
		}
	}
}

// rewritten returns records 1 to 5 of a forged log: other contents under the same IDs and times.
func rewritten() []events.Record {
	all := timers(1, 5)
	all[2].Evidence.Reason = "nothing happened"
	return all
}

// TestALogThatWasRewrittenIsToldOf: a rewritten log is reported, and a log that was not rewritten never is. Records 1
// to 5 are taken first.
func TestALogThatWasRewrittenIsToldOf(t *testing.T) {
	kind := []nats.Filter{{Event: events.KindTimerFired.String()}}
	forge := func(t *testing.T, js jetstream.JetStream, to events.Sequence) {
		var chain events.Hash
		publishWith(t, js, life, &chain, nats.Protobuf, append(rewritten(), timers(6, to)...)...)
	}
	for _, row := range []struct {
		sentence    string
		contentType string
		filters     []nats.Filter
		then        func(t *testing.T, js jetstream.JetStream, chain events.Hash)
		told        []events.Sequence // the records that notices name
	}{
		{"the log goes on", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, chain events.Hash) {
			publishWith(t, js, life, &chain, nats.Protobuf, timers(6, 9)...)
		}, nil},
		{"the log goes on, as JSON", nats.JSON, nil, func(t *testing.T, js jetstream.JetStream, chain events.Hash) {
			publishWith(t, js, life, &chain, nats.JSON, timers(6, 9)...)
		}, nil},
		{"the log goes on, and records are missing", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, chain events.Hash) {
			var lost events.Hash
			publishWith(t, js, life, &lost, nats.Protobuf, timers(8, 9)...) // their chain is anything
		}, nil},
		{"the log goes on, in another epoch", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, chain events.Hash) {
			publishWith(t, js, events.Identity{LogID: life.LogID, Epoch: 2}, &chain, nats.Protobuf, timers(6, 9)...)
		}, nil},
		{"a publisher from before the chain goes on", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			publishWith(t, js, life, nil, nats.Protobuf, timers(6, 9)...)
		}, nil},
		{"the stream was made anew", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			remake(t, js)
			var chain events.Hash
			publishWith(t, js, life, &chain, nats.Protobuf, timers(1, 9)...)
		}, nil},
		{"the stream was made anew, for one kind", nats.Protobuf, kind, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			remake(t, js)
			var chain events.Hash
			publishWith(t, js, life, &chain, nats.Protobuf, timers(1, 9)...)
		}, nil},
		{"what follows is of a log that was rewritten", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			var chain events.Hash
			for _, r := range rewritten() {
				stored, err := events.AppendRecord(nil, &r)
				if err == nil {
					chain, err = chain.Next(stored)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			publishWith(t, js, life, &chain, nats.Protobuf, timers(6, 9)...)
		}, []events.Sequence{6}},
		{"a message was changed on the way", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, chain events.Hash) {
			publishWith(t, js, life, &chain, nats.Protobuf, timers(6, 8)...)
			honest, changed, before := timers(9, 9)[0], timers(9, 9)[0], chain
			changed.Evidence.Reason = "nothing happened"
			m, err := (&nats.Encoder{Cluster: cluster, Chain: &before}).Encode(&changed, life, events.JobRef{Namespace: "default", Name: "job-" + jobA}, 1)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := events.AppendRecord(nil, &honest)
			if err == nil {
				chain, err = chain.Next(stored)
			}
			if err != nil {
				t.Fatal(err)
			}
			m.Header[nats.HeaderChain] = []string{chain.String()}
			if _, err := js.PublishMsg(t.Context(), &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}); err != nil {
				t.Fatal(err)
			}
		}, []events.Sequence{9}},
		{"the stream was made anew from a log that was rewritten", nats.Protobuf, nil, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			remake(t, js)
			forge(t, js, 9)
		}, []events.Sequence{5}},
		{"the stream was made anew from a log that was rewritten, for one kind", nats.Protobuf, kind, func(t *testing.T, js jetstream.JetStream, _ events.Hash) {
			remake(t, js)
			forge(t, js, 9)
		}, []events.Sequence{5}},
	} {
		for _, how := range []string{"by the same Run", "by another one"} {
			t.Run(row.sentence+" "+how, func(t *testing.T) {
				js := makeStream(t, natstest.NewServer(t).Start())
				notices := make(chan subscribe.Notice, 100)
				config := subscribe.Config{
					Durable: "d", State: stateFile(t, filepath.Join(t.TempDir(), "d")), Start: subscribe.All(), Filters: row.filters,
					Notice: func(n subscribe.Notice) { notices <- n },
				}
				var chain events.Hash
				publishWith(t, js, life, &chain, row.contentType, timers(1, 5)...)
				sub := start(t, js, config, nil)
				sub.await(5)
				again := how == "by another one"
				if again {
					if err := sub.end(); err != nil {
						t.Fatal(err)
					}
				}
				row.then(t, js, chain)
				if again {
					sub = start(t, js, config, nil)
				}
				natstest.Eventually(t, "it has all", func() error {
					if got := sub.events(); len(got) == 0 || got[len(got)-1].ID.Sequence < 9 {
						return fmt.Errorf("it has %d", len(got))
					}
					return nil
				})
				if err := sub.end(); err != nil {
					t.Fatal(err)
				}
				close(notices)
				var told []events.Sequence
				for n := range notices {
					if n.Kind == subscribe.NoticeForked {
						told = append(told, n.ID.Sequence)
						t.Log(n)
					}
				}
				if !slices.Equal(told, row.told) {
					t.Errorf("it tells of records %v, want %v", told, row.told)
				}
			})
		}
	}
}
