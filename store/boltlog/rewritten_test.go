package boltlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// rewriteRecord changes one byte of a stored record, and corrects its checksum.
func rewriteRecord(t *testing.T, dir string, r *events.Record) {
	t.Helper()
	stored, err := events.AppendRecord(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files(t, dir, ".db") {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := bytes.Index(content, stored); at >= 0; { // also in older copies of the page that bbolt left
			record := content[at : at+len(stored)]
			name := bytes.Index(record, []byte("demo"))
			if name < 0 {
				t.Fatalf("record %d has no name to change", r.Sequence)
			}
			record[name] = 'D'
			binary.LittleEndian.PutUint32(content[at-4:], crc32.Checksum(record, crc32.MakeTable(crc32.Castagnoli)))
			at = bytes.Index(content, stored)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARewrittenRecordIsGivenToNobody: the checksum of a rewritten record is right, but the chain is not.
func TestARewrittenRecordIsGivenToNobody(t *testing.T) {
	dir, all := written(t, 400)
	for _, at := range []int{5, len(all) / 2, len(all) - 30} {
		c := copyDir(t, dir)
		for all[at].Kind != events.KindPodChanged {
			at++
		}
		rewriteRecord(t, c, &all[at])
		check := func(what string, log store.Reader) {
			t.Helper()
			n, ended := 0, error(nil)
			for r, err := range log.Read(t.Context(), 0) {
				if ended = err; err != nil {
					break
				}
				if !reflect.DeepEqual(r, all[n]) {
					t.Fatalf("%s, record %d: it is given as it was rewritten", what, r.Sequence)
				}
				n++
			}
			if !errors.Is(ended, store.ErrCorrupt) || n > at {
				t.Errorf("%s, record %d: %d records are given, and %v", what, at+1, n, ended)
			}
		}
		reader, err := boltlog.OpenReadOnly(c)
		if err != nil {
			t.Fatal(err)
		}
		check("a reader", reader)
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		log := openLog(t, c, small)
		check("a controller", log)
	}
}

// TestAFlippedHeaderOfAMetaPage: neither bbolt nor we look at that header. A log that was not closed goes on.
func TestAFlippedHeaderOfAMetaPage(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 20 {
		w.Durable(storetest.Pod("job-a", n))
	}
	for page := range int64(2) {
		for at := range int64(16) {
			c := copyDir(t, dir) // as a crash leaves it
			flip(t, files(t, c, ".db")[0], page*pageSize+at, 4)
			again := openLog(t, c, small)
			w := storetest.NewWriter(t, again)
			if w.Next() != log.Head().Sequence+1 {
				t.Errorf("page %d, byte %d: the log ends with %d, not %d", page, at, w.Next()-1, log.Head().Sequence)
			}
			w.Durable(storetest.Pod("job-a", 100))
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
