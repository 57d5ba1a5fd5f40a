package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

const (
	partBytes = 512 << 10 // maximum bytes of a file, or of records, in one answer
	headroom  = 64 << 10  // space in a message for everything except the part
	leastPart = 4 << 10   // minimum size of a part, if max_payload is small
)

// answerAll answers the requests of other replicas, one by one, until ctx ends.
func (x *Exchange) answerAll(ctx context.Context, requests *natsgo.Subscription, log store.Shared) {
	for {
		m, err := requests.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, natsgo.ErrConnectionClosed), errors.Is(err, natsgo.ErrBadSubscription):
			return
		case err != nil || m.Reply == "":
			continue
		}
		a := &pb.ReplicaAnswer{}
		if err := x.answer(ctx, m.Data, log, a); err != nil {
			a = &pb.ReplicaAnswer{Refused: err.Error(), Gone: errors.Is(err, store.ErrPruned)}
		}
		if data, err := encode(a); err == nil {
			_ = m.Respond(data) // if the answer is lost, the other replica asks again
		}
	}
}

func (x *Exchange) answer(ctx context.Context, data []byte, log store.Shared, a *pb.ReplicaAnswer) error {
	var ask pb.ReplicaAsk
	if err := decode(data, &ask); err != nil {
		return err
	}
	if ask.GetLogId() != x.config.LogID {
		return fmt.Errorf("this replica is of log %s", x.config.LogID)
	}
	a.Head = headToWire(log.Head())
	at := events.Sequence(ask.GetAt())
	most := max(leastPart, min(partBytes, int(x.config.Conn.MaxPayload())-headroom))
	switch ask.GetKind() {
	case pb.ReplicaAskKind_REPLICA_ASK_KIND_FILES:
		return files(log, at, a)
	case pb.ReplicaAskKind_REPLICA_ASK_KIND_PART:
		return part(log, at, int64(ask.GetOffset()), most, a)
	case pb.ReplicaAskKind_REPLICA_ASK_KIND_RECORDS:
		return records(ctx, log, at, int(ask.GetOffset()), most, a)
	case pb.ReplicaAskKind_REPLICA_ASK_KIND_UNSPECIFIED, pb.ReplicaAskKind_REPLICA_ASK_KIND_HEAD:
	}
	return fmt.Errorf("a request of kind %d is not known", ask.GetKind())
}

// files puts into the answer a list of the log's files. It adds the chain value (hash over all records so far) after
// record `at`, if the log still has it.
func files(log store.Shared, at events.Sequence, a *pb.ReplicaAnswer) error {
	if at <= log.Head().Sequence {
		hash, err := log.Chain(at)
		if err == nil {
			a.Chain = hash[:]
		} else if !errors.Is(err, store.ErrPruned) {
			return err
		}
	}
	all, err := log.Files()
	if err != nil {
		return err
	}
	for _, f := range all {
		file, err := log.Share(f.First)
		if err != nil {
			return err
		}
		w := &pb.ReplicaFile{
			First: uint64(file.First), Before: headToWire(file.Before), End: headToWire(file.End), Sealed: file.Sealed,
			Begin: file.Begin, Term: file.Term,
		}
		for consumer, through := range file.Offsets {
			w.Offsets = append(w.Offsets, &pb.CopyOffset{Consumer: consumer, Through: uint64(through)})
		}
		a.Files = append(a.Files, w)
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// part puts into the answer at most `most` bytes of the sealed file that begins with record first, from byte offset on.
func part(log store.Shared, first events.Sequence, offset int64, most int, a *pb.ReplicaAnswer) (err error) {
	file, err := log.Share(first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if !file.Sealed || offset < 0 || offset > file.Bytes {
		return fmt.Errorf("the file of record %d is written, or has no byte %d", first, offset)
	}
	a.Bytes, a.Edition = uint64(file.Bytes), file.Edition
	a.Part = make([]byte, min(int64(most), file.Bytes-offset))
	if n, err := file.Content.ReadAt(a.Part, offset); err != nil && (!errors.Is(err, io.EOF) || n < len(a.Part)) {
		return err
	}
	return nil
}

// records puts into the answer records of one file, from record `from` on, at most `most` bytes. It leaves out the
// first `offset` bytes of record `from`, which an earlier answer had.
func records(ctx context.Context, log store.Shared, from events.Sequence, offset, most int, a *pb.ReplicaAnswer) error {
	all, err := log.Files()
	if err != nil {
		return err
	}
	through := log.Head().Sequence
	for _, f := range all {
		switch {
		case f.First == from:
			a.BeginsFile = true
		case f.First > from:
			through = min(through, f.First-1)
		}
	}
	if from > through {
		return fmt.Errorf("record %d is not there: the log ends with record %d", from, log.Head().Sequence)
	}
	at, whole := from, from-1
	for stored, err := range log.ReadStored(ctx, from) {
		if err != nil {
			return err
		}
		if offset > len(stored) {
			return fmt.Errorf("record %d has no byte %d", at, offset)
		}
		stored, offset = stored[offset:], 0
		if len(stored) > most {
			a.Records, a.GoesOn = append(a.Records, stored[:most]), true
			break
		}
		a.Records, most, whole = append(a.Records, stored), most-len(stored), at
		if at++; at > through || most == 0 {
			break
		}
	}
	if whole < from {
		return nil
	}
	hash, err := log.Chain(whole)
	a.After = hash[:]
	return err
}
