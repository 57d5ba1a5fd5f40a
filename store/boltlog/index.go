package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"weak"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/index"
)

// scan walks the stored records [first of the file, last] with their headers and checks what can be checked one by
// one: checksums, density, the end mark of the last one. Errors name the first bad record.
func (f *logFile) scan(last events.Sequence, fn func(h *events.Header, stored []byte) error) error {
	ended := true
	for next := f.first; next <= last; {
		chunks, failed := f.chunks(next, last, readBytes)
		for _, c := range chunks {
			reader, err := c.reader()
			if err == nil && reader.next != next {
				err = fmt.Errorf("%w: the next one there is %d", errChunk, reader.next)
			}
			for err == nil {
				var stored []byte
				var ok bool
				if stored, ok, err = reader.record(); !ok {
					break
				}
				var h events.Header
				if h, err = events.DecodeHeader(stored); err != nil {
					err = fmt.Errorf("%w: %w", errChunk, err)
				} else if h.Sequence != next {
					err = fmt.Errorf("%w: it says that it is record %d", errChunk, h.Sequence)
				} else if err = fn(&h, stored); err == nil {
					next, ended = next+1, h.Last
				}
			}
			if err != nil {
				return f.explain(next, err)
			}
		}
		if failed == nil && len(chunks) == 0 {
			failed = fmt.Errorf("%w: the record is missing", errPage)
		}
		if failed != nil {
			return f.explain(next, failed)
		}
	}
	if !ended {
		return f.corrupt(last, errors.New("the batch that it ends has no end mark"))
	}
	return nil
}

// buildIndex makes the index of the file's records through last.
func (f *logFile) buildIndex(last events.Sequence) (*index.Index, error) {
	x := index.New(f.first)
	err := f.scan(last, func(h *events.Header, stored []byte) error {
		name, err := nameOf(h, stored)
		x.Add(h, name)
		return err
	})
	return x, err
}

func nameOf(h *events.Header, stored []byte) (index.Name, error) {
	if !index.Named(h) {
		return index.Name{}, nil
	}
	namespace, name, err := events.EvidenceName(stored)
	if err != nil {
		return index.Name{}, fmt.Errorf("%w: %w", errChunk, err)
	}
	return index.Name{Namespace: namespace, Name: name}, nil
}

// run gives the stream's records of this file in [from, through].
func (f *logFile) run(s events.Stream, from, through events.Sequence) (index.Run, error) {
	memory, stored, err := f.lookup()
	switch {
	case err != nil:
		return index.Run{}, err
	case memory != nil:
		return memory.Run(s, from, through), nil
	}
	run, err := stored.run(s)
	return run.Clip(from, through), err
}

// bearers gives the streams that bore a name in this file, oldest first.
func (f *logFile) bearers(name index.Name, through events.Sequence) ([]index.Bearer, error) {
	memory, stored, err := f.lookup()
	switch {
	case err != nil:
		return nil, err
	case memory != nil:
		return memory.Bearers(name, through), nil
	}
	return stored.bearers(name)
}

// lookup gives one of the two forms of the index. A stored one that is missing, damaged or another file's is replaced by
// one made from the records.
func (f *logFile) lookup() (*index.Index, *storedIndex, error) {
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	if f.memory != nil {
		return f.memory, nil, nil
	}
	if stored := f.stored.Value(); stored != nil {
		return nil, stored, nil
	}
	f.mu.RLock()
	ended := f.ended
	var end head
	var err error
	if ended == nil {
		end, err = f.head()
	}
	f.mu.RUnlock()
	if ended != nil {
		return nil, nil, ended
	}
	if err != nil {
		return nil, nil, f.corrupt(f.first, err)
	}
	stored, err := readStoredIndex(f.indexPath(), f.first, end.Head)
	if err == nil {
		f.stored = weak.Make(stored)
		return nil, stored, nil
	}
	if f.memory, err = f.buildIndex(end.Sequence); err != nil {
		f.memory = nil
		return nil, nil, err
	}
	return f.memory, nil, nil
}

func (f *logFile) indexPath() string {
	return filepath.Join(filepath.Dir(f.path), fileName(f.first, indexSuffix))
}

// hasStoredIndex reports whether the index of a sealed file is there; whether it is good shows when it is read.
func (f *logFile) hasStoredIndex() bool {
	_, err := os.Stat(f.indexPath())
	return !errors.Is(err, fs.ErrNotExist)
}

// storeIndex writes the index of a sealed file beside it, and frees the one in memory.
func (f *logFile) storeIndex() error {
	memory, _, err := f.lookup()
	if err != nil || memory == nil {
		return err
	}
	f.mu.RLock()
	ended := f.ended
	var end head
	if ended == nil {
		end, err = f.head()
	}
	f.mu.RUnlock()
	if err := errors.Join(ended, err); err != nil {
		return err
	}
	if err := writeFile(f.indexPath(), encodeIndex(memory, end.Head)); err != nil {
		return fmt.Errorf("store the index of %s: %w", f.path, err)
	}
	f.indexMu.Lock()
	defer f.indexMu.Unlock()
	f.memory = nil
	return nil
}

// writeFile puts a whole file in place, durably: after a crash there is the old one, the new one or, if there was no old
// one, none.
func writeFile(path string, content []byte) error {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(path))
}
