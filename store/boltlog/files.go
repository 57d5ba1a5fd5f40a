package boltlog

import (
	"os"

	"github.com/jobledger/jobledger/store"
)

// Files are those of the log, oldest first. All but the last are sealed: nothing is added to them. One whose end cannot
// be read has none.
func (l *logReader) Files() ([]store.File, error) {
	s, err := l.view()
	if err != nil {
		return nil, err
	}
	out := make([]store.File, len(s.files))
	for i, f := range s.files {
		out[i] = store.File{First: f.first, Sealed: i < len(s.files)-1}
		if info, err := os.Lstat(f.path); err == nil { // else it was pruned a moment ago
			out[i].Bytes = info.Size()
		}
		if !out[i].Sealed {
			out[i].End = s.durable
			continue
		}
		if end, err := f.sealedHead(); err == nil { // else whoever reads its records hears why
			out[i].End = end.Head
		}
	}
	return out, nil
}
