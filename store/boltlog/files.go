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
		// If Lstat fails, the file was just pruned, and its size stays 0.
		if info, err := os.Lstat(f.path); err == nil {
			out[i].Bytes = info.Size()
		}
		if !out[i].Sealed {
			out[i].End = s.durable
			continue
		}
		// If this fails, End stays zero; whoever reads the records of the file gets the error.
		if end, err := f.sealedHead(); err == nil {
			out[i].End = end.Head
		}
	}
	return out, nil
}
