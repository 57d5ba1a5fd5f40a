package replicating

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/natslog/line"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// Names of flags, for messages.
const (
	Flag          = "replicate"
	UnsafeFlag    = "replicate-unsafe"
	NewStreamFlag = "replicate-new-stream"
	KeyFlag       = "log-key-file"
)

// Keys of the stream's metadata.
const (
	logOf         = "jobledger.dev/log-id"
	incarnationOf = "jobledger.dev/incarnation"
	afterOf       = "jobledger.dev/after" // the incarnation that this one replaced
	sealOf        = "jobledger.dev/seal"  // an authentication code of the other values, made with the log's key
)

const (
	answerTime = 5 * time.Second // a request to NATS is sent again after this time without an answer
	tellAfter  = 10 * time.Second
	firstPause = 100 * time.Millisecond
	mostPause  = 2 * time.Second
)

// Config says which stream to join, and how. All fields except Unsafe, NewStream, Name, Monitor, Members, MaxBytes,
// CutEvery, GiveUp and Step are required.
type Config struct {
	Dial      dial.Config
	Stream    string // name of the stream
	Replicas  int    // number of servers that store the stream, when it is created
	Unsafe    bool   // fewer than stream.LeastReplicas servers may store the stream
	NewStream bool   // the stream may be created, or be another one than before
	Key       events.Key
	Reader    events.ReaderVersion // version of this program as a reader
	Least     events.ReaderVersion // oldest version of a reader that can read its records
	Dir       string               // the log's directory
	Name      string               // name of this process for messages
	Monitor   []string             // addresses of NATS servers that show whether they sync; empty to trust them
	Members   int                  // number of replicas of the log; 0 for DefaultMembers
	MaxBytes  int64                // size at which a cut does not wait for absent replicas; 0 for DefaultMaxBytes
	CutEvery  time.Duration        // time between two cuts of the stream by a leader; 0 for 10 s
	GiveUp    time.Duration        // a leader ends after this time without an acknowledgement; 0 for 15 s
	Logger    *slog.Logger
	Step      func(step string) // called at each step of a refill, for tests; nil for none
}

// Own is what this process knows before it looks for the stream.
type Own struct {
	LogID string // ID of the log in its directory; empty if there is none
	Lease string // stream that the Lease names, as File.Of returns it; empty for none
	LogOf string // ID of the log that the Lease names; empty for none
}

// Member is a process that has a replica of a log, and reads or writes the log's stream.
type Member struct {
	config   Config
	conn     *natsgo.Conn
	js       jetstream.JetStream
	stream   *stream.Stream
	begins   bool // the log may be the first to write to the stream, although the log has records
	line     *line.Line
	log      store.Opened
	current  current
	lost     lost
	takes    atomic.Bool // Take was called: the stream is not followed any more
	leads    atomic.Bool // Take has succeeded: this process is the stream's writer
	exchange *exchange.Exchange
	monitors monitors
	bytes    atomic.Int64 // size of the stream at the last request
	released chan struct{}
	first    uint64 // first place in the stream when this process took it over

	follower atomic.Pointer[replica.Follower] // nil until the stream was found
	stale    bool                             // the follower must be replaced; used by Follow first, and then by Take

	mu   sync.Mutex
	file File // what is known of the stream; use of and note
}

// of returns what is known of the stream, which is also in the file REPLICA.
func (m *Member) of() File {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.file
}

// note changes what is known of the stream, and writes it to the file REPLICA.
func (m *Member) note(change func(*File)) error {
	m.mu.Lock()
	change(&m.file)
	now := m.file
	m.mu.Unlock()
	return now.write(m.config.Dir)
}

// fileOf returns the log and the incarnation that a stream's metadata name.
func fileOf(name string, c *jetstream.StreamConfig) File {
	return File{Log: c.Metadata[logOf], Stream: name, Incarnation: c.Metadata[incarnationOf]}
}

// found returns the same as fileOf, and the incarnation that this stream replaced, if the metadata have a valid seal.
func (c *Config) found(of *jetstream.StreamConfig) File {
	f := fileOf(c.Stream, of)
	f.after = of.Metadata[afterOf]
	if of.Metadata[sealOf] != c.seal(&f) {
		f.after = ""
	}
	return f
}

// seal returns an authentication code of a stream's metadata, made with the log's key.
func (c *Config) seal(f *File) string {
	return c.Key.Hash("replicated stream", f.Log, []byte(f.Of()+"/"+f.after))
}

// Join connects to NATS, finds the stream, or creates it if that is allowed, and checks it. While NATS does not answer,
// it waits and logs that. It returns an error if something is wrong with the stream.
func Join(ctx context.Context, c Config, own Own) (*Member, error) {
	before, err := ReadFile(c.Dir)
	if err != nil {
		return nil, err
	}
	conn, err := c.Dial.Connect(stream.Options()...)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", Flag, err)
	}
	m := &Member{config: c, conn: conn, released: make(chan struct{}, 1)}
	m.lost.named = own.Lease
	if m.monitors, err = newMonitors(c.Monitor, c.Dial.CA); err == nil {
		m.js, err = c.Dial.JetStream(conn)
	}
	if err == nil {
		err = m.find(ctx, own, before)
	}
	if err == nil {
		err = m.right(own, before)
	}
	if err == nil {
		err = m.hear(before)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("--%s: %w", Flag, err)
	}
	m.begins = before == nil || !before.Begun || c.NewStream
	m.line = line.New(line.Config{Stream: m.stream, Key: sha256.Sum256(c.Key[:]), Reader: c.Reader})
	if m.stale {
		c.Logger.Warn("the NATS servers have no stream of the log any more: who led makes it again, from its log",
			"stream", m.file.Stream, "incarnation", m.file.Incarnation, "logID", m.file.Log, "nats", c.Dial.Servers())
		return m, nil
	}
	c.Logger.Info("found the stream of the log", "stream", m.file.Stream, "incarnation", m.file.Incarnation,
		"logID", m.file.Log, "nats", c.Dial.Servers())
	return m, nil
}

// hear starts to listen to the messages of the other replicas.
func (m *Member) hear(before *File) (err error) {
	m.file.Replica = unique()
	if before != nil && before.Replica != "" {
		m.file.Replica = before.Replica
	}
	if before != nil {
		m.file.Refill = before.Refill
	}
	m.file.Servers = m.config.Dial.Servers()
	m.exchange, err = exchange.New(exchange.Config{
		Conn: m.conn, Stream: m.file.Stream, LogID: m.file.Log, Replica: m.file.Replica,
		Name: cmp.Or(m.config.Name, m.file.Replica), Key: &m.config.Key,
	})
	return err
}

// Close closes the connection to NATS. Close the log first.
func (m *Member) Close() { m.conn.Close() }

// LogID returns the ID of the stream's log.
func (m *Member) LogID() string { return m.of().Log }

// Named returns the stream's name and incarnation, as the Lease names the stream.
func (m *Member) Named() string { f := m.of(); return f.Of() }

// Replica returns the ID of the directory of this process's log.
func (m *Member) Replica() string { return m.of().Replica }

// find finds the stream. If there is none, it creates it if that is allowed. If there was one, it may leave it to the
// leader to create it again.
func (m *Member) find(ctx context.Context, own Own, before *File) error {
	missing := func() error {
		switch {
		case m.config.NewStream || before == nil && own.Lease == "" && (own.LogOf == "" || own.LogOf == own.LogID):
			return nil
		case before != nil || own.Lease != "":
			return fmt.Errorf("there is no stream %s, and this log was in one: name the NATS servers that have it; "+
				"to begin another one with the log in %s: --%s", m.config.Stream, m.config.Dir, NewStreamFlag)
		}
		return fmt.Errorf("there is no stream %s, and the Lease says that log %s runs the Jobs of this cluster: "+
			"begin the stream with that log, or give --adopt and --%s", m.config.Stream, own.LogOf, NewStreamFlag)
	}
	return m.until(ctx, "find the stream of the log", func(ctx context.Context) (done bool, err error) {
		m.stream, err = stream.Open(ctx, m.js, m.config.Stream)
		if stream.Gone(err) {
			if m.remakes(own, before) {
				m.file, m.stream, m.stale = *before, stream.Later(m.js, m.config.Stream), true
				return true, nil
			}
			if err := missing(); err != nil {
				return true, err
			}
			m.stream, err = stream.Make(ctx, m.js, stream.Config{
				Name: m.config.Stream, Replicas: m.config.Replicas,
				Metadata: map[string]string{logOf: cmp.Or(own.LogID, unique()), incarnationOf: unique()},
			})
		}
		if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && refused.Code < 500 {
			return true, err
		}
		if errors.Is(err, stream.ErrSettings) {
			return true, err
		}
		if err != nil {
			return false, err
		}
		m.file, done, err = m.look(ctx)
		return done, err
	})
}

// look checks the stream's settings, and returns the log and the incarnation that its metadata name. done is false if
// NATS does not answer.
func (m *Member) look(ctx context.Context) (f File, done bool, err error) {
	name := m.config.Stream
	now, err := m.stream.Ask(ctx)
	if err != nil {
		return f, false, err
	}
	m.bytes.Store(now.Bytes)
	wrong := stream.Wrong(name, now.Config, now.Server, m.config.Unsafe)
	if len(m.config.Monitor) > 0 {
		lazy, err := m.monitors.unsynced(ctx, now.Holders)
		if wrong = append(wrong, lazy...); err != nil && len(wrong) == 0 {
			return f, false, err
		}
	}
	if len(wrong) > 0 {
		return f, true, fmt.Errorf("the stream %s loses data as it is set up: %s", name, strings.Join(wrong, "; "))
	}
	f = m.config.found(now.Config)
	if f.Log == "" || f.Incarnation == "" {
		return f, true, fmt.Errorf("the stream %s does not say in its metadata which log it is of: "+
			"jobledger has not made it. Name another one", name)
	}
	return f, true, nil
}

// right returns an error if the stream is not the one of this process's log.
func (m *Member) right(own Own, before *File) error {
	other := func(which, has string) error {
		return fmt.Errorf("the stream %s on these NATS servers is incarnation %s, and %s names %s: "+
			"name the servers that have that one; to go on with this one: --%s", m.file.Stream, m.file.Incarnation, which, has, NewStreamFlag)
	}
	switch {
	case own.LogID != "" && own.LogID != m.file.Log:
		return fmt.Errorf("the stream %s is of log %s, and the one in %s is log %s: give --log another directory",
			m.file.Stream, m.file.Log, m.config.Dir, own.LogID)
	case m.config.NewStream, m.stale:
		return nil
	case before != nil && !m.succeeds(before, &m.file):
		return other(FileName+" in "+m.config.Dir, before.Of())
	case own.LogOf == m.file.Log && own.Lease != "" && own.Lease != m.file.Of() &&
		own.Lease != m.file.Stream+"/"+m.file.after: // the Lease may still name the stream that this one replaced
		return other("the Lease", own.Lease)
	}
	return nil
}

// until calls try until it is done or ctx ends. It logs why it waits.
func (m *Member) until(ctx context.Context, what string, try func(context.Context) (done bool, err error)) error {
	var told time.Time
	for tries := 0; ; tries++ {
		bound, cancel := context.WithTimeout(ctx, answerTime)
		done, err := try(bound)
		cancel()
		if done {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if tries > 0 && time.Since(told) >= tellAfter {
			told = time.Now()
			m.config.Logger.Warn("waiting for NATS", "to", what, "nats", m.config.Dial.Servers(), "error", err)
		}
		dial.Wait(ctx, dial.Pause(tries, firstPause, mostPause))
	}
}

// unique returns a random text that no other call returns.
func unique() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}
