package natstest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natsserver"
)

// If these variables are set, the test binary runs a NATS server instead of tests. They have the directory of the
// server's store, its port, and the ports of the cluster's members.
const (
	serveDir, servePort = "JOBLEDGER_TEST_NATS_DIR", "JOBLEDGER_TEST_NATS_PORT"
	servePeers          = "JOBLEDGER_TEST_NATS_PEERS"
)

// program is the environment variable with the path of the built command natsd. If it is set, every server without
// special options runs as such a process.
const program = "JOBLEDGER_NATSD"

// Main replaces m.Run in a package's TestMain, if its tests start servers with Apart. It does not return.
func Main(m *testing.M) {
	if dir := os.Getenv(serveDir); dir != "" {
		if err := natsserver.Serve(dir, os.Getenv(servePort), strings.Fields(os.Getenv(servePeers))...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Apart makes the server run in a process of its own from its next start on, so that memory and processor time of the
// test's process belong to the code under test. Special options do not apply to such a server. The TestMain of the
// test's package must call Main.
func (s *Server) Apart() *Server {
	s.apart = true
	return s
}

// process is a NATS server that runs in a process of its own.
type process struct {
	command *exec.Cmd
	alive   io.Closer
}

func (s *Server) startApart() {
	s.t.Helper()
	port := strconv.Itoa(s.Port)
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), serveDir+"="+s.Dir, servePort+"="+port, servePeers+"="+strings.Join(s.peers, " "))
	if built := os.Getenv(program); built != "" {
		c = exec.Command(built, append([]string{s.Dir, port}, s.peers...)...)
	}
	c.Stderr = os.Stderr
	alive, err := c.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	says, err := c.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.process = &process{c, alive}
	if _, err := io.ReadFull(says, make([]byte, len(natsserver.Ready))); err != nil {
		s.t.Fatalf("the NATS server does not start: %v", err)
	}
}

func (p *process) stop(t testing.TB) {
	_ = p.alive.Close()
	if err := p.command.Wait(); err != nil {
		t.Errorf("the NATS server: %v", err)
	}
}

// Kill ends the process of a server as kill -9 does, if it runs apart. Start starts it again with the same store.
func (s *Server) Kill() {
	s.t.Helper()
	if s.process == nil {
		return
	}
	if err := s.process.command.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	_ = s.process.command.Wait() // it always returns an error, because the process was killed
	_ = s.process.alive.Close()
	s.process = nil
}

// Pause stops the process of a server as SIGSTOP does, if it runs apart. Its connections stay open. Call Resume to let
// it run again.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume continues a paused server. It has no effect on a running one.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(n syscall.Signal) {
	s.t.Helper()
	if s.process == nil {
		return
	}
	if err := s.process.command.Process.Signal(n); err != nil {
		s.t.Error(err)
	}
}
