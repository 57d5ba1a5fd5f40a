package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// Config says where it listens and what it may keep. Dir is required.
type Config struct {
	Dir      string // where streams are stored; made if it does not exist
	Listen   string // a loopback address with a port; 127.0.0.1:4222 when it is empty, port 0 for any
	MaxBytes int64  // that the streams may take on disk; 1 GiB when it is 0
	// Files with the passwords of the users Reader and Owner, which are made when they are missing. Without a file there
	// is no such user.
	ReaderSecret, OwnerSecret string

	Logger *slog.Logger
}

// DefaultMaxBytes is what streams may take unless it is said otherwise.
const DefaultMaxBytes = 1 << 30

// life is a server from a start to its end. A [Server] has one after the other.
type life struct {
	server *natsd.Server
	log    *logger
	who    *access
	gate   *gate

	endGuard context.CancelFunc
	guarded  chan struct{} // closed when the guard has ended
}

const (
	inbox   = "_PUBLISHER" // where the server answers the publisher
	started = 10 * time.Second
	// signingIn is how long a connection may take to say who it is.
	signingIn = 3 * time.Second
	// syncEvery bounds what a power cut takes of the streams. The publisher publishes it again, so it need not be little.
	syncEvery = 10 * time.Second
)

// begin starts a server, and returns when it answers.
func begin(c *Config, secrets map[string]string) (*life, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &life{who: newAccess(secrets), log: &logger{log: c.Logger}}
	options := &natsd.Options{
		ServerName: "jobledger", DontListen: true, NoSigs: true, DisableShortFirstPing: true,
		JetStream: true, StoreDir: c.Dir, JetStreamMaxStore: c.MaxBytes, JetStreamMaxMemory: -1, SyncInterval: syncEvery,
		AuthTimeout: signingIn.Seconds(), MaxPending: maxPending, MaxSubs: maxPerReader, CustomClientAuthentication: s.who,
	}
	var err error
	if s.server, err = natsd.NewServer(options); err != nil {
		return nil, err
	}
	s.server.SetLoggerV2(s.log, false, false, false)
	s.server.Start()
	if err := s.open(c.Dir); err != nil {
		s.close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.endGuard, s.guarded = cancel, make(chan struct{})
	go func() { // ends with close
		defer close(s.guarded)
		(&guard{server: s.server, who: s.who, gate: s.gate, log: c.Logger}).run(ctx)
	}()
	return s, nil
}

// open lets connections in, when all is there that they need. The stream is in the account that a server has by itself,
// where the versions before had it, too.
func (s *life) open(dir string) (err error) {
	defer func() {
		if err != nil {
			close(s.who.ready) // ends all waits
		}
	}()
	if !s.server.ReadyForConnections(started) {
		return fmt.Errorf("it does not answer within %s", started)
	}
	if !s.server.JetStreamEnabled() {
		return fmt.Errorf("JetStream does not start in %s", dir)
	}
	s.who.ledger = s.server.GlobalAccount()
	if s.who.readers, err = s.server.RegisterAccount("READERS"); err != nil {
		return err
	}
	if err := share(s.who.ledger, s.who.readers); err != nil {
		return err
	}
	close(s.who.ready)
	s.gate, err = openGate(s)
	return err
}

// address is the one to listen on. It must be loopback: nothing is encrypted on the way.
func address(listen string) (string, error) {
	if listen == "" {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(natsd.DEFAULT_PORT)), nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("address %q: want a host and a port, such as 127.0.0.1:4222", listen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("address %q: %q is no port", listen, port)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("address %q: nothing is encrypted on the way, so it serves loopback addresses only", listen)
	}
	return listen, nil
}

// close stops the server and waits until what it holds is on disk.
func (s *life) close() {
	if s.endGuard != nil {
		s.endGuard()
		<-s.guarded
	}
	if s.gate != nil {
		s.gate.close()
	}
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
