package explain_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/plan"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// question is something that is asked of a log.
type question struct {
	name string
	ask  func(ctx context.Context, src history.Source) error
}

// questions are all that is asked of a log, of some of its Jobs and CronJobs.
func questions(records []events.Record) (all []question) {
	add := func(name string, ask func(ctx context.Context, src history.Source) error) {
		all = append(all, question{name, ask})
	}
	last := records[len(records)-1]
	middle := records[len(records)/2].Time
	jobs, _ := streams(records, events.StreamJob, 4)
	for i, s := range jobs {
		add("explain "+s.String(), func(ctx context.Context, src history.Source) error {
			c, err := job.Read(ctx, src, s, history.Point{})
			if err == nil {
				err = c.Compare(ctx)
			}
			if err == nil {
				c.Answer()
				err = c.Unread()
			}
			return err
		})
		if i > 0 {
			continue
		}
		add("explain then "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := job.Read(ctx, src, s, history.Point{Time: middle})
			return unlessUnknown(err)
		})
		add("newest of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := history.Newest(ctx, src, history.Query{Stream: &s}, 3, last.Sequence)
			return err
		})
	}
	crons, _ := streams(records, events.StreamCronJob, 4)
	for _, s := range crons {
		add("explain "+s.String(), func(ctx context.Context, src history.Source) error {
			c, err := cron.Read(ctx, src, s, history.Point{})
			if err == nil {
				c.Answer()
				err = c.Unread()
			}
			return err
		})
		add("explain then "+s.String(), func(ctx context.Context, src history.Source) error {
			c, err := cron.Read(ctx, src, s, history.Point{Time: middle})
			if err == nil {
				c.Answer()
				err = c.Unread()
			}
			return unlessUnknown(err)
		})
		add("why not of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := whynot.Read(ctx, src, []events.Stream{s}, middle.Go().Truncate(time.Minute), words.Zone{})
			return err
		})
		add("due times of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := duetimes.Read(ctx, src, s)
			return err
		})
		add("last due times of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := duetimes.Newest(ctx, src, s, 2)
			return err
		})
		add("due times since, of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := duetimes.Since(ctx, src, s, middle)
			return err
		})
		add("parts of "+s.String(), func(ctx context.Context, src history.Source) error {
			_, err := duetimes.Parts(ctx, src, s)
			return err
		})
	}
	add("failures", func(ctx context.Context, src history.Source) error {
		_, err := failures.Find(ctx, src, failures.Query{Survived: true})
		return err
	})
	add("trouble of Jobs", func(ctx context.Context, src history.Source) error {
		page, err := src.Jobs(ctx, history.JobsQuery{})
		if err == nil {
			_, err = failures.TroubleOf(ctx, src, page.Items)
		}
		return err
	})
	add("jobs", func(ctx context.Context, src history.Source) error {
		page, err := src.Jobs(ctx, history.JobsQuery{})
		lines := verdicts.LinesOf(src)
		for i := range page.Items {
			if err == nil {
				_, err = lines.Of(ctx, &page.Items[i], history.Point{})
			}
		}
		return err
	})
	add("cronjobs", func(ctx context.Context, src history.Source) error {
		_, err := src.CronJobs(ctx, history.CronJobsQuery{})
		return err
	})
	add("records of a time", func(ctx context.Context, src history.Source) error {
		for _, err := range src.Records(ctx, history.Query{Since: middle, Until: last.Time.Add(-time.Second)}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	add("gaps", func(ctx context.Context, src history.Source) error {
		_, err := history.AllGaps(ctx, src)
		return err
	})
	add("passed over", func(ctx context.Context, src history.Source) error {
		_, err := history.PassedSince(ctx, src, middle)
		return err
	})
	add("the newest", func(ctx context.Context, src history.Source) error {
		_, err := history.Newest(ctx, src, history.Query{}, 3, last.Sequence)
		return err
	})
	add("plan", func(ctx context.Context, src history.Source) error {
		_, err := plan.Read(ctx, src, plan.Query{})
		return err
	})
	return all
}

// unlessUnknown is an error but that an object came later than the time that is asked for.
func unlessUnknown(err error) error {
	if errors.Is(err, history.ErrNoJob) || errors.Is(err, history.ErrNoCronJob) {
		return nil
	}
	return err
}

// asking is one question, asked of a log again and again.
type asking struct {
	log store.Reader
	of  func() ([]store.File, error)
	question
}

// with asks while the first read of a place fails, and gives the damage that was noted.
func (a *asking) with(t *testing.T, failed func(events.Sequence) error, where string, after int) (f *historytest.Failing, noted []error, err error) {
	t.Helper()
	f = &historytest.Failing{Reader: a.log, With: failed, Where: where, Nth: 1, After: after}
	var d store.Damage
	var files func() ([]store.File, error)
	if a.of != nil {
		files = f.Files(a.of)
	}
	err = a.ask(t.Context(), f.Source(joblist.New(joblist.Config{Log: f, Files: files}), &d))
	return f, d.Met(), err
}

// failure is a way in which reads fail, and what is to come of it.
type failure struct {
	midway bool // also behind half of the records that a read gives
	with   func(events.Sequence) error
	check  func(t *testing.T, name string, noted []error, err error)
	tried  map[triedRead]bool
}

// triedRead is a read that failed for a question of a kind: the same read for another such question is passed over.
type triedRead struct {
	kind, where string
	midway      bool
}

// ofDisk is a read that fails: an answer is none.
func ofDisk() *failure {
	return &failure{true, func(events.Sequence) error { return historytest.ErrRead }, func(t *testing.T, name string, _ []error, err error) {
		t.Helper()
		if !errors.Is(err, historytest.ErrRead) {
			t.Errorf("%s: %v", name, err)
		}
	}, map[triedRead]bool{}}
}

// ofDamage is a read that meets damage: it is given back or noted.
func ofDamage() *failure {
	with := func(at events.Sequence) error { return &store.CorruptError{Path: "a.db", At: at} }
	return &failure{false, with, func(t *testing.T, name string, noted []error, err error) {
		t.Helper()
		if err != nil && !errors.Is(err, store.ErrCorrupt) || err == nil && len(noted) == 0 {
			t.Errorf("%s: %v, noted %v", name, err, noted)
		}
	}, map[triedRead]bool{}}
}

// each asks all questions of a log, once for each of their reads: it fails at its beginning, or also midway.
func (x *failure) each(t *testing.T, name string, log store.Reader, files func() ([]store.File, error), records []events.Record) {
	t.Helper()
	for _, q := range questions(records) {
		a := asking{log, files, q}
		sound, noted, err := a.with(t, x.with, "", 0)
		if err != nil || len(noted) > 0 {
			t.Errorf("%s: %s: %v, %v", name, q.name, err, noted)
		}
		for _, where := range slices.Sorted(maps.Keys(sound.Reads)) {
			for _, after := range slices.Compact([]int{0, sound.Reads[where][0].Records / 2}) {
				this := triedRead{strings.Fields(q.name)[0] + strings.Split(q.name, "/")[0], where, after > 0}
				if after > 0 && !x.midway || x.tried[this] {
					continue
				}
				x.tried[this] = true
				f, noted, err := a.with(t, x.with, where, after)
				if !f.Failed {
					continue
				}
				x.check(t, fmt.Sprintf("%s: %s: a read fails after %d records: %s", name, q.name, after, where), noted, err)
			}
		}
	}
}

// everywhere lets each read of each question fail that is asked of the recorded logs. make test asks every fourth of
// them; failingReads asks the scenes at all lengths.
func everywhere(t *testing.T, x *failure) {
	t.Helper()
	for _, dir := range effort.Each(4, logs(t)) {
		if strings.HasSuffix(dir, "observed") {
			continue // the same reads
		}
		r := openRecorded(t, dir)
		log, err := open.Archive(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		x.each(t, filepath.Base(dir), log, store.FilesOf(log), r.records)
	}
}

// TestAReadThatFailsIsTold: whichever of its reads fails, an answer is none.
func TestAReadThatFailsIsTold(t *testing.T) { everywhere(t, ofDisk()) }

// TestDamageIsNamed: whichever read meets damage, it is given back or noted, and never taken for what the log does not
// have.
func TestDamageIsNamed(t *testing.T) { everywhere(t, ofDamage()) }

// inScenes are the reads that scenes make: each fails in the first scene that makes it.
var inScenes = []*failure{ofDisk(), ofDamage()}

// failingReads lets each read fail that is made for a scene, and for none before it.
func failingReads(t *testing.T, src history.Source) {
	t.Helper()
	l := listOf(t, src)
	for _, x := range inScenes {
		x.each(t, t.Name(), l.Reader, nil, l.records)
	}
}
