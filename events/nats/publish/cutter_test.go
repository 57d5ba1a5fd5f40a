package publish_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// cutter is a proxy before a server. Each connection dies after some bytes in one direction or the other, often in the
// middle of a message.
type cutter struct {
	url    string
	listen net.Listener
	server string

	mu    sync.Mutex
	rng   *rand.Rand
	cuts  int
	sound bool // from now on nothing dies
}

func newCutter(t *testing.T, s *natstest.Server) *cutter {
	t.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &cutter{
		url: "nats://" + listen.Addr().String(), listen: listen, server: fmt.Sprintf("127.0.0.1:%d", s.Port),
		rng: rand.New(rand.NewPCG(seed, 0)),
	}
	t.Cleanup(func() { listen.Close() })
	go c.run() // ends when listen is closed
	return c
}

func (c *cutter) run() {
	for {
		client, err := c.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			client.Close()
			continue
		}
		up, down := c.lives()
		var once sync.Once
		end := func(cut bool) {
			once.Do(func() {
				client.Close()
				server.Close()
				if cut {
					c.mu.Lock()
					c.cuts++
					c.mu.Unlock()
				}
			})
		}
		for _, way := range []struct {
			to, from net.Conn
			bytes    int64
		}{{server, client, up}, {client, server, down}} {
			go func() { // ends with the connection
				_, err := io.CopyN(way.to, way.from, way.bytes)
				end(err == nil)
			}()
		}
	}
}

// lives returns how many bytes go through a connection, each way, before it dies.
func (c *cutter) lives() (up, down int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sound {
		return 1 << 60, 1 << 60
	}
	return 3000 + c.rng.Int64N(60_000), 3000 + c.rng.Int64N(6_000)
}

// heal lets connections live from now on. It returns how many died.
func (c *cutter) heal() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sound = true
	return c.cuts
}
