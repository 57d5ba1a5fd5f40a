package jobcase

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestRefusalsOfAKind: one lasts until such a command is done, and another reason follows it.
func TestRefusalsOfAKind(t *testing.T) {
	c := &Case{Misses: &explain.Misses{}}
	tell := func(record events.Sequence, kind events.CommandKind, how events.Ending, class events.RefusalClass) {
		r := &events.Record{Header: events.Header{Sequence: record, Time: whentest.Sec(float64(record))}}
		c.ended(r, &events.CommandEnded{Type: kind, Ending: how, Class: class})
	}
	create, write := events.CommandCreatePod, events.CommandWriteStatus
	tell(1, create, events.Refused, events.RefusedQuota)
	tell(2, create, events.Refused, events.RefusedQuota)
	tell(3, write, events.Refused, events.RefusedQuota)
	tell(4, create, events.Refused, events.RefusedForbidden)
	tell(5, create, events.Done, 0)
	tell(6, create, events.Refused, events.RefusedQuota)
	tell(7, create, events.OutcomeUnknown, 0)
	tell(8, create, events.Withdrawn, 0)
	tell(9, create, events.Refused, events.RefusedNamespaceTerminating)
	tell(10, create, events.Refused, events.RefusedNamespaceTerminating)
	var got []string
	for _, x := range c.Refusals {
		then := events.Sequence(0)
		if x.Then != nil {
			then = x.Then.First.Record
		}
		got = append(got, fmt.Sprintf("%s %s %d-%d over %d then %d", x.Kind, x.Class, x.First.Record, x.Last.Record,
			x.Over.Record, then))
	}
	want := []string{
		"CreatePod Quota 1-2 over 5 then 4", "WriteStatus Quota 3-3 over 0 then 0", "CreatePod Forbidden 4-4 over 5 then 0",
		"CreatePod Quota 6-6 over 0 then 9",
		"CreatePod NamespaceTerminating 9-10 over 0 then 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || c.NamespaceGoing != whentest.Seen(9, 9) {
		t.Errorf("%s\nnamespace going %v", strings.Join(got, "\n"), c.NamespaceGoing)
	}
	if x := c.RefusedNow(create); x == nil || x.First.Record != 9 || c.RefusedNow(events.CommandDeletePod) != nil ||
		c.RefusedNow(write) == nil {
		t.Errorf("now %+v", c.RefusedNow(create))
	}
}
