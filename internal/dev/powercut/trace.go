package powercut

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is what a call does.
type Kind uint8

// The kinds of calls.
const (
	Write    Kind = 1 + iota // data into a file
	Truncate                 // a file gets another size
	Allocate                 // a file gets blocks, and grows if need be
	Sync                     // fsync or fdatasync of a file or a directory
	Create                   // a new file
	Mkdir                    // a new directory
	Rename                   // a file gets another name
	Unlink                   // a name goes
	Say                      // the process says something
)

var kindNames = map[Kind]string{
	Write: "write", Truncate: "truncate", Allocate: "allocate", Sync: "sync", Create: "create", Mkdir: "mkdir", Rename: "rename",
	Unlink: "unlink", Say: "say",
}

// Step is one call of a process, in the order in which the calls began.
type Step struct {
	Kind Kind
	Name string // of the file, as it was called then, below the root; "." is the root
	To   string // the new name, of a Rename
	File int    // which file or directory it is, whatever it is called
	At   int64  // where, of a Write and an Allocate
	Size int64  // how much of an Allocate; the new size, of a Truncate
	Data []byte // of a Write and of a Say

	// Ended is how many steps had begun when the call returned: it was done before the step of that index began. Of a call
	// that did not return it is Never.
	Ended int
}

// Never is the end of a call that did not return.
const Never = int(^uint(0) >> 1)

// String says what the step does, for a person.
func (s Step) String() string {
	switch s.Kind {
	case Write:
		return fmt.Sprintf("write %s, %d bytes at %d", s.Name, len(s.Data), s.At)
	case Truncate:
		return fmt.Sprintf("truncate %s to %d", s.Name, s.Size)
	case Allocate:
		return fmt.Sprintf("allocate %s, %d bytes at %d", s.Name, s.Size, s.At)
	case Rename:
		return fmt.Sprintf("rename %s to %s", s.Name, s.To)
	case Say:
		return fmt.Sprintf("say %.60q", s.Data)
	}
	return kindNames[s.Kind] + " " + s.Name
}

// Trace is what processes did to a directory, one after the other.
type Trace struct {
	Before State // what was there, durably, before the first step
	Steps  []Step
	first  map[string]int // the identities of what was there
}

// ErrCannotTrace is for a machine on which a child may not be traced.
var ErrCannotTrace = errors.New("a process cannot be traced here (ptrace)")

// Without is the trace as if the calls that match had not been made. It is for tests that a check notices when a call
// is forgotten.
func (t *Trace) Without(match func(Step) bool) *Trace {
	return t.rearrange(func(s Step, keep func(Step)) {
		if !match(s) {
			keep(s)
		}
	})
}

// Late is the trace as if the calls that match came behind the next one that satisfies behind.
func (t *Trace) Late(match, behind func(Step) bool) *Trace {
	var late []Step
	return t.rearrange(func(s Step, keep func(Step)) {
		if match(s) {
			late = append(late, s)
			return
		}
		keep(s)
		if behind(s) {
			for _, l := range late {
				keep(l)
			}
			late = nil
		}
	})
}

// rearrange makes a trace of the steps that each gives to keep. Ends are moved along: a step that had ended before
// another one began still has, when both keep their order.
func (t *Trace) rearrange(each func(s Step, keep func(Step))) *Trace {
	out := &Trace{Before: t.Before, first: t.first}
	place := make([]int, len(t.Steps)+1) // how many steps of the new trace begin before that one of the old
	for i, s := range t.Steps {
		place[i] = len(out.Steps)
		each(s, func(s Step) { out.Steps = append(out.Steps, s) })
	}
	place[len(t.Steps)] = len(out.Steps)
	for i := range out.Steps {
		if s := &out.Steps[i]; s.Ended != Never {
			s.Ended = max(i+1, place[s.Ended])
		}
	}
	return out
}

// Said is what the processes began to say in the steps [from, to).
func (t *Trace) Said(from, to int) []byte {
	var all []byte
	for _, s := range t.Steps[from:to] {
		if s.Kind == Say {
			all = append(all, s.Data...)
		}
	}
	return all
}

// Find gives the steps that match.
func (t *Trace) Find(match func(Step) bool) (at []int) {
	for i, s := range t.Steps {
		if match(s) {
			at = append(at, i)
		}
	}
	return slices.Clip(at)
}
