package words

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestTheEndOfACommandOfWhichNothingElseIsKnown: the record says what it was about, as far as this program knows the
// command.
func TestTheEndOfACommandOfWhichNothingElseIsKnown(t *testing.T) {
	stream := events.JobStream("uid-demo")
	for want, ended := range map[string]events.CommandEnded{
		"command 3 of record 41: done":                      {},
		"create pod #7: done":                               {Type: events.CommandCreatePod, Ordinal: 7},
		"delete pod demo-1: done":                           {Type: events.CommandDeletePod, Pod: "uid-1"},
		"remove finalizer uid-2: done":                      {Type: events.CommandDropFinalizer, Pod: "uid-2"},
		"write status: done":                                {Type: events.CommandWriteStatus},
		"read the Job: done":                                {Type: events.CommandReadJob},
		"command 3 of record 41: done (of a newer program)": {Type: events.MaxCommandKind + 1},
	} {
		var names Names
		seen := events.Record{
			Header: events.Header{Sequence: 40, Stream: stream, Kind: events.KindPodAdded},
			Facts:  &events.PodSeen{UID: "uid-1"}, Evidence: events.Evidence{Namespace: "ns", Name: "demo-1"},
		}
		names.Learn(&seen)
		ended.Command, ended.Ending = events.CommandID{Decided: 41, Place: 2}, events.Done
		r := events.Record{Header: events.Header{Sequence: 42, Stream: stream, Kind: events.KindCommandEnded}, Facts: &ended}
		names.Learn(&r)
		if got := names.Detail(&r); got != want && got+" (of a newer program)" != want {
			t.Errorf("%+v: %q, want %q", ended, got, want)
		}
	}
}
