package coalesce

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// few requests may be unanswered while each read is made at once.
	few = 4
	// period is from one read to the next when more are.
	period = 8 * time.Millisecond
)

// Traffic is all that goes to one server and comes from it. Its zero value is ready.
type Traffic struct {
	// May is asked right before each write(2) of a connection whether anything may be sent now. While it says no, a
	// connection that is to write is closed. Nil for always. It is set before the first connection, and must not wait.
	May func() bool

	unanswered atomic.Int64
}

// Dialer makes connections.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Dial makes connections as d does, whose writes are joined and whose reads are gathered.
func (t *Traffic) Dial(d Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := d(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if t.May != nil {
			c = guard(c, t.May)
		}
		return newConn(c, t.period), nil
	}
}

// Count makes requests as next does, and counts those that have no answer yet. A watch has its answer when it begins.
func (t *Traffic) Count(next http.RoundTripper) http.RoundTripper {
	return counting{traffic: t, next: next}
}

// period is the least time between two reads now.
func (t *Traffic) period() time.Duration {
	if t.unanswered.Load() > few {
		return period
	}
	return 0
}

type counting struct {
	traffic *Traffic
	next    http.RoundTripper
}

// RoundTrip is described by http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.traffic.unanswered.Add(1)
	defer c.traffic.unanswered.Add(-1)
	return c.next.RoundTrip(r)
}
