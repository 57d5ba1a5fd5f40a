package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Line describes a network. The zero value neither delays bytes nor limits their rate.
type Line struct {
	// Delay is how long a byte is under way: half of the round trip.
	Delay time.Duration
	// Rate is the number of bytes a second in each direction; 0: no limit.
	Rate float64
}

const (
	piece = 16 << 10 // bytes per read; at 100 Mbit/s a piece takes 1.3 ms
	ahead = 256      // largest number of pieces in flight in each direction of a connection: 4 MiB
)

// Serve accepts connections, and forwards each to the address to. It ends with ctx, and then returns nil.
func (l Line) Serve(ctx context.Context, listener net.Listener, to string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	up, down := &direction{line: l}, &direction{line: l}
	var open sync.WaitGroup
	defer open.Wait()
	for {
		near, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			cancel()
			return fmt.Errorf("accept a connection: %w", err)
		}
		open.Go(func() { // this goroutine ends when the connection or ctx ends
			far, err := new(net.Dialer).DialContext(ctx, "tcp", to)
			if err != nil {
				near.Close() // the client's connection ends, as if the API server did not answer
				return
			}
			join(ctx, near, far, up, down)
		})
	}
}

// join forwards bytes between two connections until one of them or ctx ends, and then closes both.
func join(ctx context.Context, near, far net.Conn, up, down *direction) {
	stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { up.forward(far, near) })
	both.Go(func() { down.forward(near, far) })
	both.Wait()
	near.Close()
	far.Close()
}

// direction is one direction of a simulated network: to the API server, or back.
type direction struct {
	line Line
	mu   sync.Mutex
	free time.Time // time at which the line will have sent all data that it was given so far
}

// arrives returns the time at which n bytes arrive that are sent now.
func (d *direction) arrives(now time.Time, n int) time.Time {
	if d.line.Rate == 0 {
		return now.Add(d.line.Delay)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(n) / d.line.Rate * float64(time.Second)))
	return d.free.Add(d.line.Delay)
}

// under is a piece of data on its way, with the time (at) at which it arrives.
type under struct {
	bytes []byte
	at    time.Time
}

// forward copies from one connection to another until from ends. Then it closes the write side of to.
func (d *direction) forward(to, from net.Conn) {
	pieces := make(chan under, ahead)
	var reader sync.WaitGroup
	reader.Go(func() { // this goroutine ends when from ends; if writing fails, from is closed
		defer close(pieces)
		for {
			buffer := make([]byte, piece)
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- under{buffer[:n], d.arrives(time.Now(), n)}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range pieces {
		if wait := time.Until(p.at); wait > 0 {
			<-time.After(wait)
		}
		if _, err := to.Write(p.bytes); err != nil {
			from.Close()
			for range pieces { // the connection is broken: drop the pieces that are still on their way
			}
		}
	}
	reader.Wait()
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		if err := half.CloseWrite(); err != nil && !errors.Is(err, io.EOF) {
			to.Close()
		}
	} else {
		to.Close()
	}
}
