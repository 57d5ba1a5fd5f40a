package index

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/jobledger/jobledger/events"
)

// Index is the index of the records from First on. Make it with New.
type Index struct {
	first events.Sequence

	mu      sync.RWMutex
	streams map[events.Stream][]uint32 // sequences less first, ascending: 4 bytes a record
	names   map[Name][]NamedStream

	youngest events.Time // of the objects that were first seen
}

// Name is the name of an object.
type Name struct{ Namespace, Name string }

// NamedStream is a stream that had an object of that name, and the first indexed record that says so.
type NamedStream struct {
	Stream events.Stream
	Since  events.Sequence
}

// New returns the empty index of the records from first on.
func New(first events.Sequence) *Index {
	return &Index{first: first, streams: map[events.Stream][]uint32{}, names: map[Name][]NamedStream{}}
}

// Named reports whether a record of that header names the object of its stream in its evidence.
func Named(h *events.Header) bool {
	if h.Stream.Kind != events.StreamJob && h.Stream.Kind != events.StreamCronJob {
		return false
	}
	switch h.Kind {
	case events.KindJobAdded, events.KindJobChanged, events.KindJobDeleted, events.KindStateStored,
		events.KindCronJobAdded, events.KindCronJobChanged, events.KindCronJobDeleted:
		return true
	default:
		return false
	}
}

// AddRecord indexes a record, with what it says of objects; records come in order.
func (x *Index) AddRecord(r *events.Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var name Name
	if Named(&r.Header) {
		name = Name{Namespace: r.Evidence.Namespace, Name: r.Evidence.Name}
	}
	if SeesNew(r.Kind) {
		x.youngest = max(x.youngest, born(r.Facts))
	}
	x.add(&r.Header, name)
}

// SeesNew reports whether a record of that kind sees an object for the first time. It is to be added with AddRecord.
func SeesNew(k events.Kind) bool { return k == events.KindJobAdded || k == events.KindPodAdded }

// born is when the object was created that a record sees, by the API server's clock; 0 of other records.
func born(f events.Facts) events.Time {
	switch f := f.(type) {
	case *events.JobSeen:
		return f.Created
	case *events.PodSeen:
		return f.Created
	}
	return 0
}

// Add indexes by its header a record that sees no new object; records come in order. The name is that of the stream's
// object, or empty.
func (x *Index) Add(h *events.Header, name Name) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add(h, name)
}

// Youngest is when the youngest object was created that the records see.
func (x *Index) Youngest() events.Time {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.youngest
}

// Take adds the records of a stream that no record was added of, by their sequences less First.
func (x *Index) Take(s events.Stream, offsets []uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.streams[s] = offsets
}

// TakeName likewise adds the streams that bore a name.
func (x *Index) TakeName(n Name, namedStreams []NamedStream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names[n] = namedStreams
}

// TakeYoungest likewise says when the youngest object was created that those records see.
func (x *Index) TakeYoungest(t events.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.youngest = max(x.youngest, t)
}

func (x *Index) add(h *events.Header, name Name) {
	x.streams[h.Stream] = append(x.streams[h.Stream], uint32(h.Sequence-x.first))
	if name == (Name{}) {
		return
	}
	namedStreams := x.names[name]
	if !slices.ContainsFunc(namedStreams, func(b NamedStream) bool { return b.Stream == h.Stream }) {
		x.names[name] = append(namedStreams, NamedStream{Stream: h.Stream, Since: h.Sequence})
	}
}

// Last is the newest indexed record of the stream; 0 when there is none.
func (x *Index) Last(s events.Stream) events.Sequence {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if run := x.streams[s]; len(run) > 0 {
		return x.first + events.Sequence(run[len(run)-1])
	}
	return 0
}

// Run gives the stream's records in [from, through]. It stays valid while more are added.
func (x *Index) Run(s events.Stream, from, through events.Sequence) Run {
	x.mu.RLock()
	all := x.streams[s]
	x.mu.RUnlock()
	lo, _ := slices.BinarySearchFunc(all, from, func(off uint32, t events.Sequence) int {
		return cmp.Compare(x.first+events.Sequence(off), t)
	})
	hi, _ := slices.BinarySearchFunc(all, through+1, func(off uint32, t events.Sequence) int {
		return cmp.Compare(x.first+events.Sequence(off), t)
	})
	if lo >= hi {
		return Run{}
	}
	return Run{first: x.first, offsets: all[lo:hi]}
}

// Bearers gives the streams that bore the name, by records at or before through, oldest first.
func (x *Index) Bearers(name Name, through events.Sequence) []NamedStream {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []NamedStream
	for _, b := range x.names[name] {
		if b.Since <= through {
			out = append(out, b)
		}
	}
	return out
}

// First is the sequence that the index begins with.
func (x *Index) First() events.Sequence { return x.first }

// Streams lists the indexed streams in order of kind and ID.
func (x *Index) Streams() []events.Stream {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(x.streams), CompareStreams)
}

// Names lists the indexed names in order of namespace and name.
func (x *Index) Names() []Name {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(x.names), CompareNames)
}

// CompareStreams orders streams by kind, then ID.
func CompareStreams(a, b events.Stream) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// CompareNames orders names by namespace, then name.
func CompareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Run is an ascending run of sequences. The zero Run is empty.
type Run struct {
	first   events.Sequence
	offsets []uint32
}

// RunOf is the run of the given ascending offsets from first.
func RunOf(first events.Sequence, offsets []uint32) Run { return Run{first: first, offsets: offsets} }

// Len is the number of sequences.
func (r Run) Len() int { return len(r.offsets) }

// At is the i-th sequence.
func (r Run) At(i int) events.Sequence { return r.first + events.Sequence(r.offsets[i]) }

// Clip gives the part of the run in [from, through].
func (r Run) Clip(from, through events.Sequence) Run {
	lo, hi := 0, len(r.offsets)
	for lo < hi && r.At(lo) < from {
		lo++
	}
	for lo < hi && r.At(hi-1) > through {
		hi--
	}
	return Run{first: r.first, offsets: r.offsets[lo:hi]}
}
