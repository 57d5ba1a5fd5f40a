package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestPassedOver: what the controller's stream tells of the time in which a namespace was over its budget.
func TestPassedOver(t *testing.T) {
	at := func(s int) events.Time { return events.Time(1e18).Add(time.Duration(s) * time.Second) }
	moment := func(x events.Time) string { return fmt.Sprint(int(x.Sub(at(0)) / time.Second)) }
	tell := func(s, since int, open bool, pods, versions uint64) events.Record {
		f := &events.PassedOver{Since: at(since), Open: open, Versions: versions}
		if pods > 0 {
			f.Went = []events.ObjectsWent{{Resource: events.ObjectPod, Objects: pods}}
		}
		return events.Record{Header: events.Header{Time: at(s), Kind: events.KindPassedOver}, Facts: f, Evidence: events.Evidence{Namespace: "ci"}}
	}
	start := func(s int) events.Record {
		return events.Record{Header: events.Header{Time: at(s), Kind: events.KindControllerStarted}, Facts: &events.ControllerStarted{}}
	}
	for _, row := range []struct {
		name    string
		records []events.Record
		want    string // of all times, from, until and text
	}{
		{"nothing was passed over that is not counted elsewhere", []events.Record{tell(10, 10, true, 0, 0), tell(70, 10, false, 0, 0)}, ""},
		{
			"pods went", []events.Record{tell(10, 10, true, 0, 0), tell(70, 10, true, 2, 5), tell(130, 70, false, 1, 1)},
			"10 130 namespace ci was over its budget of log. 3 pods came and went without a record (6 versions) [1 3]",
		},
		{
			"it goes on", []events.Record{tell(10, 10, true, 0, 0), tell(70, 10, true, 1, 1)},
			"10 - namespace ci was over its budget of log. 1 pod came and went without a record (1 version); what was passed over since 70 is not counted yet [1 2]",
		},
		{
			"the controller was killed", []events.Record{tell(10, 10, true, 0, 0), start(40), tell(50, 50, true, 0, 0), tell(110, 50, false, 0, 7)},
			"10 40 namespace ci was over its budget of log. Nothing is counted; what was passed over since 10 is counted nowhere, as the controller ended before [1]" +
				" / 50 110 namespace ci was over its budget of log. 7 versions passed over [3 4]",
		},
		{"the first record is no longer kept", []events.Record{tell(70, 10, false, 0, 3)}, "10 70 namespace ci was over its budget of log. 3 versions passed over [1]"},
	} {
		var p history.PassedOver
		for i := range row.records {
			row.records[i].Sequence = events.Sequence(i + 1)
			p.Learn(&row.records[i])
		}
		var got []string
		for _, x := range p.Touching("ci", false, 0, 0) {
			until := "-"
			if x.Until != 0 {
				until = moment(events.Time(x.Until))
			}
			got = append(got, moment(events.Time(x.From))+" "+until+" "+x.Text(moment)+fmt.Sprintf(" %v", x.Records))
		}
		if text := strings.Join(got, " / "); text != row.want {
			t.Errorf("%s: it tells %q, want %q", row.name, text, row.want)
		}
		if n := len(p.Touching("other", false, 0, 0)) + len(p.Touching("ci", false, at(131), 0)) - len(p.Touching("ci", false, at(1e6), 0)); n != 0 {
			t.Errorf("%s: another namespace or a later time is touched", row.name)
		}
	}
}
