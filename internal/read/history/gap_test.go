package history_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestAStateAsOfATimeInAGapSaysSo: a controller was killed again and again. Of every time between two records the state
// of a Job is asked for. It names a gap if and only if no controller watched then, with its bounds.
func TestAStateAsOfATimeInAGapSaysSo(t *testing.T) {
	log := historytest.Hard(t, 3)
	all := historytest.Records(t, log)
	var job events.Stream
	var listings, watched, unwatched int
	var open events.Time // since when nobody watches; 0 when somebody does
	for i := range all[:len(all)-1] {
		r, next := &all[i], &all[i+1]
		if r.Kind == events.KindJobAdded && job.ID == "" {
			job = r.Stream
		}
		switch f := r.Facts.(type) {
		case *events.ListingStarted:
			if open == 0 {
				open = f.LastSeen
			}
			listings += len(f.Resources)
			if f.Reason == events.ListingStart { // that of the run before is not ended by it
				listings = len(f.Resources)
			}
		case *events.Synced:
			if listings -= len(f.Resources); listings == 0 {
				open = 0
			}
		}
		if job.ID == "" || next.Time.Sub(r.Time) < 2 {
			continue
		}
		at := r.Time + (next.Time-r.Time)/2
		if open == 0 {
			open = ends(all[i+1:], r.Time, at)
		}
		got, err := history.JobAt(t.Context(), history.Local{Log: log}, job, history.Point{Time: at})
		if err != nil {
			t.Fatal(err)
		}
		gaps, err := history.GapsAt(t.Context(), history.Local{Log: log}, at)
		if err != nil {
			t.Fatal(err)
		}
		if (len(gaps) == 1) != (got.Gap != nil) || len(gaps) > 0 && (gaps[0].From != got.Gap.From || gaps[0].Until != got.Gap.Until) {
			t.Errorf("%s: of the Job it says %+v, and of the log %+v", at.Go(), got.Gap, gaps)
		}
		switch {
		case open == 0 && got.Gap == nil:
			watched++
		case open == 0:
			t.Errorf("between records %d and %d somebody watched; the answer is %+v", r.Sequence, next.Sequence, got.Gap)
		case got.Gap == nil:
			t.Errorf("between records %d and %d nobody watched, and the answer does not say so", r.Sequence, next.Sequence)
		case events.Time(got.Gap.From) > at || (got.Gap.Until != 0 && events.Time(got.Gap.Until) < at) || events.Time(got.Gap.From) != open:
			t.Errorf("%s, since %s: it says from %s until %s", at.Go(), open.Go(), events.Time(got.Gap.From).Go(), events.Time(got.Gap.Until).Go())
		default:
			unwatched++
		}
	}
	if watched < 10 || unwatched < 3 {
		t.Errorf("only %d times were asked for at which somebody watched, and %d at which nobody did", watched, unwatched)
	}
}

// ends is when the watch ended before a time, if the next batch begins another; 0 if it did not.
func ends(rest []events.Record, newest, at events.Time) events.Time {
	for i := range rest {
		switch f := rest[i].Facts.(type) {
		case *events.ControllerStarted:
			return newest
		case *events.ListingStarted:
			if f.LastSeen < at {
				return f.LastSeen
			}
			return 0
		}
		if rest[i].Last {
			return 0
		}
	}
	return 0
}

// TestAGapBetweenRuns: it begins when the cluster was seen last, and ends when it is listed.
func TestAGapBetweenRuns(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "00112233445566778899aabbccddeeff", Epoch: 1})
	job := events.JobStream("u")
	both := []events.Resource{events.Jobs, events.Pods}
	var seq events.Sequence
	heads := map[events.Stream]events.Sequence{}
	batch := func(at events.Time, s events.Stream, kinds []events.Kind, facts ...events.Facts) {
		var b events.Batch
		for i, f := range facts {
			seq++
			b.Records = append(b.Records, events.Record{Header: events.Header{
				Sequence: seq, Time: at, Stream: s, Previous: heads[s], Kind: kinds[i], Critical: kinds[i].Critical(), Last: i+1 == len(facts),
			}, Facts: f})
			heads[s] = seq
		}
		log.Append(b, true)
	}
	start := []events.Kind{events.KindControllerStarted, events.KindListingStarted}
	started := &events.ControllerStarted{Settings: events.DefaultSettings()}
	synced := &events.Synced{Resources: both, Versions: []uint64{1, 1}}
	listing := func(at events.Time) *events.ListingStarted {
		return &events.ListingStarted{Reason: events.ListingStart, Resources: both, LastSeen: at, LastVersions: []uint64{0, 0}}
	}
	batch(10, events.Controller, []events.Kind{events.KindLogCreated, start[0], start[1]},
		&events.LogCreated{LogID: log.Identity().LogID, Epoch: 1, Format: 1}, started, listing(0))
	batch(11, events.Controller, []events.Kind{events.KindSynced}, synced)
	batch(20, job, []events.Kind{events.KindSpecStored, events.KindJobAdded}, &events.JobSpec{Hash: "s"},
		&events.JobSeen{Version: 2, Managed: true, Spec: "s", SpecAt: seq + 1})
	batch(60, events.Controller, start, started, listing(20))
	batch(62, events.Controller, []events.Kind{events.KindSynced}, synced)
	batch(90, job, []events.Kind{events.KindJobChanged}, &events.JobSeen{Version: 3, Managed: true, Spec: "s", SpecAt: 5})
	for at, gap := range map[events.Time]bool{20: true, 21: true, 59: true, 61: true, 62: false, 80: false} {
		got, err := history.JobAt(t.Context(), history.Local{Log: log}, job, history.Point{Time: at})
		if err != nil {
			t.Fatal(err)
		}
		if at == 20 {
			gap = false // that is when it was seen last
		}
		if (got.Gap != nil) != gap {
			t.Errorf("at %d it says %+v", at, got.Gap)
		}
		if g := got.Gap; g != nil && (events.Time(g.From) != 20 || events.Time(g.Until) != 62) {
			t.Errorf("at %d the gap is from %d until %d", at, g.From, g.Until)
		}
	}
}
