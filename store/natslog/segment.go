package natslog

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Kind says what a message of the stream does: begin a writer's term, add records, end the term, or end the stream.
type Kind uint8

// The kinds of a message, with their numbers in segment.proto.
const (
	Claim    Kind = 1 // begins a term: one process's time as the writer
	Records  Kind = 2 // has a group of records (the records of one commit), or a part of a group
	Released Kind = 3 // ends a term: the writer sends nothing more
	Closed   Kind = 4 // ends the stream: no further message counts
)

// Segment is one message of the stream, decoded. A group of records (the records of one commit) that does not fit into
// one message is sent as several segments.
type Segment struct {
	Kind       Kind
	Identity   events.Identity // the log's ID and epoch after the records; without records, at Before
	Term       uint64          // number of the writer's claim, the message with which it became the writer
	Writer     string          // ID of the writer: random, new for each claim; at most 253 bytes
	Before     store.Head      // the last record before the group, with its chain hash; for a claim the log's last
	After      store.Head      // the last record of the group, with its chain hash; equal to Before if there are none
	BeginsFile bool            // the group's first record begins a file of the log
	Offsets    map[string]events.Sequence
	Least      events.ReaderVersion // minimum version of a reader of this message
	Key        events.Hash          // SHA-256 of the log's KEY

	First       events.Sequence // first record in this message; 0 if there are none
	Part, Parts uint32          // number of this part of the group, from 1, and of all its parts; 1 and 1 if undivided
	Stored      [][]byte        // records in stored form
	GoesOn      bool            // the last record continues in the next part
}

// GroupOf returns the segment with which the writer sends a group of records. term and writer are the number and the ID
// in its claim (the message with which it became the writer); key is the SHA-256 of the log's KEY.
func GroupOf(g store.Group, term uint64, writer string, key events.Hash) Segment {
	return Segment{
		Kind: Records, Identity: g.Identity, Term: term, Writer: writer, Before: g.Before, After: g.After,
		BeginsFile: g.BeginsFile, Offsets: g.Offsets, Least: g.Least, Key: key,
		First: g.Before.Sequence + 1, Part: 1, Parts: 1, Stored: g.Stored,
	}
}

// Batches returns the records of a whole group in the form that AppendStored of a replica's log takes.
func (s *Segment) Batches() store.StoredBatches {
	return store.StoredBatches{First: s.First, Records: s.Stored, After: s.After.Hash, BeginsFile: s.BeginsFile}
}
