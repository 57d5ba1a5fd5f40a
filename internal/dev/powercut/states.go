package powercut

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

const (
	sector = 512
	page   = 4096
)

// survivors decides, after a power cut, which effects of the pending steps (recorded calls that no sync made durable)
// are still on the disk.
type survivors struct {
	what string
	unit int64                             // written data survive or are lost in units of this many bytes
	name func(step int) bool               // reports whether a step's change of a name survives
	size func(step int) bool               // reports whether a step's change of a file's size survives
	data func(step int, offset int64) bool // reports whether a step's written unit that begins at offset survives
}

func always(int) bool              { return true }
func never(int) bool               { return false }
func allData(int, int64) bool      { return true }
func noData(int, int64) bool       { return false }
func only(step int) func(int) bool { return func(i int) bool { return i == step } }
func not(step int) func(int) bool  { return func(i int) bool { return i != step } }

// pick makes a random choice of the effects that survive a power cut. pending are the steps that are not durable;
// there must be at least one.
func pick(r *rand.Rand, pending []int) survivors {
	one := pending[r.IntN(len(pending))]
	coin := func(p float64) func(int) bool { return func(int) bool { return r.Float64() < p } }
	chances := []float64{0.1, 0.5, 0.9}
	chance := func() float64 { return chances[r.IntN(len(chances))] }
	scattered := func(unit int64) survivors {
		p := chance()
		return survivors{
			what: fmt.Sprintf("%.0f%% of the pieces of %d bytes survive", 100*p, unit), unit: unit,
			name: coin(chance()), size: coin(chance()), data: func(int, int64) bool { return r.Float64() < p },
		}
	}
	switch r.IntN(10) {
	case 0:
		return survivors{what: "nothing unsynced survives", unit: page, name: never, size: never, data: noData}
	case 1:
		return survivors{what: "all survives", unit: page, name: always, size: always, data: allData}
	case 2, 3:
		before := func(i int) bool { return i < one }
		return survivors{
			what: fmt.Sprintf("all survives before step %d, and part of that one", one), unit: sector, name: before,
			size: func(i int) bool { return i <= one }, data: func(i int, _ int64) bool { return i < one || i == one && r.IntN(2) == 0 },
		}
	case 4, 5:
		return scattered(page)
	case 6:
		return scattered(sector)
	case 7:
		if r.IntN(2) == 0 {
			return survivors{what: "names and sizes survive, data do not", unit: page, name: always, size: always, data: noData}
		}
		return survivors{what: "data survive, names do not", unit: page, name: never, size: always, data: allData}
	case 8:
		return survivors{what: fmt.Sprintf("all but step %d survives", one), unit: page,
			name: not(one), size: not(one), data: func(i int, _ int64) bool { return i != one }}
	default:
		return survivors{what: fmt.Sprintf("step %d alone survives", one), unit: page,
			name: only(one), size: only(one), data: func(i int, _ int64) bool { return i == one }}
	}
}

// State returns one of the states in which a power cut can leave the disk now, chosen at random, and a description of
// what survived.
func (d *Disk) State(r *rand.Rand) (State, string) {
	pending := d.pending()
	if len(pending) == 0 {
		pending = []int{-1} // everything is durable, so nothing can be lost; pick needs one step, and -1 is none
	}
	s := pick(r, pending)
	return d.state(s), s.what
}

// Durable returns the state with only those changes that a sync has made durable.
func (d *Disk) Durable() State {
	return d.state(survivors{unit: page, name: never, size: never, data: noData})
}

// All returns the state in which every change has reached the disk.
func (d *Disk) All() State {
	return d.state(survivors{unit: page, name: always, size: always, data: allData})
}

func (d *Disk) state(s survivors) State {
	names := maps.Clone(d.names)
	for _, i := range d.links {
		if s.name(i) {
			relink(names, &d.trace.Steps[i])
		}
	}
	out := State{Files: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := d.files[names[name]]
		switch {
		case !reachable(names, name):
		case !f.directory:
			out.Files[name] = d.content(f, s)
		case name != ".":
			out.Dirs = append(out.Dirs, name)
		}
	}
	return out
}

// reachable reports whether all directories above a name exist in names. Otherwise the file cannot be found any more.
func reachable(names map[string]int, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := names[dir]; !ok {
			return false
		}
	}
	return true
}

func (d *Disk) content(f *file, s survivors) []byte {
	if len(f.pending) == 0 {
		return f.content // the slice is shared with the disk, but its bytes never change
	}
	content := slices.Clone(f.content)
	size := int64(len(content))
	for _, i := range f.pending {
		step := &d.trace.Steps[i]
		if s.size(i) {
			size = sizeAfter(size, step)
			if step.Kind == Truncate {
				content = resize(content, min(size, int64(len(content))))
			}
		}
		if step.Kind != Write {
			continue
		}
		for from := int64(0); from < int64(len(step.Data)); {
			offset := step.At + from
			through := min(from+s.unit-offset%s.unit, int64(len(step.Data)))
			if s.data(i, offset) {
				content = resize(content, max(int64(len(content)), step.At+through))
				copy(content[offset:], step.Data[from:through])
			}
			from = through
		}
	}
	return resize(content, size)
}
