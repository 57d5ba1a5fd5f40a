package natslog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// The bytes of a message:
//
//	1 byte   version
//	         Segment as protobuf
//	4 bytes  CRC-32C of all bytes before, little endian
const (
	versionInvalid = 0 // an unwritten byte must never look like a segment
	version        = 1
	versionBytes   = 1
)

var (
	deterministic = proto.MarshalOptions{Deterministic: true}
	castagnoli    = crc32.MakeTable(crc32.Castagnoli)
)

// errNoSegment is the error for bytes that are not a message of a log, or are damaged.
var errNoSegment = errors.New("the message is no segment of a log")

func encode(s *Segment) ([]byte, error) {
	w := &pb.Segment{
		Kind: pb.SegmentKind(s.Kind), LogId: s.Identity.LogID, Epoch: s.Identity.Epoch, Term: s.Term, Writer: s.Writer,
		First: uint64(s.First), Before: headToWire(s.Before), After: headToWire(s.After), BeginsFile: s.BeginsFile,
		Part: s.Part, Parts: s.Parts, Key: s.Key[:], Records: s.Stored, GoesOn: s.GoesOn,
		Least: &pb.SegmentReader{Format: s.Least.Format, Rules: s.Least.Rules, Fold: s.Least.Fold, Program: s.Least.Program},
	}
	for _, consumer := range slices.Sorted(maps.Keys(s.Offsets)) {
		w.Offsets = append(w.Offsets, &pb.CopyOffset{Consumer: consumer, Through: uint64(s.Offsets[consumer])})
	}
	out, err := deterministic.MarshalAppend([]byte{version}, w)
	if err != nil {
		return nil, fmt.Errorf("encode a segment behind record %d: %w", s.Before.Sequence, err)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

// Decode decodes a message. The error is events.ErrNewer if a newer program wrote the message; any other error means
// that the bytes are not a segment. The records share memory with data.
func Decode(data []byte) (Segment, error) {
	n := len(data) - crc32.Size
	if n < versionBytes || data[0] == versionInvalid {
		return Segment{}, errNoSegment
	}
	if crc32.Checksum(data[:n], castagnoli) != binary.LittleEndian.Uint32(data[n:]) {
		return Segment{}, fmt.Errorf("%w: its checksum is not that of its bytes", errNoSegment)
	}
	if data[0] != version {
		return Segment{}, newer("a message of the stream has version %d", data[0])
	}
	var w pb.Segment
	if err := proto.Unmarshal(data[versionBytes:n], &w); err != nil {
		return Segment{}, fmt.Errorf("%w: %w", errNoSegment, err)
	}
	least := w.GetLeast()
	s := Segment{
		Kind: Kind(w.GetKind()), Identity: events.Identity{LogID: w.GetLogId(), Epoch: w.GetEpoch()},
		Term: w.GetTerm(), Writer: w.GetWriter(), First: events.Sequence(w.GetFirst()), BeginsFile: w.GetBeginsFile(),
		Part: w.GetPart(), Parts: w.GetParts(),
		Stored: w.GetRecords(), GoesOn: w.GetGoesOn(), Offsets: offsetsFromWire(w.GetOffsets()),
		Least: events.ReaderVersion{
			Format: least.GetFormat(), Rules: least.GetRules(), Fold: least.GetFold(), Program: least.GetProgram(),
		},
	}
	var err1, err2 error
	s.Before, err1 = headFromWire(w.GetBefore())
	s.After, err2 = headFromWire(w.GetAfter())
	if len(w.GetKey()) == len(s.Key) {
		s.Key = events.Hash(w.GetKey())
	}
	if w.GetKind() > pb.SegmentKind_SEGMENT_KIND_CLOSED {
		return Segment{}, newer("a message of the stream is of kind %d", w.GetKind())
	}
	if err := errors.Join(err1, err2); err != nil || len(w.GetKey()) != len(s.Key) || !whole(&s) {
		return Segment{}, errors.Join(errNoSegment, err)
	}
	return s, nil
}

// whole reports whether the fields of a segment are consistent with each other.
func whole(s *Segment) bool {
	hasRecords := s.Kind == Records
	return s.Kind != 0 && s.Identity.LogID != "" && s.Writer != "" && s.Term > 0 &&
		s.Part >= 1 && s.Part <= s.Parts && s.Parts <= maxParts && (hasRecords || s.Parts == 1) &&
		hasRecords == (len(s.Stored) > 0) && hasRecords == (s.First > 0) &&
		(hasRecords && s.After.Sequence > s.Before.Sequence || !hasRecords && s.After == s.Before) &&
		(!s.GoesOn || s.Part < s.Parts)
}

func newer(format string, args ...any) error {
	return &events.NewerError{Has: events.ReaderVersion{Format: events.Format}, What: fmt.Sprintf(format, args...)}
}

func headToWire(h store.Head) *pb.CopyHead {
	return &pb.CopyHead{Sequence: uint64(h.Sequence), Time: int64(h.Time), Chain: h.Hash[:]}
}

func headFromWire(w *pb.CopyHead) (h store.Head, err error) {
	if len(w.GetChain()) != len(h.Hash) {
		return h, errors.New("a chain value has another length")
	}
	h.Sequence, h.Time, h.Hash = events.Sequence(w.GetSequence()), events.Time(w.GetTime()), events.Hash(w.GetChain())
	return h, nil
}

func offsetsFromWire(all []*pb.CopyOffset) map[string]events.Sequence {
	if len(all) == 0 {
		return nil
	}
	out := map[string]events.Sequence{}
	for _, o := range all {
		out[o.GetConsumer()] = events.Sequence(o.GetThrough())
	}
	return out
}
