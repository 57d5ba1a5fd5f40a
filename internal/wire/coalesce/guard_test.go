package coalesce

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// dialed is a connection of a Traffic to a server of this process, and the server's end of it.
func dialed(t testing.TB, traffic *Traffic) (near, far net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	accepted := make(chan net.Conn, 1)
	go func() { // ends with the connection
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	near, err = traffic.Dial((&net.Dialer{}).DialContext)(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far = <-accepted
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// TestNothingIsSentWhileItMayNot: a request is on its way, and the right to send ends before the system call, as when
// the process was stopped there. Nothing of it reaches the peer, and the connection is reset.
func TestNothingIsSentWhileItMayNot(t *testing.T) {
	var may atomic.Bool
	may.Store(true)
	near, far := dialed(t, &Traffic{May: may.Load})
	got := make([]byte, 5)
	if _, err := near.Write([]byte("early")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "early" {
		t.Fatalf("%q, %v", got, err)
	}
	may.Store(false)
	_, _ = near.Write([]byte("late"))
	if late, err := io.ReadAll(far); len(late) > 0 || err == nil {
		t.Errorf("the peer got %q, and then %v; want nothing, and a reset", late, err)
	}
	if _, err := near.Read(got); err == nil {
		t.Error("the connection goes on")
	}
	if _, err := near.Write([]byte("more")); !errors.Is(err, ErrNotHeld) {
		t.Errorf("a later write: %v", err)
	}
}

// TestAWriteThatWaitsForItsPeerIsAskedAgain: one write is more than the kernel takes, so it takes many system calls.
// The right to send ends after the first; what has not left goes nowhere.
func TestAWriteThatWaitsForItsPeerIsAskedAgain(t *testing.T) {
	var asked atomic.Int64
	refused := make(chan struct{})
	near, far := dialed(t, &Traffic{May: func() bool {
		if asked.Add(1) == 2 {
			close(refused)
		}
		return asked.Load() < 2
	}})
	const size = 64 << 20                                 // more than the kernel takes
	go func() { _, _ = near.Write(make([]byte, size)) }() // ends when it is taken
	arrived, _ := io.Copy(io.Discard, far)                // until it is reset
	<-refused
	if arrived >= size {
		t.Error("all of it arrived")
	}
}

// TestGuardedWritesArrive: what may be sent arrives, in its order, however large.
func TestGuardedWritesArrive(t *testing.T) {
	near, far := dialed(t, &Traffic{May: func() bool { return true }})
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	go func() { // ends when all is taken
		_, _ = near.Write(sent)
		_ = near.Close()
	}()
	if got, err := io.ReadAll(far); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes arrived of %d: %v", len(got), len(sent), err)
	}
}

// BenchmarkWrite is a request of 300 bytes on a connection of loopback.
func BenchmarkWrite(b *testing.B) {
	for name, may := range map[string]func() bool{"plain": nil, "guarded": func() bool { return true }} {
		b.Run(name, func(b *testing.B) {
			near, far := dialed(b, &Traffic{May: may})
			request, got := make([]byte, 300), make([]byte, 300)
			for b.Loop() {
				if _, err := near.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(far, got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
