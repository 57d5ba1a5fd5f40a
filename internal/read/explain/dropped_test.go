package explain_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// cronSeen is a log of a CronJob, as it is written beside it.
type cronSeen struct {
	t    *testing.T
	log  *memlog.Log
	last map[events.Stream]events.Sequence
	of   events.Stream

	newest events.Time
}

func newCronSeen(t *testing.T, ours bool) *cronSeen {
	t.Helper()
	l := &cronSeen{
		t: t, log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), last: map[events.Stream]events.Sequence{}, of: events.CronJobStream("uid-report"),
	}
	l.add("08:00:00", events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format})
	settings := events.DefaultSettings()
	settings.CronJobs, settings.Mode = true, events.ModeObserve
	if ours {
		settings.Mode = events.ModeAll
	}
	l.add("08:00:00", events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
	return l
}

func cronClock(clock string) events.Time {
	at, err := time.Parse(time.DateTime, "2026-03-02 "+clock)
	if err != nil {
		panic(err)
	}
	return events.At(at)
}

func (l *cronSeen) add(clock string, s events.Stream, kind events.Kind, f events.Facts) events.Sequence {
	l.t.Helper()
	e := events.Evidence{}
	if s.Kind == events.StreamCronJob {
		e = events.Evidence{Namespace: "batch", Name: "report"}
	}
	return l.addWith(clock, s, kind, f, e)
}

func (l *cronSeen) addWith(clock string, s events.Stream, kind events.Kind, f events.Facts, e events.Evidence) events.Sequence {
	l.t.Helper()
	return l.append(events.Record{Header: events.Header{Time: cronClock(clock), Stream: s, Kind: kind}, Facts: f, Evidence: e})
}

// append adds a record, whose place in the log is the next.
func (l *cronSeen) append(r events.Record) events.Sequence {
	l.t.Helper()
	n, s := l.log.Head().Sequence+1, r.Stream
	r.Sequence, r.Previous, r.Critical, r.Last = n, l.last[s], r.Kind.Critical(), true
	r.FactsSalt, r.EvidenceSalt = events.Salt{1}, events.Salt{2}
	c := l.log.Append(events.Batch{Records: []events.Record{r}}, true)
	<-c.Done()
	if err := c.Err(); err != nil {
		l.t.Fatal(err)
	}
	if r.Time < l.newest {
		l.t.Fatalf("%s is told of %s after later ones", r.Kind, r.Time.Go())
	}
	l.last[s], l.newest = n, r.Time
	return n
}

func (l *cronSeen) source() history.Source {
	return history.Local{Log: l.log, Lists: joblist.New(joblist.Config{Log: l.log})}
}

// whyNot is the answer for an instant, in one line.
func (l *cronSeen) whyNot(clock string) string {
	l.t.Helper()
	w, err := whynot.Read(l.t.Context(), history.Local{Log: l.log}, []events.Stream{l.of}, cronClock(clock).Go(), words.Zone{})
	if err != nil {
		l.t.Fatal(err)
	}
	var says []string
	for _, s := range w.Sentences {
		says = append(says, s.Text)
	}
	return strings.Join(says, " | ")
}

// TestADueTimeThatIsDroppedWasHeldBack: the first Job of a Forbid CronJob runs for longer than until the next due time,
// and the CronJob is deleted, or its schedule is changed, a while later, before the due time after that. What held it
// back is said, whoever runs it.
func TestADueTimeThatIsDroppedWasHeldBack(t *testing.T) {
	for _, row := range []struct {
		name          string
		ours, deleted bool
	}{{"ours, deleted", true, true}, {"ours, edited", true, false}, {"another's, deleted", false, true}, {"another's, edited", false, false}} {
		t.Run(row.name, func(t *testing.T) {
			l := newCronSeen(t, row.ours)
			seen := func(schedule string, active ...events.RunName) *events.CronJobSeen {
				f := &events.CronJobSeen{Version: uint64(l.log.Head().Sequence), Schedule: schedule, Policy: "Forbid", Created: cronClock("08:59:00"), Active: active}
				if len(active) > 0 {
					f.LastSchedule = cronClock("09:00:00")
				}
				return f
			}
			const hourly = "0 * * * *"
			ledger := func(through, open string) *events.TickLedger {
				by := &events.TickLedger{Schedule: hourly, Through: cronClock(through)}
				if open != "" {
					by.Open, by.Hold = cronClock(open), events.HeldForbid
				}
				return by
			}
			tell := func(clock string, by *events.TickLedger, ticks ...events.Tick) {
				kind := events.KindDecided
				if !row.ours {
					kind = events.KindTicksObserved
				}
				l.add(clock, l.of, kind, &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ticks: ticks, Ledger: by}}}})
			}
			at := func(clock string, fate events.TickFate) events.Tick {
				return events.Tick{First: cronClock(clock), Last: cronClock(clock), Fate: fate, Observed: !row.ours}
			}
			run := &events.RunSeen{Job: types.UID("uid-a"), Name: "report-a", Created: cronClock("09:00:00"), Due: cronClock("09:00:00")}
			started := at("09:00:00", events.TickStarted)
			started.Job, started.Name = run.Job, run.Name

			l.add("08:59:00", l.of, events.KindCronJobAdded, seen(hourly))
			l.add("09:00:00", l.of, events.KindRunSeen, run)
			tell("09:00:00", ledger("09:00:00", ""), started)
			l.add("09:00:00", l.of, events.KindCronJobChanged, seen(hourly, events.RunName{UID: run.Job, Name: run.Name}))
			if row.ours {
				tell("10:00:00", ledger("09:00:00", "10:00:00"))
			}
			gone := at("10:00:00", events.TickDeleted)
			over := ledger("10:00:00", "")
			if row.deleted {
				l.add("10:10:00", l.of, events.KindCronJobDeleted, &events.CronJobGone{})
				over.Closed = true
			} else {
				l.add("10:10:00", l.of, events.KindCronJobChanged, seen("7 4 1 1 *", events.RunName{UID: run.Job, Name: run.Name}))
				gone.Fate, over.Schedule, over.Through = events.TickReplaced, "7 4 1 1 *", cronClock("10:10:00")
			}
			l.add("10:10:01", l.of, events.KindRunGone, &events.RunGone{Job: run.Job})
			tell("10:11:00", over, gone)
			keepAll(t, l.source())
			if says := l.whyNot("10:00:00"); !strings.Contains(says, "report-a had not ended, and the policy is Forbid") || strings.Contains(says, "nothing kept it") {
				t.Errorf("why-not says %q", says)
			}
			if says := l.whyNot("10:00:00"); !row.deleted && !strings.Contains(says, `"0 * * * *" → "7 4 1 1 *"`) {
				t.Errorf("why-not says %q, without the edit", says)
			}
		})
	}
}
