package exchange

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// all returns the subject of requests to all replicas of the log.
func (x *Exchange) all() string { return Subject(x.config.Stream) + ".all" }

// said returns the message that says how far this replica has got. nonce is the random value of the request that it
// answers; nil for an announcement without a request.
func (x *Exchange) said(h Head, nonce []byte) ([]byte, error) {
	head, err := proto.Marshal(&pb.ReplicaHead{
		LogId: x.config.LogID, Epoch: h.Epoch, Incarnation: h.Incarnation, Replica: x.config.Replica, Who: x.who,
		Name: x.config.Name, Head: headToWire(h.Head), First: uint64(h.First), Place: h.Place, Leads: h.Leads,
		Term: h.Term, Nonce: nonce,
	})
	if err != nil {
		return nil, err
	}
	return encode(&pb.ReplicaSaid{Head: head, Seal: x.seal(head)})
}

// seal returns a keyed hash of an encoded head, which proves that the sender has the log's key. It is empty if we have
// no key.
func (x *Exchange) seal(head []byte) string {
	if x.config.Key == nil {
		return ""
	}
	return x.config.Key.Hash("replica head", x.config.LogID, head)
}

// sealed reports whether the sender of a head has our key; without a key it returns true. The comparison takes the same
// time for every wrong seal, so that its duration does not help to guess one.
func (x *Exchange) sealed(said *pb.ReplicaSaid) bool {
	return x.config.Key == nil || hmac.Equal([]byte(said.GetSeal()), []byte(x.seal(said.GetHead())))
}

// headOf decodes what another replica of this log says about how far it has got. nonce is the random value of the
// request that it answers, if any. ok is false for anything else: other messages, another log, this replica's own
// messages and, if there is a key, a wrong seal.
func (x *Exchange) headOf(data []byte) (h Head, nonce []byte, ok bool) {
	var said pb.ReplicaSaid
	var w pb.ReplicaHead
	if decode(data, &said) != nil || proto.Unmarshal(said.GetHead(), &w) != nil || w.GetLogId() != x.config.LogID ||
		!x.sealed(&said) ||
		w.GetWho() == x.who || w.GetReplica() == "" || w.GetWho() == "" {
		return h, nil, false
	}
	head, err := headFromWire(w.GetHead())
	return Head{
		Replica: w.GetReplica(), Who: w.GetWho(), Name: w.GetName(), Epoch: w.GetEpoch(), Head: head,
		First: events.Sequence(w.GetFirst()), Place: w.GetPlace(), Leads: w.GetLeads(), Term: w.GetTerm(),
		Incarnation: w.GetIncarnation(), Heard: time.Now(),
	}, w.GetNonce(), err == nil
}

// Survey asks all replicas how far they have got, and returns the answers sorted by name. It ends with ctx, or as soon
// as enough, called with the answers so far, returns true. A random nonce ensures that each answer belongs to this
// request, and is not an old message that was sent again.
func (x *Exchange) Survey(ctx context.Context, enough func([]Head) bool) ([]Head, error) {
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // it never returns an error
	request, err := encode(&pb.ReplicaAsk{
		LogId: x.config.LogID, Kind: pb.ReplicaAskKind_REPLICA_ASK_KIND_HEAD, Nonce: nonce,
	})
	if err != nil {
		return nil, err
	}
	inbox := x.config.Conn.NewRespInbox()
	answers, err := x.config.Conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }() // an error only says that the connection is closed
	if err := x.config.Conn.PublishRequest(x.all(), inbox, request); err != nil {
		return nil, err
	}
	heads := map[string]Head{}
	for {
		if all := sorted(heads); enough(all) {
			return all, nil
		}
		m, err := answers.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return sorted(heads), nil
		case errors.Is(err, natsgo.ErrNoResponders):
			// NATS says that nobody answers such requests: neither this replica nor another one runs yet.
			return nil, nil
		case err != nil:
			return sorted(heads), err
		}
		if h, of, ok := x.headOf(m.Data); ok && bytes.Equal(of, nonce) {
			heads[h.Replica] = h
		}
	}
}

// answerSurveys answers the requests that other replicas send to all replicas, until ctx ends.
func (x *Exchange) answerSurveys(ctx context.Context, requests *natsgo.Subscription, own func() Head) {
	for {
		m, err := requests.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, natsgo.ErrConnectionClosed), errors.Is(err, natsgo.ErrBadSubscription):
			return
		case err != nil || m.Reply == "":
			continue
		}
		var ask pb.ReplicaAsk
		if decode(m.Data, &ask) != nil || ask.GetLogId() != x.config.LogID ||
			ask.GetKind() != pb.ReplicaAskKind_REPLICA_ASK_KIND_HEAD {
			continue
		}
		if data, err := x.said(own(), ask.GetNonce()); err == nil {
			_ = m.Respond(data) // if the answer is lost, the other replica asks again
		}
	}
}
