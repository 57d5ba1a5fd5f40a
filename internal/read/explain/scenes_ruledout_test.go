package explain_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
)

// TestWhatAnEditTookAwayIsNotRuledOut: what kept a due time from starting is not ruled out because the CronJob is
// otherwise by now.
func TestWhatAnEditTookAwayIsNotRuledOut(t *testing.T) {
	tooLate := func(c *sceneCron) events.Tick { return c.fate("09:00:00", "09:00:00", events.TickTooLate, nil) }
	for name, row := range map[string]struct {
		change func(*events.CronJobSeen)
		play   func(c *sceneCron)
		says   []string
	}{
		"made suspended, and resumed": {func(f *events.CronJobSeen) {
			f.Suspend, f.Deadline = true, new(int64(20))
		}, func(c *sceneCron) {
			c.edit("09:00:30", "helm", func(f *events.CronJobSeen) { f.Suspend = false })
			c.ledger("09:00:31", "09:00:00", "", events.NotHeld, tooLate(c))
		}, []string{"was suspended", "a refusal", "!suspension"}},
		"held back as suspended, by an edit that is not kept": {func(f *events.CronJobSeen) {
			f.Deadline = new(int64(20))
		}, func(c *sceneCron) {
			c.ledger("09:00:00", "08:59:30", "09:00:00", events.HeldSuspended)
			c.ledger("09:00:31", "09:00:00", "", events.NotHeld, tooLate(c))
		}, []string{"a refusal", "!suspension"}},
		"its deadline was taken away": {func(f *events.CronJobSeen) { f.Deadline = new(int64(20)) }, func(c *sceneCron) {
			c.ledger("09:00:31", "09:00:00", "", events.NotHeld, tooLate(c))
			c.edit("09:00:40", "helm", func(f *events.CronJobSeen) { f.Deadline = nil })
		}, []string{"startingDeadlineSeconds", "suspension", "!a starting deadline"}},
		"nothing of that": {nil, func(c *sceneCron) {
			c.ledger("09:00:31", "09:00:00", "", events.NotHeld, c.fate("09:00:00", "09:00:00", events.TickLost, nil))
		}, []string{"suspension, a starting deadline, a refusal of its Jobs, an edit"}},
	} {
		for _, ours := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				row.play(l.cron("08:59:30", ours, row.change))
				l.says(row.says...)
				r, err := explaintest.Check(t.Context(), l.source())
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range r.Findings {
					t.Error(f)
				}
			})
		}
	}
}
