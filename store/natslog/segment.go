package natslog

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Kind says what a message does.
type Kind uint8

// The kinds, with their numbers in segment.proto.
const (
	Claim    Kind = 1 // begins a term
	Records  Kind = 2 // has a group of records, or a part of one
	Released Kind = 3 // ends a term in good order
	Closed   Kind = 4 // ends the stream
)

// Segment is one message of the stream, or one part of a group of records that does not fit into one message.
type Segment struct {
	Kind       Kind
	Identity   events.Identity // of the log behind the records, or at the head when there are none
	Term       uint64          // that of the writer's claim
	Writer     string          // random, made anew for each claim; at most 253 bytes
	Before     store.Head      // that the records of all parts continue; of a claim the head of the log
	After      store.Head      // behind the records of all parts; Before when there are none
	BeginsFile bool            // the group's first record begins a file of the log
	Offsets    map[string]events.Sequence
	Least      events.ReaderVersion // of its reader
	Key        events.Hash          // SHA-256 of the log's KEY

	First       events.Sequence // the first record of this message; 0 when there are none
	Part, Parts uint32          // from 1; 1 of 1 for a message that is whole
	Stored      [][]byte        // records in stored form
	GoesOn      bool            // the last record goes on with the first one of the next part
}

// GroupOf is the segment of a group of records, to be encoded; term and writer are those of the claim.
func GroupOf(g store.Group, term uint64, writer string, key events.Hash) Segment {
	return Segment{
		Kind: Records, Identity: g.Identity, Term: term, Writer: writer, Before: g.Before, After: g.After,
		BeginsFile: g.BeginsFile, Offsets: g.Offsets, Least: g.Least, Key: key,
		First: g.Before.Sequence + 1, Part: 1, Parts: 1, Stored: g.Stored,
	}
}

// Batches are the records of a whole group, for the log of a replica.
func (s *Segment) Batches() store.StoredBatches {
	return store.StoredBatches{First: s.First, Records: s.Stored, After: s.After.Hash, BeginsFile: s.BeginsFile}
}
