package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// asks is a question to a source.
func asks(name string, ask func(ctx context.Context, src history.Source) (any, error)) historytest.Question {
	return historytest.Question{Name: name, Ask: func(ctx context.Context, f *historytest.Failing, d *store.Damage) (string, error) {
		src := f.Source(joblist.New(joblist.Config{Log: f}), d)
		answer, err := ask(ctx, src)
		text, unwritten := json.Marshal(answer)
		if unwritten != nil {
			return "", unwritten
		}
		return string(text), err
	}}
}

// noted is a question whose answer goes on beside damage that is met in a place.
func noted(where string, q historytest.Question) historytest.Question {
	q.Noted = append(q.Noted, where)
	return q
}

// lived is what is kept up to date while the records of a log come.
func lived(ctx context.Context, l *history.Live, records []events.Record, one events.Stream) (out []any, err error) {
	for i := range records {
		r := &records[i]
		if _, err := l.Take(ctx, r); err != nil {
			return out, err
		}
		if i%7 > 0 {
			continue
		}
		if s, ok := l.Summary(r.Stream); ok {
			out = append(out, s)
		}
		if s, ok := l.CronSummary(r.Stream); ok {
			out = append(out, s)
		}
		if j, ok, err := l.CronJob(ctx, one, r); ok || err != nil {
			if out = append(out, j); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// folds is a question whose answer is folded.
func folds(q historytest.Question) historytest.Question {
	q.Folds = true
	return q
}

// ofObjects are questions about a CronJob or a Job, at each sort of point.
func ofObjects(middle events.Record, all []events.Stream) (out []historytest.Question) {
	for _, at := range []history.Point{{}, {Time: middle.Time - 1}, {Sequence: middle.Sequence}} {
		for _, s := range all {
			out = append(out, folds(noted("firstOf", asks(fmt.Sprintf("%v at %+v", s.Kind, at), func(ctx context.Context, src history.Source) (any, error) {
				if s.Kind == events.StreamCronJob {
					return unlessUnknown(history.CronJobAt(ctx, src, s, at))
				}
				return unlessUnknown(history.JobAt(ctx, src, s, at))
			}))))
		}
	}
	return out
}

// ofRecords are questions for records.
func ofRecords(middle, last events.Record, job events.Stream) (out []historytest.Question) {
	for name, q := range map[string]history.Query{
		"of a time": {Since: middle.Time, Until: last.Time.Add(-20 * time.Second)}, "of a namespace": {Namespace: "default"},
		"of a Job": {Stream: &job}, "since then": {Since: middle.Time},
	} {
		out = append(out, asks("records "+name, func(ctx context.Context, src history.Source) (any, error) {
			return until(src.Records(ctx, q), nil)
		}), asks("the newest "+name, func(ctx context.Context, src history.Source) (any, error) {
			return history.Newest(ctx, src, q, 9, last.Sequence)
		}), asks("followed from "+name, func(ctx context.Context, src history.Source) (any, error) {
			return until(src.Follow(ctx, middle.Sequence), &last)
		}))
	}
	return out
}

// until gives records, up to one.
func until(records iter.Seq2[events.Record, error], last *events.Record) (all []events.Sequence, err error) {
	for r, err := range records {
		if err != nil {
			return all, err
		}
		if all = append(all, r.Sequence); last != nil && r.Sequence == last.Sequence {
			break
		}
	}
	return all, nil
}

// ofAll are questions to the whole log.
func ofAll(records []events.Record, crons, jobs []events.Stream) []historytest.Question {
	last, middle := records[len(records)-1], records[len(records)/2]
	tail := records[len(records)-60:]
	pod := records[slices.IndexFunc(records, func(r events.Record) bool { return r.Stream == jobs[0] && r.Kind == events.KindPodAdded })].Evidence.Name
	type source = history.Source
	live := func(keep func(src source) *history.Live) historytest.Question {
		return folds(noted("recall", noted("begin", noted("firstOf", asks("kept", func(ctx context.Context, src source) (any, error) {
			return lived(ctx, keep(src), tail, crons[0])
		})))))
	}
	return []historytest.Question{
		asks("jobs", func(ctx context.Context, src source) (any, error) { return src.Jobs(ctx, history.JobsQuery{}) }),
		asks("jobs since", func(ctx context.Context, src source) (any, error) {
			return src.Jobs(ctx, history.JobsQuery{Since: middle.Time})
		}),
		asks("cronjobs", func(ctx context.Context, src source) (any, error) { return src.CronJobs(ctx, history.CronJobsQuery{}) }),
		asks("cronjobs since", func(ctx context.Context, src source) (any, error) {
			return src.CronJobs(ctx, history.CronJobsQuery{Since: middle.Time})
		}),
		live(history.LiveJobs), live(history.LiveCronJobs), live(func(src source) *history.Live { return history.LiveJob(src, crons[0]) }),
		live(func(src source) *history.Live { return history.LiveJob(src, jobs[len(jobs)-1]) }),
		asks("gaps", func(ctx context.Context, src source) (any, error) { return history.AllGaps(ctx, src) }),
		asks("gaps at", func(ctx context.Context, src source) (any, error) { return history.GapsAt(ctx, src, middle.Time-1) }),
		asks("passed since", func(ctx context.Context, src source) (any, error) { return history.PassedSince(ctx, src, middle.Time) }),
		asks("passed at", func(ctx context.Context, src source) (any, error) {
			return history.PassedAt(ctx, src, history.Place{Sequence: uint64(last.Sequence), Time: recordjson.Instant(last.Time)}, "", true)
		}),
		asks("first at", func(ctx context.Context, src source) (any, error) { return history.FirstAt(ctx, src, middle.Time) }),
		asks("a record", func(ctx context.Context, src source) (any, error) { return history.Record(ctx, src, middle.Sequence) }),
		asks("find", func(ctx context.Context, src source) (any, error) {
			return history.FindCronJobs(ctx, src, "default", "cron-1")
		}),
		asks("job of a pod", func(ctx context.Context, src source) (any, error) {
			s, ok, err := history.JobOfPod(ctx, src, "default", pod)
			return []any{s, ok}, err
		}),
		asks("job of no pod", func(ctx context.Context, src source) (any, error) {
			s, ok, err := history.JobOfPod(ctx, src, "default", strings.Repeat("cron-1-", 9))
			return []any{s, ok}, err
		}),
		asks("now", func(ctx context.Context, src source) (any, error) { return history.NowOf(ctx, src) }),
		noted("PrunedBefore", asks("pruned before", func(ctx context.Context, src source) (any, error) { return history.PrunedBefore(ctx, src) })),
		noted("RunsNow", asks("runs now", func(ctx context.Context, src source) (any, error) {
			settings, listing, err := history.RunsNow(ctx, src, 0)
			return []any{settings, listing}, err
		})),
	}
}

// unlessUnknown takes for an answer that the log knows no such object.
func unlessUnknown[T any](answer T, err error) (any, error) {
	if errors.Is(err, history.ErrNoJob) || errors.Is(err, history.ErrNoCronJob) {
		return "unknown", nil
	}
	return answer, err
}

// TestAReadThatFailsIsTold: whichever read fails, whatever is asked. In seed 3 of HardCrons a stored state stands behind
// the record of the newest due time.
func TestAReadThatFailsIsTold(t *testing.T) {
	n := 0
	for _, log := range []*memlog.Log{historytest.HardCrons(t, 6), historytest.HardCrons(t, 3), historytest.Hard(t, 4)} {
		records := historytest.Records(t, log)
		var crons, jobs []events.Stream
		for _, r := range records {
			if r.Stream.Kind == events.StreamCronJob && !slices.Contains(crons, r.Stream) {
				crons = append(crons, r.Stream)
			}
			if r.Kind == events.KindPodAdded && r.Stream.Kind == events.StreamJob && !slices.Contains(jobs, r.Stream) {
				jobs = append(jobs, r.Stream)
			}
		}
		middle, last := records[len(records)/2], records[len(records)-1]
		all := ofObjects(middle, append(slices.Clone(crons[:min(2, len(crons))]), jobs[0], jobs[len(jobs)-1]))
		if len(crons) > 0 {
			all = append(append(all, ofRecords(middle, last, jobs[0])...), ofAll(records, crons, jobs)...)
		}
		n += historytest.EachReadFails(t, log, all...)
	}
	if n < 600 {
		t.Errorf("only %d reads failed", n)
	}
}
