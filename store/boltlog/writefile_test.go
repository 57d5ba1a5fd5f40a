package boltlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// storedOf returns the records of one file in stored form.
func storedOf(t *testing.T, s *boltlog.Sealed) (all [][]byte) {
	t.Helper()
	err := s.Walk(t.Context(), func(_ events.Label, stored []byte, _ events.Hash) error {
		all = append(all, slices.Clone(stored))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestALogIsWrittenAgainFromItsRecords: each file of a log is read by itself and written again in another directory.
// The log there has the same records, its files have the same hashes, and it can be written. Until all files are there,
// it cannot be opened.
func TestALogIsWrittenAgainFromItsRecords(t *testing.T) {
	dir, all := written(t, 300)
	log := openLog(t, dir, small)
	if err := log.SetOffset("nats", 40); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "again")
	if err := boltlog.BeginRestore(to, "of a test"); err != nil {
		t.Fatal(err)
	}
	firsts, err := boltlog.Firsts(dir)
	if err != nil || len(firsts) < 3 {
		t.Fatal(firsts, err)
	}
	for _, first := range firsts {
		s, err := boltlog.OpenSealed(filepath.Join(dir, boltlog.FileName(first)), first)
		if err != nil {
			t.Fatal(err)
		}
		offsets, err := s.Offsets()
		if err != nil {
			t.Fatal(err)
		}
		stored := storedOf(t, s)
		spec := boltlog.FileSpec{First: first, Begin: s.Begin, Term: s.Term, Offsets: offsets}
		end, id, err := boltlog.WriteFile(t.Context(), to, spec, func(yield func([]byte, error) bool) {
			for _, one := range stored {
				if !yield(one, nil) {
					return
				}
			}
		})
		if err != nil || end != s.End || id != s.Identity {
			t.Fatalf("the file of record %d ends with %+v of %s, %v, want %+v", first, end, id, err, s.End)
		}
		again, err := boltlog.OpenSealed(filepath.Join(to, boltlog.FileName(first)), first)
		if err != nil {
			t.Fatal(err)
		}
		hash, err1 := s.Records(t.Context(), nil)
		its, err2 := again.Records(t.Context(), nil)
		if hash != its || hash != boltlog.RecordsHash(s.Before.Hash, stored, s.End.Hash) || err1 != nil || err2 != nil {
			t.Errorf("the file of record %d has another hash, %v, %v", first, err1, err2)
		}
		if !reflect.DeepEqual(again.Begin, s.Begin) || again.Term != s.Term {
			t.Errorf("the file of record %d begins with %x and term %d", first, again.Begin, again.Term)
		}
		if err := errors.Join(s.Close(), again.Close()); err != nil {
			t.Fatal(err)
		}
	}
	_, byReader := boltlog.OpenReadOnly(to)
	_, byWriter := boltlog.Open(to, small)
	_, byVerify := boltlog.Verify(t.Context(), to, nil)
	for _, opened := range []error{byReader, byWriter, byVerify} {
		if !errors.Is(opened, boltlog.ErrRestoring) {
			t.Errorf("what is being restored is opened: %v", opened)
		}
	}
	if err := boltlog.EndRestore(to); err != nil {
		t.Fatal(err)
	}
	if report, err := boltlog.Verify(t.Context(), to, nil); err != nil || int(report.Records) != len(all) {
		t.Fatalf("verify: %+v, %v", report, err)
	}
	log = openLog(t, to, small)
	if got := records(t, log); !reflect.DeepEqual(got, all) {
		t.Error("it has other records")
	}
	if through, err := log.Offset("nats"); through != 40 || err != nil {
		t.Errorf("the consumer has got through %d, %v", through, err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestASegment: a segment decodes to the same records. With any bit flipped it does not decode.
func TestASegment(t *testing.T) {
	dir, _ := written(t, 20)
	s, err := boltlog.OpenSealed(filepath.Join(dir, boltlog.FileName(1)), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it was only read
	stored := storedOf(t, s)
	value, err := boltlog.EncodeSegment(1, stored, s.End.Hash)
	if err != nil {
		t.Fatal(err)
	}
	got, after, err := boltlog.DecodeSegment(1, events.Hash{}, value)
	if err != nil || after != s.End.Hash || !reflect.DeepEqual(got, stored) {
		t.Fatalf("%d of %d records, %v", len(got), len(stored), err)
	}
	if _, _, err := boltlog.DecodeSegment(2, events.Hash{}, value); err == nil {
		t.Error("it is taken for one of later records")
	}
	if _, _, err := boltlog.DecodeSegment(1, events.Hash{1}, value); err == nil {
		t.Error("it is taken for one behind other records")
	}
	for at := range value {
		value[at] ^= 1 << (at % 8)
		if _, _, err := boltlog.DecodeSegment(1, events.Hash{}, value); err == nil {
			t.Fatalf("byte %d is another, and nobody sees it", at)
		}
		value[at] ^= 1 << (at % 8)
		if _, _, err := boltlog.DecodeSegment(1, events.Hash{}, value[:at]); err == nil {
			t.Fatalf("it ends with byte %d, and nobody sees it", at)
		}
	}
	half, err := boltlog.EncodeSegment(1, stored[:len(stored)-1], s.End.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := boltlog.DecodeSegment(1, events.Hash{}, half); err == nil {
		t.Error("records are missing, and nobody sees it")
	}
}

// TestASealedFileIsReadBesideItsWriter: an opened file gives the same records after it is packed and removed. The file
// that is being written says where it begins.
func TestASealedFileIsReadBesideItsWriter(t *testing.T) {
	dir, _ := written(t, 300)
	log := openLog(t, dir, small)
	s, err := boltlog.OpenSealed(filepath.Join(dir, boltlog.FileName(1)), 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Records(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Pack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, boltlog.FileName(1))); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Records(t.Context(), nil); got != want || err != nil {
		t.Errorf("it has other records now, %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	firsts, err := boltlog.Firsts(dir)
	if err != nil {
		t.Fatal(err)
	}
	last := firsts[len(firsts)-1]
	tail, _, err := boltlog.OpenWritten(dir, last)
	if err != nil {
		t.Fatal(err)
	}
	if before, err := log.Chain(last - 1); tail.Before.Hash != before || tail.Term != log.Term() || tail.Before.Sequence != last-1 || err != nil {
		t.Errorf("the tail begins behind %+v, term %d, %v", tail.Before, tail.Term, err)
	}
	if err := tail.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := boltlog.OpenWritten(dir, last+1); err == nil || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a file that is not there: %v", err)
	}
}
