package link

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatPassesIsDelayed: a request and its answer take a round trip, and nothing is lost or changed.
func TestWhatPassesIsDelayed(t *testing.T) {
	for _, row := range []struct {
		sentence string
		line     Line
		bytes    int
		want     time.Duration
	}{
		{"no network", Line{}, 100, 0},
		{"2 ms there and back", Line{Delay: time.Millisecond}, 100, 2 * time.Millisecond},
		{"the rate counts in both directions", Line{Delay: 10 * time.Millisecond, Rate: 1e6}, 100_000, 220 * time.Millisecond},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, near := net.Pipe()
				far, server := net.Pipe()
				go join(t.Context(), near, far, &direction{line: row.line}, &direction{line: row.line})
				sent := bytes.Repeat([]byte("0123456789"), row.bytes/10)
				go func() { // the server sends everything back, once it has all
					got := make([]byte, len(sent))
					if _, err := io.ReadFull(server, got); err != nil {
						t.Error(err)
					}
					if _, err := server.Write(got); err != nil {
						t.Error(err)
					}
				}()
				began := time.Now()
				go func() {
					if _, err := client.Write(sent); err != nil {
						t.Error(err)
					}
				}()
				got := make([]byte, len(sent))
				if _, err := io.ReadFull(client, got); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); (took-row.want).Abs() > time.Microsecond || !bytes.Equal(got, sent) {
					t.Errorf("it took %v, want %v; the same bytes: %t", took, row.want, bytes.Equal(got, sent))
				}
				client.Close()
				server.Close()
			})
		})
	}
}

// TestConnectionsShareTheLine: two connections that send at once get half of the rate each.
func TestConnectionsShareTheLine(t *testing.T) {
	now := time.Unix(0, 0)
	d := &direction{line: Line{Delay: time.Second, Rate: 100}}
	for i, want := range []time.Duration{2 * time.Second, 3 * time.Second} {
		if got := d.arrives(now, 100); !got.Equal(now.Add(want)) {
			t.Errorf("piece %d arrives at %v, want %v after %v", i, got, want, now)
		}
	}
	if got := d.arrives(now.Add(time.Minute), 100); !got.Equal(now.Add(time.Minute + 2*time.Second)) {
		t.Errorf("a piece on a line that was free for long arrives at %v, want 62 s after %v: what was not used is lost", got, now)
	}
}

// TestTheProgram forwards between real sockets and ends with its context.
func TestTheProgram(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() { // ends with the listener
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the client
				_, _ = io.Copy(c, c) // a missing answer fails the test
				c.Close()
			}()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Main(ctx, Line{Delay: time.Millisecond}.Args(server.Addr().String()), in) }()
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", string(bytes.TrimSpace(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = out.Read(line) }() // the end of the line
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
		t.Errorf("got %q (%v), want what was sent, and its end", got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
