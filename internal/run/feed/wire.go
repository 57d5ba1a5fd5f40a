package feed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// The paths that a Giver answers.
const (
	HeadPath    = "/v1/head"    // the state of the log, a Head as JSON
	RecordsPath = "/v1/records" // ?from=SEQ: records, in frames; without from, or with 0, from the oldest record on
	ChainPath   = "/v1/chain"   // ?at=SEQ: the hash of all records through SEQ, a Place as JSON
)

// Parameters of RecordsPath for a process that copies the log and may lead next: its name, and whether the answer may
// wait for a new record.
const (
	followerParameter = "follower"
	waitParameter     = "wait"
)

// A part, the answer for RecordsPath, consists of frames:
//
//	frame:  uvarint length of the rest, 1 byte type, body
//	  'H'   the head of the log, as JSON; the first frame
//	  'B'   the header data of the log's first file; only if the request names no record
//	  'F'   the next record is the first one of a file; no body
//	  'R'   a record, as it is stored
//	  '.'   the end: the chain value after the last record, or before the first if there is none
//
// A part without a '.' frame was cut.
const (
	frameHead   byte = 'H'
	frameBegin  byte = 'B'
	frameFile   byte = 'F'
	frameRecord byte = 'R'
	frameEnd    byte = '.'

	partType = "application/vnd.jobledger.part.v1"

	maxFrame = 64 << 20 // longest valid frame; a record is far smaller
)

// Head identifies a log, and says how far it is and which controller has it.
type Head struct {
	Name    string `json:"name"`              // name of the controller's machine or pod
	Process string `json:"process,omitempty"` // name under which the controller holds or wants the Lease
	Leads   bool   `json:"leads"`             // the controller holds its Lease, or needs none
	// the controller has written its last record, and is about to release the Lease
	Ends     bool               `json:"ends,omitempty"`
	LogID    string             `json:"logID"`
	Epoch    uint64             `json:"epoch"`
	Sequence events.Sequence    `json:"sequence"`     // newest durable record
	Time     recordjson.Instant `json:"time"`         // time of that record
	Now      recordjson.Instant `json:"now,omitzero"` // time by the controller's clock; omitted while it has none
	First    events.Sequence    `json:"first"`        // oldest record that the log still has
	// NotListed is why the controller cannot list the cluster; empty if it can.
	NotListed string `json:"notListed,omitempty"`
}

// Place is the answer for ChainPath: the hash of all records of a log through the record Sequence.
type Place struct {
	LogID    string          `json:"logID"`
	Sequence events.Sequence `json:"sequence"`
	Hash     string          `json:"hash"`
}

// Part is an answer with records: whole batches of a log, one after the other.
type Part struct {
	Head  Head
	Begin []byte // header of the log's first file; nil unless the records begin there
	Runs  []Run  // consecutive, each from one file
}

// Run is a number of consecutive whole batches from one file of the log.
type Run = store.StoredBatches

// ErrCut is returned if an answer ended before it was complete.
var ErrCut = errors.New("the controller's answer was cut")

func appendFrame(buf []byte, kind byte, body []byte) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(body)+1))
	return append(append(buf, kind), body...)
}

func nextFrame(in *bufio.Reader) (kind byte, body []byte, err error) {
	size, err := binary.ReadUvarint(in)
	if err != nil || size == 0 || size > maxFrame {
		return 0, nil, fmt.Errorf("%w: %w", ErrCut, errors.Join(err, io.ErrUnexpectedEOF))
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrCut, err)
	}
	return b[0], b[1:], nil
}
