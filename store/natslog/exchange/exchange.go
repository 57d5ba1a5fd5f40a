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
	heardFor  = 3 * time.Second // a replica that was silent for longer counts as away
)

// Subject returns the NATS subject on which the replicas of a log announce how far they have got. stream is the name of
// the log's stream. Each replica receives requests on a subject below this one.
func Subject(stream string) string { return "jobledger.replica.v1." + stream }

// Config says for which log an Exchange works. All fields except Key are required.
type Config struct {
	Conn    *natsgo.Conn
	Stream  string // name of the stream
	LogID   string
	Replica string // random; identifies the directory of this replica's log
	Name    string // name of the process, for messages
	// Key is the log's secret key. Announcements of other replicas that are not sealed with it are ignored. It may be
	// nil for a reader that decides nothing from them; then all are accepted.
	Key *events.Key
}

// Head says how far a replica has got, as it announces it once a second.
type Head struct {
	Replica string // identifies the directory of the replica's log
	Who     string // identifies the replica's process; new at each start
	Name    string
	Epoch   uint64
	Head    store.Head      // newest durable record on its disk
	First   events.Sequence // oldest record that it still has
	Place   uint64          // sequence, in the stream, of the newest message that it has read
	Leads   bool
	Term    uint64 // number of the newest writer of the stream that it knows
	// Incarnation identifies the stream that the replica reads. A stream that was deleted and created again has another
	// one.
	Incarnation string
	Heard       time.Time // when this announcement arrived, by our clock
}

// Exchange communicates with the other replicas, for one replica.
type Exchange struct {
	config Config
	who    string

	mu    sync.Mutex
	heads map[string]Head // newest announcements of the other replicas, by Head.Replica
}

// New returns an Exchange. It receives the announcements of other replicas at once, as long as the connection is open.
func New(c Config) (*Exchange, error) {
	x := &Exchange{config: c, who: rand.Text(), heads: map[string]Head{}}
	_, err := c.Conn.Subscribe(Subject(c.Stream), func(m *natsgo.Msg) { x.hear(m.Data) })
	return x, err
}

// LogID returns the ID of the log.
func (x *Exchange) LogID() string { return x.config.LogID }

// hear stores the announcement of another replica of this log. It ignores other messages, and answers to a Survey.
func (x *Exchange) hear(data []byte) {
	h, nonce, ok := x.headOf(data)
	if !ok || len(nonce) > 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heads[h.Replica] = h
}

// Heads returns what the other replicas announced within the last 3 s, sorted by name.
func (x *Exchange) Heads() []Head { return x.heard(heardFor) }

// Known returns the newest announcement of each replica that was heard since New, however old, sorted by name.
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

// sorted returns the announcements sorted by the name of the process.
func sorted(heads map[string]Head) []Head {
	return slices.SortedFunc(maps.Values(heads), func(a, b Head) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Replica, b.Replica))
	})
}

// Away reports whether the replica has been silent for more than 3 s.
func (h *Head) Away() bool { return time.Since(h.Heard) > heardFor }

// Run announces once a second how far this replica has got, and answers requests, until ctx ends. own returns the
// current Epoch, Head, First, Place, Leads, Term and Incarnation. Lost messages do no harm: another announcement
// follows, and the asking replica repeats a request without an answer.
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
	answering.Go(func() { x.answerAll(ctx, requests, log) })    // this goroutine ends when ctx ends
	answering.Go(func() { x.answerSurveys(ctx, surveys, own) }) // this goroutine ends when ctx ends
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if data, err := x.said(own(), nil); err == nil {
			// Without a connection this announcement is lost, and the next one replaces it.
			_ = x.config.Conn.Publish(Subject(x.config.Stream), data)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	answering.Wait()
	_, _ = requests.Unsubscribe(), surveys.Unsubscribe() // an error only says that the connection is closed
	return nil
}
