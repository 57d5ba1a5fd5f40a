package jobcase

import (
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/store"
)

// TestHowFarTheOwnerIsRead: from before the Job's first record, 10, to two minutes behind its deletion, which was seen
// with record 20 in second 20, and not behind the answer's record, 100.
func TestHowFarTheOwnerIsRead(t *testing.T) {
	s := events.CronJobStream("cron")
	started := func(n events.Sequence, at float64) events.Record {
		return whentest.Record(n, at, s, &events.RunSeen{Job: "next", Name: "next", Created: whentest.Sec(at)})
	}
	spec := func(n events.Sequence, at float64, policy string) events.Record {
		return whentest.Record(n, at, s, &events.CronJobSeen{Policy: policy})
	}
	denied := errors.New("denied")
	for _, row := range []struct {
		name   string
		origin *events.Origin
		log    []events.Record
		bad    events.Sequence
		with   error
		next   events.Sequence
		policy string
		none   bool // nothing is known
		failed bool
	}{
		{name: "of no CronJob", none: true},
		{name: "of another owner", origin: &events.Origin{Kind: "Workflow", UID: "cron"},
			log: []events.Record{spec(9, 9, "a")}, none: true},
		{name: "of a CronJob without a UID", origin: &events.Origin{Kind: "CronJob"}, log: []events.Record{spec(9, 9, "a")},
			none: true},
		{name: "of a CronJob without records", log: nil, none: true},
		{name: "its records begin behind the Job's", log: []events.Record{spec(11, 11, "a")}, none: true},
		{name: "a spec of before", log: []events.Record{spec(9, 9, "a")}, policy: "a"},
		{name: "a spec of its deletion", log: []events.Record{spec(9, 9, "a"), spec(20, 20, "b"), spec(21, 20, "c")},
			policy: "b"},
		{name: "a Job that comes", log: []events.Record{spec(9, 9, "a"), started(21, 25)}, next: 21, policy: "a"},
		{name: "after two minutes", log: []events.Record{spec(9, 9, "a"), started(21, 140)}, next: 21, policy: "a"},
		{name: "after more", log: []events.Record{spec(9, 9, "a"), started(21, 140.1)}, policy: "a"},
		{name: "the answer's record", log: []events.Record{spec(9, 9, "a"), started(100, 25)}, next: 100, policy: "a"},
		{name: "later than the answer", log: []events.Record{spec(9, 9, "a"), started(101, 25)}, policy: "a"},
		{name: "a clock that was set back", log: []events.Record{spec(9, 900, "a"), spec(10, 9, "b"), started(21, 25)},
			next: 21, policy: "b"},
		{name: "denied", log: []events.Record{spec(9, 9, "a"), started(21, 25)}, bad: 21, with: denied, none: true,
			failed: true},
		{name: "denied before", log: []events.Record{spec(8, 8, "a"), spec(9, 9, "a")}, bad: 8, with: denied, none: true,
			failed: true},
		{name: "damaged", log: []events.Record{spec(9, 9, "a"), started(21, 25)}, bad: 21, with: store.ErrCorrupt,
			none: true},
	} {
		if row.origin == nil && row.name != "of no CronJob" {
			row.origin = &events.Origin{Kind: "CronJob", UID: "cron", Name: "cron"}
		}
		c := &Case{Stream: events.JobStream("me"), Origin: row.origin, Misses: &explain.Misses{}, cronJobsOurs: true,
			Src: &whentest.Log{All: row.log, Bad: row.bad, With: row.with}, Ctx: t.Context()}
		c.Job.First, c.Job.AsOf.Sequence = 10, 100
		w := c.OwnerSaid(whentest.Seen(20, 20))
		if (w == nil) != row.none || (c.Unread() != nil) != row.failed {
			t.Errorf("%s: %+v, %v", row.name, w, c.Unread())
			continue
		}
		if w == nil {
			continue
		}
		if w.Next.Record != row.next || w.Spec == nil || w.Spec.Policy != row.policy || !w.Ours || w.Job != "me" {
			t.Errorf("%s: the next is %v, spec %+v", row.name, w.Next, w.Spec)
		}
		if c.Src = nil; c.OwnerSaid(whentest.Seen(20, 20)) != w {
			t.Errorf("%s: it is read again", row.name)
		}
	}
}
