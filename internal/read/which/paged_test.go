package which_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// endless is a log of n Jobs and n CronJobs that differ in their UIDs alone. Its lists may be damaged, or not be read.
type endless struct {
	history.Source
	n                  int
	jobsFail, cronFail error
}

func (l *endless) page(after string, limit int) (from, to int, next string, err error) {
	if after != "" {
		_, err = fmt.Sscan(after, &from)
	}
	if to = l.n; limit > 0 && l.n > from+limit {
		to = from + limit
		next = fmt.Sprint(to)
	}
	return from, to, next, err
}

func (l *endless) Jobs(_ context.Context, q history.JobsQuery) (page history.JobsPage, err error) {
	from, to, next, err := l.page(q.Continue, q.Limit)
	for i := from; i < to && strings.HasPrefix("abcd", q.UID); i++ {
		page.Items = append(page.Items, history.Summary{Namespace: "n", Name: "x", UID: fmt.Sprintf("abcd-%06d", i),
			State: history.StateRunning})
	}
	page.Continue = next
	return page, errors.Join(err, l.jobsFail)
}

func (l *endless) CronJobs(_ context.Context, q history.CronJobsQuery) (page history.CronJobsPage, err error) {
	from, to, next, err := l.page(q.Continue, q.Limit)
	for i := from; i < to && strings.HasPrefix("abcd", q.UID); i++ {
		page.Items = append(page.Items, history.CronSummary{Namespace: "n", Name: "y", UID: fmt.Sprintf("abcd-%06d", i)})
	}
	page.Continue = next
	return page, errors.Join(err, l.cronFail)
}

// TestSoManyAreLookedAt: pieces are looked for in 50,000 Jobs and CronJobs, and it is said if there are older ones.
func TestSoManyAreLookedAt(t *testing.T) {
	for n, older := range map[int]bool{0: false, 1: false, 50_000: false, 50_001: true, 51_500: true} {
		f := finderOf(&endless{Source: sourceOf(populated(t)), n: n})
		found, err := f.Pieces(t.Context(), "zz", "", 5)
		if want := min(n, which.MostPieces); err != nil || found.Jobs != want || found.CronJobs != want ||
			found.Older != older {
			t.Errorf("of %d: %d Jobs and %d CronJobs, older ones: %t, %v", n, found.Jobs, found.CronJobs, found.Older, err)
		}
		if found.PodsOf > 1000 {
			t.Errorf("the pods of %d Jobs are looked at", found.PodsOf)
		}
	}
	for _, only := range []string{"jobs", "cronjobs"} { // one of them has older ones
		l := &endless{Source: sourceOf(populated(t)), n: 50_001}
		f := finderOf(half{l, only})
		if found, err := f.Pieces(t.Context(), "zz", "", 5); err != nil || !found.Older {
			t.Errorf("%s alone: older ones: %t, %v", only, found.Older, err)
		}
	}
}

// half has Jobs alone, or CronJobs alone.
type half struct {
	*endless
	only string
}

func (h half) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	if h.only != "jobs" {
		return history.JobsPage{}, nil
	}
	return h.endless.Jobs(ctx, q)
}

func (h half) CronJobs(ctx context.Context, q history.CronJobsQuery) (history.CronJobsPage, error) {
	if h.only == "jobs" {
		return history.CronJobsPage{}, nil
	}
	return h.endless.CronJobs(ctx, q)
}

// TestManyUIDsThatBeginAlike: ten are listed, and it is said if there are more.
func TestManyUIDsThatBeginAlike(t *testing.T) {
	for n, lines := range map[int]int{2: 3, 10: 11, 11: 12, 30: 12} {
		f := finderOf(&endless{Source: sourceOf(populated(t)), n: n})
		_, err := f.Jobs(t.Context(), which.Place{Namespace: "n"}, which.Object{Name: "abcd", Kind: which.Job})
		wrong := (*which.WrongError)(nil)
		if !errors.As(err, &wrong) || len(wrong.Lines()) != lines || (wrong.Lines()[lines-1] == "  … and more") != (n > 10) {
			t.Errorf("of %d: %v, %v", n, err, wrong)
		}
	}
}

// TestWhatIsFoundBesideDamage comes with the error; where a list cannot be read at all, there is nothing but the error,
// and nobody says that the log has none.
func TestWhatIsFoundBesideDamage(t *testing.T) {
	torn := &store.CorruptError{Path: "a.db", At: 3, Next: 4}
	for _, row := range []struct {
		jobs, crons error
		found       int
	}{{nil, nil, 4}, {torn, nil, 4}, {nil, torn, 4}, {torn, torn, 4}, {context.Canceled, nil, 0},
		{nil, context.Canceled, 0}} {
		f := finderOf(&endless{Source: sourceOf(populated(t)), n: 2, jobsFail: row.jobs, cronFail: row.crons})
		found, err := f.Pieces(t.Context(), "abc", "", 9)
		n := 0
		if found != nil {
			n = len(found.Items)
		}
		if n != row.found || (err != nil) != (row.jobs != nil || row.crons != nil) {
			t.Errorf("%v, %v: %d are found, %v", row.jobs, row.crons, n, err)
		}
	}
	for what, l := range map[string]*endless{"damage": {cronFail: torn}, "a read": {cronFail: context.Canceled}, "": {}} {
		l.Source = sourceOf(populated(t))
		f := finderOf(l)
		_, err := f.Jobs(t.Context(), which.Place{Namespace: "prod", Named: true},
			which.Object{Name: "zz", Kind: which.CronJob})
		if err == nil || strings.Contains(err.Error(), "no CronJobs at all") != (what == "") {
			t.Errorf("with %s: %v", what, err)
		}
	}
}

// TestWordsOfWhatIsWrong: each input that cannot be taken is told what to write instead.
func TestWordsOfWhatIsWrong(t *testing.T) {
	for args, says := range map[string]string{
		"/etl":     `"/etl" has no namespace: write etl, or NAMESPACE/etl`,
		"job//etl": `"/etl" has no namespace: write etl, or NAMESPACE/etl`,
		"prod/":    `"prod/" has no name: write prod/NAME`, "/": `"/" has no name: write /NAME`,
		"job//": `"/" has no name: write /NAME`,
		"job/":  `"job/" has no name: write job/NAME`, "pod": `"pod" has no name: write pod/NAME for the Job of that pod`,
		"a/b/c": `"a/b/c" is no Job: write NAMESPACE/NAME`, "job/a b": `one object at a time: "b" comes after "job/a"`,
		"etl x": `"etl" is no kind of object: write etl/x, or job/x -n etl`,
	} {
		if _, _, err := which.Parse(strings.Fields(args)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %s", args, err, says)
		}
	}
	named := func(h which.Object, namespace string) error {
		return which.WantCronJobNamed([]string{"x/etl"}, h,
			namespace)
	}
	for _, row := range []struct {
		err  error
		says string
	}{
		{which.WantKind(which.Object{Name: "etl", Kind: which.Any}, ""),
			`"etl" may be a Job or a CronJob: write job/etl or cronjob/etl`},
		{which.WantKind(which.Object{Name: "etl", Kind: which.Any}, "prod"), `write job/etl -n prod or cronjob/etl -n prod`},
		{named(which.Object{Name: "etl", Kind: which.Any}, "prod"), `"x/etl" is no CronJob: write cronjob/etl -n prod`},
		{named(which.Object{Name: "etl", Kind: which.Any}, ""), `"x/etl" is no CronJob: write cronjob/NAME`},
		{named(which.Object{Name: "etl", Kind: which.Job}, "prod"), `"x/etl" is no CronJob: write cronjob/NAME`},
		{named(which.Object{Kind: which.CronJob}, ""), `"x/etl" has no name: write cronjob/NAME`},
	} {
		if row.err == nil || !strings.HasSuffix(row.err.Error(), row.says) {
			t.Errorf("%v, want %s", row.err, row.says)
		}
	}
	if !which.IsUID(world[0].uid) || which.IsUID(world[0].uid[:8]) || which.IsUID("etl") {
		t.Error("a UID has another form")
	}
	h, p := which.Object{Name: "etl", Kind: which.CronJob}, which.Place{Namespace: "prod"}
	if got, in, err := finderOf(sourceOf(populated(t))).Resolve(t.Context(), p, h); err != nil || got != h || in != p {
		t.Errorf("what has its kind is %s in %v, %v", got, in, err)
	}
	for _, text := range []string{
		"2026-03-10T09:00:01.5Z", "2026-03-10 09:00:01.5Z", "2026-03-10T09:00:01.5", "2026-03-10 09:00:01.5",
		"2026-03-10T10:00:01.5+01:00",
		"09:00:01.5", "09:00:01.5Z", "10:00:01.5+01:00",
	} {
		w, ok := which.ParseWhen(text, words.Zone{})
		noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
		want := events.At(noon.Add(-3*time.Hour + 1500*time.Millisecond))
		if got := w.Point(noon, events.At(noon)); !ok || got != want {
			t.Errorf("%s is %s, %t", text, got.Go(), ok)
		}
	}
}
