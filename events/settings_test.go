package events_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// J-001: no setting switches a feature of the Job API. Settings say which Jobs, how long and how many.
func TestSettingsSwitchNoFeature(t *testing.T) {
	switches := []string{
		"GangScheduling", // the only switch that the contract has (J-239)
		"Draining",       // it says whose Jobs, like the mode
		"DeleteExpired",  // it says for whom another controller deletes them (T-005)
		"ObserveOthers",  // it says whose Jobs are looked at
		"CronJobs",       // it says for whom another controller makes Jobs
		"EveryFromStart", // it says how due times are recorded that another controller served
	}
	settings := reflect.TypeFor[events.Settings]()
	for i := range settings.NumField() {
		if f := settings.Field(i); f.Type.Kind() == reflect.Bool && !slices.Contains(switches, f.Name) {
			t.Errorf("the setting %s switches something", f.Name)
		}
	}
}
