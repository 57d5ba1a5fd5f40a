package joblog

import (
	"crypto/sha256"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// Log is the log of a busy cluster, in memory. It has its records as stored bytes, and decoded.
type Log struct {
	*memlog.Log
	Loop    *loop.Loop // the loop that wrote it
	Stored  [][]byte
	Records []events.Record
}

// New writes a log for a benchmark or a test.
func New(t testing.TB, cfg Config) *Log {
	t.Helper()
	l := &Log{Log: memlog.New(events.Identity{LogID: "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f", Epoch: 1})}
	var err error
	if l.Loop, err = Write(l.Log, cfg); err != nil {
		t.Fatal(err)
	}
	var all []byte // one piece of memory for all records, which the garbage collector does not scan
	var ends []int
	for rec, err := range l.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if all, err = events.AppendRecord(all, &rec); err != nil {
			t.Fatal(err)
		}
		l.Records, ends = append(l.Records, rec), append(ends, len(all))
	}
	start := 0
	for _, end := range ends {
		l.Stored = append(l.Stored, all[start:end:end])
		start = end
	}
	return l
}

// Forget drops everything except the stored bytes, so that the garbage collector has less to scan.
func (l *Log) Forget() { l.Log, l.Loop, l.Records = nil, nil, nil }

// Len returns the number of records.
func (l *Log) Len() int { return len(l.Stored) }

// Bytes returns the size of all records in stored form.
func (l *Log) Bytes() (n int) {
	for _, stored := range l.Stored {
		n += len(stored)
	}
	return n
}

// Hash computes SHA-256 over each record and the hash before it, which is the least that a verification of the log must
// do.
func (l *Log) Hash() {
	var block []byte
	var hash [sha256.Size]byte
	for _, stored := range l.Stored {
		block = append(append(block[:0], hash[:]...), stored...)
		hash = sha256.Sum256(block)
	}
}

// Messages has the protobuf messages in records (header, facts and evidence), encoded.
type Messages struct {
	types []protoreflect.MessageType
	bytes []byte // all messages, one after the other
	ends  []int
}

// Messages returns the messages of all records.
func (l *Log) Messages(t testing.TB) *Messages {
	t.Helper()
	m := &Messages{}
	add := func(message proto.Message, encoded []byte) {
		m.types, m.bytes = append(m.types, message.ProtoReflect().Type()), append(m.bytes, encoded...)
		m.ends = append(m.ends, len(m.bytes))
	}
	for _, stored := range l.Stored {
		var w pb.Record
		if err := proto.Unmarshal(stored, &w); err != nil {
			t.Fatal(err)
		}
		var h pb.Header
		if err := proto.Unmarshal(w.GetHeader(), &h); err != nil {
			t.Fatal(err)
		}
		add(&h, w.GetHeader())
		add(&pb.Evidence{}, w.GetEvidence())
		if facts := message(events.Kind(h.GetKind())); facts != nil {
			add(facts, w.GetFacts())
		}
	}
	return m
}

// Unmarshal decodes each message, and passes it to fn unless fn is nil. A benchmark compares with it, because this is
// the cost of the protobuf library alone.
func (m *Messages) Unmarshal(fn func(proto.Message)) {
	start := 0
	for i, end := range m.ends {
		message := m.types[i].New().Interface()
		if err := proto.Unmarshal(m.bytes[start:end], message); err != nil {
			panic(err) // no error is possible: AppendRecord has encoded these messages
		}
		if start = end; fn != nil {
			fn(message)
		}
	}
}

// Decoded returns the decoded messages.
func (m *Messages) Decoded() (all []proto.Message) {
	m.Unmarshal(func(message proto.Message) { all = append(all, message) })
	return all
}

// message returns an empty protobuf message for the facts of a kind of record; nil for rare kinds, and for kinds
// without such a message.
func message(kind events.Kind) proto.Message {
	switch kind {
	case events.KindJobAdded, events.KindJobChanged:
		return &pb.JobSeen{}
	case events.KindJobDeleted:
		return &pb.JobGone{}
	case events.KindSpecStored:
		return &pb.JobSpec{}
	case events.KindTemplateStored:
		return &pb.JobTemplate{}
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
