package projector_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhatAnOlderFoldDoesNotKnowRaisesTheLeastFold: a new critical kind must keep older programs out, even if they
// begin with a snapshot. When this test fails, raise FoldVersion and LeastFold, then add a line here.
func TestWhatAnOlderFoldDoesNotKnowRaisesTheLeastFold(t *testing.T) {
	var kinds []string
	for k := events.Kind(1); k < 1000; k++ {
		if k.Critical() {
			kinds = append(kinds, fmt.Sprintf("%d %s", k, k))
		}
	}
	all := strings.Join(kinds, "\n")
	known := map[uint32]uint32{ // checksum of the critical kinds → the first fold with them
		0x216a8ed: 1,
	}
	if since, ok := known[crc32.ChecksumIEEE([]byte(all))]; !ok || since > projector.LeastFold {
		t.Errorf("the critical kinds are other ones than fold %d knew (checksum %#x):\n%s", projector.LeastFold, crc32.ChecksumIEEE([]byte(all)), all)
	}
}

// TestWhatCannotBeFoldedIsRefused: a record of an unknown critical kind, and the start of a program with records that
// need a newer fold.
func TestWhatCannotBeFoldedIsRefused(t *testing.T) {
	for _, row := range []struct {
		sentence string
		record   events.Record
		says     string // empty: it can be folded
	}{
		{"a critical kind", events.Record{Header: events.Header{Sequence: 7, Kind: 4711, Critical: true}}, "record 7 is of Kind(4711)"},
		{"another kind", events.Record{Header: events.Header{Sequence: 7, Kind: 4711}}, ""},
		{"a start that needs a newer fold", started(projector.FoldVersion + 1), "written by jobledger v9, which needs at least reader v8 (fold"},
		{"a start that needs this fold", started(projector.FoldVersion), ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			for _, err := range []error{projector.Readable(&row.record), projector.NewWorld().Check(&row.record)} {
				if errors.Is(err, events.ErrNewer) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
					t.Errorf("it is told %v, want %q", err, row.says)
				}
			}
		})
	}
}

func started(fold uint32) events.Record {
	return events.Record{
		Header: events.Header{Sequence: 2, Kind: events.KindControllerStarted, Critical: true, Stream: events.Controller},
		Facts:  &events.ControllerStarted{Version: "v9", Least: events.ReaderVersion{Fold: fold, Program: "v8"}},
	}
}
