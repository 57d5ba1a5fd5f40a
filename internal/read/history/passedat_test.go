package history_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestPassedInWords: each number of resources, and what is not counted.
func TestPassedInWords(t *testing.T) {
	moment := func(x events.Time) string { return fmt.Sprint(int64(x)) }
	for want, p := range map[string]history.Passed{
		"nodes and namespaces were over their budget of log. Nothing is counted":                                                                       {},
		"namespace ci was over its budget of log. 1 version passed over":                                                                               {Namespace: "ci", Versions: 1, Until: 9},
		"namespace ci was over its budget of log. 2 pods and 1 job came and went without a record (3 versions)":                                        {Namespace: "ci", Versions: 3, Went: []history.Went{{Resource: "pod", Objects: 2}, {Resource: "job", Objects: 1}}},
		"namespace ci was over its budget of log. 2 pods, 3 jobs and 1 node came and went without a record (1 version)":                                {Namespace: "ci", Versions: 1, Went: []history.Went{{Resource: "pod", Objects: 2}, {Resource: "job", Objects: 3}, {Resource: "node", Objects: 1}}},
		"namespace ci was over its budget of log. Nothing is counted; what was passed over since 7 is not counted yet":                                 {Namespace: "ci", Uncounted: 7},
		"namespace ci was over its budget of log. Nothing is counted; what was passed over since 7 is counted nowhere, as the controller ended before": {Namespace: "ci", Uncounted: 7, Until: 9},
	} {
		if got := p.Text(moment); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// overBudget is a log in which namespace ci is over its budget from minute 10 to minute 30, and others from minute 28
// on: each minute has a record.
func overBudget(t *testing.T) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	minute := func(n int) events.Time { return second(0).Add(time.Duration(n) * time.Minute) }
	last := events.Sequence(0)
	add := func(at events.Time, kind events.Kind, f events.Facts, namespace string) {
		n := log.Head().Sequence + 1
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{Sequence: n, Time: at, Stream: events.Controller, Previous: last, Kind: kind, Critical: kind.Critical(), Last: true},
			Facts:  f, Evidence: events.Evidence{Namespace: namespace}, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last = n
	}
	add(minute(0), events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}, "")
	for n := 10; n <= 40; n++ {
		if n <= 30 {
			add(minute(n), events.KindPassedOver, &events.PassedOver{Since: minute(max(n-1, 10)), Open: n < 30, Versions: uint64(n - 10)}, "ci")
		}
		if n >= 28 {
			add(minute(n), events.KindPassedOver, &events.PassedOver{Since: minute(max(n-1, 28)), Open: true, Versions: 1}, []string{"other", ""}[n%2])
		}
	}
	return log
}

// TestPassedAtAndSince: by the records of some minutes what all of them tell, at each minute and since each.
func TestPassedAtAndSince(t *testing.T) {
	log := overBudget(t)
	src := history.Local{Log: log}
	var all history.PassedOver
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all.Learn(&r)
		minute := int(r.Time.Sub(second(0)) / time.Minute)
		for _, namespace := range []string{"ci", "other", "nobody"} {
			for _, every := range []bool{false, true} {
				at := history.Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}
				now, err := history.PassedAt(t.Context(), src, at, namespace, every)
				want := map[string]bool{}
				if minute >= 10 && all.All[0].Until == 0 && (every || namespace == "ci") {
					want["ci"] = true
				}
				for _, x := range now {
					if x.Until != 0 {
						t.Errorf("in minute %d a time goes on that ended: %+v", minute, x)
					}
				}
				if got := len(now) > 0 && now[0].Namespace == "ci"; err != nil || got != want["ci"] {
					t.Errorf("in minute %d, %s, all %t: %d go on, want ci: %t, %v", minute, namespace, every, len(now), want["ci"], err)
				}
				at.Time = recordjson.Instant(r.Time.Add(5 * time.Minute))
				if late, err := history.PassedAt(t.Context(), src, at, namespace, every); err != nil || len(late) > len(now) {
					t.Errorf("five minutes later %d go on, %v", len(late), err)
				}
				at.Time = recordjson.Instant(r.Time.Add(5*time.Minute + 1))
				if late, err := history.PassedAt(t.Context(), src, at, namespace, every); err != nil || len(late) > 0 {
					t.Errorf("in minute %d, and more than five later, %d go on, %v", minute, len(late), err)
				}
			}
		}
	}
	for n := 0; n <= 42; n++ {
		from := second(0).Add(time.Duration(n) * time.Minute)
		since, err := history.PassedSince(t.Context(), src, from)
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{"ci", "other"} {
			if got, want := len(since.Touching(namespace, false, from, 0)), len(all.Touching(namespace, false, from, 0)); got != want {
				t.Errorf("since minute %d %d touch %s, want %d", n, got, namespace, want)
			}
		}
	}
	for _, bad := range []error{historytest.ErrRead, &store.CorruptError{Path: "x", At: 20, Next: 21}} {
		broken := history.Local{Log: &historytest.Failing{Reader: log, Bad: only(20, bad)}}
		_, err := history.PassedAt(t.Context(), broken, history.Place{Sequence: 21, Time: recordjson.Instant(second(0).Add(29 * time.Minute))}, "ci", false)
		_, failed := history.PassedSince(t.Context(), broken, 0)
		if !errors.Is(err, bad) || !errors.Is(failed, bad) {
			t.Errorf("%v and %v, want %v", err, failed, bad)
		}
	}
}
