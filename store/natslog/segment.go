package natslog

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Kind says what a message of the stream does.
type Kind uint8

// The kinds, with their numbers in segment.proto.
const (
	Claim    Kind = 1 // begins a term
	Records  Kind = 2 // has a group of records, or a part of a group
	Released Kind = 3 // ends a term in an orderly way
	Closed   Kind = 4 // ends the stream: no further message counts
)

// Segment is one message of the stream. A group of records that does not fit into one message is sent as several
// segments.
type Segment struct {
	Kind       Kind
	Identity   events.Identity // identity of the log after the records; at the head if there are none
	Term       uint64          // term of the writer's claim
	Writer     string          // random, new for each claim; at most 253 bytes
	Before     store.Head      // head that the group's records continue; for a claim the head of the log
	After      store.Head      // head after the group's records; equal to Before if there are none
	BeginsFile bool            // the group's first record begins a file of the log
	Offsets    map[string]events.Sequence
	Least      events.ReaderVersion // minimum version of a reader of this message
	Key        events.Hash          // SHA-256 of the log's KEY

	First       events.Sequence // first record in this message; 0 if there are none
	Part, Parts uint32          // number of this part, from 1, and of parts; 1 and 1 for a whole segment
	Stored      [][]byte        // records in stored form
	GoesOn      bool            // the last record continues in the next part
}

// GroupOf returns the segment for a group of records. term and writer are those of the leader's claim.
func GroupOf(g store.Group, term uint64, writer string, key events.Hash) Segment {
	return Segment{
		Kind: Records, Identity: g.Identity, Term: term, Writer: writer, Before: g.Before, After: g.After,
		BeginsFile: g.BeginsFile, Offsets: g.Offsets, Least: g.Least, Key: key,
		First: g.Before.Sequence + 1, Part: 1, Parts: 1, Stored: g.Stored,
	}
}

// Batches returns the records of a whole group in the form in which a replica's log can append them.
func (s *Segment) Batches() store.StoredBatches {
	return store.StoredBatches{First: s.First, Records: s.Stored, After: s.After.Hash, BeginsFile: s.BeginsFile}
}
