package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// tail is the newest message of a stream, or the newest one of our log.
type tail struct {
	place uint64
	head  nats.Head // zero for a message that no Jobledger published
}

// newest returns the stream's newest message; nil when there is none. It asks the leader of the stream, because a
// replica might not have the message yet.
func (p *Publisher) newest(ctx context.Context, stream string) (*tail, error) {
	request, err := json.Marshal(map[string]string{"last_by_subj": nats.Everything(p.Cluster)})
	if err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, p.AckTimeout)
	defer cancel()
	answer, err := p.conn.RequestWithContext(bound, p.apiPrefix()+"STREAM.MSG.GET."+stream, request)
	if err != nil {
		return nil, fmt.Errorf("ask stream %s for its newest message: %w", stream, err)
	}
	var got struct {
		Message struct {
			Subject  string `json:"subject"`
			Sequence uint64 `json:"seq"`
			Header   []byte `json:"hdrs"`
		} `json:"message"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return nil, fmt.Errorf("read the newest message of stream %s: %w", stream, err)
	}
	if got.Error != nil {
		if got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound {
			return nil, nil
		}
		return nil, fmt.Errorf("ask stream %s for its newest message: %w", stream, got.Error)
	}
	header, _ := natsgo.DecodeHeadersMsg(got.Message.Header) // a message without headers is not Jobledger's
	if _, ok := nats.RecordID(header); !ok {
		return &tail{place: got.Message.Sequence}, nil
	}
	head, err := nats.ParseHead(&nats.Message{Subject: got.Message.Subject, Header: header})
	if errors.Is(err, events.ErrBefore) {
		return nil, &events.BeforeError{What: "stream " + stream, Do: "keep it under a name and subjects of its own or delete it, and a new one is made"}
	}
	if err != nil {
		return nil, fmt.Errorf("read the newest message of stream %s: %w", stream, err)
	}
	return &tail{got.Message.Sequence, head}, nil
}

func (p *Publisher) apiPrefix() string {
	switch {
	case p.Dial.Domain != "":
		return "$JS." + p.Dial.Domain + ".API."
	case p.Dial.APIPrefix != "":
		return p.Dial.APIPrefix + "."
	}
	return jetstream.DefaultAPIPrefix
}

// nearby is the number of messages that newestOf scans first; each further scan has farther times as many.
const nearby, farther = 1024, 16

// newestOf returns our log's newest message before other, which another publisher wrote; nil when there is none. If two
// logs published by turns, which they should not, their messages are in any order. So newestOf scans backward, 1,024
// messages at first, then 16,384, and so on. first is the oldest position of the stream.
func (p *Publisher) newestOf(ctx context.Context, s jetstream.Stream, first uint64, other *tail) (*tail, error) {
	p.Logger.Warn("another publisher wrote the stream's newest message (there should be one publisher): going on after it", "stream",
		s.CachedInfo().Config.Name, "place", other.place, "logID", other.head.ID.Log.LogID)
	for back := uint64(nearby); ; back *= farther {
		from := max(first, 1)
		if other.place > back {
			from = max(from, other.place-back)
		}
		found, err := p.newestBetween(ctx, s, from, other.place)
		if err != nil {
			return nil, fmt.Errorf("look for our newest message in stream %s: %w", s.CachedInfo().Config.Name, err)
		}
		if found != nil || from <= max(first, 1) {
			return found, nil
		}
	}
}

// newestBetween returns our log's newest message between two positions; nil when there is none. It reads only the
// headers. A message must exist at position to.
func (p *Publisher) newestBetween(ctx context.Context, s jetstream.Stream, from, to uint64) (*tail, error) {
	bound, cancel := context.WithTimeout(ctx, p.AckTimeout)
	defer cancel()
	consumer, err := s.CreateConsumer(bound, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, HeadersOnly: true,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.DeleteConsumer(bound, consumer.CachedInfo().Name) // the server drops it anyway
	}()
	messages, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	defer messages.Stop()
	var ours jetstream.Msg
	mine := p.Log.Identity().LogID + "."
	for delivered := uint64(1); ; delivered++ {
		m, err := p.nextOf(ctx, messages)
		if err != nil {
			return nil, err
		}
		at, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		if at.Sequence.Consumer != delivered {
			return nil, errors.New("messages were lost on the way")
		}
		if strings.HasPrefix(m.Headers().Get(nats.HeaderID), mine) && at.Sequence.Stream <= to {
			ours = m
		}
		if at.Sequence.Stream >= to {
			return tailOf(ours)
		}
	}
}

// nextOf waits for the next message, at most AckTimeout.
func (p *Publisher) nextOf(ctx context.Context, messages jetstream.MessagesContext) (jetstream.Msg, error) {
	bound, cancel := context.WithTimeout(ctx, p.AckTimeout)
	defer cancel()
	return messages.Next(jetstream.NextContext(bound))
}

// tailOf returns position and head of a message; nil for nil.
func tailOf(m jetstream.Msg) (*tail, error) {
	if m == nil {
		return nil, nil
	}
	at, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	head, err := nats.ParseHead(&nats.Message{Subject: m.Subject(), Header: m.Headers()})
	if err != nil {
		return nil, err
	}
	return &tail{at.Sequence.Stream, head}, nil
}
