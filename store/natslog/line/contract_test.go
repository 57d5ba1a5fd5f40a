package line_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/stream"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestContract: a log whose groups a stream stores first is a log like another one, and what a follower makes of the
// stream is the same log.
func TestContract(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	contract(t, server.JetStream(stream.Options()...), 1)
}

// TestContractOnThreeServers: the same with a stream that three servers store, each with a process and a sync for each
// message.
func TestContractOnThreeServers(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("set JOBLEDGER_LONG=1")
	}
	servers := natstest.NewServers(t, 3)
	contract(t, natstest.JetStream(t, servers.URL(), stream.Options()...), 3)
}

func contract(t *testing.T, js jetstream.JetStream, replicas int) {
	logs := 0
	storetest.Run(t, func(t *testing.T) (store.Log, func() store.Log) {
		logs++
		s := made(t, js, fmt.Sprintf("log-%d", logs), replicas)
		p := lead(t, s, t.TempDir(), "")
		t.Cleanup(func() {
			_ = p.close() // a test that breaks its log leaves an error
			sameLog(t, p)
		})
		return p.log, func() store.Log {
			if err := p.close(); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			p = lead(t, s, p.dir, "")
			return p.log
		}
	})
}
