package powercut

import (
	"maps"
	"path"
	"slices"
)

// Disk is what is on a disk while a trace is played: what a sync has covered, and what is on its way.
type Disk struct {
	trace *Trace
	at    int // steps that have begun

	files   map[int]*file
	names   map[string]int // durable names
	links   []int          // steps on their way that change names
	running []int          // syncs that have begun and not ended
}

// file is a file's or a directory's durable content, and the steps on their way that change it.
type file struct {
	directory bool
	content   []byte
	pending   []int
}

// rootFile is the identity of the directory that is traced.
const rootFile = 0

// NewDisk is the disk before the first step of a trace.
func NewDisk(t *Trace) *Disk {
	d := &Disk{trace: t, files: map[int]*file{rootFile: {directory: true}}, names: map[string]int{".": rootFile}}
	for name, id := range t.first {
		content, isFile := t.Before.Files[name]
		d.names[name], d.files[id] = id, &file{directory: !isFile, content: content}
	}
	return d
}

// Advance plays the trace until that many steps have begun.
func (d *Disk) Advance(to int) {
	for d.at < to {
		d.end()
		d.begin(d.at)
		d.at++
	}
	d.end()
}

// end takes the syncs that have ended into account.
func (d *Disk) end() {
	d.running = slices.DeleteFunc(d.running, func(i int) bool {
		s := &d.trace.Steps[i]
		if s.Ended > d.at {
			return false
		}
		d.synced(i, s.File)
		return true
	})
}

func (d *Disk) begin(i int) {
	switch s := &d.trace.Steps[i]; s.Kind {
	case Write, Truncate, Allocate:
		d.files[s.File].pending = append(d.files[s.File].pending, i)
	case Create, Mkdir:
		d.files[s.File] = &file{directory: s.Kind == Mkdir}
		d.links = append(d.links, i)
	case Rename, Unlink:
		d.links = append(d.links, i)
	case Sync:
		d.running = append(d.running, i)
	case Say:
	}
}

// synced makes durable what was done to a file before a sync of it began.
func (d *Disk) synced(sync, id int) {
	f := d.files[id]
	covered := func(i int) bool { return d.trace.Steps[i].Ended <= sync }
	if f.directory {
		d.links = slices.DeleteFunc(d.links, func(i int) bool {
			s := &d.trace.Steps[i]
			if !covered(i) || d.parent(s.Name) != id {
				return false
			}
			relink(d.names, s)
			return true
		})
		return
	}
	f.content = slices.Clone(f.content) // states may still have the old one
	f.pending = slices.DeleteFunc(f.pending, func(i int) bool {
		if !covered(i) {
			return false
		}
		s := &d.trace.Steps[i]
		f.content = resize(f.content, sizeAfter(int64(len(f.content)), s))
		if s.Kind == Write {
			copy(f.content[s.At:], s.Data)
		}
		return true
	})
}

// parent is the identity of the directory that a name is in, whether that one's own name is durable or not; -1 when
// there is none.
func (d *Disk) parent(name string) int {
	dir := path.Dir(name)
	if id, ok := d.names[dir]; ok {
		return id
	}
	for _, i := range d.links {
		if s := &d.trace.Steps[i]; s.Kind == Mkdir && s.Name == dir {
			return s.File
		}
	}
	return -1
}

// relink changes names as a step does.
func relink(names map[string]int, s *Step) {
	switch s.Kind {
	case Create, Mkdir:
		names[s.Name] = s.File
	case Rename:
		if names[s.Name] == s.File {
			delete(names, s.Name)
		}
		names[s.To] = s.File
	case Unlink:
		if names[s.Name] == s.File {
			delete(names, s.Name)
		}
	}
}

// sizeAfter is the size that a file of that size has after a step.
func sizeAfter(size int64, s *Step) int64 {
	switch s.Kind {
	case Write:
		return max(size, s.At+int64(len(s.Data)))
	case Allocate:
		return max(size, s.At+s.Size)
	case Truncate:
		return s.Size
	}
	return size
}

// resize cuts content, or adds zeros.
func resize(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}

// pending gives the steps that are on their way, in their order.
func (d *Disk) pending() []int {
	all := slices.Clone(d.links)
	for id := range maps.Keys(d.files) {
		all = append(all, d.files[id].pending...)
	}
	slices.Sort(all)
	return all
}
