package oldlog

import (
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestAnOldLogIsOneThatCanBeOpened: a controller with that size limit opens it, with all its records.
func TestAnOldLogIsOneThatCanBeOpened(t *testing.T) {
	const most = 16 << 20
	dir := t.TempDir()
	head, err := Write(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	if bytes, err := Bytes(dir); err != nil || bytes < most/2 || bytes > most {
		t.Errorf("it has %d bytes, %v", bytes, err)
	}
	log, err := boltlog.Open(dir, store.Options{MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if got := log.Head().Sequence; got != head {
		t.Errorf("its last record is %d, want %d", got, head)
	}
}
