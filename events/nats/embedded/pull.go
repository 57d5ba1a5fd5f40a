package embedded

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"
)

// This file limits the readers' requests for messages. JetStream puts the messages for all consumers of a stream into
// one unbounded queue, together with acknowledgements for the publisher. A reader that requests all messages at once
// through 64 consumers makes the queue grow by gigabytes, and delays the publisher by minutes. So the gate forwards
// requests for messages no faster than the queue drains.

// Limits for one request for messages.
const (
	mostBatch = 10_000
	// leastHeartbeat is the shortest heartbeat that a client uses. JetStream would send up to a thousand per second for
	// each request.
	leastHeartbeat = 500 * time.Millisecond

	// nextEach is the number of requests forwarded per second, and messagesEach the number of messages that these may
	// ask for.
	nextEach     = 2000
	messagesEach = 100_000
	// usualBytes is the size that counts as one message in these limits. A message of 8 KiB counts as four.
	usualBytes = 2 << 10
	// After this many requests or messages, pulls waits until JetStream has sent what is queued, at most longestQueue.
	requestsBetween = 16
	messagesBetween = 5000
	longestQueue    = 30 * time.Second
)

// pull is the body of a request for messages, as JetStream defines it.
type pull struct {
	Batch     int           `json:"batch,omitempty"`
	Expires   time.Duration `json:"expires,omitempty"`
	MaxBytes  int           `json:"max_bytes,omitempty"`
	NoWait    bool          `json:"no_wait,omitempty"`
	Heartbeat time.Duration `json:"idle_heartbeat,omitempty"`
}

// parsePull parses a reader's request: an object, a number of messages, or nothing for one message.
func parsePull(data []byte) (p pull, err error) {
	text := strings.TrimSpace(string(data))
	switch {
	case text == "":
		p.Batch = 1
	case text[0] != '{':
		if p.Batch, err = strconv.Atoi(text); err != nil {
			return p, refusef("%q is no number of messages", text)
		}
	default:
		if data, err = only(data, "batch", "expires", "max_bytes", "no_wait", "idle_heartbeat"); err != nil {
			return p, err
		}
		if err := json.Unmarshal(data, &p); err != nil {
			return p, refusef("the request for messages cannot be read: %v", err)
		}
	}
	p.Batch = max(p.Batch, 1)
	switch {
	case p.Batch > mostBatch && p.MaxBytes == 0:
		return p, refusef("batch %d: want at most %d, or max_bytes", p.Batch, mostBatch)
	case p.MaxBytes < 0 || p.MaxBytes > maxPending:
		return p, refusef("max_bytes %d: want at most %d", p.MaxBytes, maxPending)
	case p.Expires < 0:
		return p, refusef("expires %s: it is over", p.Expires)
	case p.Heartbeat != 0 && p.Heartbeat < leastHeartbeat:
		return p, refusef("idle_heartbeat %s: want at least %s", p.Heartbeat, leastHeartbeat)
	}
	return p, nil
}

// pulls forwards requests for messages. It belongs to the goroutine that receives the requests, except for its waits.
type pulls struct {
	gate     *gate
	requests *rate.Limiter
	messages *rate.Limiter

	asked, wanted int          // requests and messages since it last waited for the queue
	weight        atomic.Int64 // size of a message of this stream, in usual messages
}

func newPulls(g *gate) *pulls {
	p := &pulls{
		gate: g, requests: rate.NewLimiter(nextEach, nextEach/10), messages: rate.NewLimiter(messagesEach, mostBatch),
	}
	p.weight.Store(1)
	return p
}

// sized sets weight from the average size of the stream's messages. The limits count messages, but are meant to bound
// bytes, so a large message counts as several.
func (p *pulls) sized(bytes, messages uint64) {
	if messages > 0 {
		p.weight.Store(max(int64(bytes/messages)/usualBytes, 1)) //nolint:gosec // no stream has 2^63 bytes
	}
}

// take forwards one request. The messages arrive at the reader's inbox.
func (p *pulls) take(ctx context.Context, m *nats.Msg) {
	inbox, ok := strings.CutPrefix(m.Reply, inboxes)
	if !ok || len(m.Data) > maxRequest || p.requests.Wait(ctx) != nil {
		return
	}
	want, err := parsePull(m.Data)
	if err != nil {
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Status": {"400"}, "Description": {"Bad Request - jobledger: " + err.Error()}}})
		return
	}
	data, err := json.Marshal(want)
	messages := min(want.Batch, mostBatch) * int(p.weight.Load())
	if err != nil || p.messages.WaitN(ctx, min(messages, mostBatch)) != nil {
		return
	}
	stream, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, nextAPI), ".")
	p.asked, p.wanted = p.asked+1, p.wanted+messages
	if p.asked > requestsBetween || p.wanted > messagesBetween {
		p.waitForQueue(ctx, stream)
		p.asked, p.wanted = 1, messages
	}
	// The error is ignored: without the connection, nothing can be forwarded
	_ = p.gate.ledger.PublishRequest(m.Subject, delivered+inbox, data)
}

// waitForQueue waits until JetStream has sent everything that was in the stream's queue. It sends an empty direct
// request, whose answer passes through that queue and costs nothing.
func (p *pulls) waitForQueue(ctx context.Context, stream string) {
	ctx, cancel := context.WithTimeout(ctx, longestQueue)
	defer cancel()
	// On a stream without direct gets the request fails, and the queue is not limited
	_, _ = p.gate.ledger.RequestWithContext(ctx, api+"DIRECT.GET."+stream, nil)
}
