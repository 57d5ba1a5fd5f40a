package coalesce

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// few is the largest number of unanswered requests at which reads do not wait.
	few = 4
	// period is the shortest time between two reads while more requests are unanswered.
	period = 8 * time.Millisecond
)

// Traffic opens connections to one server, and counts the requests that it has not answered: with many of them, reads
// are joined. The zero value is ready to use.
type Traffic struct {
	// May is called right before each write(2) of a connection. If it returns false, nothing is written and the
	// connection is closed. Nil allows all writes. Set May before the first connection is opened; it must not block.
	May func() bool

	unanswered atomic.Int64
}

// Dialer opens a connection, like net.Dialer.DialContext.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Dial returns a Dialer that opens connections with d. Their writes are joined, and under load their reads.
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

// Count returns a RoundTripper that sends requests with next, and counts those without an answer. A watch counts as
// answered when the server accepts it.
func (t *Traffic) Count(next http.RoundTripper) http.RoundTripper {
	return counting{traffic: t, next: next}
}

// period returns the shortest time between two reads under the present load; 0 for reads without waiting.
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

// RoundTrip implements http.RoundTripper: it sends the request, and counts it until the answer begins.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.traffic.unanswered.Add(1)
	defer c.traffic.unanswered.Add(-1)
	return c.next.RoundTrip(r)
}
