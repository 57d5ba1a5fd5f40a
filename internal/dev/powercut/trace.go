package powercut

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is the kind of a recorded system call.
type Kind uint8

// The kinds of recorded calls.
const (
	Write    Kind = 1 + iota // data is written to a file
	Truncate                 // a file's size is set
	Allocate                 // a file gets blocks, and grows if necessary
	Sync                     // fsync or fdatasync of a file or a directory
	Create                   // a new file
	Mkdir                    // a new directory
	Rename                   // a file gets another name
	Unlink                   // a name is removed
	Say                      // the process writes to its standard output
)

var kindNames = map[Kind]string{
	Write: "write", Truncate: "truncate", Allocate: "allocate", Sync: "sync", Create: "create", Mkdir: "mkdir", Rename: "rename",
	Unlink: "unlink", Say: "say",
}

// Step is one recorded system call. Steps are sorted by when they began.
type Step struct {
	Kind Kind
	Name string // name of the file at that time, relative to the root; "." is the root
	To   string // of a Rename: the new name
	File int    // identity of the file or directory, which does not change with its name
	At   int64  // of a Write and an Allocate: the offset
	Size int64  // of an Allocate: the length; of a Truncate: the new size
	Data []byte // of a Write and a Say: the bytes

	// Ended is the number of steps that had begun when the call returned. Steps count from 0, so with Ended = 7 the
	// call had returned before step 7 began. It is Never for a call that did not return.
	Ended int
}

// Never is the value of Ended for a call that did not return.
const Never = int(^uint(0) >> 1)

// String describes the step in words, for messages.
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

// Trace has the recorded system calls (steps) of processes that changed a directory, one process after the other.
type Trace struct {
	Before State // content of the directory before the first step
	Steps  []Step
	first  map[string]int // identities of the files in Before, by name
}

// ErrCannotTrace is returned on a machine that does not allow to trace a child process.
var ErrCannotTrace = errors.New("a process cannot be traced here (ptrace)")

// Without returns the trace without the calls that match. Tests use it to prove that a check notices a forgotten call.
func (t *Trace) Without(match func(Step) bool) *Trace {
	return t.rearrange(func(s Step, keep func(Step)) {
		if !match(s) {
			keep(s)
		}
	})
}

// Late returns the trace, changed so that the calls that match come behind the next call for which behind is true. If
// there is no such call, they are left out. Tests use it to prove that a check notices a call that comes too late.
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

// rearrange returns a trace with the steps that `each` passes to keep, in that order; `each` is called for each step
// of t. Step.Ended is adjusted: if a step ended before another one began, it still does, unless their order is
// reversed.
func (t *Trace) rearrange(each func(s Step, keep func(Step))) *Trace {
	out := &Trace{Before: t.Before, first: t.first}
	place := make([]int, len(t.Steps)+1) // for each old step: how many new steps begin before it
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

// Said returns the output of the processes in the steps [from, to).
func (t *Trace) Said(from, to int) []byte {
	var all []byte
	for _, s := range t.Steps[from:to] {
		if s.Kind == Say {
			all = append(all, s.Data...)
		}
	}
	return all
}

// Find returns the indexes of the steps that match.
func (t *Trace) Find(match func(Step) bool) (at []int) {
	for i, s := range t.Steps {
		if match(s) {
			at = append(at, i)
		}
	}
	return slices.Clip(at)
}
