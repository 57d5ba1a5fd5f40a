package loop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/replay"
)

// history returns the records of a Job that fails once and is tried again.
func history(t *testing.T) []events.Record {
	m := newMachine(t)
	for _, command := range []string{
		"start", "synced", "job demo", "ended 9/0 done uid=uid-demo#1", "pod demo#1 phase=Running", "pod demo#1 phase=Failed",
		"wait 1s", "wait 9s", "wait 30s",
	} {
		m.do(command)
	}
	return m.records()
}

// retirement returns the records of a Job that has ended when it is first seen.
func retirement(t *testing.T) []events.Record {
	m := newMachine(t)
	for _, command := range []string{"start", "synced", "job demo finished=Complete"} {
		m.do(command)
	}
	return m.records()
}

func (m *machine) records() []events.Record {
	t := m.t
	t.Helper()
	var records []events.Record
	for rec, err := range m.log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
	return records
}

func find(records []events.Record, kind events.Kind, n int) int {
	for i := range records {
		if records[i].Kind == kind {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// without removes a record as if it had never been written. Sequences stay as they are: a replay does not read them.
func without(records []events.Record, i int) []events.Record {
	records = slices.Clone(records)
	if records[i].Last && i > 0 && records[i-1].Time == records[i].Time {
		records[i-1].Last = true
	}
	return slices.Delete(records, i, i+1)
}

// unshown returns the records before the first timer of the Job, which was to show its progress, and a later record of
// the controller.
func unshown(r []events.Record, after time.Duration) []events.Record {
	i := find(r, events.KindTimerFired, 1)
	late := r[i]
	late.Stream, late.Kind, late.Facts, late.Last = events.Controller, events.KindLeadershipChanged, &events.LeadershipChanged{}, true
	late.Time = late.Time.Add(after)
	return append(slices.Clone(r[:i]), late)
}

func TestReplayFindsWhatWasDecidedOtherwise(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func([]events.Record) []events.Record
		want   string // "" for no divergence
	}{
		{"an untouched log replays", func(r []events.Record) []events.Record { return r }, ""},
		{
			"a decision of another content",
			func(r []events.Record) []events.Record {
				i := find(r, events.KindDecided, 1)
				d := *r[i].Facts.(*events.Decision)
				d.Steps = slices.Clone(d.Steps)
				d.Steps[0].Commands = []events.Command{&events.CreatePod{Ordinal: 7, Index: events.NoIndex, Template: "t1"}}
				r[i].Facts = &d
				return r
			},
			"record 9: recorded create pod #7 (MorePodsWanted), replay decides create pod #1 (MorePodsWanted)",
		},
		{
			"a decision that was not made",
			func(r []events.Record) []events.Record { return without(r, find(r, events.KindDecided, 1)) },
			"record 8: recorded nothing, replay decides create pod #1 (MorePodsWanted)",
		},
		{
			"a decision that nothing led to",
			func(r []events.Record) []events.Record {
				i := find(r, events.KindTimerFired, 1)
				return without(r, i)
			},
			"nothing in its batch touched the Job",
		},
		{
			"a wait that had been served, and nobody looked",
			func(r []events.Record) []events.Record {
				timer := find(r, events.KindTimerFired, 2)
				late := r[timer]
				cut := slices.Clone(r[:timer])
				late.Stream, late.Kind, late.Facts, late.Last = events.Controller, events.KindLeadershipChanged, &events.LeadershipChanged{}, true
				late.Time = late.Time.Add(time.Minute)
				return append(cut, late)
			},
			"a wait was over, and no decision was recorded",
		},
		{
			"a wait of other rules, which may have waited for nothing",
			func(r []events.Record) []events.Record {
				i := find(r, events.KindControllerStarted, 1)
				started := *r[i].Facts.(*events.ControllerStarted)
				started.RulesVersion--
				r[i].Facts = &started
				return unshown(r, time.Minute)
			},
			"",
		},
		{
			"progress that has its turn yet",
			func(r []events.Record) []events.Record { return unshown(r, reconciler.ProgressSpread-time.Second) },
			"",
		},
		{
			"progress that was not shown in time",
			func(r []events.Record) []events.Record { return unshown(r, time.Minute) },
			"a wait was over, and no decision was recorded",
		},
		{
			"evidence that is gone changes nothing",
			func(r []events.Record) []events.Record {
				for i := range r {
					r[i].Evidence = events.Evidence{}
				}
				return r
			},
			"",
		},
		{"a Job that retires replays", func([]events.Record) []events.Record { return retirement(t) }, ""},
		{
			"an end that is another",
			func([]events.Record) []events.Record {
				r := retirement(t)
				f := *r[find(r, events.KindJobRetired, 1)].Facts.(*events.JobRetired)
				f.Failed, f.Result = 1, events.ResultFailed
				r[find(r, events.KindJobRetired, 1)].Facts = &f
				return r
			},
			"the end that it tells is not the one that the records before it give, in result, failed",
		},
		{
			"a verdict in other words is no divergence",
			func([]events.Record) []events.Record {
				r := retirement(t)
				r[find(r, events.KindJobRetired, 1)].Evidence.Sentence = "it is over"
				return r
			},
			"",
		},
		{
			"a record that says nothing of the end is not compared",
			func([]events.Record) []events.Record {
				r := retirement(t)
				r[find(r, events.KindJobRetired, 1)].Facts = &events.JobRetired{}
				return r
			},
			"",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := replay.New()
			var found []string
			for _, rec := range row.change(history(t)) {
				divergences, err := r.Record(rec)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range divergences {
					found = append(found, d.String())
				}
			}
			switch {
			case row.want == "" && len(found) > 0:
				t.Errorf("found %s", found)
			case row.want != "" && (len(found) == 0 || !strings.Contains(found[0], row.want)):
				t.Errorf("found %q, want first %q", found, row.want)
			}
		})
	}
}

func TestDecisionsOfOtherRulesAreCountedApart(t *testing.T) {
	r := replay.New()
	for _, rec := range history(t) {
		switch f := rec.Facts.(type) {
		case *events.ControllerStarted:
			other := *f
			other.RulesVersion = reconciler.RulesVersion + 1
			rec.Facts = &other
		case *events.Decision:
			other := *f
			other.RulesVersion = reconciler.RulesVersion + 1
			rec.Facts = &other
		}
		if found, err := r.Record(rec); err != nil || len(found) > 0 {
			t.Fatalf("%v %v", found, err)
		}
	}
	if n := r.Summary(); n.OtherRules == 0 || n.OtherRules != n.Decisions {
		t.Errorf("%d of %d decisions are counted as of other rules", n.OtherRules, n.Decisions)
	}
}
