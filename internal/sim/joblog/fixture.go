package joblog

import (
	"crypto/sha256"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/memlog"
)

// Log is a log of a busy cluster in memory, in stored form and decoded.
type Log struct {
	*memlog.Log
	Loop    *loop.Loop // that wrote it
	Stored  [][]byte
	Records []events.Record
}

// New makes a log for a benchmark or a test.
func New(t testing.TB, cfg Config) *Log {
	t.Helper()
	l := &Log{Log: memlog.New(events.Identity{LogID: "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f", Epoch: 1})}
	var err error
	if l.Loop, err = Write(l.Log, cfg); err != nil {
		t.Fatal(err)
	}
	for rec, err := range l.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		stored, err := events.AppendRecord(nil, &rec)
		if err != nil {
			t.Fatal(err)
		}
		l.Stored, l.Records = append(l.Stored, stored), append(l.Records, rec)
	}
	return l
}

// Len is the number of records.
func (l *Log) Len() int { return len(l.Stored) }

// Bytes is their size in stored form.
func (l *Log) Bytes() (n int) {
	for _, stored := range l.Stored {
		n += len(stored)
	}
	return n
}

// Hash is the floor of verifying: SHA-256 of each record and of the value before it, in one go.
func (l *Log) Hash() {
	var block []byte
	var hash [sha256.Size]byte
	for _, stored := range l.Stored {
		block = append(append(block[:0], hash[:]...), stored...)
		hash = sha256.Sum256(block)
	}
}

// Messages are the protobuf messages of a record: header, facts and evidence. Unmarshal and Marshal are what the protobuf
// library takes for them, the floor of decoding and encoding.
type Messages struct {
	of    []proto.Message
	bytes [][]byte
}

// Messages takes every record apart.
func (l *Log) Messages(t testing.TB) *Messages {
	t.Helper()
	m := &Messages{}
	for i, stored := range l.Stored {
		var w pb.Record
		if err := proto.Unmarshal(stored, &w); err != nil {
			t.Fatal(err)
		}
		m.add(t, &pb.Header{}, w.GetHeader())
		m.add(t, &pb.Evidence{}, w.GetEvidence())
		if facts := message(l.Records[i].Kind); facts != nil {
			m.add(t, facts, w.GetFacts())
		}
	}
	return m
}

func (m *Messages) add(t testing.TB, message proto.Message, encoded []byte) {
	t.Helper()
	if err := proto.Unmarshal(encoded, message); err != nil {
		t.Fatal(err)
	}
	m.of, m.bytes = append(m.of, message), append(m.bytes, encoded)
}

// Unmarshal decodes all of them, each into a message of its own.
func (m *Messages) Unmarshal() {
	for i, of := range m.of {
		if err := proto.Unmarshal(m.bytes[i], of.ProtoReflect().Type().New().Interface()); err != nil {
			panic(err) // it could be decoded before
		}
	}
}

// Marshal encodes all of them into one buffer.
func (m *Messages) Marshal() {
	var buffer []byte
	var err error
	for _, of := range m.of {
		if buffer, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(buffer[:0], of); err != nil {
			panic(err) // it was decoded before
		}
	}
}

// message is an empty message for the facts of that kind; nil for kinds that hold none, or that are rare.
func message(kind events.Kind) proto.Message {
	switch kind {
	case events.KindJobAdded, events.KindJobChanged:
		return &pb.JobSeen{}
	case events.KindJobDeleted:
		return &pb.JobGone{}
	case events.KindSpecStored:
		return &pb.JobSpec{}
	case events.KindPodAdded, events.KindPodChanged:
		return &pb.PodSeen{}
	case events.KindPodDeleted:
		return &pb.PodGone{}
	case events.KindDecided:
		return &pb.Decision{}
	case events.KindCommandEnded:
		return &pb.CommandEnded{}
	default:
		return nil
	}
}
