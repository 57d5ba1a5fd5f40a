package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"
)

// gate forwards harmless requests of readers to JetStream. It forwards one request after the other; requests for
// messages, and acknowledgements, are forwarded beside them. It subscribes in the readers' account, and sends its own
// messages in the account with the stream. JetStream answers to the gate, or sends messages to a subject that the gate
// chose.
//
// Permissions of JetStream are not enough, because they are about subjects, while the data of a request defines what a
// consumer does. A push consumer would publish messages in the account with the stream, to any subject that a reader
// chooses.
type gate struct {
	readers *nats.Conn // in the readers' account
	ledger  *nats.Conn // in the account with the stream
	pulls   *pulls
	subs    []*nats.Subscription
	end     context.CancelFunc
}

const (
	gateInbox  = "_GATE"
	maxRequest = 16 << 10
	answered   = 5 * time.Second

	// Limits of what waits to be forwarded. The gate drops further messages. Clients then repeat a request, or get a
	// message again whose acknowledgement was dropped.
	requestsWaiting = 1000
	nextWaiting     = 1000
	acksWaiting     = 100_000
	bytesWaiting    = 16 << 20 // for each kind
	maxAck          = 1 << 10
	// acksEach is the number of acknowledgements forwarded per second, as many as a fast reader sends.
	acksEach = 100_000
)

// openGate starts to forward requests. It ends with close.
func openGate(s *life) (g *gate, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	g = &gate{end: cancel}
	defer func() {
		if err != nil {
			g.close()
			g, err = nil, fmt.Errorf("open the gate for readers: %w", err)
		}
	}()
	if g.ledger, err = s.connect(publisher); err != nil {
		return g, err
	}
	if g.readers, err = s.connect(gatekeeper); err != nil {
		return g, err
	}
	g.pulls = newPulls(g)
	if err := g.listen(nextAPI+"*.*", nextWaiting, func(m *nats.Msg) { g.pulls.take(ctx, m) }); err != nil {
		return g, err
	}
	acks := rate.NewLimiter(acksEach, acksEach/10)
	if err := g.listen(ackAPI+">", acksWaiting, func(m *nats.Msg) { g.acknowledge(ctx, acks, m) }); err != nil {
		return g, err
	}
	waiting := make(chan *nats.Msg)
	hand := func(m *nats.Msg) {
		select {
		case waiting <- m:
		case <-ctx.Done():
		}
	}
	for _, r := range requests {
		if err := g.listen(api+r, requestsWaiting, hand); err != nil {
			return g, err
		}
	}
	go func() { // ends with close
		for {
			select {
			case m := <-waiting:
				began := time.Now()
				g.take(m)
				rest(ctx, time.Since(began))
			case <-ctx.Done():
				return
			}
		}
	}()
	return g, g.readers.Flush()
}

// rest waits three times as long as a request took (took), if it was slow: for a new consumer JetStream counts
// messages, or searches one, with the stream locked, which delays the publisher.
func rest(ctx context.Context, took time.Duration) {
	const atOnce, most = 5 * time.Millisecond, 2 * time.Second
	if took < atOnce {
		return
	}
	select {
	case <-time.After(min(3*took, most)):
	case <-ctx.Done():
	}
}

// connect connects to the server as a user of this process, without a socket.
func (s *life) connect(user string) (*nats.Conn, error) {
	return nats.Connect(s.server.ClientURL(), nats.Name("jobledger gate"), nats.InProcessServer(s.server), nats.CustomInboxPrefix(gateInbox),
		nats.UserInfo(user, s.who.secrets[user]), nats.MaxReconnects(-1),
		// Nothing to do: the errors are about dropped messages, which the guard notices
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
}

// listen subscribes to a subject in the readers' account. take handles the messages; at most waiting of them may wait.
func (g *gate) listen(subject string, waiting int, take nats.MsgHandler) error {
	sub, err := g.readers.Subscribe(subject, take)
	if err != nil {
		return err
	}
	g.subs = append(g.subs, sub)
	return sub.SetPendingLimits(waiting, bytesWaiting)
}

func (g *gate) close() {
	g.end()
	for _, conn := range []*nats.Conn{g.readers, g.ledger} {
		if conn != nil {
			conn.Close()
		}
	}
}

// dropped returns the number of messages that the gate dropped because too many came.
func (g *gate) dropped() int {
	all := 0
	for _, sub := range g.subs {
		n, err := sub.Dropped()
		if err == nil { // otherwise the subscription is closed, and has no count
			all += n
		}
	}
	return all
}

// acknowledge forwards an acknowledgement: taken, not taken, in progress, or do not redeliver. It drops +NXT, which
// also requests the next message; readers must send such requests to another subject.
func (g *gate) acknowledge(ctx context.Context, limit *rate.Limiter, m *nats.Msg) {
	kind := m.Data[:min(len(m.Data), 4)]
	if len(m.Data) > maxAck || limit.Wait(ctx) != nil || len(kind) > 0 && !slices.Contains([]string{"+ACK", "-NAK", "+WPI", "+TER"}, string(kind)) {
		return
	}
	said := &nats.Msg{Subject: m.Subject, Data: m.Data}
	if inbox, ok := strings.CutPrefix(m.Reply, inboxes); ok {
		said.Reply = delivered + inbox
	}
	_ = g.ledger.PublishMsg(said) // the error is ignored: without the connection, nothing can be forwarded
}

// refusal is the reason why a request is not forwarded, for the person who made it.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// take answers a request of a reader. It ignores a request whose reply subject is no inbox.
func (g *gate) take(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, inboxes) {
		return
	}
	request := strings.TrimPrefix(m.Subject, api)
	ctx, cancel := context.WithTimeout(context.Background(), answered)
	defer cancel()
	answer, err := g.pass(ctx, request, m.Data)
	if err != nil {
		answer = refused(request, err)
	}
	_ = m.RespondMsg(&nats.Msg{Header: answer.Header, Data: answer.Data}) // the requester may be gone
}

// pass sends a request of a reader to JetStream, if it is harmless, and returns the answer; otherwise an error.
func (g *gate) pass(ctx context.Context, request string, data []byte) (*nats.Msg, error) {
	if len(data) > maxRequest {
		return nil, refusef("a request of %d bytes: want %d at most", len(data), maxRequest)
	}
	kind, object, _ := cutKind(request)
	var err error
	switch kind {
	case "INFO", "CONSUMER.INFO":
		data = nil
	case "STREAM.INFO": // drop the reader's options: they ask for details that take long to count
		data = nil
	case "STREAM.NAMES", "STREAM.LIST":
		data, err = only(data, "offset", "subject")
	case "STREAM.MSG.GET", "DIRECT.GET":
		data, err = only(data, "seq", "last_by_subj", "next_by_subj")
	case "CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE":
		data, err = g.create(ctx, object, data)
	case "CONSUMER.DELETE":
		data, err = nil, g.mayDelete(ctx, object)
	default:
		err = refusef("readers may not ask for %s", kind)
	}
	if err != nil {
		return nil, err
	}
	return g.ask(ctx, request, data)
}

// ask sends a request to JetStream and returns the answer.
func (g *gate) ask(ctx context.Context, request string, data []byte) (*nats.Msg, error) {
	answer, err := g.ledger.RequestWithContext(ctx, api+request, data)
	if err != nil {
		return nil, fmt.Errorf("ask JetStream: %w", err)
	}
	return answer, nil
}

// cutKind splits a request into its kind, such as CONSUMER.INFO, and its object, such as stream.consumer.
func cutKind(request string) (kind, object string, ok bool) {
	for _, r := range requests {
		kind := strings.TrimSuffix(strings.TrimRight(r, ".*>"), ".")
		if request == kind {
			return kind, "", true
		}
		if object, ok := strings.CutPrefix(request, kind+"."); ok {
			return kind, object, true
		}
	}
	return request, "", false
}

// refused returns an answer, in the form of JetStream's, that says why a request is refused.
func refused(request string, err error) *nats.Msg {
	said := "jobledger: " + err.Error()
	if strings.HasPrefix(request, "DIRECT.GET") {
		return &nats.Msg{Header: nats.Header{"Status": {"403"}, "Description": {said}}}
	}
	const badRequest = 10003
	data, err := json.Marshal(map[string]any{"error": map[string]any{"code": 403, "err_code": badRequest, "description": said}})
	if err != nil {
		data = nil // cannot fail: it consists of texts and numbers
	}
	return &nats.Msg{Data: data}
}

// only refuses a request with fields other than these. It ignores fields without a value.
func only(data []byte, fields ...string) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var said map[string]json.RawMessage
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, refusef("the request is no JSON object: %v", err)
	}
	if err := keepOnly(said, fields); err != nil {
		return nil, err
	}
	return json.Marshal(said)
}
