package projector_test

import (
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhereAJobComesFromIsKept: a file that stands alone still has it.
func TestWhereAJobComesFromIsKept(t *testing.T) {
	f := newFold()
	s := events.JobStream(job)
	origin := &events.Origin{Kind: "CronJob", Name: "etl", UID: "uid-etl", Labels: []events.ObjectLabel{{Name: "team", Value: "data"}}}
	f.seq++
	f.world.Apply(&events.Record{
		Header: events.Header{Sequence: f.seq, Time: f.now, Stream: s, Kind: events.KindJobChanged},
		Facts:  &events.JobSeen{Version: 11, Managed: true, Spec: "h", SpecAt: 2}, Evidence: events.Evidence{Name: "etl-1", Origin: origin},
	})
	facts, names, _ := f.world.StreamState(s)
	again := projector.NewWorld()
	if err := again.RestoreStream(s, facts, names); err != nil {
		t.Fatal(err)
	}
	if got := again.Job(s).Origin; !reflect.DeepEqual(got, origin) {
		t.Errorf("it comes from %+v, want %+v", got, origin)
	}
}
