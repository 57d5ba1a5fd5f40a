package index

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/jobledger/jobledger/events"
)

// Index finds records by stream (all records of one Job or CronJob) and streams by name. It covers the records from
// sequence first on. Use New to create one.
type Index struct {
	first events.Sequence

	mu      sync.RWMutex
	streams map[events.Stream][]uint32 // sequences minus first, ascending: 4 bytes per record
	names   map[Name][]NamedStream

	youngest events.Time // latest creation time of the objects first seen in these records
}

// Name is the namespace and name of a Job or CronJob.
type Name struct{ Namespace, Name string }

// NamedStream is a stream (records of one Job or CronJob) whose object has a certain name. Since is the first indexed
// record that tells this name.
type NamedStream struct {
	Stream events.Stream
	Since  events.Sequence
}

// New returns an empty index for records from sequence first on.
func New(first events.Sequence) *Index {
	return &Index{first: first, streams: map[events.Stream][]uint32{}, names: map[Name][]NamedStream{}}
}

// Named reports whether a record with this header tells the name of the Job or CronJob whose stream it belongs to.
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

// AddRecord adds a record to the index, with the name and creation time of its object. Records must come in order.
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

// SeesNew reports whether a record of this kind shows an object for the first time. Such a record must be added with
// AddRecord, which notes the object's creation time.
func SeesNew(k events.Kind) bool { return k == events.KindJobAdded || k == events.KindPodAdded }

// born returns the creation time of the Job or pod that the facts show, by the API server's clock; 0 for other facts.
func born(f events.Facts) events.Time {
	switch f := f.(type) {
	case *events.JobSeen:
		return f.Created
	case *events.PodSeen:
		return f.Created
	}
	return 0
}

// Add adds a record that shows no new object, by its header. Records must come in order. name is the name of the Job or
// CronJob, or empty.
func (x *Index) Add(h *events.Header, name Name) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add(h, name)
}

// Youngest returns the latest creation time of all objects that these records show for the first time.
func (x *Index) Youngest() events.Time {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.youngest
}

// Take sets the records of a stream that has none in the index yet. offsets are their sequences minus the index's first
// one, ascending.
func (x *Index) Take(s events.Stream, offsets []uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.streams[s] = offsets
}

// TakeName sets the streams (Jobs, CronJobs) whose object has a name.
func (x *Index) TakeName(n Name, namedStreams []NamedStream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names[n] = namedStreams
}

// TakeYoungest raises the result of Youngest to at least t.
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

// Last returns the newest indexed record of the stream; 0 for none.
func (x *Index) Last(s events.Stream) events.Sequence {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if run := x.streams[s]; len(run) > 0 {
		return x.first + events.Sequence(run[len(run)-1])
	}
	return 0
}

// Run returns the stream's records in [from, through]. The result does not change when records are added later.
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

// Bearers returns the streams (Jobs, CronJobs) whose object has this name, oldest first, as far as the records up to
// through tell it.
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

// First returns the first sequence that the index covers.
func (x *Index) First() events.Sequence { return x.first }

// Streams returns the indexed streams in order of kind and ID.
func (x *Index) Streams() []events.Stream {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(x.streams), CompareStreams)
}

// Names returns the indexed names in order of namespace and name.
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

// Run is an ascending list of record sequences. The zero Run is empty.
type Run struct {
	first   events.Sequence
	offsets []uint32
}

// RunOf returns a Run of ascending sequences, given as differences from first.
func RunOf(first events.Sequence, offsets []uint32) Run { return Run{first: first, offsets: offsets} }

// Len returns the number of sequences.
func (r Run) Len() int { return len(r.offsets) }

// At returns the i-th sequence.
func (r Run) At(i int) events.Sequence { return r.first + events.Sequence(r.offsets[i]) }

// Clip returns the part of the run in [from, through].
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
