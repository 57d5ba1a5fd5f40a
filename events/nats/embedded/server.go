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

// Config configures a Server. Dir is required.
type Config struct {
	Dir      string // directory of the streams; created if it does not exist
	Listen   string // loopback address with port; empty means 127.0.0.1:4222, port 0 means any
	MaxBytes int64  // limit of the streams on disk; 0 means 1 GiB
	// ReaderSecret and OwnerSecret are files with the passwords of the users Reader and Owner. Missing files are
	// created. Without a file name the user does not exist.
	ReaderSecret, OwnerSecret string

	Logger *slog.Logger
}

// DefaultMaxBytes is the default of Config.MaxBytes.
const DefaultMaxBytes = 1 << 30

// life is one run of the NATS server, from its start to its end. A [Server] that restarts it has one life after the
// other.
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
	// signingIn is the time limit for authentication.
	signingIn = 3 * time.Second
	// syncEvery is the interval of syncs to disk. A power cut may lose what was written since the last one. The
	// publisher publishes that again, so the interval may be long.
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

// open creates the accounts, lets connections in, and starts the gate. The stream is in the server's global account,
// where earlier versions put it.
func (s *life) open(dir string) (err error) {
	defer func() {
		if err != nil {
			close(s.who.ready) // ends the waits of connections in Check
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

// address returns the address to listen on. It must be a loopback address, because the connection is not encrypted.
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

// close stops the server and waits until its data is on disk.
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
