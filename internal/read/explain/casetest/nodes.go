package casetest

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// NodesSeen returns a case (what the records say about a Job) with facts about nodes: the first fact in record 1 at
// second 1, the next in record 2 at second 2, and so on.
func NodesSeen(all ...events.Facts) *jobcase.Case {
	c := &jobcase.Case{}
	for i, f := range all {
		n := events.Sequence(i + 1)
		c.After(history.NewFold(), &events.Record{
			Header: events.Header{Sequence: n, Time: whentest.Sec(float64(n)), Stream: events.Controller}, Facts: f,
		})
	}
	return c
}
