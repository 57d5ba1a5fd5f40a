package which

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

func clock(t *testing.T, text string) events.Time {
	t.Helper()
	when, err := time.Parse("2 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return events.At(time.Date(2026, 3, when.Day(), when.Hour(), when.Minute(), when.Second(), 0, time.UTC))
}

// TestTheDayOfATimeOfDay is tried one second around each bound: an hour in the past, ten minutes in the future, the end
// of the log, and a day behind it.
func TestTheDayOfATimeOfDay(t *testing.T) {
	for _, row := range []struct{ text, now, end, before, point string }{
		{"12:00:00", "14 12:00:00", "14 12:00:00", "14 12:00:00", "14 12:00:00"},
		{"11:00:01", "14 12:00:00", "13 12:00:00", "14 11:00:01", "14 11:00:01"}, // less than an hour ago
		{"11:00:00", "14 12:00:00", "13 12:00:00", "13 11:00:00", "13 11:00:00"},
		{"11:30:00", "14 12:00:00", "13 11:30:01", "14 11:30:00", "14 11:30:00"}, // less than a day behind the end
		{"11:30:00", "14 12:00:00", "13 11:30:00", "13 11:30:00", "13 11:30:00"},
		{"12:10:00", "14 12:00:00", "14 12:00:00", "13 12:10:00", "14 12:10:00"}, // up to ten minutes ahead
		{"12:10:01", "14 12:00:00", "14 12:00:00", "13 12:10:01", "13 12:10:01"},
		{"12:05:00", "14 12:00:00", "13 12:05:01", "13 12:05:00", "14 12:05:00"},
		{"12:05:00", "14 12:00:00", "13 12:05:00", "13 12:05:00", "13 12:05:00"},
		{"08:00:00", "14 12:00:00", "14 08:00:00", "14 08:00:00", "14 08:00:00"},
		{"08:00:00", "14 12:00:00", "14 07:59:59", "14 08:00:00", "14 08:00:00"}, // the log ends today
		{"08:00:00", "14 12:00:00", "13 09:00:00", "13 08:00:00", "13 08:00:00"},
		{"08:00:00", "14 12:00:00", "13 07:00:00", "12 08:00:00", "12 08:00:00"},
		{"13:00:00", "14 12:00:00", "14 11:00:00", "13 13:00:00", "13 13:00:00"},
		{"23:59:00", "14 00:01:00", "14 00:00:30", "13 23:59:00", "13 23:59:00"},
		{"23:59:00", "14 00:01:00", "13 23:30:00", "13 23:59:00", "13 23:59:00"}, // the nearest is of yesterday
		{"00:02:00", "13 23:59:00", "13 23:59:00", "13 00:02:00", "14 00:02:00"},
		{"13:00:00", "14 12:00:00", "", "13 13:00:00", "13 13:00:00"}, // the end is not known
		{"10:00:00", "14 12:00:00", "", "14 10:00:00", "14 10:00:00"},
	} {
		w, ok := ParseWhen(row.text, words.Zone{})
		if _, ofDay := w.OfDay(); !ok || !ofDay || w.Ago() {
			t.Fatalf("%s is no time of day", row.text)
		}
		now, end := clock(t, row.now).Go(), events.Time(0)
		if row.end != "" {
			end = clock(t, row.end)
		}
		if got := w.Before(now, end); got != clock(t, row.before) {
			t.Errorf("%+v: the bound is %s", row, got.Go())
		}
		if got := w.Point(now, end); got != clock(t, row.point) {
			t.Errorf("%+v: the point is %s", row, got.Go())
		}
	}
	w, _ := ParseWhen("12:00:00", words.Zone{})
	for begin, want := range map[string]string{"14 12:00:00": "14 12:00:00", "14 12:00:01": "15 12:00:00",
		"14 00:00:00": "14 12:00:00"} {
		if got := w.Behind(clock(t, begin), clock(t, "20 09:00:00").Go(), clock(t, "20 09:00:00")); got != clock(t, want) {
			t.Errorf("behind %s it is %s", begin, got.Go())
		}
	}
	if got := w.Behind(0, clock(t, "20 12:00:00").Go(), clock(t, "20 12:00:00")); got != clock(t, "20 12:00:00") {
		t.Errorf("behind nothing it is %s", got.Go())
	}
}

// TestFormsOfATime tells the three apart, and what is none of them.
func TestFormsOfATime(t *testing.T) {
	now := clock(t, "14 12:00:00")
	for text, want := range map[string]string{
		"0s": "14 12:00:00", "90m": "14 10:30:00", "2d": "12 12:00:00", "0d": "14 12:00:00", "2026-03-10": "10 00:00:00",
		"2026-03-10T09:00Z": "10 09:00:00", "2026-03-10 09:00Z": "10 09:00:00", "2026-03-10 09:00:01Z": "10 09:00:01",
	} {
		w, ok := ParseWhen(text, words.Zone{})
		if _, ofDay := w.OfDay(); !ok || ofDay || w.Ago() != !strings.HasPrefix(text, "2026") ||
			w.Before(now.Go(), 0) != clock(t, want) ||
			w.Point(now.Go(), 0) != clock(t, want) || w.Behind(5, now.Go(), 0) != clock(t, want) {
			t.Errorf("%s: %+v, %t", text, w, ok)
		}
	}
	for _, text := range []string{"", "-1s", "d", "-1d", "65536d", "x", "24:00", "1"} {
		if w, ok := ParseWhen(text, words.Zone{}); ok {
			t.Errorf("%q is %+v", text, w)
		}
	}
	if Beyond(events.FirstTime+1) || !Beyond(events.FirstTime) || Beyond(events.LastTime-1) || !Beyond(events.LastTime) {
		t.Error("the years of a log have other bounds")
	}
}

// listed is a log of which only the lists of Jobs and CronJobs matter. Each page has two Jobs.
type listed struct {
	history.Source
	jobs  []history.Summary
	crons []history.CronSummary
	fails error
}

func (l *listed) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (l *listed) Jobs(_ context.Context, q history.JobsQuery) (history.JobsPage, error) {
	from := 0
	if q.Continue != "" {
		if _, err := fmt.Sscan(q.Continue, &from); err != nil {
			return history.JobsPage{}, err
		}
	}
	page := history.JobsPage{Items: l.jobs[from:min(from+2, len(l.jobs))]}
	if from+2 < len(l.jobs) {
		page.Continue = fmt.Sprint(from + 2)
	}
	return page, l.fails
}

func (l *listed) CronJobs(context.Context, history.CronJobsQuery) (history.CronJobsPage, error) {
	return history.CronJobsPage{Items: l.crons}, l.fails
}

// TestWhichJobOfANameIsMeant is an active one before one that failed, and that before others, of each namespace but
// the one that was searched already.
func TestWhichJobOfANameIsMeant(t *testing.T) {
	for state, want := range map[history.State]int{
		history.StateWaiting: 0, history.StateRunning: 0, history.StateSuspended: 0, history.StateFailing: 0,
		history.StateFinishing: 0,
		history.StateDeleting:  0, history.StateFailed: 1, history.StateComplete: 2, history.StateDeleted: 2,
	} {
		if got := meantFirst(&history.Summary{State: state}); got != want {
			t.Errorf("%s ranks %d, want %d", state, got, want)
		}
	}
	long := strings.Repeat("a", 45)
	l := &listed{jobs: []history.Summary{
		{Namespace: "a", Name: "etl", State: history.StateComplete, UID: "a3"},
		{Namespace: "a", Name: "etl", State: history.StateFailed, UID: "a2"},
		{Namespace: "a", Name: "etl", State: history.StateFailed, UID: "a1"},
		{Namespace: "b", Name: "etl", State: history.StateRunning, UID: "b2"},
		{Namespace: "b", Name: "etl", State: history.StateRunning, UID: "b1"},
		{Namespace: "c", Name: "other", State: history.StateRunning, UID: "c1"},
		{Namespace: "d", Name: "etl-x", State: history.StateRunning, UID: "d1"},
		{Namespace: "e", Name: "et", State: history.StateRunning, UID: "e1"},
		{Namespace: "e", Name: "e", State: history.StateRunning, UID: "e2"},
		{Namespace: "f", Name: long, State: history.StateRunning, UID: "f1"},
	}}
	f := &Finder{Source: l, Note: func(string) {}}
	for _, row := range []struct {
		h          Object
		but        string
		want, pods string
	}{
		{Object{"etl", Job}, "none", "a/a2 b/b2", "e"}, {Object{"etl", Any}, "b", "a/a2", "e"},
		{Object{"etl", Pod}, "none", "", "a b e"},
		{Object{"etl", CronJob}, "none", "", "a b e"}, {Object{"etl-x2", Any}, "a", "", "b d e"},
		{Object{long[:40] + "-x", Any}, "none", "", "f"},
		{Object{long[:39] + "-x", Any}, "none", "", ""},
	} {
		all, pods, err := f.jobsNamed(t.Context(), row.h, row.but)
		var got []string
		for _, o := range all {
			got = append(got, o.namespace+"/"+o.job.UID)
		}
		if strings.Join(got, " ") != row.want || strings.Join(pods, " ") != row.pods || err != nil {
			t.Errorf("%s but in %s: %s, and perhaps pods in %s, %v", row.h, row.but, got, pods, err)
		}
	}
	for _, row := range []struct {
		fails error
		want  bool
	}{{&store.CorruptError{}, false}, {context.Canceled, true}} {
		l.fails = row.fails
		_, _, err := f.jobsNamed(t.Context(), Object{"etl", Job}, "")
		_, other := f.cronJobsNamed(t.Context(), Object{"etl", CronJob}, "")
		if (err != nil) != row.want || (other != nil) != row.want {
			t.Errorf("after %v: %v, %v", row.fails, err, other)
		}
	}
	l.fails, l.crons = nil, []history.CronSummary{
		{Namespace: "a", Name: "etl", UID: "1"}, {Namespace: "a", Name: "etl", UID: "2"},
		{Namespace: "b", Name: "etl2", UID: "3"},
		{Namespace: "c", Name: "etl", UID: "4"}, {Namespace: "d", Name: "etl", UID: "5"},
	}
	crons, err := f.cronJobsNamed(t.Context(), Object{"etl", CronJob}, "c")
	if err != nil || len(crons) != 2 || crons[0].every.UID != "1" || crons[1].every.UID != "5" {
		t.Errorf("CronJobs %+v, %v", crons, err)
	}
}

// TestTheOrderOfSeveralCandidates is by trouble, then the newest first. A list shows eight of them and counts the rest.
func TestTheOrderOfSeveralCandidates(t *testing.T) {
	at := recordjson.Instant(clock(t, "14 12:00:00"))
	j := func(state history.State, first uint64) *history.Summary {
		return &history.Summary{State: state, First: first, Created: at, Started: at + 1e9}
	}
	ended := j(history.StateFailed, 7)
	ended.Finished = at + 2e9
	held := &history.CronSummary{State: history.CronHeld, First: 4}
	for _, row := range []struct {
		o     candidate
		rank  int
		first uint64
		how   string
	}{
		{candidate{}, 2, 0, ""},
		{candidate{job: j(history.StateRunning, 5)}, 2, 5, "Running, begun 2026-03-14 12:00:01Z"},
		{candidate{job: j(history.StateRunning, 5), stuck: true}, 0, 5, "stuck, begun 2026-03-14 12:00:01Z"},
		{candidate{job: ended}, 1, 7, "Failed, ended 2026-03-14 12:00:02Z"},
		{candidate{job: j(history.StateFailing, 6)}, 1, 6, "Failing, begun 2026-03-14 12:00:01Z"},
		{candidate{job: &history.Summary{State: history.StateWaiting, Created: at}}, 2, 0,
			"Waiting, begun 2026-03-14 12:00:00Z"},
		{candidate{job: &history.Summary{State: history.StateDeleted}}, 2, 0, "Deleted"},
		{candidate{every: held}, 0, 4, "Held"},
		{candidate{every: &history.CronSummary{State: history.CronSuspended, First: 3}}, 2, 3, "Suspended"},
	} {
		if row.o.rank() != row.rank || row.o.first() != row.first || row.o.how() != row.how {
			t.Errorf("%+v: rank %d, first %d, %q", row, row.o.rank(), row.o.first(), row.o.how())
		}
	}
	f := &Finder{Source: &listed{}, Note: func(string) {}}
	for n, want := range map[int]string{2: "", 8: "", 9: "  … and 1 more: 'jobledger get jobs -A' lists all",
		11: "  … and 3 more: 'jobledger get jobs -A' lists all"} {
		var all []candidate
		for i := range n {
			state := history.StateComplete
			if i == n/2 {
				state = history.StateFailed
			}
			all = append(all, candidate{Object: Object{"etl", Job}, namespace: fmt.Sprintf("n%02d", i),
				job: j(state, uint64(i+1))})
		}
		err := f.several(t.Context(), Object{"etl", Job}, all)
		wrong := (*WrongError)(nil)
		if !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		lines, newest := wrong.Lines(), n-1
		if newest == n/2 {
			newest--
		}
		if len(lines) != min(n, 8)+1+map[bool]int{true: 1}[want != ""] || want != "" && lines[len(lines)-1] != want ||
			!strings.Contains(lines[1], fmt.Sprintf("n%02d  Failed", n/2)) ||
			!strings.Contains(lines[2], fmt.Sprintf("n%02d  ", newest)) ||
			!strings.Contains(err.Error(), fmt.Sprintf("in %d namespaces", n)) {
			t.Errorf("of %d: %v\n%s", n, err, strings.Join(lines, "\n"))
		}
	}
	crons := make([]candidate, 9)
	for i := range crons {
		crons[i] = candidate{Object: Object{"etl", CronJob}, namespace: fmt.Sprint("n", i), every: held}
	}
	wrong := (*WrongError)(nil)
	if err := f.several(t.Context(), Object{"etl", CronJob}, crons); !errors.As(err, &wrong) ||
		!strings.Contains(wrong.Lines()[9], "get cronjobs -A") {
		t.Errorf("of CronJobs: %v", err)
	}
	here := []candidate{{Object: Object{"etl", Pod}, namespace: "a"}, {Object: Object{"etl", CronJob}, namespace: "a"}}
	if err := f.several(t.Context(), Object{"etl", Any}, here); err == nil ||
		err.Error() != `"etl" is several things; write one of them: cronjob/etl -n a, pod/etl -n a` {
		t.Errorf("in one namespace: %v", err)
	}
}

// TestNamesThatAreMistyped are those of up to three letters' difference, and of a third of the name's length.
func TestNamesThatAreMistyped(t *testing.T) {
	for _, row := range []struct {
		other, name string
		want        bool
	}{
		{"nightly", "nightly", true}, {"nightly", "nihgtly", true}, {"nightly", "nightl", true},
		{"nightly-sync", "nightly-sy", true},
		{"nightly-sync", "nightly-s", true}, {"nightly-sync", "nightly-", false}, {"ab", "ac", false},
		{"abc", "abd", true}, {"abc", "aed", false},
		{"abcdef", "abcdxy", true}, {"abcdef", "abcxyz", false}, {"abcdefghijkl", "abcdefghixyz", true},
		{"abcdefghijkl", "abcdefghwxyz", false},
	} {
		if got := mistyped(row.other, row.name); got != row.want {
			t.Errorf("%s for %s: %t", row.name, row.other, got)
		}
		if got := unlike(row.other, row.name); got <= len(row.name)+len(row.other) != row.want {
			t.Errorf("%s is %d unlike %s", row.name, got, row.other)
		}
	}
	all := make([]candidate, 5)
	for i := range all {
		all[i] = candidate{Object: Object{fmt.Sprint("j", i), Job}, namespace: "n"}
	}
	for n, want := range map[int]string{1: "job/j0 -n n", 3: "job/j0 -n n, job/j1 -n n, job/j2 -n n",
		5: "job/j0 -n n, job/j1 -n n, job/j2 -n n and 2 more"} {
		if got := some(all[:n]); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestTheMostSimilarNameComesFirst, whichever is newer; of names that are as similar, the newer one.
func TestTheMostSimilarNameComesFirst(t *testing.T) {
	src := &listed{}
	for _, name := range []string{"nightly-repo", "nightly-repor", "nightly-rep", "nightly-repos", "other", "nightly-repor"} {
		src.jobs = append(src.jobs, history.Summary{Namespace: "n", Name: name})
	}
	f := &Finder{Source: src, Note: func(string) {}}
	var got []string
	for _, o := range f.namedAlike(t.Context(), Place{Namespace: "n"}, Object{Name: "nightly-report", Kind: Job}) {
		got = append(got, o.Name)
	}
	if want := []string{"nightly-repor", "nightly-repo", "nightly-repos", "nightly-rep"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatAPieceMatches is the whole of a name, its beginning, or a part of it, and else of the UID.
func TestWhatAPieceMatches(t *testing.T) {
	for _, row := range []struct {
		text, name, uid, field string
		rank                   int
	}{
		{"etl", "ETL", "u", "name", 0}, {"etl", "etl-2", "u", "name", 1}, {"etl", "my-etl", "u", "name", 2},
		{"etl", "x", "etl", "uid", 0},
		{"etl", "x", "etl-1", "uid", 2}, {"etl", "x", "y", "", 0}, {"etl", "etl", "etl", "name", 0},
		{"etl", "my-etl", "etl", "name", 0},
	} {
		l := pieces{text: row.text}
		if field, rank, is := l.match(row.name, row.uid); field != row.field || rank != row.rank || is != (field != "") {
			t.Errorf("%+v: %s, %d, %t", row, field, rank, is)
		}
	}
}

// TestKindsThatANameMayMean are searched in their order.
func TestKindsThatANameMayMean(t *testing.T) {
	for kind, want := range map[Kind][]Kind{Any: {Job, CronJob, Pod}, CronJob: {CronJob}, Pod: {Pod}, Job: {Job, Pod}} {
		var got []Kind
		for _, h := range kindsOf(Object{"etl", kind}) {
			if got = append(got, h.Kind); h.Name != "etl" {
				t.Errorf("a kind of %s", h.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d may mean %v", kind, got)
		}
	}
	for _, row := range []struct{ before, flag, want string }{{"a", "", "a"}, {"", "b", "b"}, {"a", "a", "a"},
		{"", "", ""}, {"a", "b", "!"}} {
		got, err := OneNamespace([]string{"x"}, row.before, row.flag)
		if err != nil {
			got = "!"
		}
		if got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}
