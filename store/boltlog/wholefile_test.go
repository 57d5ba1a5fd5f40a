package boltlog_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestATailThatDoesNotStandAloneIsNotEnded whatever its size, also after a restart. Once it stands alone, it ends when
// it has ten times the bytes of its states. A later process counts these bytes again.
func TestATailThatDoesNotStandAloneIsNotEnded(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir, small)
	w := storetest.NewWriter(t, l)
	w.Create()
	grow := func(bytes int) { // in records of about 170 bytes
		items := make([]storetest.Item, bytes/170)
		for i := range items {
			items[i] = storetest.Pod("job-a", i)
		}
		w.Durable(items...)
	}
	reopen := func() {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = openLog(t, dir, small)
		w = storetest.NewWriter(t, l)
	}
	grow(80 << 10)
	second := l.NextFile()
	if second == 1 {
		t.Fatal("there is only one file")
	}
	state, err := proto.Marshal(&pb.WorldState{Program: strings.Repeat("v", 20<<10)})
	if err != nil {
		t.Fatal(err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindStateStored, Facts: &events.StoredState{Encoded: state}})
	for range 2 {
		grow(80 << 10)
		if got := l.NextFile(); got != second {
			t.Fatalf("file %d does not stand alone, and the next one begins with %d", second, got)
		}
		reopen()
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindFileRestated, Facts: &events.FileRestated{File: second}})
	reopen()
	if got := l.NextFile(); got != second {
		t.Fatalf("file %d is not ten times its states, and the next one begins with %d", second, got)
	}
	grow(60 << 10)
	if got := l.NextFile(); got == second {
		t.Errorf("file %d stands alone, has ten times its states, and is not ended", second)
	}
}
