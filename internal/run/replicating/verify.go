package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// VerifyConfig says which stream, and which copies of its log (replicas), to compare. All fields except Own, OwnName,
// Members and Listen are required.
type VerifyConfig struct {
	Dial    dial.Config
	Stream  string
	Reader  events.ReaderVersion // version of this program as a reader
	Own     store.Archive        // a log on this machine to compare, too; nil for none
	OwnName string               // name of Own, for messages
	Members int                  // number of processes that should have a copy of the log; 0 for DefaultMembers
	Listen  time.Duration        // how long to wait for Members replicas at most; 0 for 3 s
}

// Standing says whether a replica's log has the same records as the stream. The values are part of the JSON of verify.
type Standing string

// The values of Standing.
const (
	OnChain  Standing = "on-chain"     // through its last record, it has the stream's records
	OffChain Standing = "off-chain"    // it has another record than the stream, or one that the stream does not have
	Unknown  Standing = "not-compared" // neither the stream nor a replica that answers has what to compare with
)

// VerifiedReplica is the result for one replica.
type VerifiedReplica struct {
	Name     string     `json:"name"`
	ID       string     `json:"id,omitempty"` // ID of its directory; empty for a log on this machine
	Leads    bool       `json:"leads"`
	Answers  bool       `json:"answers"`
	Head     VerifyHead `json:"head"`
	Behind   uint64     `json:"behind"` // number of the stream's records that it lacks
	Standing Standing   `json:"standing"`
	Why      string     `json:"why,omitempty"` // why it does not answer, is off-chain, or was not compared

	who   string
	first events.Sequence // the oldest record that the replica still has
	head  store.Head
	chain events.Hash // hash of all records through its last one, computed by its own log
}

// VerifyHead is the last record of a replica, or of the stream.
type VerifyHead struct {
	Record uint64 `json:"record"`
	Hash   string `json:"hash"`
	Time   string `json:"time,omitempty"`
}

// VerifiedStream is the result for the stream.
type VerifiedStream struct {
	Name        string     `json:"name"`
	Incarnation string     `json:"incarnation"`
	LogID       string     `json:"logID"`
	Epoch       uint64     `json:"epoch"`
	Term        uint64     `json:"term"`
	Messages    uint64     `json:"messages"`
	Bytes       int64      `json:"bytes"`
	Void        uint64     `json:"voidMessages"`
	Released    bool       `json:"released"` // the last writer of the stream has stopped cleanly
	First       uint64     `json:"firstRecord"`
	Head        VerifyHead `json:"head"`
}

// Verified is the result of comparing all copies of a log with its stream.
type Verified struct {
	Stream   VerifiedStream    `json:"stream"`
	Replicas []VerifiedReplica `json:"replicas"` // by name; a log on this machine last
	Wanted   int               `json:"wanted"`   // number of replicas that should exist
	Heard    int               `json:"heard"`
	Compared int               `json:"compared"` // number of logs that were compared
	OneChain bool              `json:"oneChain"` // at least one log was compared, and none is off-chain
}

// ErrNoMessages is returned if no leader has written to the stream yet, so that nothing can be compared.
var ErrNoMessages = errors.New("the stream of the log has no records yet")

// Verify compares the replicas of a log (the processes' copies) with the log's NATS stream. It reads the whole stream,
// and asks each replica for the hash of all its records.
func Verify(ctx context.Context, c VerifyConfig) (v Verified, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("--%s: %w", Flag, err)
		}
	}()
	k, err := connect(ctx, c)
	if err != nil {
		return v, err
	}
	defer k.close()
	return k.run(ctx)
}

// connect connects to NATS, finds the stream, and starts to listen to the processes with a copy of the log.
func connect(ctx context.Context, c VerifyConfig) (k *verifying, err error) {
	conn, err := c.Dial.Connect(append(stream.Options(), natsgo.RetryOnFailedConnect(false))...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	js, err := c.Dial.JetStream(conn)
	if err != nil {
		return nil, err
	}
	now, err := stream.Ask(ctx, js, c.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("there is no stream %s on these NATS servers: name the servers that have it", c.Stream)
	}
	if err != nil {
		return nil, err
	}
	f := fileOf(c.Stream, now.Config)
	if f.Log == "" || f.Incarnation == "" {
		return nil, fmt.Errorf("the stream %s does not say in its metadata which log it is of: name another one", c.Stream)
	}
	s, err := stream.Open(ctx, js, c.Stream)
	if err != nil {
		return nil, err
	}
	x, err := exchange.New(exchange.Config{
		Conn: conn, Stream: f.Stream, LogID: f.Log, Replica: unique(), Name: "verify",
	})
	if err != nil {
		return nil, err
	}
	return &verifying{config: c, file: f, stream: s, exchange: x, close: conn.Close}, nil
}

// verifying is the state of one call of Verify: the stream, and the replicas (logs of processes) that answered.
type verifying struct {
	config   VerifyConfig
	file     File
	stream   *stream.Stream
	exchange *exchange.Exchange
	close    func() // closes the connection to NATS
	replicas []VerifiedReplica
}

func (k *verifying) run(ctx context.Context) (v Verified, err error) {
	v.Wanted = cmp.Or(k.config.Members, DefaultMembers)
	if err := k.listen(ctx, v.Wanted); err != nil {
		return v, err
	}
	v.Heard = len(k.replicas)
	k.askAll(ctx)
	if err := k.own(); err != nil {
		return v, err
	}
	// The stream is read after the replicas: it gets each record before any disk, so it has all that they had.
	chain, err := k.read(ctx)
	if err != nil {
		return v, err
	}
	for i := range k.replicas {
		k.compare(&k.replicas[i], chain)
	}
	// A replica that ends before the stream begins is compared with one that is known to be on-chain, so it comes last.
	for i := range k.replicas {
		k.compareLate(ctx, &k.replicas[i], chain)
	}
	v.OneChain = true
	for _, r := range k.replicas {
		v.OneChain = v.OneChain && r.Standing != OffChain
		if r.Standing != Unknown {
			v.Compared++
		}
	}
	v.OneChain = v.OneChain && v.Compared > 0
	v.Stream, v.Replicas = chain.said(k.file), k.replicas
	if v.Replicas == nil {
		v.Replicas = []VerifiedReplica{}
	}
	now, err := k.stream.Ask(ctx)
	v.Stream.Bytes = now.Bytes
	return v, err
}

const (
	listenFor   = 3 * time.Second
	listenEvery = 50 * time.Millisecond
	askWithin   = 6 * time.Second // for one replica, including all tries
)

// listen waits until the wanted number of replicas has answered, or the time is over.
func (k *verifying) listen(ctx context.Context, wanted int) error {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	over := time.NewTimer(cmp.Or(k.config.Listen, listenFor))
	defer over.Stop()
	for waits := true; waits && len(k.exchange.Known()) < wanted; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over.C:
			waits = false
		case <-tick.C:
		}
	}
	for _, h := range k.exchange.Known() {
		k.replicas = append(k.replicas, VerifiedReplica{
			Name: h.Name, ID: h.Replica, Leads: h.Leads, who: h.Who, first: h.First, head: h.Head, chain: h.Head.Hash,
		})
	}
	return nil
}

// askAll asks each replica for its last record, and for the hash of all records through it.
func (k *verifying) askAll(ctx context.Context) {
	var asked sync.WaitGroup
	for i := range k.replicas {
		r := &k.replicas[i]
		asked.Go(func() { // ends within 6 seconds
			bound, cancel := context.WithTimeout(ctx, askWithin)
			defer cancel()
			has, err := k.exchange.Files(bound, r.who, r.head.Sequence)
			switch {
			case err != nil:
				r.Why = "it does not answer: " + err.Error()
				return
			case has.Chain != nil && *has.Chain != r.head.Hash:
				r.Standing, r.Why = OffChain, fmt.Sprintf("behind record %d its log has chain value %s, and it had told %s",
					r.head.Sequence, *has.Chain, r.head.Hash)
			}
			r.Answers, r.head, r.chain = true, has.Head, has.Head.Hash
		})
	}
	asked.Wait()
}

// own adds the log on this machine, Config.Own, to the replicas.
func (k *verifying) own() error {
	log := k.config.Own
	if log == nil {
		return nil
	}
	r := VerifiedReplica{Name: cmp.Or(k.config.OwnName, "this log"), Answers: true, head: log.Head(), first: 1}
	id := log.Identity()
	if id.LogID != k.file.Log {
		return fmt.Errorf("the stream %s is of log %s, and %s is log %s: they have nothing in common",
			k.file.Stream, k.file.Log, r.Name, id.LogID)
	}
	var err error
	r.chain, err = log.Chain(r.head.Sequence)
	k.replicas = append(k.replicas, r)
	return err
}

// read reads the stream through its current end. It tries again if the leader removes old messages in the meantime.
func (k *verifying) read(ctx context.Context) (c *streamChain, err error) {
	const tries = 3 // a try fails if the leader removes old messages during it
	for range tries {
		c = &streamChain{own: k.config.Reader, at: map[events.Sequence]*events.Hash{}}
		for _, r := range k.replicas {
			c.at[r.head.Sequence] = nil
		}
		if err = c.read(ctx, k.stream); !errors.Is(err, stream.ErrCut) {
			return c, err
		}
	}
	return c, err
}

// compare sets the standing of a replica: whether it has the same records as the stream. It does so if the stream has
// the replica's last record.
func (k *verifying) compare(r *VerifiedReplica, c *streamChain) {
	end := c.state.Head
	r.Head = headOf(r.head)
	if r.head.Sequence < end.Sequence {
		r.Behind = uint64(end.Sequence - r.head.Sequence)
	}
	want, known := c.chainAt(r.head.Sequence)
	switch {
	case r.Standing == OffChain:
	case r.head.Sequence > end.Sequence:
		r.Standing, r.Why = OffChain, fmt.Sprintf("it has record %d, and the stream ends with record %d: the stream has "+
			"lost messages, or this is another log's", r.head.Sequence, end.Sequence)
	case known && want != r.chain:
		r.Standing, r.Why = OffChain, fmt.Sprintf("behind record %d its chain value is %s, that of the stream %s",
			r.head.Sequence, r.chain, want)
	case known:
		r.Standing = OnChain
	}
}

// compareLate sets the standing of a replica whose last record is older than the stream's first one. It compares the
// replica with another one that is on-chain.
func (k *verifying) compareLate(ctx context.Context, r *VerifiedReplica, c *streamChain) {
	if r.Standing != "" {
		return
	}
	r.Standing = Unknown
	for _, other := range k.replicas {
		if other.Standing != OnChain || !other.Answers || other.who == "" || other.first > r.head.Sequence+1 {
			continue
		}
		bound, cancel := context.WithTimeout(ctx, askWithin)
		has, err := k.exchange.Files(bound, other.who, r.head.Sequence)
		cancel()
		switch {
		case err != nil || has.Chain == nil:
			continue
		case *has.Chain != r.chain:
			r.Standing, r.Why = OffChain, fmt.Sprintf("behind record %d its chain value is %s, that of replica %s %s",
				r.head.Sequence, r.chain, other.Name, *has.Chain)
		default:
			r.Standing = OnChain
		}
		return
	}
	if r.Why != "" {
		r.Why += "; "
	}
	r.Why += fmt.Sprintf("the stream begins behind record %d, and no replica that answers has the chain value of record %d",
		c.base.Sequence, r.head.Sequence)
}

func headOf(h store.Head) VerifyHead {
	v := VerifyHead{Record: uint64(h.Sequence), Hash: h.Hash.String()}
	if h.Time != 0 {
		v.Time = h.Time.Go().UTC().Format(time.RFC3339Nano)
	}
	return v
}
