package port_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/port"
)

func TestAPortThatIsHeldWaitsForItsServer(t *testing.T) {
	held, release, err := port.Hold()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	address := fmt.Sprintf("127.0.0.1:%d", held)
	for range 3 { // the server starts and stops again and again
		if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("without a server: %v, want that the connection is refused", err)
		}
		server, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatalf("the server: %v", err)
		}
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []interface{ Close() error }{accepted, client, server} {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNobodyIsGivenAPortThatIsHeld lets the kernel choose a port from a range with only the held port.
func TestNobodyIsGivenAPortThatIsHeld(t *testing.T) {
	held, release, err := port.Hold()
	if err != nil {
		t.Fatal(err)
	}
	const localPortRange = 51 // IP_LOCAL_PORT_RANGE: the highest and the lowest, 16 bits each
	only := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		both := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_IP, localPortRange, held<<16|held) })
		return errors.Join(err, both)
	}}
	_, err = only.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if errors.Is(err, syscall.ENOPROTOOPT) {
		t.Skip("needs Linux 6.3")
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("who wants any port: %v, want that there is none", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	l, err := only.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("when it is let go: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
