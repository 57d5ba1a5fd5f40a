package boltlog

import (
	"os"

	"github.com/jobledger/jobledger/store"
)

// Files implements store.Filed: it returns the log's files with their first and last records, oldest first. If the end
// of a file cannot be read, its End is zero.
func (l *logReader) Files() ([]store.File, error) {
	s, err := l.view()
	if err != nil {
		return nil, err
	}
	out := make([]store.File, len(s.files))
	for i, f := range s.files {
		out[i] = store.File{First: f.first, Sealed: i < len(s.files)-1}
		if info, err := os.Lstat(f.path); err == nil { // an error means that the file was just pruned
			out[i].Bytes = info.Size()
		}
		if !out[i].Sealed {
			out[i].End = s.durable
			continue
		}
		if end, err := f.sealedHead(); err == nil { // on an error, a read of its records reports the cause
			out[i].End = end.Head
		}
	}
	return out, nil
}
