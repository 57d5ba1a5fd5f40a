package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits for the consumers that readers create.
const (
	// maxConsumers bounds the consumers of a stream. The publisher creates one now and then, which is not limited.
	maxConsumers  = 100
	maxAckPending = 10_000
	// maxWaiting bounds the requests for messages that wait at a consumer, since each gets heartbeats. Clients use one
	// or two, and may ask for JetStream's default.
	defaultWaiting = 512
	maxWaiting     = 64
	maxFilters     = 64
	shortestWait   = 50 * time.Millisecond // smallest and largest ack_wait
	longestWait    = time.Hour
	// keepDurable is the longest time without a request after which a durable consumer is deleted.
	keepDurable = 30 * 24 * time.Hour
	// keepOther is the longest time without a request after which any other consumer is deleted.
	keepOther = time.Hour
)

// consumerFields are the fields that readers may set. They include none that makes the server send messages on its own
// (deliver_subject and related fields), and none for samples of acknowledgements, pauses and groups.
var consumerFields = []string{
	"name", "durable_name", "description", "metadata", "filter_subject", "filter_subjects", "deliver_policy", "opt_start_seq",
	"opt_start_time", "ack_policy", "ack_wait", "max_deliver", "max_ack_pending", "replay_policy", "max_waiting", "max_batch",
	"max_expires", "max_bytes", "headers_only", "inactive_threshold", "num_replicas", "mem_storage",
}

// consumer is the configuration of a JetStream consumer, as it is in a request or an answer.
type consumer map[string]json.RawMessage

// bounded holds the fields of a consumer whose values have limits.
type bounded struct {
	Durable  string        `json:"durable_name"`
	Deliver  string        `json:"deliver_policy"`
	Filters  []string      `json:"filter_subjects"`
	AckWait  time.Duration `json:"ack_wait"`
	Pending  int           `json:"max_ack_pending"`
	Waiting  int           `json:"max_waiting"`
	Idle     time.Duration `json:"inactive_threshold"`
	Replicas int           `json:"num_replicas"`
}

// create returns the request to send to JetStream when a reader asks to create or change a consumer. object is the end
// of the request's subject, data its body.
func (g *gate) create(ctx context.Context, object string, data []byte) ([]byte, error) {
	var request struct {
		Stream string   `json:"stream_name"`
		Config consumer `json:"config"`
		Action string   `json:"action,omitempty"`
	}
	if err := json.Unmarshal(data, &request); err != nil {
		return nil, refusef("the request for a consumer is no JSON object: %v", err)
	}
	if err := keepOnly(request.Config, consumerFields); err != nil {
		return nil, err
	}
	if err := request.Config.bound(); err != nil {
		return nil, err
	}
	stream, rest, _ := strings.Cut(object, ".")
	name, _, _ := strings.Cut(rest, ".")
	name, err := request.Config.called(name)
	if err != nil {
		return nil, err
	}
	var there consumer
	if name != "" { // otherwise JetStream chooses a name
		if there, err = g.consumer(ctx, stream, name); err != nil {
			return nil, err
		}
	}
	if there != nil {
		if request.Config, err = there.changed(request.Config); err != nil {
			return nil, err
		}
	} else if err := g.room(ctx, stream); err != nil {
		return nil, err
	}
	return json.Marshal(request)
}

// called returns the name of the consumer: from the subject of the request, or from the configuration for an older
// client. It refuses two different names.
func (c consumer) called(name string) (string, error) {
	for _, field := range []string{"name", "durable_name"} {
		var said string
		if empty(c[field]) {
			continue
		}
		if err := json.Unmarshal(c[field], &said); err != nil {
			return "", refusef("%s is no text: %v", field, err)
		}
		if name == "" {
			name = said
		}
		if said != name {
			return "", refusef("%s is %q, and elsewhere the request says %q", field, said, name)
		}
	}
	return name, nil
}

// deliveries are the allowed values of deliver_policy: where a consumer begins in the stream. "last per subject" is not
// allowed: JetStream locks the stream for a second to find these messages, and few clients need it.
var deliveries = []string{"", "all", "last", "new", "by_start_sequence", "by_start_time"}

// bound refuses values that are too large or too small. It sets the lifetime of a durable consumer and the number of
// requests that may wait at the consumer.
func (c consumer) bound() error {
	var b bounded
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return refusef("the configuration of a consumer cannot be read: %v", err)
	}
	keep := keepOther
	if b.Durable != "" {
		keep = keepDurable
		if b.Idle == 0 {
			c["inactive_threshold"] = json.RawMessage(fmt.Sprint(int64(keepDurable)))
		}
	}
	if b.Waiting == 0 || b.Waiting > maxWaiting {
		c["max_waiting"] = json.RawMessage(fmt.Sprint(maxWaiting))
	}
	switch {
	case !slices.Contains(deliveries, b.Deliver):
		return refusef("deliver_policy %s: readers may begin with %s", b.Deliver, strings.Join(deliveries[1:], ", "))
	case len(b.Filters) > maxFilters:
		return refusef("filter_subjects: %d of them, want at most %d", len(b.Filters), maxFilters)
	case b.Pending < 0 || b.Pending > maxAckPending:
		return refusef("max_ack_pending %d: want at most %d", b.Pending, maxAckPending)
	case b.Waiting < 0 || b.Waiting > defaultWaiting:
		return refusef("max_waiting %d: want at most %d", b.Waiting, maxWaiting)
	case b.AckWait != 0 && (b.AckWait < shortestWait || b.AckWait > longestWait):
		return refusef("ack_wait %s: want from %s to %s", b.AckWait, shortestWait, longestWait)
	case b.Idle < 0 || b.Idle > keep:
		return refusef("inactive_threshold %s: want at most %s", b.Idle, keep)
	case b.Replicas < 0 || b.Replicas > 1:
		return refusef("num_replicas %d: there is one server", b.Replicas)
	}
	return nil
}

// changed returns the existing consumer c with the ack_wait of want. It refuses any other change: with another filter
// the consumer would no longer serve its creator.
func (c consumer) changed(want consumer) (consumer, error) {
	for _, field := range consumerFields {
		said, here := want[field], c[field]
		switch field {
		case "ack_wait", "description", "metadata", "max_waiting":
			continue
		case "filter_subject", "filter_subjects":
		default:
			if empty(said) {
				continue
			}
		}
		if empty(said) && empty(here) || bytes.Equal(compact(said), compact(here)) {
			continue
		}
		return nil, refusef("the consumer exists, with another %s: want another name (readers may change ack_wait only)", field)
	}
	if wait := want["ack_wait"]; !empty(wait) {
		c["ack_wait"] = wait
	}
	return c, nil
}

// consumer returns the configuration of an existing consumer; nil when it does not exist.
func (g *gate) consumer(ctx context.Context, stream, name string) (consumer, error) {
	answer, err := g.ask(ctx, "CONSUMER.INFO."+stream+"."+name, nil)
	if err != nil {
		return nil, err
	}
	var info struct {
		Config consumer `json:"config"`
	}
	if err := json.Unmarshal(answer.Data, &info); err != nil {
		return nil, fmt.Errorf("read what JetStream says of consumer %s: %w", name, err)
	}
	return info.Config, nil
}

// room returns an error when the stream already has maxConsumers consumers.
func (g *gate) room(ctx context.Context, stream string) error {
	answer, err := g.ask(ctx, "STREAM.INFO."+stream, nil)
	if err != nil {
		return err
	}
	var info struct {
		State struct {
			Consumers int    `json:"consumer_count"`
			Messages  uint64 `json:"messages"`
			Bytes     uint64 `json:"bytes"`
		} `json:"state"`
	}
	if err := json.Unmarshal(answer.Data, &info); err != nil {
		return fmt.Errorf("read what JetStream says of stream %s: %w", stream, err)
	}
	g.pulls.sized(info.State.Bytes, info.State.Messages)
	if info.State.Consumers >= maxConsumers {
		return refusef("the stream has %d consumers, and readers may make no more: delete some (user %s)", info.State.Consumers, Owner)
	}
	return nil
}

// mayDelete returns an error for a durable consumer, because nobody knows which reader owns it. A consumer that is not
// durable may be deleted: only its creator knows its name.
func (g *gate) mayDelete(ctx context.Context, object string) error {
	stream, name, _ := strings.Cut(object, ".")
	there, err := g.consumer(ctx, stream, name)
	if err != nil {
		return err
	}
	if !empty(there["durable_name"]) {
		return refusef("readers may not delete a durable consumer: user %s may, and it is deleted after %s without a request", Owner, keepDurable)
	}
	return nil
}

// keepOnly refuses fields other than those given. It removes fields whose value is zero.
func keepOnly(said map[string]json.RawMessage, fields []string) error {
	for name, value := range said {
		switch {
		case empty(value):
			delete(said, name)
		case !slices.Contains(fields, name):
			return refusef("readers may not set %s", name)
		}
	}
	return nil
}

// empty reports whether a JSON value is a zero value.
func empty(value json.RawMessage) bool {
	switch string(compact(value)) {
	case "", "null", "0", "false", `""`, "[]", "{}":
		return true
	}
	return false
}

func compact(value json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}
