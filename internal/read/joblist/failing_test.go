package joblist_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// asks is a question to the lists of a log.
func asks(name string, config joblist.Config, ask func(ctx context.Context, c joblist.Config) (any, error)) historytest.Question {
	return historytest.Question{Name: name, Folds: true, Ask: func(ctx context.Context, f *historytest.Failing, _ *store.Damage) (string, error) {
		c := config
		c.Log, c.Files = f, f.Files(config.Files)
		answer, err := ask(ctx, c)
		text, unwritten := json.Marshal(answer)
		return string(text), errors.Join(err, unwritten)
	}}
}

// TestAReadThatFailsIsTold: whichever read of a page or of a comparison fails, whatever lists there are.
func TestAReadThatFailsIsTold(t *testing.T) {
	config, crons, jobs := hardCrons(t)
	var all []historytest.Question
	for _, lists := range []string{"no lists", "lists that go on", "whole lists"} {
		switch config.Dir = t.TempDir(); lists {
		case "lists that go on":
			if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		case "whole lists":
			if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		page := func(name string, q history.ListQuery) historytest.Question {
			return asks(name, config, func(ctx context.Context, c joblist.Config) (any, error) { return joblist.New(c).Page(ctx, q) })
		}
		all = append(all,
			page("jobs", history.ListQuery{}), page("some jobs", history.ListQuery{Limit: 2}), page("one job", history.ListQuery{UID: jobs[len(jobs)-2].UID}),
			page("older jobs", history.ListQuery{Limit: 2, Before: 150}),
			asks("cronjobs", config, func(ctx context.Context, c joblist.Config) (any, error) {
				return joblist.New(c).CronJobs(ctx, history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Limit: len(crons) - 1}})
			}),
			asks("compared", config, func(ctx context.Context, c joblist.Config) (any, error) {
				checked, err := joblist.Check(ctx, c)
				if len(checked.Notes) > 0 { // they say why a list was not compared
					err = errors.Join(err, store.ErrCorrupt)
				}
				return checked, err
			}),
		)
	}
	if n := historytest.EachReadFails(t, config.Log, all...); n < 200 {
		t.Errorf("only %d reads failed", n)
	}
}

func countLists(t *testing.T, dir string) int {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(dir, "*.jobs"))
	if err != nil {
		t.Fatal(err)
	}
	return len(lists)
}

// TestAListThatCannotBeMadeIsTold: nothing wrong is kept of a read that fails while lists are made, and the next try is
// right.
func TestAListThatCannotBeMadeIsTold(t *testing.T) {
	config, _, jobs := hardCrons(t)
	some := t.TempDir()
	for _, dir := range []string{"", some} {
		n := historytest.EachReadFails(t, config.Log, asks("lists are made", config, func(ctx context.Context, c joblist.Config) (any, error) {
			c.Dir = t.TempDir()
			if dir != "" {
				if err := os.CopyFS(c.Dir, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
			}
			before := countLists(t, c.Dir)
			err := joblist.NewKeeper(c, nil).Finish(ctx)
			if after := countLists(t, c.Dir); after < before {
				t.Errorf("there are %d lists of %d", after, before)
			}
			if f := c.Log.(*historytest.Failing); f.With != nil && !errors.Is(f.With(1), historytest.ErrRead) {
				return nil, err // what a list lacks beside damage is another question
			}
			c.Log, c.Files = config.Log, config.Files
			if err := joblist.NewKeeper(c, nil).Finish(ctx); err != nil {
				t.Fatal(err)
			}
			page, unread := joblist.New(c).Page(ctx, history.ListQuery{})
			if unread != nil {
				t.Fatal(unread)
			}
			same(t, "the lists after a failure", jobs, page.Jobs)
			return nil, err
		}))
		if n < 8 {
			t.Errorf("only %d reads failed", n)
		}
		c := config
		if c.Dir = some; dir == "" {
			if err := joblist.NewKeeper(c, nil).CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAReadOfAPrunedLogThatFailsIsTold: likewise of Jobs and CronJobs whose first records are no longer kept, with
// lists of before and without.
func TestAReadOfAPrunedLogThatFailsIsTold(t *testing.T) {
	config, _, _ := hardCrons(t)
	all, err := config.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest := all[len(all)/2:]
	log := historytest.Pruned{Reader: config.Log, First: rest[0].First}
	config.Log, config.Files = log, func() ([]store.File, error) { return rest, nil }
	jobs, _ := pages(t, joblist.New(config), history.ListQuery{})
	past := jobs[len(jobs)-1]
	if past.First != 0 {
		t.Fatalf("the first record of %s is kept", past.Name)
	}
	var questions []historytest.Question
	for _, config.Dir = range []string{config.Dir, ""} {
		page := func(name string, q history.ListQuery) historytest.Question {
			return asks(name, config, func(ctx context.Context, c joblist.Config) (any, error) { return joblist.New(c).Page(ctx, q) })
		}
		questions = append(questions, page("jobs", history.ListQuery{}), page("one job", history.ListQuery{UID: past.UID}),
			asks("cronjobs", config, func(ctx context.Context, c joblist.Config) (any, error) {
				return joblist.New(c).CronJobs(ctx, history.CronListQuery{})
			}))
	}
	if n := historytest.EachReadFails(t, log, questions...); n < 50 {
		t.Errorf("only %d reads failed", n)
	}
}
