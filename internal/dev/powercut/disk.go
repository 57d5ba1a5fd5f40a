package powercut

import (
	"maps"
	"path"
	"slices"
)

// Disk is what a disk has at one point of a trace (recorded system calls): what syncs have made durable, and changes
// that a power cut may still lose.
type Disk struct {
	trace *Trace
	at    int // number of steps (recorded calls) that have begun

	files   map[int]*file
	names   map[string]int // names that are durable, with the identities of their files
	links   []int          // steps that change names and are not durable yet
	running []int          // syncs that have begun and not ended
}

// file is the durable content of a file or a directory, and the steps (recorded calls) that change it and are not
// durable yet.
type file struct {
	directory bool
	content   []byte
	pending   []int
}

// rootFile is the identity (number) of the recorded directory itself.
const rootFile = 0

// NewDisk returns the disk as it was before the first step (recorded call) of a trace.
func NewDisk(t *Trace) *Disk {
	d := &Disk{trace: t, files: map[int]*file{rootFile: {directory: true}}, names: map[string]int{".": rootFile}}
	for name, id := range t.first {
		content, isFile := t.Before.Files[name]
		d.names[name], d.files[id] = id, &file{directory: !isFile, content: content}
	}
	return d
}

// Advance brings the disk to the moment at which the first to steps (recorded calls) of the trace have begun.
func (d *Disk) Advance(to int) {
	for d.at < to {
		d.end()
		d.begin(d.at)
		d.at++
	}
	d.end()
}

// end looks for syncs that have ended by now, and makes durable what they cover.
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

// synced makes those changes of a file durable that were complete before the sync (a step) began. id is the file's
// identity.
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
	f.content = slices.Clone(f.content) // copy before the change, because states returned earlier share the old slice
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

// parent returns the identity of the directory that contains a name, whether or not the directory's own name is
// durable; -1 if there is none.
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

// relink changes the map names as the step s (create, rename, remove and so on) does.
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

// sizeAfter returns the size of a file after a step, given its size before.
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

// resize shortens content, or extends it with zeros.
func resize(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}

// pending returns the steps (recorded calls) whose changes are not durable yet, in order. A power cut may undo any of
// them.
func (d *Disk) pending() []int {
	all := slices.Clone(d.links)
	for id := range maps.Keys(d.files) {
		all = append(all, d.files[id].pending...)
	}
	slices.Sort(all)
	return all
}
