package store

import "github.com/jobledger/jobledger/events"

// Filing decides when a log may begin its next file. It tracks the file to which the next batch is appended: a file
// that begins with stored states must first have the states of all subjects (its checkpoint, which FileRestated ends).
// The zero value is a file without records.
type Filing struct {
	open   bool  // the states that a new file must begin with are not all stored in it yet
	states int64 // bytes of stored states (a Job's folded state as a record) in the file
}

// Note adds a record of the file, by its kind and its size in stored form. Records come in order. begins says that the
// record is the first one of a file.
func (f *Filing) Note(kind events.Kind, begins bool, bytes int) {
	switch {
	case begins:
		*f = Filing{open: kind == events.KindStateStored}
	case kind == events.KindFileRestated:
		f.open = false
	}
	if kind == events.KindStateStored {
		f.states += int64(bytes)
	}
}

// Open reports whether the file's checkpoint (the stored states of all subjects) is not complete yet, so that the file
// must go on.
func (f *Filing) Open() bool { return f.open }

// States returns the size of the states that the file stores, in bytes.
func (f *Filing) States() int64 { return f.states }

// statesTimes: a file grows to at least 10 times the size of the states stored in it, so that states are at most a
// tenth of the log. Example: a file with 3 MB of states grows to 30 MB.
const statesTimes = 10

// Full reports whether a new file should follow a file of this size. limit is the configured size of files. roof is for
// a log with a maximum size, 0 for none: a file then ends at roof even if it is smaller than 10 times its states, but
// never before it is twice as large as its states.
func (f *Filing) Full(size, limit, roof int64) bool {
	wanted := statesTimes * f.states
	if roof > 0 {
		wanted = min(wanted, max(roof, 2*f.states))
	}
	return !f.open && size >= max(limit, wanted)
}
