package main

import (
	"bytes"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestMorning keeps the fixture of the scripts the same every time.
func TestMorning(t *testing.T) {
	var texts [2][]byte
	for i := range texts {
		log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
		morning(t, log)
		names := history.NamesOf(t.Context(), history.Local{Log: log})
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			names.Learn(&r)
			texts[i] = append(texts[i], recordjson.Record(&r)...)
			texts[i] = append(texts[i], '\n')
			t.Logf("%d %s %s %s", r.Sequence, r.Kind, names.Object(&r), names.Detail(&r))
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two mornings are written differently")
	}
}
