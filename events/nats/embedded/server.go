package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	subjects "github.com/jobledger/jobledger/events/nats"
)

// Config says where it listens and what it may keep. Dir is required.
type Config struct {
	Dir      string // where streams are stored; made if it does not exist
	Listen   string // a loopback address with a port; 127.0.0.1:4222 when it is empty, port 0 for any
	MaxBytes int64  // that the streams may take on disk; 1 GiB when it is 0
	Logger   *slog.Logger
}

// DefaultMaxBytes is what streams may take unless it is said otherwise.
const DefaultMaxBytes = 1 << 30

// Server is one that runs.
type Server struct {
	server *natsd.Server
	user   string
	secret string
}

const (
	publisher  = "publisher"
	subscriber = "subscriber" // whoever gives no name
	inbox      = "_PUBLISHER" // where the server answers the publisher: nobody else may answer there, or see where it is
	started    = 10 * time.Second
	// syncEvery bounds what a power cut takes of the streams. The publisher publishes it again, so it need not be little.
	syncEvery = 10 * time.Second
)

// Start starts a server, and returns when it answers.
func Start(c Config) (*Server, error) {
	host, port, err := address(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("start NATS server: %w", err)
	}
	if c.Dir == "" {
		return nil, errors.New("start NATS server: no directory")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start NATS server: %w", err)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if port > 0 { // the server would only say that it does not answer
		taken, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("start NATS server: %w", err)
		}
		taken.Close()
	}
	s := &Server{user: publisher, secret: rand.Text()}
	options := &natsd.Options{
		ServerName: "jobledger", Host: host, Port: port, NoSigs: true, DisableShortFirstPing: true,
		JetStream: true, StoreDir: c.Dir, JetStreamMaxStore: c.MaxBytes, JetStreamMaxMemory: -1, SyncInterval: syncEvery,
		Users: []*natsd.User{
			{Username: publisher, Password: s.secret},
			{Username: subscriber, Permissions: reading()},
		},
		NoAuthUser: subscriber,
	}
	if s.server, err = natsd.NewServer(options); err != nil {
		return nil, fmt.Errorf("start NATS server: %w", err)
	}
	s.server.SetLoggerV2(&logger{c.Logger}, false, false, false)
	s.server.Start()
	if !s.server.ReadyForConnections(started) {
		s.Close()
		return nil, fmt.Errorf("start NATS server: it does not answer on %s within %s", net.JoinHostPort(host, strconv.Itoa(port)), started)
	}
	if !s.server.JetStreamEnabled() {
		s.Close()
		return nil, fmt.Errorf("start NATS server: JetStream does not start in %s", c.Dir)
	}
	return s, nil
}

// reading is what subscribers may do: everything of their own, nothing that takes the stream from others.
func reading() *natsd.Permissions {
	return &natsd.Permissions{Subscribe: &natsd.SubjectPermission{Deny: []string{inbox + ".>"}}, Publish: &natsd.SubjectPermission{Deny: []string{
		subjects.Prefix + ".>", inbox + ".>",
		"$JS.API.STREAM.CREATE.>", "$JS.API.STREAM.UPDATE.>", "$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.PURGE.>",
		"$JS.API.STREAM.RESTORE.>", "$JS.API.STREAM.MSG.DELETE.>", "$JS.API.ACCOUNT.PURGE.>",
	}}}
}

// address takes one apart. It must be loopback: there is no access control for readers.
func address(listen string) (host string, port int, err error) {
	if listen == "" {
		return "127.0.0.1", natsd.DEFAULT_PORT, nil
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: want a host and a port, such as 127.0.0.1:4222", listen)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: %q is no port", listen, text)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", 0, fmt.Errorf("address %q: everybody who reaches it may read, so it serves loopback addresses only", listen)
	}
	if number == 0 {
		return host, natsd.RANDOM_PORT, nil
	}
	return host, int(number), nil
}

// URL is where subscribers connect to.
func (s *Server) URL() string { return s.server.ClientURL() }

// Options connect the publisher of this process, without a socket.
func (s *Server) Options() []nats.Option {
	return []nats.Option{nats.InProcessServer(s.server), nats.UserInfo(s.user, s.secret), nats.CustomInboxPrefix(inbox)}
}

// Close stops the server and waits until what it holds is on disk.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// logger tells of the server what a person must know.
type logger struct{ log *slog.Logger }

func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug("nats-server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Warnf(format string, v ...any) {
	l.log.Warn("nats-server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Fatalf(format string, v ...any) {
	l.log.Error("nats-server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error("nats-server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Debugf(format string, v ...any) {
	l.log.Debug("nats-server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Tracef(format string, v ...any) {
	l.log.Debug("nats-server: " + fmt.Sprintf(format, v...))
}
