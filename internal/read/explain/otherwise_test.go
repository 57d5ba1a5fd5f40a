package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
)

// otherwise is how the records of an incident may be where something is not known, or is another value.
type otherwise struct {
	name   string
	change func(r *events.Record)
}

var longText = strings.Repeat("a long text with words ", 30)

// jobsOtherwise are changes of the records of Jobs and pods.
var jobsOtherwise = []otherwise{
	{"pods name no node", func(r *events.Record) { r.Evidence.Node = "" }},
	{"nobody says why", pod(func(_ *events.PodSeen, e *events.Evidence) {
		e.Reason, e.Message = "", ""
		for i := range e.Containers {
			e.Containers[i].Message = ""
		}
		for i := range e.Waits {
			e.Waits[i].Message = ""
		}
		for i := range e.Conditions {
			e.Conditions[i].Message = ""
		}
	})},
	{"containers leave messages", ends(func(c *events.ContainerEnd) { c.Message = "fatal: no such table\nat line 7" })},
	{"containers leave long messages", ends(func(c *events.ContainerEnd) { c.Message = longText })},
	{"no ends of containers are known", pod(func(f *events.PodSeen, e *events.Evidence) { f.Exits, e.Containers = nil, nil })},
	{"containers have no times", ends(func(c *events.ContainerEnd) { c.Started, c.Finished = 0, 0 })},
	{"containers run again", ends(func(c *events.ContainerEnd) { c.Again, c.Restarts = true, c.Restarts+1 })},
	{"init containers end so", ends(func(c *events.ContainerEnd) { c.Kind = events.InitContainer })},
	{"pods have no creation times", pod(func(f *events.PodSeen, _ *events.Evidence) { f.Created = 0 })},
	{"deletions have no grace", pod(func(f *events.PodSeen, _ *events.Evidence) { f.DeletionGracePeriodSeconds = nil })},
	{"deletions are by force", pod(func(f *events.PodSeen, _ *events.Evidence) {
		if f.Deleted != 0 {
			f.DeletionGracePeriodSeconds = grace(0)
		}
	})},
	{"a finalizer keeps what is deleted", func(r *events.Record) {
		if f, ok := r.Facts.(*events.PodSeen); ok && f.Deleted != 0 {
			r.Evidence.Finalizers = []string{"example.com/keep"}
		}
	}},
	{"pods end without a time", pod(func(f *events.PodSeen, _ *events.Evidence) { f.Finished = 0 })},
	{"pods restart once", pod(func(f *events.PodSeen, _ *events.Evidence) { f.Restarts = 1 })},
	{"no limits are set", spec(func(s *events.JobSpec) { s.BackoffLimit, s.ActiveDeadlineSeconds, s.Completions = nil, nil, nil })},
	{"nothing is wanted", spec(func(s *events.JobSpec) { s.Parallelism = new(int32) })},
	{"no retries are allowed", spec(func(s *events.JobSpec) { s.BackoffLimit = new(int32) })},
	{"pods are of indexes", pod(func(f *events.PodSeen, _ *events.Evidence) { f.Index = int32(f.Created/1e9) % 3 })},
	{"admission changed a lot", func(r *events.Record) {
		if r.Kind == events.KindPodAdded {
			r.Evidence.Admitted = []string{"+containers.istio", "-nodeSelector", "containers.main.image", "…"}
		}
	}},
	{"admission changed nothing", func(r *events.Record) {
		if r.Kind == events.KindPodAdded {
			r.Evidence.Admitted = []string{""}
		}
	}},
	{"every version but the recorded was passed over", func(r *events.Record) { r.Evidence.PassedOver = 2 }},
	{"refusals are for a moment", func(r *events.Record) {
		if f, ok := r.Facts.(*events.CommandEnded); ok && f.Ending == events.Refused {
			ended := *f
			ended.Class = events.RefusedServer
			r.Facts = &ended
		}
	}},
	{"refusals say a lot", func(r *events.Record) {
		if f, ok := r.Facts.(*events.CommandEnded); ok && f.Ending == events.Refused {
			r.Evidence.Message = longText
		}
	}},
	{"of deletions of Jobs nobody saw more than the end", func(r *events.Record) {
		if f, ok := r.Facts.(*events.JobSeen); ok && f.Deleted != 0 {
			seen := *f
			seen.Deleted = 0
			r.Facts = &seen
		}
	}},
	{"nothing of pods is scheduled", pod(func(f *events.PodSeen, e *events.Evidence) {
		f.Scheduled, f.Phase, f.Exits, f.Finished, e.Node, e.Containers, e.Running = false, events.PodPending, nil, 0, "", nil, 0
	})},
	{"nodes are not heard of", func(r *events.Record) {
		if f, ok := r.Facts.(*events.NodeSeen); ok {
			node := *f
			node.Ready = events.NodeUnheard
			r.Facts = &node
		}
	}},
	{"one second is an hour", func(r *events.Record) {
		const zero = events.Time(1_780_000_000_000_000_000)
		if d := r.Time.Sub(zero); d > 0 && r.Stream.Kind == events.StreamJob {
			r.Time = r.Time.Add(time.Duration(int64(d.Seconds())%60) * time.Minute)
		}
	}},
}

// incidentsOtherwise are the Jobs whose records are changed.
var incidentsOtherwise = []struct{ log, job string }{
	{"delegated", "oom/oom"}, {"delegated", "deadline/report-daily"}, {"delegated", "quota/invoice"}, {"delegated", "image-pull/badimage"},
	{"delegated", "crash-loop/crashloop"}, {"delegated", "node-lost/train"}, {"delegated", "suspended/ingest"},
	{"delegated", "deleted-pods/longhaul"}, {"delegated", "foreign-finalizer/restore"}, {"observed", "quota/invoice"}, {"observed", "unschedulable/gpu-train"},
}

// changed is the log with records of other contents. Nothing that they share is written to.
func (r *recorded) changed(change func(r *events.Record)) *recorded {
	other := *r
	other.records = slices.Clone(r.records)
	for i := range other.records {
		rec := &other.records[i]
		e := &rec.Evidence
		e.Containers, e.Waits, e.Conditions = slices.Clone(e.Containers), slices.Clone(e.Waits), slices.Clone(e.Conditions)
		change(rec)
	}
	return &other
}

// linesOf is what the log says of a Job, by line. It is not compared with others: that reads the whole log.
func linesOf(t *testing.T, src *recorded, s events.Stream) []string {
	t.Helper()
	l := &teller{t: t, src: src, told: map[string]bool{}}
	c, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	l.page(func(p *show.Page) error { return p.Answer(&a, false) })
	rows, _ := c.Attempts(false, 0, 0)
	l.page(func(p *show.Page) error { return p.Attempts(rows, c.Sum()) })
	for _, t := range c.Tries[:min(len(c.Tries), 2)] {
		pod, err := c.PodAnswer(string(t.UID))
		if err != nil {
			l.t.Error(err)
		}
		l.page(func(p *show.Page) error { return p.Answer(&pod, true) })
	}
	return strings.Split(strings.TrimSpace(l.out.String()), "\n")
}

// TestWhatIsSaidOtherwise tells of recorded incidents as they would be where something is not known, or is another
// value: the lines that are not those of the incident as it was. They are kept as a text, to be read by people like
// those of TestAnswersAreAsKept.
func TestWhatIsSaidOtherwise(t *testing.T) {
	open := map[string]*recorded{}
	for _, dir := range logs(t) {
		open[filepath.Base(dir)] = openRecorded(t, dir)
	}
	l := tell(t, "otherwise", nil)
	for _, of := range incidentsOtherwise {
		src := open[of.log]
		s := src.job(t, of.job)
		was := linesOf(t, src, s)
		for _, x := range jobsOtherwise {
			l.about("%s, %s: %s", of.job, of.log, x.name)
			for _, line := range linesOf(t, src.changed(x.change), s) {
				if !slices.Contains(was, line) {
					l.out.WriteString(line + "\n")
				}
			}
		}
	}
	l.compare()
}
