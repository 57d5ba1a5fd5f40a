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

// JetStream puts what consumers deliver into one queue for each stream, without a bound, and sends what is in it one
// after the other; acknowledgements for the publisher stand in it, too. A reader that asks for all messages at once, by
// 64 consumers, makes it grow by gigabytes, and the publisher hears nothing for minutes. So requests for messages pass
// no faster than the queue empties.

// Bounds of a request for messages.
const (
	mostBatch = 10_000
	// leastHeartbeat is what the least patient of clients ask for. JetStream would send a thousand in a second for each
	// request.
	leastHeartbeat = 500 * time.Millisecond

	// nextEach is how many requests are passed on in a second, and messagesEach how many messages may be asked for with
	// them.
	nextEach     = 2000
	messagesEach = 100_000
	// usualBytes has a usual message. A larger one counts as several.
	usualBytes = 2 << 10
	// After that many requests or messages the queue is waited for, so long at most.
	requestsBetween = 16
	messagesBetween = 5000
	longestQueue    = 30 * time.Second
)

// pull is a request for messages, as JetStream understands it.
type pull struct {
	Batch     int           `json:"batch,omitempty"`
	Expires   time.Duration `json:"expires,omitempty"`
	MaxBytes  int           `json:"max_bytes,omitempty"`
	NoWait    bool          `json:"no_wait,omitempty"`
	Heartbeat time.Duration `json:"idle_heartbeat,omitempty"`
}

// parsePull reads what a reader asks for: an object, a number of messages, or nothing for one.
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

// pulls passes requests for messages on. It belongs to the goroutine that hears them, but for waits.
type pulls struct {
	gate     *gate
	requests *rate.Limiter
	messages *rate.Limiter

	asked, wanted int          // requests and messages since the queue was waited for
	weight        atomic.Int64 // how many usual messages one of this stream is
}

func newPulls(g *gate) *pulls {
	p := &pulls{
		gate: g, requests: rate.NewLimiter(nextEach, nextEach/10), messages: rate.NewLimiter(messagesEach, mostBatch),
	}
	p.weight.Store(1)
	return p
}

// sized says how large the messages of the stream are: what is bounded is their bytes in the end.
func (p *pulls) sized(bytes, messages uint64) {
	if messages > 0 {
		p.weight.Store(max(int64(bytes/messages)/usualBytes, 1)) //nolint:gosec // no stream has 2^63 bytes
	}
}

// take passes on one request. The messages come out at the inbox of the reader.
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
	_ = p.gate.ledger.PublishRequest(m.Subject, delivered+inbox, data) // an error ends with the connection
}

// waitForQueue waits until JetStream has sent what was in the queue of the stream. It is asked something to which the
// answer goes through that queue, and that takes no time: nothing.
func (p *pulls) waitForQueue(ctx context.Context, stream string) {
	ctx, cancel := context.WithTimeout(ctx, longestQueue)
	defer cancel()
	_, _ = p.gate.ledger.RequestWithContext(ctx, api+"DIRECT.GET."+stream, nil) // a stream that gives no such answers has no bound
}
