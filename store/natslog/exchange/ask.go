package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

const (
	answerTime = 5 * time.Second // time after which an unanswered request is made again
	tries      = 3
)

// ErrGone is the error when the other replica no longer has the record. It also matches store.ErrPruned.
var ErrGone = fmt.Errorf("the other replica lacks it: %w", store.ErrPruned)

// Has describes the log of another replica.
type Has struct {
	Files []store.SharedFile // files without content, oldest first; the last one is still being written
	Chain *events.Hash       // chain value (hash over all records) after the requested record; nil if it is lacking
	Head  store.Head
}

func (x *Exchange) ask(ctx context.Context, who string, ask *pb.ReplicaAsk) (*pb.ReplicaAnswer, error) {
	ask.LogId = x.config.LogID
	data, err := encode(ask)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		bound, cancel := context.WithTimeout(ctx, answerTime)
		m, err := x.config.Conn.RequestWithContext(bound, Subject(x.config.Stream)+"."+who, data)
		cancel()
		a := &pb.ReplicaAnswer{}
		if err == nil {
			err = decode(m.Data, a)
		}
		switch {
		case err == nil && a.GetGone():
			return nil, fmt.Errorf("%w: %s", ErrGone, a.GetRefused())
		case err == nil && a.GetRefused() != "":
			return nil, errors.New("the other replica says: " + a.GetRefused())
		case err == nil:
			return a, nil
		case n >= tries || ctx.Err() != nil:
			return nil, fmt.Errorf("ask another replica: %w", err)
		}
	}
}

// Files asks the replica `who` for its files, and for its chain value (hash over all records so far) after record `at`.
func (x *Exchange) Files(ctx context.Context, who string, at events.Sequence) (has Has, err error) {
	a, err := x.ask(ctx, who, &pb.ReplicaAsk{Kind: pb.ReplicaAskKind_REPLICA_ASK_KIND_FILES, At: uint64(at)})
	if err != nil {
		return has, err
	}
	if has.Head, err = headFromWire(a.GetHead()); err != nil {
		return has, err
	}
	if len(a.GetChain()) > 0 {
		hash, err := hashFromWire(a.GetChain())
		if err != nil {
			return has, err
		}
		has.Chain = &hash
	}
	for _, w := range a.GetFiles() {
		f := store.SharedFile{
			First: events.Sequence(w.GetFirst()), Sealed: w.GetSealed(), Begin: w.GetBegin(), Term: w.GetTerm(),
			Offsets: map[string]events.Sequence{},
		}
		var err1, err2 error
		f.Before, err1 = headFromWire(w.GetBefore())
		f.End, err2 = headFromWire(w.GetEnd())
		if err := errors.Join(err1, err2); err != nil {
			return has, err
		}
		for _, o := range w.GetOffsets() {
			f.Offsets[o.GetConsumer()] = events.Sequence(o.GetThrough())
		}
		has.Files = append(has.Files, f)
	}
	return has, nil
}

// File returns a Fetch that copies a sealed file from the replica `who`; the file begins with record first. If the
// replica rewrites the file meanwhile, the Fetch fails. It does not verify the content.
func (x *Exchange) File(who string, first events.Sequence) store.Fetch {
	return func(ctx context.Context, to io.Writer) error {
		edition := ""
		for at, size := uint64(0), uint64(1); at < size; {
			a, err := x.ask(ctx, who, &pb.ReplicaAsk{
				Kind: pb.ReplicaAskKind_REPLICA_ASK_KIND_PART, At: uint64(first), Offset: at,
			})
			switch {
			case err != nil:
				return err
			case at > 0 && a.GetEdition() != edition:
				return fmt.Errorf("the other replica has written the file of record %d once more", first)
			case len(a.GetPart()) == 0 && at < a.GetBytes():
				return fmt.Errorf("the other replica gives nothing of the file of record %d", first)
			}
			if _, err := to.Write(a.GetPart()); err != nil {
				return err
			}
			edition, size = a.GetEdition(), a.GetBytes()
			at += uint64(len(a.GetPart()))
		}
		return nil
	}
}

// Groups fetches whole batches from the replica `who`: from record `from` on, until it has record through. before is
// the chain value (hash over all records so far) before record `from`. Groups computes the chain value after each group
// from its records, and returns an error if the replica has another one. A group never spans two files.
func (x *Exchange) Groups(
	ctx context.Context, who string, from events.Sequence, before events.Hash, through events.Sequence,
) iter.Seq2[store.StoredBatches, error] {
	return func(yield func(store.StoredBatches, error) bool) {
		g := gathering{next: from, hash: before}
		for g.next <= through || len(g.open.Records) > 0 || len(g.cut) > 0 {
			a, err := x.ask(ctx, who, &pb.ReplicaAsk{
				Kind: pb.ReplicaAskKind_REPLICA_ASK_KIND_RECORDS, At: uint64(g.next), Offset: uint64(len(g.cut)),
			})
			var b store.StoredBatches
			if err == nil {
				b, err = g.take(a)
			}
			if err != nil {
				yield(b, fmt.Errorf("fetch record %d of another replica: %w", g.next, err))
				return
			}
			if len(b.Records) > 0 && !yield(b, nil) {
				return
			}
		}
	}
}

// gathering joins the answers of a replica, which may cut a record in two, to whole batches.
type gathering struct {
	next events.Sequence     // the next record to request
	hash events.Hash         // the chain value (hash over all records so far) before it
	cut  []byte              // first bytes of that record, if an answer has ended within it
	open store.StoredBatches // records of a batch whose end has not arrived
}

// take adds the records of an answer, and returns the batches that are now complete; without records if there are none.
func (g *gathering) take(a *pb.ReplicaAnswer) (b store.StoredBatches, err error) {
	pieces := a.GetRecords()
	if len(pieces) == 0 || a.GetGoesOn() && len(pieces[len(pieces)-1]) == 0 {
		return b, errors.New("the answer has no records")
	}
	if a.GetBeginsFile() && len(g.cut) == 0 {
		if len(g.open.Records) > 0 {
			return b, fmt.Errorf("%w: a batch goes on in another file", store.ErrDiverged)
		}
		g.open.BeginsFile = true
	}
	if g.open.First == 0 {
		g.open.First = g.next
	}
	whole := pieces
	if a.GetGoesOn() {
		whole = pieces[:len(pieces)-1]
	}
	ended, err := g.add(whole)
	if err != nil {
		return b, err
	}
	if after, err := hashFromWire(a.GetAfter()); len(whole) > 0 && (err != nil || after != g.hash) {
		return b, fmt.Errorf("%w: behind record %d its chain value is %s, the records give %s",
			store.ErrDiverged, g.next-1, after, g.hash)
	}
	if a.GetGoesOn() {
		g.cut = append(g.cut, pieces[len(pieces)-1]...)
	}
	if ended == 0 {
		return b, nil
	}
	b, rest := g.open, g.open.Records[ended:]
	b.Records = b.Records[:ended:ended]
	g.open = store.StoredBatches{Records: rest}
	if len(rest) > 0 {
		g.open.First = g.next - events.Sequence(len(rest))
	}
	return b, nil
}

// add adds whole records to g.open. It returns how many records of g.open are in batches that are complete now; 0 if
// the new records complete none.
func (g *gathering) add(whole [][]byte) (ended int, err error) {
	for _, stored := range whole {
		stored = append(g.cut, stored...)
		g.cut = nil
		h, err := events.DecodeHeader(stored)
		if err == nil && h.Sequence != g.next {
			err = fmt.Errorf("%w: it says that it is record %d", store.ErrDiverged, h.Sequence)
		}
		if err == nil {
			g.hash, err = g.hash.Next(stored)
		}
		if err != nil {
			return 0, err
		}
		g.open.Records, g.next = append(g.open.Records, stored), g.next+1
		if h.Last {
			ended, g.open.After = len(g.open.Records), g.hash
		}
	}
	return ended, nil
}
