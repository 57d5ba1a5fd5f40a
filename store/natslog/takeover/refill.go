package takeover

import (
	"context"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// refillBytes is the size from which on a group of records is complete when lost records are stored in the stream
// again. A message with such a group fits into the 1 MiB that max_payload allows by default.
const refillBytes = 900 << 10

// Base is the last record of the local log that the stream still has, and the log's ID and epoch there. The records
// after it are stored in the stream again.
type Base struct {
	Identity events.Identity
	Head     store.Head
	Term     uint64 // newest term (number of a writer) that any replica knows
}

// Readable has the methods of the local log that a refill of the stream needs.
type Readable interface {
	Files() ([]store.File, error)
	ReadStored(ctx context.Context, from events.Sequence) iter.Seq2[[]byte, error]
}

// Groups divides the records of a log after base, up to record through, into groups of whole batches, in the form in
// which a writer stores them in the stream. Record through must end a batch. A group never spans two files. least is
// the minimum version of a reader.
func Groups(
	ctx context.Context, log Readable, base Base, through events.Sequence, least events.ReaderVersion,
) iter.Seq2[store.Group, error] {
	return func(yield func(store.Group, error) bool) {
		files, err := log.Files()
		if err != nil || base.Head.Sequence >= through {
			if err != nil {
				yield(store.Group{}, err)
			}
			return
		}
		g := grouping{begins: map[events.Sequence]bool{}, least: least}
		for _, f := range files {
			g.begins[f.First] = true
		}
		g.begin(base.Identity, base.Head)
		for stored, err := range log.ReadStored(ctx, base.Head.Sequence+1) {
			var done store.Group
			if err == nil {
				done, err = g.add(stored, through)
			}
			if err != nil {
				yield(store.Group{}, fmt.Errorf("read record %d for the stream: %w", g.at.Sequence+1, err))
				return
			}
			if done.Stored != nil && !yield(done, nil) || g.at.Sequence >= through {
				return
			}
		}
		yield(store.Group{}, fmt.Errorf("read record %d for the stream: the log ends before it", g.at.Sequence+1))
	}
}

// grouping combines stored records, one after the other, into groups of about refillBytes, as they are stored in the
// stream again.
type grouping struct {
	begins map[events.Sequence]bool // first records of the log's files: a group ends before each
	least  events.ReaderVersion
	now    events.Identity // the log's ID and epoch after the newest record
	at     store.Head      // the newest record, with its chain hash and time
	bytes  int
	open   store.Group
}

// begin begins a group after the record `head`. id is the log's ID and epoch there.
func (g *grouping) begin(id events.Identity, head store.Head) {
	g.now, g.at, g.bytes = id, head, 0
	g.open = store.Group{Before: head, BeginsFile: g.begins[head.Sequence+1], Least: g.least}
}

// add adds the next record. If that completes a group, add returns the group, otherwise a group without records. After
// record through a group is always complete.
func (g *grouping) add(stored []byte, through events.Sequence) (done store.Group, err error) {
	h, err := events.DecodeHeader(stored)
	if err == nil && h.Sequence != g.at.Sequence+1 {
		err = fmt.Errorf("%w: it says that it is record %d", store.ErrDiverged, h.Sequence)
	}
	if err == nil && (h.Kind == events.KindEpochChanged || h.Kind == events.KindLogCreated) {
		var r events.Record
		if r, err = events.DecodeRecord(stored); err == nil {
			g.now, err = store.NextIdentity(g.now, &r)
		}
	}
	if err == nil {
		g.at.Hash, err = g.at.Hash.Next(stored)
	}
	if err != nil {
		return done, err
	}
	g.at.Sequence, g.at.Time = h.Sequence, h.Time
	g.open.Stored, g.bytes = append(g.open.Stored, stored), g.bytes+len(stored)
	if !h.Last || g.bytes < refillBytes && h.Sequence < through && !g.begins[h.Sequence+1] {
		return done, nil
	}
	done = g.open
	done.Identity, done.After = g.now, g.at
	g.begin(g.now, g.at)
	return done, nil
}
