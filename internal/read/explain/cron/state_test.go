package cron

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestVerdictsOfStates: what a state alone says, with the records that show it.
func TestVerdictsOfStates(t *testing.T) {
	for _, row := range []struct {
		name   string
		state  history.CronState
		change func(*Case)
		want   string
		from   []uint64
	}{
		{"gone", history.CronDeleted, nil, "DELETED, seen at 20:35:00; by whom is unknown", []uint64{50}},
		{"gone with its namespace", history.CronDeleted, func(c *Case) { c.Namespace = whentest.Seen(49, 499) },
			"DELETED with its namespace, seen at 20:35:00; by whom is unknown", []uint64{49, 50}},
		{"going", history.CronDeleting, func(c *Case) { c.State.Deleted = whentest.Recorded(490) },
			"BEING DELETED since 20:34:50: it is due no more; by whom is unknown", []uint64{48}},
		{"never seen", history.CronUnseen, func(c *Case) { c.State.Last = 9 },
			"NOT SEEN YET: the log has the template of its Jobs alone, and no version of it so far", []uint64{9}},
		{"known from its Jobs", history.CronUnseen, func(c *Case) { c.Runs = runsOf("C") },
			"UNSEEN: the log knows it only from Jobs that name it", nil},
		{"invalid", history.CronInvalid, func(c *Case) { c.State.Reason = "the schedule is none" },
			"NEVER DUE: the schedule is none", []uint64{2}},
		{"invalid since an edit", history.CronInvalid, func(c *Case) {
			c.State.Reason, c.Due.Changes = "the schedule is none", []duetimes.Change{{Record: 30}, {Record: 40}}
		}, "NEVER DUE: the schedule is none", []uint64{40}},
		{"of the 30th of February", history.CronWaiting, func(c *Case) { c.State.Spec.Schedule = "0 0 30 2 *" },
			`NEVER DUE: the schedule "0 0 30 2 *" has no due time in the next five years`, []uint64{2}},
	} {
		c := cronOf(nil)
		c.State.State, c.Gone, c.Deleting = row.state, whentest.Seen(50, 500), whentest.Seen(48, 490)
		if row.change != nil {
			row.change(c)
		}
		v := c.readVerdict()
		got := strings.ReplaceAll(v.Text, "1 Jun ", "")
		got = strings.ReplaceAll(got, "28 May ", "")
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if len(v.Records) != len(row.from) {
			t.Errorf("%s: by %v, want %v", row.name, v.Records, row.from)
			continue
		}
		for i := range row.from {
			if v.Records[i] != row.from[i] {
				t.Errorf("%s: by %v, want %v", row.name, v.Records, row.from)
			}
		}
	}
}

// TestWhichJobsTheScheduleStarted: those of due times by their records; without one, those that name their due time and
// that nobody made by hand.
func TestWhichJobsTheScheduleStarted(t *testing.T) {
	for _, row := range []struct {
		name   string
		fate   events.TickFate // of the record about the Job; 0 for no record
		due    bool
		manual bool
		want   bool
	}{
		{"by its due time", 0, true, false, true}, {"by nothing that is known", 0, false, false, false},
		{"by hand", 0, false, true, false}, {"by hand, with a due time's annotation", 0, true, true, false},
		{"by a record", events.TickStarted, false, false, true}, {"by a record, against its annotation", events.TickStarted,
			false, true, true},
		{"by hand, by a record", events.TickManual, true, false, false}, {"triggered", events.TickTriggered, true, false,
			false},
		{"again", events.TickAgain, false, false, true},
	} {
		r := &croncase.Run{RunSeen: events.RunSeen{Job: "uid", Manual: row.manual}}
		if row.due {
			r.Due = whentest.Sec(60)
		}
		other := whentest.Entry(50, 50, events.TickManual, func(e *duetimes.Entry) { e.Job = "other" })
		c := cronOf([]duetimes.Entry{other}, r)
		if row.fate != 0 {
			c.Due.Entries = append(c.Due.Entries, whentest.Entry(60, 60, row.fate, func(e *duetimes.Entry) { e.Job = "uid" }),
				other)
		}
		if got := c.scheduled(r); got != row.want || (len(c.scheduledRuns()) == 1) != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
