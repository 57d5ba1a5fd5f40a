package exchange

import (
	"cmp"
	"context"
	"crypto/rand"
	"math"
	"slices"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

const (
	tellEvery = time.Second
	heardFor  = 3 * time.Second // a replica that was silent for longer is away
)

// Subject returns the subject on which the replicas of that stream's log announce their heads. Each replica receives
// requests on a subject below it.
func Subject(stream string) string { return "jobledger.replica.v1." + stream }

// Config says which log the replicas keep. All fields are required.
type Config struct {
	Conn        *natsgo.Conn
	Stream      string // name of the stream
	Incarnation string // incarnation of the stream
	LogID       string
	Replica     string // random; identifies the directory of this replica's log
	Name        string // of the process, for messages
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
	Heard   time.Time // when this head arrived
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

// hear notes the head of another replica of this log. It ignores other messages.
func (x *Exchange) hear(data []byte) {
	var w pb.ReplicaHead
	if decode(data, &w) != nil || w.GetLogId() != x.config.LogID || w.GetIncarnation() != x.config.Incarnation ||
		w.GetWho() == x.who || w.GetReplica() == "" || w.GetWho() == "" {
		return
	}
	head, err := headFromWire(w.GetHead())
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heads[w.GetReplica()] = Head{
		Replica: w.GetReplica(), Who: w.GetWho(), Name: w.GetName(), Epoch: w.GetEpoch(), Head: head,
		First: events.Sequence(w.GetFirst()), Place: w.GetPlace(), Leads: w.GetLeads(), Heard: time.Now(),
	}
}

// Heads returns the heads of the other replicas heard within the last 3 s, by name.
func (x *Exchange) Heads() []Head { return x.heard(heardFor) }

// Known returns the heads of all other replicas heard since New, by name.
func (x *Exchange) Known() []Head { return x.heard(math.MaxInt64) }

func (x *Exchange) heard(within time.Duration) (all []Head) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range x.heads {
		if time.Since(h.Heard) <= within {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b Head) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Replica, b.Replica))
	})
	return all
}

// Away reports whether the replica has been silent for more than 3 s.
func (h *Head) Away() bool { return time.Since(h.Heard) > heardFor }

// Run announces this replica's head each second and answers requests, until ctx ends. own returns Epoch, Head, First,
// Place and Leads. A lost head is followed by the next one; a lost answer is requested again.
func (x *Exchange) Run(ctx context.Context, log store.Shared, own func() Head) error {
	requests, err := x.config.Conn.SubscribeSync(Subject(x.config.Stream) + "." + x.who)
	if err != nil {
		return err
	}
	answered := make(chan struct{})
	go func() { // ends with ctx
		defer close(answered)
		x.answerAll(ctx, requests, log)
	}()
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		x.tell(own())
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	<-answered
	_ = requests.Unsubscribe() // fails if the connection is closed
	return nil
}

func (x *Exchange) tell(h Head) {
	data, err := encode(&pb.ReplicaHead{
		LogId: x.config.LogID, Epoch: h.Epoch, Incarnation: x.config.Incarnation, Replica: x.config.Replica, Who: x.who,
		Name: x.config.Name, Head: headToWire(h.Head), First: uint64(h.First), Place: h.Place, Leads: h.Leads,
	})
	if err == nil {
		_ = x.config.Conn.Publish(Subject(x.config.Stream), data) // without a connection nobody receives it
	}
}
