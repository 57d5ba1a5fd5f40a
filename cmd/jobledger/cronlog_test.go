package main

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// cronlog writes a log of the CronJob batch/nightly by hand: cronlog DIR. It is due at a quarter past each hour in
// Zurich, and Forbid. The run of 07:15 UTC lasted until 09:20: that of 08:15 merged into that of 09:15, which started
// late. Then no controller watched for a day. With 'cronlog DIR again' it is deleted then, and made again under its
// name two hours later.
func cronlog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: cronlog DIR [again]")
	}
	log, err := boltlog.Open(ts.MkAbs(args[0]), store.Options{LogID: testLogID})
	ts.Check(err)
	w := &cronWriter{log: log, last: map[events.Stream]events.Sequence{}}
	w.write()
	if len(args) == 2 {
		w.again()
	}
	ts.Check(w.err)
	ts.Check(log.Close())
}

type cronWriter struct {
	log  store.Log
	next events.Sequence
	last map[events.Stream]events.Sequence
	err  error
}

// quarter is the quarter past that hour of 2 March 2026; hours beyond 23 are of the days after.
func quarter(hour int) events.Time {
	return events.At(time.Date(2026, 3, 2, hour, 15, 0, 0, time.UTC))
}

func (w *cronWriter) write() {
	zurich, _ := zones.Find("Europe/Zurich")
	seen := &events.CronJobSeen{
		Version: 5, Created: quarter(0), Schedule: "15 * * * *", TimeZone: new("Europe/Zurich"), Policy: "Forbid", Template: "t", Redacted: "r",
		Zones: []events.ZoneName{{Name: zurich.Name, Hash: zurich.Hash}}, Active: []events.RunName{{UID: "uid-1", Name: "nightly-29541075"}},
		LastSchedule: quarter(7),
	}
	nightly := events.CronJobStream(uidNightly)
	named := events.Evidence{Namespace: "batch", Name: "nightly"}
	ledger := func(through, open int, hold events.TickHold) *events.TickLedger {
		l := &events.TickLedger{Through: quarter(through), Hold: hold, Schedule: seen.Schedule, TimeZone: seen.TimeZone, Zone: zurich.Hash}
		if open > 0 {
			l.Open = quarter(open)
		}
		return l
	}
	decide := func(at events.Time, l *events.TickLedger, ticks ...events.Tick) {
		w.add(at, nightly, events.KindDecided, &events.Decision{Steps: []events.Step{{Stage: "start", Cron: &events.CronStep{Ticks: ticks, Ledger: l}}}}, events.Evidence{Namespace: "batch"})
	}
	w.add(quarter(0), events.Controller, events.KindLogCreated, &events.LogCreated{LogID: testLogID, Epoch: 1, Format: events.Format}, events.Evidence{})
	w.add(quarter(0), nightly, events.KindZoneStored, &events.ZoneRules{Name: zurich.Name, Hash: zurich.Hash, TZif: zurich.TZif}, events.Evidence{})
	w.add(quarter(0), nightly, events.KindCronJobAdded, seen, named)
	run := func(hour int, name string, late time.Duration) events.Tick {
		return events.Tick{First: quarter(hour), Last: quarter(hour), Fate: events.TickStarted, Late: late, Job: "uid", Name: name, Zone: zurich.Hash}
	}
	decide(quarter(7).Add(time.Second), ledger(7, 0, 0), run(7, "nightly-29541075", 400*time.Millisecond))
	decide(quarter(8), ledger(7, 8, events.HeldForbid))
	merged := events.Tick{First: quarter(8), Last: quarter(8), Fate: events.TickMerged, Into: quarter(9), Zone: zurich.Hash}
	decide(quarter(9), ledger(8, 9, events.HeldForbid), merged)
	decide(quarter(9).Add(5*time.Minute), ledger(9, 0, 0), run(9, "nightly-29541195", 5*time.Minute))
	silence := events.Tick{First: quarter(10), Last: quarter(33), Fate: events.TickUnwatched, Zone: zurich.Hash}
	decide(quarter(34), ledger(33, 34, events.HeldSuspended), silence)
}

// again deletes the CronJob, and makes another one of its name, which is due each hour on the hour.
func (w *cronWriter) again() {
	w.add(quarter(34).Add(time.Minute), events.CronJobStream(uidNightly), events.KindCronJobDeleted, &events.CronJobGone{Version: 9}, events.Evidence{})
	seen := &events.CronJobSeen{Version: 10, Created: quarter(36), Schedule: "0 * * * *", Policy: "Allow", Template: "t", Redacted: "r"}
	second := events.CronJobStream("1f0e0d0c-0000-4000-8000-00000000c20b")
	w.add(quarter(36), second, events.KindCronJobAdded, seen, events.Evidence{Namespace: "batch", Name: "nightly"})
	due := quarter(36).Add(45 * time.Minute)
	w.add(due.Add(time.Second), second, events.KindDecided, &events.Decision{Steps: []events.Step{{Stage: "start", Cron: &events.CronStep{
		Ticks:  []events.Tick{{First: due, Last: due, Fate: events.TickStarted, Late: time.Second, Job: "uid-2", Name: "nightly-29542860"}},
		Ledger: &events.TickLedger{Through: due, Schedule: seen.Schedule},
	}}}}, events.Evidence{Namespace: "batch"})
}

// uidNightly is the UID of the first CronJob of its name.
const uidNightly = "0f0e0d0c-0000-4000-8000-00000000c20a"

func (w *cronWriter) add(at events.Time, s events.Stream, kind events.Kind, facts events.Facts, e events.Evidence) {
	w.next++
	rec := events.Record{
		Header: events.Header{
			Sequence: w.next, Time: at, Stream: s, Previous: w.last[s], Kind: kind, Critical: kind.Critical(), Last: true,
		},
		Facts: facts, Evidence: e, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
	}
	w.last[s] = w.next
	c := w.log.Append(events.Batch{Records: []events.Record{rec}}, true)
	<-c.Done()
	if err := c.Err(); err != nil && w.err == nil {
		w.err = err
	}
}
