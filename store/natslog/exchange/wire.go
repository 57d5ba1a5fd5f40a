package exchange

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// The bytes of a message:
//
//	1 byte   version
//	         ReplicaSaid, ReplicaAsk or ReplicaAnswer as protobuf
//	4 bytes  CRC-32C of all bytes before, little endian
const (
	version      = 1
	versionBytes = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errNoMessage = errors.New("the message is none of a replica")

func encode(m proto.Message) ([]byte, error) {
	out, err := proto.MarshalOptions{}.MarshalAppend([]byte{version}, m)
	if err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

func decode(data []byte, m proto.Message) error {
	n := len(data) - crc32.Size
	switch {
	case n < versionBytes:
		return errNoMessage
	case crc32.Checksum(data[:n], castagnoli) != binary.LittleEndian.Uint32(data[n:]):
		return fmt.Errorf("%w: its checksum is not that of its bytes", errNoMessage)
	case data[0] != version:
		return fmt.Errorf("%w that this program knows: it has version %d", errNoMessage, data[0])
	}
	if err := proto.Unmarshal(data[versionBytes:n], m); err != nil {
		return fmt.Errorf("%w: %w", errNoMessage, err)
	}
	return nil
}

func headToWire(h store.Head) *pb.CopyHead {
	return &pb.CopyHead{Sequence: uint64(h.Sequence), Time: int64(h.Time), Chain: h.Hash[:]}
}

func headFromWire(w *pb.CopyHead) (h store.Head, err error) {
	h.Sequence, h.Time = events.Sequence(w.GetSequence()), events.Time(w.GetTime())
	h.Hash, err = hashFromWire(w.GetChain())
	return h, err
}

func hashFromWire(b []byte) (h events.Hash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("%w: a chain value has %d bytes", errNoMessage, len(b))
	}
	return events.Hash(b), nil
}
