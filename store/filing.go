package store

import "github.com/jobledger/jobledger/events"

// Filing is the account of the file that the next batch goes into; it decides when the next file may begin. A file that
// begins with the controller's state must come to stand alone (events.FileRestated), and does not end before. The zero
// value is a file without records.
type Filing struct {
	open   bool  // it does not stand alone yet
	states int64 // bytes of states in it, in stored form
}

// Note takes a record of the file, in order, and its size in stored form. begins is true for the file's first.
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

// Open reports whether the file does not stand alone yet.
func (f *Filing) Open() bool { return f.open }

// States is how many bytes of states it has.
func (f *Filing) States() int64 { return f.states }

// statesTimes: a file is at least so many times as large as the states in it, so that they are a tenth of the log at
// most.
const statesTimes = 10

// Full reports whether another file is to follow one of that size, when files are to have limit bytes. A file of a log
// that may not grow has a roof: it is ended there, though it is not ten times its states, but not before it is twice
// its states. Roof is 0 for none.
func (f *Filing) Full(size, limit, roof int64) bool {
	wanted := statesTimes * f.states
	if roof > 0 {
		wanted = min(wanted, max(roof, 2*f.states))
	}
	return !f.open && size >= max(limit, wanted)
}
