package kube

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSpecsOfJobsThatEndedAreForgotten: the spec of a Job that is retired, or that was gone before.
func TestSpecsOfJobsThatEndedAreForgotten(t *testing.T) {
	for _, end := range []events.Facts{&events.JobRetired{}, &events.JobGone{}} {
		m := newMemory(nil)
		for _, f := range []events.Facts{&events.JobSeen{SpecAt: 7}, end} {
			m.note(&events.Record{Header: events.Header{Stream: events.JobStream("uid-demo")}, Facts: f})
		}
		if len(m.specs) > 0 {
			t.Errorf("after %T the Job's spec is remembered", end)
		}
	}
}
