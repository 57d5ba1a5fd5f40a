package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/store"
)

// Subject returns the only subject of the stream of that name.
func Subject(name string) string { return "jobledger.log.v1." + name }

// Options returns the options that a connection for a log's stream needs: a message sent without a connection fails,
// and is not buffered.
func Options() []natsgo.Option { return []natsgo.Option{natsgo.ReconnectBufSize(-1)} }

// Config says how Make creates a stream.
type Config struct {
	Name     string
	Replicas int   // number of servers that hold it; 0 means 1
	MaxBytes int64 // a full stream refuses further messages; 0 for no limit

	Metadata map[string]string // of the stream, set when it is created
}

// Stream is the stream of a log, through one connection.
type Stream struct {
	js         jetstream.JetStream
	name       string
	maxMessage int // in bytes; 0 for the server's limit

	mu     sync.Mutex
	stream jetstream.Stream // nil until the servers were seen to have it
}

// Later returns a stream that the servers do not have now. Its methods fail, with an error that Gone reports, until
// there is one of that name.
func Later(js jetstream.JetStream, name string) *Stream { return &Stream{js: js, name: name} }

// Gone reports whether an error says that the servers have no such stream.
func Gone(err error) bool { return errors.Is(err, jetstream.ErrStreamNotFound) }

// handle returns the servers' stream.
func (s *Stream) handle(ctx context.Context) (jetstream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		return s.stream, nil
	}
	there, err := s.js.Stream(ctx, s.name)
	if err == nil {
		s.stream = there
	}
	return there, err
}

// Make creates the stream, or opens it if it exists.
func Make(ctx context.Context, js jetstream.JetStream, c Config) (*Stream, error) {
	config := jetstream.StreamConfig{
		Name: c.Name, Subjects: []string{Subject(c.Name)}, Replicas: max(1, c.Replicas), Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: c.MaxBytes, DenyDelete: true,
		Metadata: c.Metadata,
	}
	if c.MaxBytes == 0 {
		config.MaxBytes = -1
	}
	bound, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if _, err := js.CreateStream(bound, config); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil, fmt.Errorf("make the stream %s of the log: %w", c.Name, err)
	}
	return Open(ctx, js, c.Name)
}

// ErrSettings: the stream does not have the settings of a log's stream.
var ErrSettings = errors.New("it is no stream of a log")

// Open opens an existing stream. It refuses, with ErrSettings, settings with which an answer of the server proves
// nothing: direct gets, which any replica answers; deletes of single messages, which empty a place; other subjects.
func Open(ctx context.Context, js jetstream.JetStream, name string) (*Stream, error) {
	if js.Conn().Opts.ReconnectBufSize >= 0 {
		return nil, errors.New("open the stream of the log: its connection keeps messages until it is there again")
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the stream %s of the log: %w", name, err)
	}
	config := s.CachedInfo().Config
	refuse := func(why string) (*Stream, error) {
		return nil, fmt.Errorf("%w: the stream %s: %s", ErrSettings, name, why)
	}
	switch {
	case !slices.Equal(config.Subjects, []string{Subject(name)}):
		return refuse(fmt.Sprintf("its subjects are %q, want %s alone", config.Subjects, Subject(name)))
	case config.AllowDirect:
		return refuse("it has allow_direct")
	case !config.DenyDelete:
		return refuse("its messages can be deleted: want deny_delete")
	}
	return &Stream{js: js, stream: s, name: name, maxMessage: max(0, int(config.MaxMsgSize))}, nil
}

// Name returns the name of the stream.
func (s *Stream) Name() string { return s.name }

// MaxMessage returns the size limit of a message in bytes: max_payload of the connected server, or the stream's own
// limit if that is smaller.
func (s *Stream) MaxMessage() int {
	most := int(s.js.Conn().MaxPayload())
	if s.maxMessage > 0 {
		most = min(most, s.maxMessage)
	}
	return most
}

// requestTime bounds a request to read or to open. A request lost with its connection gets no answer, and the caller's
// context may last minutes.
const requestTime = 5 * time.Second

// Info is what the stream's leader says about the stream.
type Info struct {
	Config  *jetstream.StreamConfig
	Server  string   // version of the connected server
	Holders []string // names of the servers that hold the stream and are not offline
	First   uint64   // the oldest place that the stream still has; 1 for an empty stream that was never cut
	Last    uint64   // the newest place that it ever had, also if all messages were removed; 0 for none
	Bytes   int64    // of its messages
}

// Ask asks for the stream's current settings and size. It makes a separate handle: that of s continues to read from the
// leader.
func (s *Stream) Ask(ctx context.Context) (Info, error) { return Ask(ctx, s.js, s.name) }

// Ask asks for the settings and the size of any stream, also of one that Open refuses.
func Ask(ctx context.Context, js jetstream.JetStream, name string) (i Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	now, err := js.Stream(ctx, name)
	if err != nil {
		return i, fmt.Errorf("ask for the settings and the size of the stream %s: %w", name, err)
	}
	info, conn := now.CachedInfo(), js.Conn()
	i = Info{
		Config: &info.Config, Server: conn.ConnectedServerVersion(),
		First: max(1, info.State.FirstSeq), Last: info.State.LastSeq,
		Bytes: int64(min(info.State.Bytes, 1<<62)),
	}
	if info.Cluster == nil || info.Cluster.Leader == "" {
		i.Holders = []string{conn.ConnectedServerName()} // a server outside a cluster
		return i, nil
	}
	i.Holders = []string{info.Cluster.Leader}
	for _, r := range info.Cluster.Replicas {
		if !r.Offline {
			i.Holders = append(i.Holders, r.Name)
		}
	}
	return i, nil
}

// noRoom lists the error codes for want of room: in the stream, the server, the account, on the server's disk.
var noRoom = []jetstream.ErrorCode{10077, 10023, 10002, 10047}

// Send publishes a message, expecting last as the stream's last place, and no other expectation. It returns the place
// at which the server acknowledged it. After an error the message may or may not be stored; the error wraps
// store.ErrNoRoom if the server says that there is no room.
func (s *Stream) Send(ctx context.Context, last uint64, message []byte) (place uint64, err error) {
	m := natsgo.NewMsg(Subject(s.name))
	m.Data = message
	ack, err := s.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequence(last), jetstream.WithRetryAttempts(0))
	if err != nil {
		if api := (*jetstream.APIError)(nil); errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode) {
			err = fmt.Errorf("%w: %w", store.ErrNoRoom, err)
		}
		return 0, fmt.Errorf("send a message behind place %d of the stream %s: %w", last, s.name, err)
	}
	if ack.Stream != s.name {
		return 0, fmt.Errorf("send a message to the stream %s: the stream %s acknowledged it", s.name, ack.Stream)
	}
	return ack.Sequence, nil
}

// At reads the message at place from the stream's leader. A server that was cut off may believe that it still leads,
// and report found as false for a message that exists.
func (s *Stream) At(ctx context.Context, place uint64) (data []byte, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	there, err := s.handle(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read place %d of the stream %s: %w", place, s.name, err)
	}
	m, err := there.GetMsg(ctx, place)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read place %d of the stream %s: %w", place, s.name, err)
	case m.Sequence != place:
		return nil, false, fmt.Errorf("read place %d of the stream %s: the server gave %d", place, s.name, m.Sequence)
	}
	return m.Data, true, nil
}

// Newest returns the place of the newest message of the stream's leader; 0 if it has none. The answer may be stale.
func (s *Stream) Newest(ctx context.Context) (place uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	there, err := s.handle(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the newest message of the stream %s: %w", s.name, err)
	}
	m, err := there.GetLastMsgForSubject(ctx, Subject(s.name))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read the newest message of the stream %s: %w", s.name, err)
	}
	return m.Sequence, nil
}

// First returns the oldest place that the stream still has; 1 for an empty stream that was never cut.
func (s *Stream) First(ctx context.Context) (place uint64, err error) {
	i, err := s.Ask(ctx)
	return i.First, err
}
