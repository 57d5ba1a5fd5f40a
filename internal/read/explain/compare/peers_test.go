package compare

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// runsBefore is a list of Jobs, the newest first: C for one that completed, F for one that failed, R for one that runs,
// and lower letters for Jobs of other work.
type runsBefore struct {
	jobsOf
	letters string
}

func (l *runsBefore) Jobs(_ context.Context, q history.JobsQuery) (page history.JobsPage, err error) {
	l.asked = q
	states := map[string]history.State{"C": history.StateComplete, "F": history.StateFailed, "R": history.StateRunning}
	for i, letter := range strings.Split(l.letters, "") {
		s := history.Summary{Name: fmt.Sprint("etl-", i), UID: fmt.Sprint("uid-", i), State: states[strings.ToUpper(letter)]}
		if letter == strings.ToLower(letter) {
			s.Name = "other"
		}
		page.Items = append(page.Items, s)
	}
	return page, l.fails
}

// TestEarlierRunsAreCounted: those that succeeded and failed, the newest that succeeded, and how many failed since.
func TestEarlierRunsAreCounted(t *testing.T) {
	for letters, want := range map[string]string{
		"C": "uid-0, 0 failed since, 1 succeeded, 0 failed", "F": "none, 1 failed since, 0 succeeded, 1 failed",
		"FFCFCF": "uid-2, 2 failed since, 2 succeeded, 4 failed", "RCRF": "uid-1, 0 failed since, 1 succeeded, 1 failed",
		"cfFcC": "uid-4, 1 failed since, 1 succeeded, 1 failed", "r": "none, 0 failed since, 0 succeeded, 0 failed",
	} {
		src := &runsBefore{letters: letters}
		c := &Jobs{Case: &jobcase.Case{Src: src}}
		c.Job.Name, c.Job.Namespace, c.Job.First = "etl-9", "ns", 7
		if err := c.findRuns(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := "none"
		if c.runs.last != nil {
			last = c.runs.last.sum.UID
		}
		got := fmt.Sprintf("%s, %d failed since, %d succeeded, %d failed", last, c.runs.failedSince, c.runs.succeeded, c.runs.failed)
		if q := src.asked; got != want || q.Namespace != "ns" || q.Limit != mostRuns || q.Continue != "7" {
			t.Errorf("%s: %s, by %+v", letters, got, q)
		}
		src.fails = &store.CorruptError{Path: "x"}
		if err := c.findRuns(t.Context()); err != nil {
			t.Errorf("%s, beside damage: %v", letters, err)
		}
		src.fails = context.Canceled
		if err := c.findRuns(t.Context()); err == nil {
			t.Errorf("%s: a list that fails is not told", letters)
		}
	}
	src := &runsBefore{letters: "C", jobsOf: jobsOf{unread: context.Canceled}}
	c := &Jobs{Case: &jobcase.Case{Src: src}}
	if c.Job.Name = "etl-9"; c.findRuns(t.Context()) == nil {
		t.Error("records that cannot be read are not told")
	}
	c = &Jobs{Case: &jobcase.Case{}}
	if got := c.listedBefore(); got != "1" {
		t.Errorf("before a Job whose first record is not known: %s", got)
	}
}

// TestPeersAreThoseThatEnded by the time of the answer, and not the Job itself.
func TestPeersAreThoseThatEnded(t *testing.T) {
	for _, row := range []struct {
		state    history.State
		uid      string
		finished float64
		want     bool
	}{
		{history.StateComplete, "u", 100, true}, {history.StateFailed, "u", 100, true}, {history.StateFailed, "u", 101, false},
		{history.StateRunning, "u", 50, false}, {history.StateFailed, "me", 50, false},
	} {
		src := &peersOf{all: []history.Summary{{UID: row.uid, State: row.state, Finished: whentest.Recorded(row.finished)}}}
		c := &Jobs{Case: &jobcase.Case{Src: src, Added: whentest.Seen(1, 4000)}}
		c.Job.UID, c.Job.Created, c.Job.AsOf.Time = "me", whentest.Recorded(4000), whentest.Recorded(100)
		c.Settled = &jobcase.Settling{Stored: whentest.Seen(8, 90), Seen: whentest.Seen(9, 91)}
		if err := c.findPeers(t.Context()); err != nil || (len(c.peers) == 1) != row.want {
			t.Errorf("%+v: %d are compared, %v", row, len(c.peers), err)
		}
		if q := src.asked; q.Continue != "10" || q.Limit != mostPeers+1 || q.Since != whentest.Sec(400) {
			t.Errorf("they are looked for by %+v", q)
		}
	}
	src := &peersOf{}
	for i := range mostPeers + 5 {
		src.all = append(src.all, history.Summary{UID: fmt.Sprint(i), State: history.StateFailed})
	}
	c := &Jobs{Case: &jobcase.Case{Src: src}}
	if err := c.findPeers(t.Context()); err != nil || len(c.peers) != mostPeers {
		t.Errorf("%d of %d are compared, %v", len(c.peers), len(src.all), err)
	}
	for _, src.fails = range []error{&store.CorruptError{Path: "x"}, context.Canceled} {
		if err := c.findPeers(t.Context()); (err == nil) != src.Beside(src.fails) {
			t.Errorf("a list with %v: %v", src.fails, err)
		}
	}
	src.fails, src.unread = nil, context.Canceled
	if err := (&Jobs{Case: &jobcase.Case{Src: src}}).findPeers(t.Context()); err == nil {
		t.Error("records that cannot be read are not told")
	}
}

// peersOf is a list of Jobs without records.
type peersOf struct {
	jobsOf
	all []history.Summary
}

func (l *peersOf) Jobs(_ context.Context, q history.JobsQuery) (history.JobsPage, error) {
	l.asked = q
	return history.JobsPage{Items: l.all}, l.fails
}

// TestRunsOfTheSameWork: by the CronJob, by what names are made of, by a number at the end, or by the name.
func TestRunsOfTheSameWork(t *testing.T) {
	for _, row := range []struct {
		name      string
		origin    *events.Origin
		what      string
		same, not string
	}{
		{"etl", nil, "the same name", "etl", "etl-2"},
		{"etl-12", nil, "name etl-*", "etl-7", "etl2-7"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "name etl-*", "etl-aaaaa", "etl-aaaaaa"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "CronJob etl", "etl-30", "etl-30-1"},
		{"etl-29", &events.Origin{Kind: "Workflow", Name: "etl"}, "name etl-*", "etl-30", "etx-30"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "name etl-*", "etl-bbbbb", "etx-aaaaa"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "CronJob etl", "etl-31", "etx-30"},
	} {
		c := &Jobs{Case: &jobcase.Case{Origin: row.origin}}
		c.Job.Name, c.Job.Namespace = row.name, "ns"
		is, what := c.lineage()
		if what != row.what || !is(row.same) || is(row.not) || !is(row.name) {
			t.Errorf("%+v: %s", row, what)
		}
	}
}

// TestWhatIsKnownOfEqualTemplates: that they are the same, or that values are not kept.
func TestWhatIsKnownOfEqualTemplates(t *testing.T) {
	c := &Jobs{}
	spec := func(key, template string) *events.JobSpec { return &events.JobSpec{Key: key, Template: template} }
	for want, row := range map[string][2]*events.JobSpec{
		"unknown: the spec of then is no longer kept":                                        {nil, spec("k", "t")},
		"nothing that is recorded; values of env, commands and arguments cannot be compared": {spec("", ""), spec("", "")},
		"a value that is not kept in the log: of env, command, arguments or annotations": {spec("k", "t"), spec("k",
			"u")},
		"nothing: spec and pod template are the same": {spec("k", "t"), spec("k",
			"t")},
	} {
		if got := c.sameTemplate(row[0], row[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := c.sameTemplate(spec("k", "t"), spec("l", "t")); !strings.HasPrefix(got, "nothing that is recorded") {
		t.Errorf("of another key: %s", got)
	}
	if got := c.sameTemplate(spec("k", "t"), nil); !strings.HasPrefix(got, "unknown") {
		t.Errorf("without a spec: %s", got)
	}
}
