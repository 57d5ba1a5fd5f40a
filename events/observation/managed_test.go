package observation

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// O-050, O-058: only the given mode and a Job's managedBy decide whether the Job is run.
// O-053: a Job with another managedBy is reported only if it is observed, and so are its pods. No object of such a Job
// is kept for commands.
func TestUnmanagedJobsAndTheirPodsAreNotTold(t *testing.T) {
	for _, tt := range []struct {
		name, managedBy string
		mode            events.Mode
		told            bool
		observed        bool
	}{
		{"delegated runs what is given to it", events.ManagedBy, events.ModeDelegated, true, false},
		{"delegated leaves plain Jobs alone", "", events.ModeDelegated, false, false},
		{"delegated leaves the built-in controller's Jobs alone", events.BuiltinManagedBy, events.ModeDelegated, false, false},
		{"delegated leaves others' Jobs alone", "example.com/other", events.ModeDelegated, false, false},
		{"all runs what is given to it", events.ManagedBy, events.ModeAll, true, false},
		{"all runs plain Jobs", "", events.ModeAll, true, false},
		{"all runs the built-in controller's Jobs", events.BuiltinManagedBy, events.ModeAll, true, false},
		{"all leaves others' Jobs alone", "example.com/other", events.ModeAll, false, false},
		{"observe watches plain Jobs", "", events.ModeObserve, true, true},
		{"delegated, and observes plain Jobs", "", events.ModeDelegated, true, true},
		{"delegated, and observes the built-in controller's Jobs", events.BuiltinManagedBy, events.ModeDelegated, true, true},
		{"delegated, and observes others' Jobs", "example.com/other", events.ModeDelegated, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script(t, func(t *testing.T, c *cluster, start starter) {
				job := testJob("a", managedBy(tt.managedBy))
				c.set(job)
				c.set(testPod("a-1", of(job)))
				_, r := start(func(config *Config) {
					config.Mode, config.Others = tt.mode, tt.observed && tt.mode == events.ModeDelegated
					config.Keeper.(*recorder).idle = tt.observed
				})
				want := []string{"synced [jobs] at [2]", "synced [pods] at [2]"}
				if tt.told {
					want = []string{"job a v1", want[0], "pod a-1 v2 of a selected", want[1]}
				}
				expect(t, r.take(), want...)
				if kept := len(r.Log()) > 0; kept != (tt.told && !tt.observed) {
					t.Errorf("keeper: %q", r.Log())
				}
			})
		})
	}
}

func TestKeeperHasUnfinishedJobsOnly(t *testing.T) {
	script(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		c.set(testJob("done", complete))
		_, r := start()
		complete(job)
		c.set(job)
		second := testJob("b")
		c.set(second)
		r.take()
		c.remove(second)
		c.remove(job)
		r.take()
		expect(t, r.Log(), "keep a", "drop uid-a", "keep b", "drop uid-b")
	})
}
