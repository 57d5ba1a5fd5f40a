package main

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// longName is as long as the name of a Job may be, so the names of its pods have only its beginning.
var longName = strings.Repeat("import-of-orders-", 4)[:63]

// teams writes the log of these Jobs, oldest first:
//
//	default/import      team=data, app=etl; its pod runs
//	default/import-eu   team=data; an Indexed Job whose pods run
//	web/report          team=web; its pod failed, and no failure is allowed
//	web/beef            without a label; its name could begin a UID
//	default/import…     its name is too long for its pod's
func teams(t testing.TB, log store.Log) {
	n := func(v int32) *int32 { return &v }
	c := newCluster(t, log)
	c.settle()
	label := func(job *fakeJob, pairs ...string) *fakeJob {
		o := &events.Origin{}
		for i := 0; i < len(pairs); i += 2 {
			o.Labels = append(o.Labels, events.ObjectLabel{Name: pairs[i], Value: pairs[i+1]})
		}
		c.inputs[len(c.inputs)-1].Observation.Evidence.Origin = o
		c.settle()
		c.start(job)
		return job
	}
	label(c.addJob("default", "import", 11, func(*events.JobSpec) {}), "app", "etl", "team", "data")
	label(c.addJob("default", "import-eu", 21, func(s *events.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = "Indexed", n(2), n(2)
	}), "team", "data")
	report := label(c.addJob("web", "report", 22, func(s *events.JobSpec) { s.BackoffLimit = n(0) }), "team", "web")
	c.finish(report, c.pods(report)[0], 1, "")
	beef := c.addJob("web", "beef", 31, func(*events.JobSpec) {})
	c.settle()
	c.start(beef)
	long := c.addJob("default", longName, 41, func(*events.JobSpec) {})
	c.settle()
	c.start(long)
	c.durable()
}
