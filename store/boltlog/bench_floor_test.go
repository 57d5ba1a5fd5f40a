//go:build linux

package boltlog

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/fields"
)

// wal is the least that a durable log can do. Its file is written ahead. A group is one write and one fdatasync: for
// each record its length, checksum and bytes, and at the end the chain value. At the end of the file it starts over.
type wal struct {
	file   *os.File
	offset int64
	buffer []byte
	hash   events.Hash
}

const walBytes = 16 << 20

func newWAL(b *testing.B) *wal {
	f, err := os.Create(filepath.Join(b.TempDir(), "wal"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if err := disk.WriteZeros(f, walBytes); err != nil {
		b.Fatal(err)
	}
	return &wal{file: f}
}

func (w *wal) commit(group [][]byte) (err error) {
	w.buffer = w.buffer[:0]
	for _, stored := range group {
		w.buffer = appendRaw(w.buffer, stored)
		if w.hash, err = w.hash.Next(stored); err != nil {
			return err
		}
	}
	w.buffer = append(w.buffer, w.hash[:]...)
	if w.offset+int64(len(w.buffer)) > walBytes {
		w.offset = 0
	}
	if _, err := w.file.WriteAt(w.buffer, w.offset); err != nil {
		return err
	}
	w.offset += int64(len(w.buffer))
	return syscall.Fdatasync(int(w.file.Fd()))
}

// appender returns a function that many goroutines may call to append a record. One more goroutine commits the records
// that wait.
func (w *wal) appender(b *testing.B) func() error {
	type appending struct {
		stored []byte
		done   chan error
	}
	waiting := make(chan appending, 8192)
	go func() { // ends with the benchmark
		for first := range waiting {
			waits := []appending{first}
			for len(waiting) > 0 {
				waits = append(waits, <-waiting)
			}
			group := make([][]byte, len(waits))
			for i := range waits {
				group[i] = waits[i].stored
			}
			err := w.commit(group)
			for _, a := range waits {
				a.done <- err
			}
		}
	}()
	b.Cleanup(func() { close(waiting) })
	record := oneRecord()
	return func() error {
		stored, err := events.AppendRecord(nil, record)
		if err != nil {
			return err
		}
		done := make(chan error, 1)
		waiting <- appending{stored, done}
		return <-done
	}
}

// newProbe returns a function that appends 4 KiB to a growing file and syncs it.
func newProbe(b *testing.B) func() {
	f, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	page := bytes.Repeat([]byte{0xa5}, 4096)
	return func() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
}

// rawFile is a file with records one after the other, each with a length and a checksum.
type rawFile struct{ path string }

func appendRaw(buffer, stored []byte) []byte {
	buffer = binary.LittleEndian.AppendUint32(buffer, uint32(len(stored)))
	buffer = binary.LittleEndian.AppendUint32(buffer, crc32.Checksum(stored, fields.Castagnoli))
	return append(buffer, stored...)
}

// rawCopy writes the records of the files into one raw file.
func rawCopy(b *testing.B, files []*logFile, last events.Sequence) rawFile {
	var raw []byte
	for i, f := range files {
		end := last
		if i+1 < len(files) {
			end = files[i+1].first - 1
		}
		err := f.scan(end, func(_ events.Label, stored []byte) error {
			raw = appendRaw(raw, stored)
			return nil
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
	r := rawFile{filepath.Join(b.TempDir(), "raw")}
	if err := os.WriteFile(r.path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	return r
}

// scan reads the file, checks every record's checksum and passes the record to fn.
func (r rawFile) scan(b *testing.B, fn func(stored []byte)) {
	content, err := os.ReadFile(r.path)
	if err != nil {
		b.Fatal(err)
	}
	for len(content) > 0 {
		n := binary.LittleEndian.Uint32(content)
		stored := content[8:][:n]
		if crc32.Checksum(stored, fields.Castagnoli) != binary.LittleEndian.Uint32(content[4:]) {
			b.Fatal("checksum")
		}
		fn(stored)
		content = content[8+n:]
	}
}
