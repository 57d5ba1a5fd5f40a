package coalesce

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// counted counts the writes of a connection.
type counted struct {
	net.Conn
	writes int
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes++
	return c.Conn.Write(b)
}

// TestWritesThatFollowAtOnceAreOne: a header and a body.
func TestWritesThatFollowAtOnceAreOne(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as a controller that has little to do
	near, far := net.Pipe()
	below := &counted{Conn: near}
	c := newConn(below, atOnce)
	const requests = 100
	got := make([]byte, 10)
	for range requests {
		for _, part := range []string{"head", "body.."} {
			if n, err := c.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if _, err := io.ReadFull(far, got); err != nil || string(got) != "headbody.." {
			t.Fatalf("%q %v", got, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if below.writes > requests*11/10 { // the runtime may take the processor away between two
		t.Errorf("%d writes of %d requests", below.writes, requests)
	}
}

// TestAllArrivesInOrder: what many writers give, of all sizes, to a peer that reads when it likes; the last bytes with
// Close.
func TestAllArrivesInOrder(t *testing.T) {
	near, far := net.Pipe()
	c := newConn(near, atOnce)
	rng := rand.New(rand.NewPCG(1, 1))
	sent := make([]byte, 4<<20)
	for i := range sent {
		sent[i] = byte(rng.Uint32())
	}
	var got bytes.Buffer
	var reader sync.WaitGroup
	reader.Go(func() {
		if _, err := io.Copy(&got, far); err != nil {
			t.Error(err)
		}
	})
	for rest := sent; len(rest) > 0; {
		n := min(len(rest), 1+rng.IntN(2*most)*rng.IntN(2)+rng.IntN(100))
		if m, err := c.Write(rest[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		rest = rest[n:]
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	reader.Wait()
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("%d bytes arrived of %d, or others", got.Len(), len(sent))
	}
	if _, err := c.Write([]byte("more")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after Close: %v", err)
	}
}

// TestAPeerThatDoesNotRead holds up who writes more than may wait, and Close for a second.
func TestAPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, _ := net.Pipe()
		c := newConn(near, atOnce)
		failed := make(chan error, 1)
		go func() {
			for {
				if _, err := c.Write(make([]byte, most)); err != nil {
					failed <- err
					return
				}
			}
		}()
		synctest.Wait()
		select {
		case err := <-failed:
			t.Fatal(err)
		default:
		}
		if len(c.waiting) > most {
			t.Errorf("%d bytes wait", len(c.waiting))
		}
		_ = c.Close()
		if err := <-failed; err == nil {
			t.Error("the write succeeded")
		}
	})
}

// TestAWriteThatFails ends the connection: whoever reads from it is told, and whoever writes more.
func TestAWriteThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := newConn(near, atOnce)
		read := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			read <- err
		}()
		_ = far.Close()
		_, _ = c.Write([]byte("lost"))
		synctest.Wait()
		if _, err := c.Write([]byte("more")); err == nil {
			t.Error("a later write succeeded")
		}
		if err := <-read; err == nil {
			t.Error("a read succeeded")
		}
		_ = c.Close()
	})
}
