package copylog

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// check checks what a manifest says against itself.
func (m *Manifest) check() error {
	end := store.Head{}
	for _, f := range m.Files {
		if err := m.follows(&end, f, FileName(f.First, f.Epoch, FileSuffix)); err != nil {
			return err
		}
		for _, o := range f.Derived {
			if o.Name != FileName(f.First, f.Epoch, ".idx") && o.Name != FileName(f.First, f.Epoch, ".jobs") {
				return fmt.Errorf("an object derived from %s has the name %q", f.Object.Name, o.Name)
			}
		}
	}
	if t := m.Tail; t != nil {
		if err := m.checkTail(&end, t); err != nil {
			return err
		}
	}
	for _, t := range m.Partial {
		at := store.Head{Sequence: t.First - 1}
		if len(t.Segments) > 0 {
			at.Hash = t.Segments[0].Before
		}
		if err := m.checkTail(&at, &t); err != nil {
			return err
		}
	}
	if m.Identity.LogID == "" || end != m.Head || end.Sequence == 0 {
		return fmt.Errorf("its head is record %d of log %q, and its objects end with record %d", m.Head.Sequence, m.Identity.LogID, end.Sequence)
	}
	return m.checkNames()
}

// follows checks that a run of records goes on from the end of those before it, and moves the end.
func (m *Manifest) follows(end *store.Head, f File, name string) error {
	switch {
	case f.Object.Name != name || f.Object.Bytes <= 0:
		return fmt.Errorf("the object with records %d to %d has the name %q and %d bytes", f.First, f.End.Sequence, f.Object.Name, f.Object.Bytes)
	case f.First == 0 || f.End.Sequence < f.First || f.Epoch > m.Identity.Epoch:
		return fmt.Errorf("%s has records %d to %d, epoch %d", name, f.First, f.End.Sequence, f.Epoch)
	case f.First == end.Sequence+1 && f.Before != end.Hash:
		return fmt.Errorf("%s does not go on from the records before it", name)
	case f.First != end.Sequence+1 && !m.gone(end.Sequence+1, f.First-1):
		return fmt.Errorf("%s begins with record %d, and what is before it ends with record %d", name, f.First, end.Sequence)
	}
	*end = f.End
	return nil
}

// gone reports whether a hole accounts for those records. What is before the first file was pruned before the first copy.
func (m *Manifest) gone(from, through events.Sequence) bool {
	for _, t := range m.Partial {
		if n := len(t.Segments); t.First == from && n > 0 {
			from = t.Segments[n-1].End.Sequence + 1
		}
	}
	return from == through+1 || slices.Contains(m.Holes, Hole{From: from, Through: through})
}

func (m *Manifest) checkTail(end *store.Head, t *Tail) error {
	if t.First != end.Sequence+1 && !m.gone(end.Sequence+1, t.First-1) || len(t.Segments) == 0 || t.Segments[0].First != t.First || len(t.Begin) == 0 {
		return fmt.Errorf("the tail begins with record %d, and what is before it ends with record %d", t.First, end.Sequence)
	}
	for _, s := range t.Segments {
		if err := m.follows(end, s, SegmentName(s.First, s.Epoch)); err != nil {
			return err
		}
	}
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
