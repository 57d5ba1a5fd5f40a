package coalesce

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// few is the number of unanswered requests up to which reads are immediate.
	few = 4
	// period is the shortest time between two reads while more requests are unanswered.
	period = 8 * time.Millisecond
)

// Traffic counts the requests to one server, and opens its connections. Its zero value is ready to use.
type Traffic struct {
	// May is called right before each write(2) of a connection. If it returns false, nothing is written and the
	// connection is closed. Nil allows all writes. Set May before the first connection is opened; it must not block.
	May func() bool

	unanswered atomic.Int64
}

// Dialer opens a connection.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Dial returns a Dialer that opens connections with d, joins their writes and gathers their reads.
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

// Count returns a RoundTripper that sends requests with next and counts the unanswered ones. A watch counts as answered
// when it begins.
func (t *Traffic) Count(next http.RoundTripper) http.RoundTripper {
	return counting{traffic: t, next: next}
}

// period returns the shortest time between two reads at the moment; 0 for immediate reads.
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

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.traffic.unanswered.Add(1)
	defer c.traffic.unanswered.Add(-1)
	return c.next.RoundTrip(r)
}
