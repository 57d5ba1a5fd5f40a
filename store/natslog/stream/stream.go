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

// Subject returns the NATS subject on which the messages of a log are published. name is the name of its stream.
func Subject(name string) string { return "jobledger.log.v1." + name }

// Options returns the options for a connection that is used for a log's stream. With them, a message that is sent while
// there is no connection fails, instead of being buffered.
func Options() []natsgo.Option { return []natsgo.Option{natsgo.ReconnectBufSize(-1)} }

// Config says how Make creates a stream.
type Config struct {
	Name     string
	Replicas int   // number of servers that store the stream; 0 means 1
	MaxBytes int64 // a full stream refuses further messages; 0 for no limit

	Metadata map[string]string // metadata of the stream, set when it is created
}

// Stream is a client of a log's stream. It uses one connection.
type Stream struct {
	js         jetstream.JetStream
	name       string
	maxMessage int // the stream's own limit for the bytes of a message; 0 if it has none

	mu     sync.Mutex
	stream jetstream.Stream // client library's handle; nil until the servers were found to have the stream
}

// Later returns a client for a stream that the servers do not have yet. Its methods fail with an error for which Gone
// is true, until a stream of that name exists.
func Later(js jetstream.JetStream, name string) *Stream { return &Stream{js: js, name: name} }

// Gone reports whether an error says that the servers have no stream of this name.
func Gone(err error) bool { return errors.Is(err, jetstream.ErrStreamNotFound) }

// handle returns the client library's handle of the stream, which it caches.
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

// ErrSettings is the error when a stream exists, but has settings with which it cannot store a log.
var ErrSettings = errors.New("it is no stream of a log")

// Open opens an existing stream. It returns ErrSettings if the stream's settings allow wrong answers: direct gets,
// which any server may answer; deletes of single messages, which would leave an empty place; other subjects than the
// log's.
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

// MaxMessage returns the limit for the bytes of a message: max_payload of the connected server, or the stream's own
// limit if that is smaller.
func (s *Stream) MaxMessage() int {
	most := int(s.js.Conn().MaxPayload())
	if s.maxMessage > 0 {
		most = min(most, s.maxMessage)
	}
	return most
}

// requestTime limits a request that reads or opens. A request that is lost with its connection gets no answer, and the
// caller's context may last for minutes.
const requestTime = 5 * time.Second

// Info is the stream leader's description of the stream.
type Info struct {
	Config  *jetstream.StreamConfig
	Server  string   // version of the connected server
	Holders []string // names of the servers that store the stream and are not offline
	First   uint64   // sequence of the oldest message that it still has; 1 if nothing was ever stored or removed
	Last    uint64   // sequence of the newest message that the stream ever had, even if it was removed; 0 for none
	Bytes   int64    // total size of its messages
}

// Ask returns the stream's current settings and size. It opens the stream anew each time. The cached handle is not
// used, because a request for the settings would change from where it reads.
func (s *Stream) Ask(ctx context.Context) (Info, error) { return Ask(ctx, s.js, s.name) }

// Ask returns the settings and the size of any stream, even of one that Open would refuse.
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
		i.Holders = []string{conn.ConnectedServerName()} // a server without a cluster stores the stream alone
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

// noRoom lists the error codes of a server that has no space: in the stream, the server, the account, or on its disk.
var noRoom = []jetstream.ErrorCode{10077, 10023, 10002, 10047}

// Send publishes a message, on the condition that `last` is the sequence of the stream's newest message. It returns the
// sequence at which the server acknowledged the message. After an error it is unknown whether the message is stored;
// the error matches store.ErrNoRoom if the server says that it has no space.
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

// At reads the message with sequence `place` from the stream's leader. The answer found=false may be wrong: a server
// that was cut off from the others may still believe that it leads, and not know the message.
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

// Newest returns the sequence of the newest message according to the stream's leader; 0 for none. The answer may be
// stale.
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

// First returns the sequence of the oldest message that the stream still has; 1 if nothing was ever stored or removed.
func (s *Stream) First(ctx context.Context) (place uint64, err error) {
	i, err := s.Ask(ctx)
	return i.First, err
}
