package powercut

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is the kind of a call.
type Kind uint8

// The kinds of calls.
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

// Step is one call of a process. Steps are in the order in which the calls began.
type Step struct {
	Kind Kind
	Name string // name of the file at that time, relative to the root; "." is the root
	To   string // of a Rename: the new name
	File int    // identity of the file or directory, independent of its name
	At   int64  // of a Write and an Allocate: the offset
	Size int64  // of an Allocate: the length; of a Truncate: the new size
	Data []byte // of a Write and of a Say

	// Ended is the number of steps that had begun when the call returned. With Ended = 7 the call was done before step
	// 7 began (counted from 0). It is Never for a call that did not return.
	Ended int
}

// Never is the end of a call that did not return.
const Never = int(^uint(0) >> 1)

// String describes the step.
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

// Trace holds the steps of processes on a directory, one process after the other.
type Trace struct {
	Before State // the durable content before the first step
	Steps  []Step
	first  map[string]int // identities of the files in Before
}

// ErrCannotTrace is returned on a machine that does not allow tracing a child process.
var ErrCannotTrace = errors.New("a process cannot be traced here (ptrace)")

// Without returns the trace without the calls that match. Tests use it to prove that a check notices a forgotten call.
func (t *Trace) Without(match func(Step) bool) *Trace {
	return t.rearrange(func(s Step, keep func(Step)) {
		if !match(s) {
			keep(s)
		}
	})
}

// Late returns the trace with the calls that match moved behind the next call for which behind is true. If there is no
// such call, they are dropped. Tests use it to prove that a check notices a call that comes too late.
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

// rearrange returns a trace of the steps that the function each passes to keep. It adjusts Step.Ended: a step that
// ended before another began still does, if the two stay in the same order.
func (t *Trace) rearrange(each func(s Step, keep func(Step))) *Trace {
	out := &Trace{Before: t.Before, first: t.first}
	place := make([]int, len(t.Steps)+1) // for each old step, the number of new steps that begin before it
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
