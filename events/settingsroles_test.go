package events_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhoseJobs: the role of a Job follows from its managedBy and from the settings of the run. Both are records.
func TestWhoseJobs(t *testing.T) {
	delegated := events.Settings{Mode: events.ModeDelegated}
	both := events.Settings{Mode: events.ModeDelegated, ObserveOthers: true}
	all, observe := events.Settings{Mode: events.ModeAll}, events.Settings{Mode: events.ModeObserve}
	for _, tt := range []struct {
		name                       string
		settings                   events.Settings
		managedBy                  string
		records, observes, compare bool
	}{
		{"delegated runs ours", delegated, events.ManagedBy, true, false, false},
		{"delegated does not know others", delegated, "", false, false, false},
		{"with others, it runs ours", both, events.ManagedBy, true, false, false},
		{"with others, plain Jobs are observed", both, "", true, true, true},
		{"with others, the built-in controller's Jobs are observed", both, events.BuiltinManagedBy, true, true, true},
		{"with others, the Jobs of a controller with other rules are recorded only", both, "example.com/other", true, true, false},
		{"all runs plain Jobs", all, "", true, false, false},
		{"all leaves others alone", all, "example.com/other", false, false, false},
		{"observe looks at plain Jobs", observe, "", true, true, true},
		{"observe looks at ours", observe, events.ManagedBy, true, true, true},
		{"observe leaves others out", observe, "example.com/other", false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &tt.settings
			if s.Records(tt.managedBy) != tt.records || s.Observes(tt.managedBy) != tt.observes || s.Judges(tt.managedBy) != tt.compare {
				t.Errorf("records %t, observes %t, judges %t", s.Records(tt.managedBy), s.Observes(tt.managedBy), s.Judges(tt.managedBy))
			}
		})
	}
}
