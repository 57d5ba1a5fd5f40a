package copylog

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Manifest describes the content of a copy of a log: all objects, with the records in them, up to the record Head.
type Manifest struct {
	Identity events.Identity // the log's ID, and its epoch (one life of the log) at Head
	Head     store.Head
	Written  events.Time     // when this manifest was written, by the writer's clock
	Writer   string          // version of the writing program
	First    events.Sequence // oldest record in the log at that time; the copy may have older ones
	Files    []File          // sealed files of the log, oldest first
	// Files that the copy has as segments, oldest first: sealed files that are not copied whole yet, and files that
	// were pruned before their end was copied
	Partial []Tail
	Tail    *Tail     // the newest file of the log, in segments; nil if none of it is copied
	Holes   []Hole    // records that were pruned before they were copied
	Leaving []Leaving // objects that are no longer part of the copy, to be deleted
	Kept    []Kept    // earlier manifests that are kept, oldest first
	Key     *Object   // nil for a copy without the key
}

// File is a range of records in one object of the copy: a sealed log file (no longer written), or a segment of a file
// that was being written.
type File struct {
	First   events.Sequence
	Before  events.Hash // chain value (hash over all records so far) before the first record
	End     store.Head
	Epoch   uint64      // epoch (one life of the log) of the last record
	Records events.Hash // hash of all records, as boltlog.Sealed.Records computes it
	Object  Object
	Derived []Object // index of the file, and list of its Jobs; a restore can rebuild them
}

// Object describes a stored object.
type Object struct {
	Name   string
	Bytes  int64
	SHA256 events.Hash // hash of the object's bytes
}

// Tail is a log file that was being written when it was copied. The copy has all of it, or its beginning, as segments.
type Tail struct {
	First    events.Sequence // first record of the file
	Begin    []byte          // description at the beginning of the file, as in boltlog.Sealed.Begin
	Term     uint64          // newest term (number of the log's writer) that began in the log
	Offsets  map[string]events.Sequence
	Segments []File // without gaps; the first one begins with record First
}

// Hole is a range of records that are missing in the copy, because they were deleted before they were copied.
type Hole struct{ From, Through events.Sequence }

// Leaving is an object that no manifest names any more, and that will be deleted. Since is when the last manifest that
// names it was replaced.
type Leaving struct {
	Name  string
	Since events.Time
}

// Kept is an earlier manifest that is kept, so that the copy can be restored as of that time.
type Kept struct {
	Name    string
	Epoch   uint64
	Head    store.Head
	Written events.Time
}

// Clone returns a deep copy of the manifest.
func (m *Manifest) Clone() *Manifest {
	c := *m
	c.Files, c.Partial, c.Holes = slices.Clone(m.Files), slices.Clone(m.Partial), slices.Clone(m.Holes)
	c.Leaving, c.Kept = slices.Clone(m.Leaving), slices.Clone(m.Kept)
	if m.Tail != nil {
		t := *m.Tail
		t.Segments = slices.Clone(t.Segments)
		c.Tail = &t
	}
	return &c
}

// Run is one log file in the copy: either a whole File, or a Tail with the file's Segments; the other field is nil.
type Run struct {
	File     *File
	Segments *Tail
}

// First returns the sequence of the first record.
func (r Run) First() events.Sequence {
	if r.File != nil {
		return r.File.First
	}
	return r.Segments.First
}

// Before returns the chain value (hash over all records so far) before the first record.
func (r Run) Before() events.Hash {
	if r.File != nil {
		return r.File.Before
	}
	return r.Segments.Segments[0].Before
}

// End returns the last record that the copy has of this file, with its chain hash and time.
func (r Run) End() store.Head {
	if r.File != nil {
		return r.File.End
	}
	return r.Segments.Segments[len(r.Segments.Segments)-1].End
}

// Runs returns all log files that the copy has, whole or in segments, oldest first. The results point into the
// manifest.
func (m *Manifest) Runs() (all []Run) {
	for i := range m.Files {
		all = append(all, Run{File: &m.Files[i]})
	}
	for i := range m.Partial {
		all = append(all, Run{Segments: &m.Partial[i]})
	}
	if m.Tail != nil {
		all = append(all, Run{Segments: m.Tail})
	}
	slices.SortFunc(all, func(a, b Run) int { return cmp.Compare(a.First(), b.First()) })
	return all
}

// End returns the last record of the copy, with its chain hash and time; the zero Head for an empty copy.
func (m *Manifest) End() store.Head {
	if all := m.Runs(); len(all) > 0 {
		return all[len(all)-1].End()
	}
	return store.Head{}
}

// Objects returns the objects that a restore needs. It leaves out objects that can be rebuilt.
func (m *Manifest) Objects() (all []Object) {
	for _, f := range m.Files {
		all = append(all, f.Object)
	}
	for _, t := range m.tails() {
		for _, s := range t.Segments {
			all = append(all, s.Object)
		}
	}
	if m.Key != nil {
		all = append(all, *m.Key)
	}
	return all
}

// Segments returns the segments (objects with a part of the file) of the newest log file.
func (m *Manifest) Segments() []File {
	if m.Tail == nil {
		return nil
	}
	return m.Tail.Segments
}

func (m *Manifest) tails() []Tail {
	all := slices.Clone(m.Partial)
	if m.Tail != nil {
		all = append(all, *m.Tail)
	}
	return all
}
