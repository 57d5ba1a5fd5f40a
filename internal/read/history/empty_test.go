package history_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestAnEmptyLog has no record of any time, and that is no error.
func TestAnEmptyLog(t *testing.T) {
	src := history.Local{Log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), Damage: &store.Damage{}}
	for _, q := range []history.Query{{}, {Since: 5}, {Until: 5}, {From: 3, Since: 5},
		{Kinds: []events.Kind{events.KindJobAdded}, Until: 9}} {
		if got, err := sequences(src.Records(t.Context(), q)); len(got) > 0 || err != nil {
			t.Errorf("%+v: %v, %v", q, got, err)
		}
	}
	if got, err := history.Newest(t.Context(), src, history.Query{}, 3, 0); len(got) > 0 || err != nil {
		t.Errorf("the newest: %v, %v", got, err)
	}
	if at, err := history.PrunedBefore(t.Context(), src); at != nil || err != nil {
		t.Errorf("it is pruned before %v, %v", at, err)
	}
}

// TestALogThatBeginsWithDamage is not called pruned, and the damage is no error of that question. A read that fails is.
func TestALogThatBeginsWithDamage(t *testing.T) {
	for _, fails := range []error{&store.CorruptError{Path: "a.db", At: 1, Next: 4}, context.Canceled} {
		log := &historytest.Failing{Reader: historytest.Hard(t, 2), Bad: func(events.Sequence) error { return fails }}
		at, err := history.PrunedBefore(t.Context(), history.Local{Log: log, Damage: &store.Damage{}})
		if told := !errors.Is(fails, store.ErrCorrupt); at != nil || errors.Is(err, fails) != told {
			t.Errorf("%v: it is pruned before %v, %v", fails, at, err)
		}
	}
}

// failedLists are lists that give one object, and an error.
type failedLists struct{ err error }

func (l failedLists) Page(context.Context, history.ListQuery) (history.ListPage, error) {
	return history.ListPage{Jobs: []history.Summary{{UID: "a"}}}, l.err
}

func (l failedLists) CronJobs(context.Context, history.CronListQuery) (history.CronListPage, error) {
	return history.CronListPage{CronJobs: []history.CronSummary{{UID: "b"}}}, l.err
}

// TestListsBesideDamage: what lists have is given with their error, and damage is noted, so that the answer names it.
func TestListsBesideDamage(t *testing.T) {
	torn := &store.CorruptError{Path: "a.db", At: 3, Next: 4}
	for _, fails := range []error{nil, torn, context.Canceled} {
		damage := &store.Damage{}
		src := history.Local{Log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), Lists: failedLists{fails},
			Damage: damage}
		jobs, err := src.Jobs(t.Context(), history.JobsQuery{})
		if len(jobs.Items) != 1 || !errors.Is(err, fails) || (len(damage.Met()) == 1) != errors.Is(fails, torn) {
			t.Errorf("%v: %+v, %v, noted: %v", fails, jobs, err, damage.Met())
		}
		damage = &store.Damage{}
		src.Damage = damage
		crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
		if len(crons.Items) != 1 || !errors.Is(err, fails) || (len(damage.Met()) == 1) != errors.Is(fails, torn) {
			t.Errorf("%v: %+v, %v, noted: %v", fails, crons, err, damage.Met())
		}
	}
}
