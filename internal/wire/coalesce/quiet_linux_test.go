package coalesce

import (
	"net"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatIsNotReadWakesNobody: of bytes that came on a quiet connection the kernel tells nobody, until it is no longer
// quiet.
func TestWhatIsNotReadWakesNobody(t *testing.T) {
	near, far := pair(t)
	quiet(near, true)
	if _, err := far.Write([]byte("seen")); err != nil {
		t.Fatal(err)
	}
	control(t, near, func(fd int) {
		for n := 0; n < 4; runtime.Gosched() { // until they came
			var err error
			if n, err = unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil {
				t.Fatal(err)
			}
		}
	})
	if readable(t, near) {
		t.Error("bytes on a quiet connection are told")
	}
	quiet(near, false)
	if !readable(t, near) {
		t.Error("bytes that came while it was quiet are not told after it")
	}
}

// readable reports what the kernel would wake the process for.
func readable(t *testing.T, c net.Conn) (ok bool) {
	control(t, c, func(fd int) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(polled, 0)
		if err != nil {
			t.Fatal(err)
		}
		ok = n > 0
	})
	return ok
}

func control(t *testing.T, c net.Conn, do func(fd int)) {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pair is a TCP connection, both ends.
func pair(t *testing.T) (near, far net.Conn) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	accepted := make(chan net.Conn, 1)
	go func() { // ends when the other end has dialed
		c, err := listener.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	if near, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	far = <-accepted
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	return near, far
}
