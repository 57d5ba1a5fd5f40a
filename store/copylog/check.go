package copylog

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/store"
)

// check returns an error unless the manifest is consistent: the records of its objects follow each other without gaps,
// and each object has the name that its entry requires.
func (m *Manifest) check() error {
	for _, t := range m.tails() {
		if len(t.Segments) == 0 || t.Segments[0].First != t.First || len(t.Begin) == 0 {
			return fmt.Errorf("of the file of record %d it has %d segments, and %d bytes of its beginning", t.First, len(t.Segments), len(t.Begin))
		}
	}
	end := store.Head{}
	for _, r := range m.Runs() {
		var err error
		if r.File != nil {
			err = m.checkFile(&end, r.File)
		} else {
			err = m.checkSegments(&end, r.Segments)
		}
		if err != nil {
			return err
		}
	}
	if m.Identity.LogID == "" || end != m.Head || end.Sequence == 0 {
		return fmt.Errorf("its head is record %d of log %q, and its objects end with record %d", m.Head.Sequence, m.Identity.LogID, end.Sequence)
	}
	return m.checkNames()
}

func (m *Manifest) checkFile(end *store.Head, f *File) error {
	for _, o := range f.Derived {
		if o.Name != WithSuffix(f.Object.Name, ".idx") && o.Name != WithSuffix(f.Object.Name, ".jobs") {
			return fmt.Errorf("an object derived from %s has the name %q", f.Object.Name, o.Name)
		}
	}
	return m.follows(end, f, true, f.FileNames())
}

func (m *Manifest) checkSegments(end *store.Head, t *Tail) error {
	for i := range t.Segments {
		s := &t.Segments[i]
		if err := m.follows(end, s, i == 0, s.SegmentNames()); err != nil {
			return err
		}
	}
	return nil
}

// follows returns an error unless object f continues the records before it, which end with *end. It then sets *end to
// the last record of f. If begins is set, f is the first object of a log file; records before it may then be missing,
// if a Hole of the manifest says so. names are the allowed names of the object.
func (m *Manifest) follows(end *store.Head, f *File, begins bool, names []string) error {
	name := f.Object.Name
	switch {
	case !slices.Contains(names, name) || f.Object.Bytes <= 0:
		return fmt.Errorf("the object with records %d to %d has the name %q and %d bytes", f.First, f.End.Sequence, f.Object.Name, f.Object.Bytes)
	case f.First == 0 || f.End.Sequence < f.First || f.Epoch > m.Identity.Epoch:
		return fmt.Errorf("%s has records %d to %d, epoch %d", name, f.First, f.End.Sequence, f.Epoch)
	case f.First == end.Sequence+1 && f.Before != end.Hash:
		return fmt.Errorf("%s does not go on from the records before it", name)
	case f.First != end.Sequence+1 && (!begins || !slices.Contains(m.Holes, Hole{From: end.Sequence + 1, Through: f.First - 1})):
		return fmt.Errorf("%s begins with record %d, and what is before it ends with record %d", name, f.First, end.Sequence)
	}
	*end = f.End
	return nil
}

func (m *Manifest) checkNames() error {
	for _, l := range m.Leaving {
		if !ofObject.MatchString(l.Name) {
			return fmt.Errorf("an object that is to go has the name %q", l.Name)
		}
	}
	for _, k := range m.Kept {
		if k.Name != KeptName(k.Head.Sequence, k.Epoch) {
			return fmt.Errorf("a manifest that stays has the name %q", k.Name)
		}
	}
	if m.Key != nil && m.Key.Name != KeyName {
		return fmt.Errorf("the key of the log has the name %q", m.Key.Name)
	}
	return nil
}
