package ask

import (
	"encoding/json"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// TestAStateIsThatOfItsObject: its stream, its place, its zone, and its JSON, which reads as the same kind of object.
// Without its place it equals a state of another record.
func TestAStateIsThatOfItsObject(t *testing.T) {
	at := history.Place{Sequence: 7, Time: recordjson.Instant(1e18)}
	job := &State{Job: &history.Job{UID: "u-job", Name: "j", Records: 3, AsOf: at, Clock: history.ClockController, LastRecord: 5}}
	cron := &State{CronJob: &history.CronJob{UID: "u-cron", Name: "c", AsOf: at, Clock: history.ClockController, LastRecord: 5, Zone: "Europe/Berlin"}}
	for _, row := range []struct {
		s    *State
		kind events.StreamKind
		id   string
	}{{job, events.StreamJob, "u-job"}, {cron, events.StreamCronJob, "u-cron"}} {
		if got := row.s.Stream(); got.Kind != row.kind || got.ID != row.id || row.s.AsOf() != at {
			t.Errorf("%s: stream %s, as of %+v", row.id, got, row.s.AsOf())
		}
		text, err := json.Marshal(row.s)
		if err != nil {
			t.Fatal(err)
		}
		var read State
		if err := json.Unmarshal(text, &read); err != nil || (read.Job != nil) != (row.s.Job != nil) || (read.CronJob != nil) != (row.s.CronJob != nil) ||
			read.Stream() != row.s.Stream() {
			t.Errorf("%s is read as %+v, %v", text, read, err)
		}
		bare := row.s.Unplaced()
		if bare.AsOf() != (history.Place{}) || row.s.AsOf() != at || bare.Stream() != row.s.Stream() {
			t.Errorf("%s without its place: %+v, and the state itself is as of %+v", row.id, bare.AsOf(), row.s.AsOf())
		}
		if j := bare.Job; j != nil && (j.Clock != "" || j.LastRecord != 0) {
			t.Errorf("the Job keeps its clock: %q, %v", j.Clock, j.LastRecord)
		}
		if c := bare.CronJob; c != nil && (c.Clock != "" || c.LastRecord != 0) {
			t.Errorf("the CronJob keeps its clock: %q, %v", c.Clock, c.LastRecord)
		}
	}
	for zone, want := range map[string]bool{"": false, "UTC": false, "Europe/Berlin": true} {
		cron.CronJob.Zone = zone
		if cron.InZone() != want || job.InZone() {
			t.Errorf("a CronJob of zone %q is in a zone: %t, a Job: %t", zone, !want, job.InZone())
		}
	}
	for _, text := range []string{"x", `{"records":"x"}`, `{"name":1}`} {
		if err := json.Unmarshal([]byte(text), new(State)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
