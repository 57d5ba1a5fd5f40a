package copylog

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Manifest says what a copy consists of, as of one head of its log.
type Manifest struct {
	Identity events.Identity // of the log, at the head
	Head     store.Head
	Written  events.Time     // by the clock of who wrote it
	Writer   string          // the version of that program
	First    events.Sequence // the oldest record that the log kept then; the copy may have older ones
	Files    []File          // sealed files of the log, oldest first
	Partial  []Tail          // files as segments, oldest first: sealed ones that will come whole, and ones that were gone before their end was copied
	Tail     *Tail           // the newest file; nil when there is nothing of it
	Holes    []Hole          // records that were gone before they were copied
	Leaving  []Leaving       // objects that are to be deleted
	Kept     []Kept          // earlier manifests that stay, oldest first
	Key      *Object         // nil for a copy without it
}

// File is a run of records in one object: a sealed file, or a segment of a tail.
type File struct {
	First   events.Sequence
	Before  events.Hash // the chain value before it
	End     store.Head
	Epoch   uint64      // of its last record
	Records events.Hash // of its records, as boltlog.Sealed.Records
	Object  Object
	Derived []Object // the index and the list of Jobs; they can be made again
}

// Object is an object as it was put.
type Object struct {
	Name   string
	Bytes  int64
	SHA256 events.Hash // of its bytes
}

// Tail is a file of the log that was written when it was copied, as segments: its beginning, or all of it.
type Tail struct {
	First    events.Sequence // of the file
	Begin    []byte          // as boltlog.Sealed.Begin
	Term     uint64          // the newest that began in the log
	Offsets  map[string]events.Sequence
	Segments []File // without a gap, from First on
}

// Hole is a run of records that the copy does not have.
type Hole struct{ From, Through events.Sequence }

// Leaving is an object that no manifest names any more.
type Leaving struct {
	Name  string
	Since events.Time
}

// Kept is a manifest that stays.
type Kept struct {
	Name    string
	Epoch   uint64
	Head    store.Head
	Written events.Time
}

// Clone is a copy of the manifest of which every part may be changed.
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

// Run is one file of the log as the copy has it: one of File and Segments is not nil.
type Run struct {
	File     *File
	Segments *Tail
}

// First is the record with which it begins.
func (r Run) First() events.Sequence {
	if r.File != nil {
		return r.File.First
	}
	return r.Segments.First
}

// Before is the chain value before it.
func (r Run) Before() events.Hash {
	if r.File != nil {
		return r.File.Before
	}
	return r.Segments.Segments[0].Before
}

// End is the last record of it that the copy has.
func (r Run) End() store.Head {
	if r.File != nil {
		return r.File.End
	}
	return r.Segments.Segments[len(r.Segments.Segments)-1].End
}

// Runs are all files of the log that the copy has, oldest first. They point into the manifest.
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

// End is the last record that a copy has; the zero Head of an empty one.
func (m *Manifest) End() store.Head {
	if all := m.Runs(); len(all) > 0 {
		return all[len(all)-1].End()
	}
	return store.Head{}
}

// Objects are all objects that the manifest names for a restore, but for what can be made again.
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

// Segments are those of the tail.
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
