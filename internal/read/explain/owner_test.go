package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhoDeletedAJobOfACronJob: a Job of a CronJob that we run was deleted by us, as one too many. The same records
// with another cause say another one.
func TestWhoDeletedAJobOfACronJob(t *testing.T) {
	src := cronJobsRun(t)
	of, order := src.firstDeleted(t)
	replaces := func(r *events.Record) {
		d, ok := r.Facts.(*events.Decision)
		if !ok || r.Sequence != order.Sequence {
			return
		}
		other := *d
		other.Steps = slices.Clone(d.Steps)
		for i := range other.Steps {
			s := &other.Steps[i]
			s.Commands = slices.Clone(s.Commands)
			for k, c := range s.Commands {
				if x, is := c.(*events.DeleteRun); is {
					s.Commands[k] = &events.DeleteRun{Job: x.Job, Name: x.Name, Replacing: true}
				}
			}
		}
		r.Facts = &other
	}
	refused := func(r *events.Record) {
		if f, ok := r.Facts.(*events.CommandEnded); ok && f.Command.Decided == order.Sequence {
			ended := *f
			ended.Ending, ended.Class = events.Refused, events.RefusedForbidden
			r.Facts = &ended
		}
	}
	undecided := func(r *events.Record) {
		if d, ok := r.Facts.(*events.Decision); ok && r.Sequence == order.Sequence {
			r.Facts = &events.Decision{RulesVersion: d.RulesVersion}
		}
	}
	for _, row := range []struct {
		name   string
		change func(*events.Record)
		says   string
	}{
		{"as recorded", nil, "by Jobledger: more Jobs had ended than successfulJobsHistoryLimit "},
		{"in the place of another", replaces, "by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)"},
		{"our deletion was refused", refused, "by an API client"},
		{"we decided nothing", undecided, "by an API client"},
		{"with its CronJob", func(r *events.Record) {
			undecided(r)
			if f, ok := r.Facts.(*events.CronJobSeen); ok && r.Stream == order.Stream && r.Sequence > 1 {
				gone := *f
				gone.Deleted = order.Time
				if r.Time = order.Time; r.Sequence < order.Sequence {
					r.Facts = &gone
				}
			}
		}, "with its CronJob "},
	} {
		t.Run(row.name, func(t *testing.T) {
			other := *src
			other.records = slices.Clone(src.records)
			for i := range other.records {
				if row.change != nil {
					row.change(&other.records[i])
				}
			}
			c, err := job.Read(t.Context(), &other, of, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			keepJob(t, &other, of, history.Point{})
			a := c.Answer()
			if a.Deleted == nil || !strings.Contains(a.Deleted.Text, row.says) {
				t.Errorf("the answer says %+v, want %q", a.Deleted, row.says)
			}
		})
	}
}

func cronJobsRun(t *testing.T) *recorded {
	t.Helper()
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "cronjobs-run") {
			return openRecorded(t, dir)
		}
	}
	t.Fatal("no log of CronJobs that we run")
	return nil
}

// firstDeleted is the first Job that a decision about a CronJob deletes, and the record of that decision.
func (r *recorded) firstDeleted(t *testing.T) (events.Stream, events.Record) {
	t.Helper()
	for _, rec := range r.records {
		d, ok := rec.Facts.(*events.Decision)
		if !ok {
			continue
		}
		for _, c := range d.Commands() {
			if x, is := c.(*events.DeleteRun); is {
				return events.JobStream(x.Job), rec
			}
		}
	}
	t.Fatal("no decision deletes a Job of a CronJob")
	return events.Stream{}, events.Record{}
}
