package copylog

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

// manifestVersion is the first byte of an encoded manifest. Then come the protobuf message and a CRC-32C of both,
// little endian.
const manifestVersion = 1

// MostManifest is an upper bound for the size of a manifest. Example: 100,000 files and segments take 30 MB.
const MostManifest = 256 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is the error when the bytes of a manifest are not the bytes that were written.
var ErrDamaged = errors.New("the manifest is damaged")

// Encode encodes the manifest. It returns an error if the manifest is not consistent, as Decode checks it.
func (m *Manifest) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	w := &pb.CopyManifest{
		LogId: m.Identity.LogID, Epoch: m.Identity.Epoch, Head: headToWire(m.Head), Written: int64(m.Written), Writer: m.Writer,
		First: uint64(m.First), Files: filesToWire(m.Files),
	}
	for _, t := range m.Partial {
		w.Partial = append(w.Partial, tailToWire(&t))
	}
	if m.Tail != nil {
		w.Tail = tailToWire(m.Tail)
	}
	for _, h := range m.Holes {
		w.Holes = append(w.Holes, &pb.CopyHole{From: uint64(h.From), Through: uint64(h.Through)})
	}
	for _, l := range m.Leaving {
		w.Leaving = append(w.Leaving, &pb.CopyLeaving{Name: l.Name, Since: int64(l.Since)})
	}
	for _, k := range m.Kept {
		w.Kept = append(w.Kept, &pb.CopyKept{Name: k.Name, Epoch: k.Epoch, Head: headToWire(k.Head), Written: int64(k.Written)})
	}
	if m.Key != nil {
		w.Key = objectToWire(*m.Key)
	}
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{manifestVersion}, w)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

// Decode decodes a manifest and checks that it is consistent: the records of its objects follow each other without gaps
// except for the recorded holes, the last one is the manifest's Head, and each object has the required name. It returns
// ErrDamaged, or events.ErrNewer if a newer program wrote the manifest in another form.
func Decode(content []byte) (*Manifest, error) {
	n := len(content) - crc32.Size
	if n < 1 || crc32.Checksum(content[:n], castagnoli) != binary.LittleEndian.Uint32(content[n:]) {
		return nil, fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	if content[0] != manifestVersion {
		return nil, fmt.Errorf("the manifest has the form %d, and this program knows %d: %w", content[0], manifestVersion, events.ErrNewer)
	}
	var w pb.CopyManifest
	if err := proto.Unmarshal(content[1:n], &w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m := &Manifest{
		Identity: events.Identity{LogID: w.GetLogId(), Epoch: w.GetEpoch()}, Head: headFromWire(w.GetHead()), Written: events.Time(w.GetWritten()),
		Writer: w.GetWriter(), First: events.Sequence(w.GetFirst()), Files: filesFromWire(w.GetFiles()),
	}
	for _, t := range w.GetPartial() {
		m.Partial = append(m.Partial, tailFromWire(t))
	}
	if w.GetTail() != nil {
		t := tailFromWire(w.GetTail())
		m.Tail = &t
	}
	for _, h := range w.GetHoles() {
		m.Holes = append(m.Holes, Hole{From: events.Sequence(h.GetFrom()), Through: events.Sequence(h.GetThrough())})
	}
	for _, l := range w.GetLeaving() {
		m.Leaving = append(m.Leaving, Leaving{Name: l.GetName(), Since: events.Time(l.GetSince())})
	}
	for _, k := range w.GetKept() {
		m.Kept = append(m.Kept, Kept{Name: k.GetName(), Epoch: k.GetEpoch(), Head: headFromWire(k.GetHead()), Written: events.Time(k.GetWritten())})
	}
	if w.GetKey() != nil {
		key := objectFromWire(w.GetKey())
		m.Key = &key
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}

func tailToWire(t *Tail) *pb.CopyTail {
	w := &pb.CopyTail{First: uint64(t.First), Begin: t.Begin, Term: t.Term, Segments: filesToWire(t.Segments)}
	for _, name := range slices.Sorted(maps.Keys(t.Offsets)) {
		w.Offsets = append(w.Offsets, &pb.CopyOffset{Consumer: name, Through: uint64(t.Offsets[name])})
	}
	return w
}

func tailFromWire(w *pb.CopyTail) Tail {
	t := Tail{First: events.Sequence(w.GetFirst()), Begin: w.GetBegin(), Term: w.GetTerm(), Segments: filesFromWire(w.GetSegments())}
	for _, o := range w.GetOffsets() {
		if t.Offsets == nil {
			t.Offsets = map[string]events.Sequence{}
		}
		t.Offsets[o.GetConsumer()] = events.Sequence(o.GetThrough())
	}
	return t
}

func filesToWire(files []File) (out []*pb.CopyFile) {
	for _, f := range files {
		w := &pb.CopyFile{
			First: uint64(f.First), Before: f.Before[:], End: headToWire(f.End), Epoch: f.Epoch, Records: f.Records[:], Object: objectToWire(f.Object),
		}
		for _, o := range f.Derived {
			w.Derived = append(w.Derived, objectToWire(o))
		}
		out = append(out, w)
	}
	return out
}

func filesFromWire(files []*pb.CopyFile) (out []File) {
	for _, w := range files {
		f := File{
			First: events.Sequence(w.GetFirst()), Before: hash(w.GetBefore()), End: headFromWire(w.GetEnd()), Epoch: w.GetEpoch(),
			Records: hash(w.GetRecords()), Object: objectFromWire(w.GetObject()),
		}
		for _, o := range w.GetDerived() {
			f.Derived = append(f.Derived, objectFromWire(o))
		}
		out = append(out, f)
	}
	return out
}

func objectToWire(o Object) *pb.CopyObject {
	return &pb.CopyObject{Name: o.Name, Bytes: uint64(o.Bytes), Sha256: o.SHA256[:]}
}

func objectFromWire(w *pb.CopyObject) Object {
	return Object{Name: w.GetName(), Bytes: int64(w.GetBytes()), SHA256: hash(w.GetSha256())}
}

func headToWire(h store.Head) *pb.CopyHead {
	return &pb.CopyHead{Sequence: uint64(h.Sequence), Time: int64(h.Time), Chain: h.Hash[:]}
}

func headFromWire(w *pb.CopyHead) store.Head {
	return store.Head{Sequence: events.Sequence(w.GetSequence()), Time: events.Time(w.GetTime()), Hash: hash(w.GetChain())}
}

func hash(b []byte) (h events.Hash) {
	copy(h[:], b)
	return h
}
