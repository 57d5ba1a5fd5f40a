package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
)

const skews = "cronjob_controller_job_creation_skew_duration_seconds"

// C-210: how late a Job was created is observed once for each create that is done, by the times of the due instant and
// of the object.
func TestSkewOfCronJobs(t *testing.T) {
	nightly := events.CronJobStream("uid-nightly")
	for sentence, row := range map[string]struct {
		change func(*events.CommandEnded)
		want   string
	}{
		"created 3 s late":      {func(*events.CommandEnded) {}, "1 in 3s"},
		"refused":               {func(f *events.CommandEnded) { f.Ending = events.Refused }, "0 in 0s"},
		"of unknown end":        {func(f *events.CommandEnded) { f.Ending = events.OutcomeUnknown }, "0 in 0s"},
		"asked for, never due":  {func(f *events.CommandEnded) { f.Due = 0 }, "0 in 0s"},
		"another command":       {func(f *events.CommandEnded) { f.Type = events.CommandDeleteRun }, "0 in 0s"},
		"a server without time": {func(f *events.CommandEnded) { f.Written = 0 }, "0 in 0s"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newScript(t, plain())
			due := events.At(time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC))
			f := &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done, Due: due, Written: due.Add(3 * time.Second)}
			row.change(f)
			s.add(nightly, events.KindCommandEnded, f)
			s.end()
			s.expect(skews, skews+"{} "+row.want)
		})
	}
}

// C-210: the buckets are ten, from 1 s to 512 s.
func TestBucketsOfSkews(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(New())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != skews {
			continue
		}
		buckets := f.GetMetric()[0].GetHistogram().GetBucket()
		if len(buckets) != 10 || buckets[0].GetUpperBound() != 1 || buckets[9].GetUpperBound() != 512 {
			t.Errorf("the buckets are %v", buckets)
		}
		return
	}
	t.Errorf("there is no %s", skews)
}
