package embedded

import (
	"context"
	"log/slog"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

const (
	guardEvery = 100 * time.Millisecond
	// pause is how long no reader can connect after one was disconnected. It is shorter than signingIn, the time limit
	// for authentication.
	pause = time.Second
)

// guard protects readers from each other. While the gate drops messages because too many come, it disconnects the
// connection that sends the most.
type guard struct {
	server *natsd.Server
	who    *access
	gate   *gate
	log    *slog.Logger
	told   time.Time // time of the last log message
}

// run checks at intervals whether the gate drops messages, and then disconnects the worst connection. It ends with ctx.
func (g *guard) run(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	lost := 0
	sent := map[uint64]int64{} // messages sent by each connection, at the last check
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if dropped := g.gate.dropped(); dropped > lost {
			lost, sent = dropped, g.throwOut(sent)
		}
	}
}

// throwOut disconnects the connection that has sent the most messages since the last check. before has the number of
// messages of each connection at that check; throwOut returns the present numbers.
func (g *guard) throwOut(before map[uint64]int64) map[uint64]int64 {
	connections, err := g.server.Connz(&natsd.ConnzOptions{Account: g.who.readers.Name, Username: true, Limit: maxConnections})
	if err != nil {
		return before
	}
	sent := map[uint64]int64{}
	var worst *natsd.ConnInfo
	for _, c := range connections.Conns {
		if c.AuthorizedUser != Reader {
			continue
		}
		sent[c.Cid] = c.InMsgs
		if worst == nil || c.InMsgs-before[c.Cid] > worst.InMsgs-before[worst.Cid] {
			worst = c
		}
	}
	if worst == nil {
		return sent
	}
	g.who.pauseUntil.Store(time.Now().Add(pause).UnixNano())
	if g.server.DisconnectClientByID(worst.Cid) == nil && time.Since(g.told) >= aboutEvery {
		g.told = time.Now()
		g.log.Warn("a reader of the NATS stream asked for too much and was disconnected", "name", worst.Name, "requests", worst.InMsgs)
	}
	return sent
}
