package exchange

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

const (
	tellEvery = time.Second
	heardFor  = 3 * time.Second // a replica that was silent for longer is away
)

// Subject returns the subject on which the replicas of that stream's log announce their heads. Each replica receives
// requests on a subject below it.
func Subject(stream string) string { return "jobledger.replica.v1." + stream }

// Config says which log the replicas keep. All fields but Key are required.
type Config struct {
	Conn    *natsgo.Conn
	Stream  string // name of the stream
	LogID   string
	Replica string // random; identifies the directory of this replica's log
	Name    string // of the process, for messages
	// Key is that of the log. Only heads that it has sealed are heard. Nil for a reader that decides nothing by heads:
	// it hears all of them.
	Key *events.Key
}

// Head is the progress of a replica.
type Head struct {
	Replica string // identifies its directory
	Who     string // identifies its process; new at each start
	Name    string
	Epoch   uint64
	Head    store.Head      // durable on its disk
	First   events.Sequence // the oldest record that it keeps
	Place   uint64          // the newest message of the stream that it has read
	Leads   bool
	Term    uint64 // of the newest claim that it has read
	// Incarnation is that of the stream that it follows.
	Incarnation string
	Heard       time.Time // when this head arrived
}

// Exchange is one replica's end of the conversation.
type Exchange struct {
	config Config
	who    string

	mu    sync.Mutex
	heads map[string]Head // of the other replicas, by Head.Replica
}

// New returns an Exchange. It receives the heads of other replicas from now on, while the connection is open.
func New(c Config) (*Exchange, error) {
	x := &Exchange{config: c, who: rand.Text(), heads: map[string]Head{}}
	_, err := c.Conn.Subscribe(Subject(c.Stream), func(m *natsgo.Msg) { x.hear(m.Data) })
	return x, err
}

// LogID returns the ID of the log.
func (x *Exchange) LogID() string { return x.config.LogID }

// hear notes the head of another replica of this log. It ignores other messages, and answers to requests.
func (x *Exchange) hear(data []byte) {
	h, nonce, ok := x.headOf(data)
	if !ok || len(nonce) > 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heads[h.Replica] = h
}

// Heads returns the heads of the other replicas heard within the last 3 s, by name.
func (x *Exchange) Heads() []Head { return x.heard(heardFor) }

// Known returns the heads of all other replicas heard since New, by name.
func (x *Exchange) Known() []Head { return x.heard(math.MaxInt64) }

func (x *Exchange) heard(within time.Duration) []Head {
	x.mu.Lock()
	defer x.mu.Unlock()
	lately := map[string]Head{}
	for replica, h := range x.heads {
		if time.Since(h.Heard) <= within {
			lately[replica] = h
		}
	}
	return sorted(lately)
}

// sorted returns heads by name.
func sorted(heads map[string]Head) []Head {
	return slices.SortedFunc(maps.Values(heads), func(a, b Head) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Replica, b.Replica))
	})
}

// Away reports whether the replica has been silent for more than 3 s.
func (h *Head) Away() bool { return time.Since(h.Heard) > heardFor }

// Run announces this replica's head each second and answers requests, until ctx ends. own returns Epoch, Head, First,
// Place, Leads, Term and Incarnation. A lost head is followed by the next one; a lost answer is requested again.
func (x *Exchange) Run(ctx context.Context, log store.Shared, own func() Head) error {
	requests, err := x.config.Conn.SubscribeSync(Subject(x.config.Stream) + "." + x.who)
	if err != nil {
		return err
	}
	surveys, err := x.config.Conn.SubscribeSync(x.all())
	if err != nil {
		return err
	}
	var answering sync.WaitGroup
	answering.Go(func() { x.answerAll(ctx, requests, log) })    // ends with ctx
	answering.Go(func() { x.answerSurveys(ctx, surveys, own) }) // ends with ctx
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if data, err := x.said(own(), nil); err == nil {
			_ = x.config.Conn.Publish(Subject(x.config.Stream), data) // without a connection nobody receives it
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	answering.Wait()
	_, _ = requests.Unsubscribe(), surveys.Unsubscribe() // both fail if the connection is closed
	return nil
}
