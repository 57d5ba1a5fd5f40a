package store

import "github.com/jobledger/jobledger/events"

// Filing is what a backend with files notes of the file that the next batch goes into. It says when the next file may begin. A file
// that begins with a state, the controller's, is to stand alone (events.FileRestated), and is not ended before it does. The zero value
// is for a file without records.
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

// statesTimes: a file is at least so many times as large as the states in it, so that they are a tenth of the log at most.
const statesTimes = 10

// Full reports whether another file is to follow one of that size, when files are to have limit bytes.
func (f *Filing) Full(size, limit int64) bool {
	return !f.open && size >= max(limit, statesTimes*f.states)
}
