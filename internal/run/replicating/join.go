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

// Names of flags about replication; messages name them.
const (
	Flag          = "replicate"
	UnsafeFlag    = "replicate-unsafe"
	NewStreamFlag = "replicate-new-stream"
	KeyFlag       = "log-key-file"
)

// Keys of the stream's metadata, which say to which log the stream belongs.
const (
	logOf         = "jobledger.dev/log-id"
	incarnationOf = "jobledger.dev/incarnation"
	afterOf       = "jobledger.dev/after" // the ID of the stream that this one replaced
	sealOf        = "jobledger.dev/seal"  // an authentication code of the other values, made with the log's key
)

const (
	answerTime = 5 * time.Second // after this time without an answer, a request to NATS is sent again
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
	NewStream bool   // the stream may be created now, or be another one than before
	Key       events.Key
	Reader    events.ReaderVersion // version of this program as a reader
	Least     events.ReaderVersion // oldest version of a program that can read its records
	Dir       string               // the log's directory
	Name      string               // name of this process for messages
	// monitoring addresses of the NATS servers, which show whether the servers sync their disks; empty to trust the
	// servers
	Monitor []string
	Members int // number of processes with a copy of the log; 0 for DefaultMembers
	// size at which the stream is cut without waiting for absent replicas; 0 for DefaultMaxBytes
	MaxBytes int64
	CutEvery time.Duration // time between two cuts (removals of old messages) by a leader; 0 for 10 s
	GiveUp   time.Duration // a leader that gets no acknowledgement for this time ends; 0 for 15 s
	Logger   *slog.Logger
	// called at each step of a refill (storing lost records in the stream again), for tests; nil for none
	Step func(step string)
}

// Own is what this process knows before it looks for the stream.
type Own struct {
	LogID string // ID of the log in this process's directory; empty if there is none
	Lease string // stream that the Lease names, as File.Of returns it; empty for none
	LogOf string // ID of the log that the Lease names; empty for none
}

// Member is a process that has a copy of the log (a replica), and reads or writes the NATS stream of the log.
type Member struct {
	config   Config
	conn     *natsgo.Conn
	js       jetstream.JetStream
	stream   *stream.Stream
	begins   bool // this log may be the first to write to the stream, although it has records already
	line     *line.Line
	log      store.Opened
	current  current
	lost     lost
	takes    atomic.Bool // Take was called, so the records of the stream are not copied any more
	leads    atomic.Bool // Take has succeeded, so this process is the stream's writer
	exchange *exchange.Exchange
	monitors monitors
	bytes    atomic.Int64 // size of the stream at the last request
	released chan struct{}
	first    uint64 // number of the stream's first message when this process became the writer

	follower atomic.Pointer[replica.Follower] // nil until the stream was found
	stale    bool                             // follower must be replaced; only Follow uses this field, and later Take

	mu   sync.Mutex
	file File // what is known of the stream; read it with of, change it with note
}

// of returns what is known of the stream: the content of the file REPLICA.
func (m *Member) of() File {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.file
}

// note changes what is known of the stream, and writes the file REPLICA.
func (m *Member) note(change func(*File)) error {
	m.mu.Lock()
	change(&m.file)
	now := m.file
	m.mu.Unlock()
	return now.write(m.config.Dir)
}

// fileOf returns what a stream's metadata say: the ID of its log, and the ID of the stream (incarnation).
func fileOf(name string, c *jetstream.StreamConfig) File {
	return File{Log: c.Metadata[logOf], Stream: name, Incarnation: c.Metadata[incarnationOf]}
}

// found returns what a stream's metadata say, like fileOf. If the metadata have a valid seal, it adds the ID of the
// stream that this one replaced.
func (c *Config) found(of *jetstream.StreamConfig) File {
	f := fileOf(c.Stream, of)
	f.after = of.Metadata[afterOf]
	if of.Metadata[sealOf] != c.seal(&f) {
		f.after = ""
	}
	return f
}

// seal returns an authentication code for the stream's metadata, made with the log's key.
func (c *Config) seal(f *File) string {
	return c.Key.Hash("replicated stream", f.Log, []byte(f.Of()+"/"+f.after))
}

// Join connects to NATS, and finds the stream of the log, or creates it if that is allowed. While NATS does not answer,
// it logs this and waits. It returns an error if the stream is not the right one, or has unsafe settings.
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

// hear starts to listen to the messages of the other replicas: processes with a copy of the log.
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

// Named returns the name and the ID (incarnation) of the stream, as NAME/INCARNATION. The Lease names the stream like
// this.
func (m *Member) Named() string { f := m.of(); return f.Of() }

// Replica returns the ID of the directory of this process's log.
func (m *Member) Replica() string { return m.of().Replica }

// find finds the stream. If there is none, it creates it if that is allowed. If there was one before, the stream may be
// created again later, by the process that leads.
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

// look checks the stream's settings, and returns what its metadata say: the IDs of its log and of the stream. done is
// false if NATS does not answer.
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

// right returns an error if the stream is not that of this process's log.
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
		own.Lease != m.file.Stream+"/"+m.file.after: // the Lease may still name the stream before
		return other("the Lease", own.Lease)
	}
	return nil
}

// until calls try until done is true, try fails, or ctx ends. While it waits, it logs why; what says what it tries.
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
