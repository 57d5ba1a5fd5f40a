package crons

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// downs holds the times in which no controller ran, as this test knows them, by the controller's clock.
type downs struct {
	spans []down
	since span // when the present one began, between the last record and the kill; zero before the first controller
}

// down is one such time. The controller's clock may have been wrong, or is wrong now. So the test knows two spans: when
// no controller may have run, and when surely none ran.
type down struct{ may, must span }

type span struct{ from, until events.Time }

func (s span) has(at events.Time) bool { return s.from <= at && at < s.until }

// slack is by how much less a controller may know than the test: it records only now and then that it is alive, and a
// list takes time.
const slack = 3 * time.Minute

func (d *downs) ended(last, kill events.Time) { d.since = span{min(last, kill), kill} }

func (d *downs) began(at events.Time) {
	d.spans = append(d.spans, down{
		may:  span{d.since.from.Add(-slack), at.Add(slack)},
		must: span{d.since.until.Add(slack), at.Add(-slack)},
	})
}

func (d *downs) stepped(by time.Duration) {
	for i := range d.spans {
		of := &d.spans[i]
		of.may = span{of.may.from.Add(min(0, by)), of.may.until.Add(max(0, by))}
		of.must = span{of.must.from.Add(max(0, by)), of.must.until.Add(min(0, by))}
	}
}

// known returns the newest down times. A controller keeps exact bounds only for these.
func (d *downs) known() []down { return d.spans[max(0, len(d.spans)-30):] }

// hearUnwatched checks that from the first to the last due time of the entry, no controller may have run.
func (d *downs) hearUnwatched(t *testing.T, tick *events.Tick) {
	t.Helper()
	known := d.known()
	for i := range known {
		if known[i].may.has(tick.First) && known[i].may.has(tick.Last) {
			return
		}
	}
	if len(known) < len(d.spans) && tick.First < known[0].may.until {
		return
	}
	t.Fatalf("%s through %s are told to be unwatched, and a controller ran; it was down in %d times:%s", tick.First.Go(), tick.Last.Go(), len(d.spans), d)
}

// hearMerged checks that the entry has no due time at which surely no controller ran. The due time that was open before
// is exempt.
func (d *downs) hearMerged(t *testing.T, tick *events.Tick, f *fates) {
	t.Helper()
	if tick.First == f.ledger.Open || f.by.every != 0 {
		return
	}
	for _, of := range d.known() {
		must := span{max(of.must.from, tick.First), min(of.must.until, tick.Last+1)}
		if must.from >= must.until {
			continue
		}
		for m := minuteOf(must.from.Go().Add(time.Minute - 1)); m <= minuteOf(must.until.Go().Add(-1)); m++ {
			if f.by.isDue(f.wall[m]) {
				t.Fatalf("%s through %s are told to have merged, and nobody watched from %s to %s", tick.First.Go(), tick.Last.Go(), of.must.from.Go(), of.must.until.Go())
			}
		}
	}
}

func (d *downs) String() string {
	var b strings.Builder
	for _, of := range d.spans {
		fmt.Fprintf(&b, "\n%s to %s", of.may.from.Go(), of.may.until.Go())
	}
	return b.String()
}
