package compare

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// TestWhatIsReadOfAPeer: its first spec that is kept, what admission changed of its pods last, its nodes, and the
// records that show these. No more than mostPeerRecords are read.
func TestWhatIsReadOfAPeer(t *testing.T) {
	s := events.JobStream("peer")
	job := func(n, spec events.Sequence) events.Record {
		return whentest.Record(n, float64(n), s, &events.JobSeen{SpecAt: spec})
	}
	pod := func(n events.Sequence, node string, admitted ...string) events.Record {
		r := whentest.Record(n, float64(n), s, &events.PodSeen{UID: "p"})
		r.Evidence.Node, r.Evidence.Admitted = node, admitted
		return r
	}
	spec := func(n events.Sequence, hash string) events.Record {
		return whentest.Record(n, float64(n), s, &events.JobSpec{Hash: hash})
	}
	many := func(n int) (all []events.Record) {
		for i := range n {
			all = append(all, whentest.Record(events.Sequence(10+i), 10, s, &events.TimerFired{}))
		}
		return append(all, pod(events.Sequence(10+n), "last"))
	}
	denied := errors.New("denied")
	for _, row := range []struct {
		name     string
		log      []events.Record
		bad      events.Sequence
		with     error
		spec     string
		marks    string
		nodes    []string
		admitted []string
		failed   bool
	}{
		{name: "nothing", marks: "[]"},
		{name: "a spec", log: []events.Record{spec(1, "a"), job(2, 1)}, spec: "a", marks: "[2]"},
		{name: "an edited spec", log: []events.Record{spec(1, "a"), job(2, 1), spec(3, "b"), job(4, 3)}, spec: "a",
			marks: "[2]"},
		{name: "a spec that is not kept", log: []events.Record{job(2, 1)}, marks: "[2]"},
		{name: "the second spec is kept", log: []events.Record{job(2, 1), spec(3, "b"), job(4, 3), job(5, 3)}, spec: "b",
			marks: "[2 4]"},
		{name: "nodes", log: []events.Record{pod(2, ""), pod(3, "n"), pod(4, "m"), pod(5, "n")}, marks: "[]",
			nodes: []string{"m", "n"}},
		{name: "admission", log: []events.Record{pod(2, "", "a"), pod(3, ""), pod(4, "", "b", "c")}, marks: "[2 4]",
			admitted: []string{"b", "c"}},
		{name: "as many records as are read", log: many(mostPeerRecords - 1), marks: "[]", nodes: []string{"last"}},
		{name: "one more", log: many(mostPeerRecords), marks: "[]"},
		{name: "damaged", log: []events.Record{spec(1, "a"), job(2, 1), pod(3, "n")}, bad: 3, with: store.ErrCorrupt,
			spec: "a", marks: "[2]"},
		{name: "denied", log: []events.Record{spec(1, "a"), job(2, 1), pod(3, "n")}, bad: 3, with: denied, failed: true},
	} {
		c := &Jobs{Case: &jobcase.Case{Misses: &explain.Misses{},
			Src: &whentest.Log{All: row.log, Bad: row.bad, With: row.with}, Ctx: t.Context()}}
		p, err := c.peerOf(t.Context(), &history.Summary{UID: "peer"})
		if (err != nil) != row.failed || err != nil && !errors.Is(err, denied) {
			t.Errorf("%s: %v", row.name, err)
		}
		if err != nil {
			continue
		}
		records := []events.Sequence{}
		for _, m := range p.marks {
			records = append(records, m.Record)
		}
		hash := ""
		if p.spec != nil {
			hash = p.spec.Hash
		}
		nodes := []string{}
		for n := range p.nodes {
			nodes = append(nodes, n)
		}
		slices.Sort(nodes)
		if hash != row.spec || fmt.Sprint(records) != row.marks || !slices.Equal(nodes, row.nodes) ||
			!slices.Equal(p.admitted, row.admitted) {
			t.Errorf("%s: spec %q by %v, nodes %v, admitted %v", row.name, hash, records, nodes, p.admitted)
		}
	}
}
