package main

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobledger/jobledger/internal/read/show"
)

// source says which of two commands printed a line.
type source int

const (
	log        source = iota // the command jobledger events, which prints all records
	subscriber               // the command jobledger subscribe, which prints some of them
)

// merged prints the lines of the commands jobledger events and jobledger subscribe in the order of the records. The
// subscriber's line about a record comes after the line of the log. If both commands will print a record, merged waits
// for both lines. It is safe for concurrent use.
type merged struct {
	say func(format string, args ...any)
	// reports whether the subscriber prints a record of this kind about this object, too
	shared func(kind, object string) bool

	mu      sync.Mutex
	waiting [2][]string
	shown   [2]string // the last printed line of each command
}

// add takes the next line of one command, and prints all lines that need not wait any more.
func (m *merged) add(from source, line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[from] = append(m.waiting[from], line)
	for len(m.waiting[log]) > 0 {
		sequence, kind, object := fields(m.waiting[log][0])
		others := m.until(sequence)
		if m.shared(kind, object) && (others == 0 || place(m.waiting[subscriber][others-1]) != sequence) {
			return
		}
		m.print(log, 1)
		m.print(subscriber, others)
	}
}

// until returns how many of the subscriber's waiting lines are about records up to sequence, and so may be printed
// now.
func (m *merged) until(sequence uint64) (n int) {
	for i, line := range m.waiting[subscriber] {
		switch at := place(line); {
		case at > sequence:
			return n
		case at > 0:
			n = i + 1 // a line about no record is printed together with the next line about one
		}
	}
	return n
}

func (m *merged) print(from source, n int) {
	mark := [...]string{log: "", subscriber: beside}[from]
	for _, line := range m.waiting[from][:n] {
		m.say("%s", show.ClipWords(mark+line, width))
		m.shown[from] = line
	}
	m.waiting[from] = slices.Delete(m.waiting[from], 0, n)
}

// rest prints all lines that still wait. It is called once both commands have ended.
func (m *merged) rest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.print(log, len(m.waiting[log]))
	m.print(subscriber, len(m.waiting[subscriber]))
}

func (m *merged) last(from source) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown[from]
}

// fields returns the sequence (record number), kind and object of a line about a record; 0 and empty for any other
// line.
func fields(line string) (sequence uint64, kind, object string) {
	columns := strings.Fields(line)
	if len(columns) < 4 {
		return 0, "", ""
	}
	sequence, err := strconv.ParseUint(columns[0], 10, 64)
	if err != nil {
		return 0, "", ""
	}
	return sequence, columns[2], columns[3]
}

func place(line string) uint64 {
	sequence, _, _ := fields(line)
	return sequence
}
