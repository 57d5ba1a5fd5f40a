package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// crowdSpaces is how many namespaces have a Job etl.
const crowdSpaces = 12

// crowd writes the log of Jobs and CronJobs with various names into a directory. It returns the names of two pods: that
// of the Job solo, and that of a run of the CronJob nightly.
//
//	team-00 to team-11/etl  Jobs, oldest first: that of team-03 failed, that of team-05 is stuck, the others succeeded
//	web/solo                a Job that failed
//	batch/nightly           a CronJob, with a run that succeeded
//	batch/both              a Job and a CronJob
func crowd(t testing.TB, dir string) (solo, run string) {
	t.Helper()
	told := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	c := newCronCluster(t, told, began)
	makesCrons := c.other
	c.other = func(task events.Task) bool {
		if task.Job.Namespace != "team-05" || task.Command.Traits().Kind != events.CommandCreatePod {
			return makesCrons(task)
		}
		c.inputs = append(c.inputs, loop.Input{Result: &events.TaskResult{
			Stream:   task.Stream,
			Ended:    events.CommandEnded{Command: task.Name, Ending: events.Refused, Class: events.RefusedForbidden, Sent: true, Type: task.Command.Traits().Kind},
			Evidence: events.Evidence{Namespace: task.Job.Namespace, Message: `pods "etl-x" is forbidden: violates PodSecurity "restricted"`},
		}})
		return true
	}
	add := func(namespace, name string, number int, code int32) (pod string) {
		job := c.addJob(namespace, name, number, func(s *events.JobSpec) { s.BackoffLimit = new(int32(0)) })
		c.settle()
		if namespace == "team-05" {
			return ""
		}
		c.start(job)
		pod = c.pods(job)[0].name
		c.finish(job, c.pods(job)[0], code, "")
		return pod
	}
	for i := range crowdSpaces {
		code := int32(0)
		if i == 3 {
			code = 7
		}
		add(fmt.Sprintf("team-%02d", i), "etl", 100+i, code)
	}
	solo = add("web", "solo", 200, 3)
	add("batch", "both", 201, 0)
	c.addCron("batch", "both", "0 0 1 1 *", "", func(*events.CronJobSeen) {})
	nightly := c.addCron("batch", "nightly", "*/10 * * * *", "", func(*events.CronJobSeen) {})
	c.pass(10 * time.Minute)
	job := c.running(nightly)
	c.start(job)
	run = c.pods(job)[0].name
	c.finish(job, c.pods(job)[0], 0, "")
	c.durable()
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	copyRecords(t, told, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return solo, run
}

// nameRow is a way to name an object. SOLO and RUN are pods. err is said on standard error; nothing is where it is
// empty.
type nameRow struct {
	sentence, typed string
	code            int
	err             string
}

// ofJobs are the commands that take the name of a Job.
var ofJobs = []string{"explain NAME", "attempts NAME", "timeline NAME", "get NAME", "events NAME", "replay --job NAME"}

var jobNames = []nameRow{
	{"a name that one namespace has", "solo", 0, "note: job/solo is in namespace web"},
	{"a name with -n", "solo -n web", 0, ""},
	{"as the program writes it", "web/solo", 0, ""},
	{"as the program writes it, and -n says the same", "web/solo -n web", 0, ""},
	{"-n says another namespace", "web/solo -n batch", 2, `"web/solo" is in namespace web, and -n says batch: give one of them`},
	{"kind and name", "job/solo", 0, "note: job/solo is in namespace web"},
	{"kind and name with -n", "jobs/solo -n web", 0, ""},
	{"kind, namespace and name", "job/web/solo", 0, ""},
	{"kind, namespace and name, and another -n", "job.batch/web/solo -n batch", 2, "-n says batch"},
	{"a pod", "pod/SOLO", 0, "note: pod"},
	{"a pod with -n", "po/SOLO -n web", 0, "note: pod SOLO is of job web/solo"},
	{"a pod with its namespace", "pods/web/SOLO", 0, "note: pod SOLO is of job web/solo"},
	{"a pod's name alone, with its namespace", "web/SOLO", 0, "note: pod SOLO is of job web/solo"},
	{"a UID", "00000000-0000-4000-8000-000000000200", 0, ""},
	{"no such name", "nothing", 1, `"nothing" in namespace "default" or any other ('jobledger get jobs -A' lists all)`},
	{"no such name in a namespace", "web/nothing", 1, `"nothing" in namespace "web" ('jobledger get jobs -n web' lists all)`},
	{"nor with -n", "nothing -n web", 1, `"nothing" in namespace "web" ('jobledger get jobs -n web' lists all)`},
	{"nor of the kind", "job/nothing -n web", 1, `job/nothing in namespace "web" ('jobledger get jobs -n web' lists all)`},
	{"nor of the kind, anywhere", "job/nothing", 1, `job/nothing in namespace "default" or any other ('jobledger get jobs -A' lists all)`},
	{"nor a pod", "pod/nothing -n web", 1, `no Job with a pod nothing in namespace "web"`},
	{"a slip of the pen", "sollo", 1, "there is job/solo -n web"},
	{"a slip of the pen with a namespace", "web/sollo", 1, "there is job/solo -n web"},
	{"a slip of the pen with a kind", "job/sollo -n web", 1, "there is job/solo -n web"},
	{"another namespace has it", "batch/solo", 1, "there is job/solo -n web"},
	{"another namespace has it, with a kind", "job/solo -n batch", 1, "there is job/solo -n web"},
	{"what is no kind is a namespace", "secret/x", 1, `in namespace "secret" (the log knows nothing of that namespace`},
	{"a slip of the pen in the namespace", "team-3/etl", 1, "there is job/etl -n team-03, job/etl -n team-11, job/etl -n team-10 and 9 more"},
	{"no name", "web/", 2, `"web/" has no name: write web/NAME`},
	{"no namespace", "/solo", 2, `"/solo" has no namespace: write solo, or NAMESPACE/solo`},
	{"what no namespace can be called", "Web.x/solo", 2, `"Web.x/solo" is no Job: write NAMESPACE/NAME, job/NAME, pod/NAME or cronjob/NAME`},
	{"too many parts", "web/solo/x", 2, `write NAMESPACE/NAME`},
	{"many namespaces have it", "etl", 2, `"etl" is in 12 namespaces: give -n NAMESPACE, or NAMESPACE/NAME, such as team-05/etl`},
	{"many namespaces have it, with a kind", "job/etl", 2, `job/etl is in 12 namespaces: give -n NAMESPACE, or NAMESPACE/NAME, such as team-05/etl`},
}

// ofCrons are the commands that take the name of a CronJob.
var ofCrons = []string{"ticks NAME", "next NAME", "why-not NAME 2026-03-14T09:30"}

var cronNames = []nameRow{
	{"a name that one namespace has", "nightly", 0, "note: cronjob/nightly is in namespace batch"},
	{"as the program writes it", "batch/nightly", 0, ""},
	{"a kind", "cronjob/nightly -n batch", 0, ""},
	{"a kind and a namespace", "cj/batch/nightly", 0, ""},
	{"-n says another namespace", "batch/nightly -n web", 2, `"batch/nightly" is in namespace batch, and -n says web: give one of them`},
	{"-n says another namespace than kind and name", "cj/batch/nightly -n web", 2, "-n says web"},
	{"a pod of a run, with its namespace", "batch/RUN", 0, "of cronjob/nightly"},
	{"no such name", "nothing", 1, `"nothing" in namespace "default" or any other`},
	{"no such name in a namespace", "batch/nothing", 1, `"nothing" in namespace "batch" (`},
	{"a slip of the pen", "batch/nightli", 1, "there is cronjob/nightly -n batch"},
	{"a slip of the pen with a kind", "cronjob/nightli", 1, "there is cronjob/nightly -n batch"},
	{"another namespace has it", "web/nightly", 1, "there is cronjob/nightly -n batch"},
	{"another namespace has it, with a kind", "cronjob/nightly -n web", 1, "there is cronjob/nightly -n batch"},
	{"a Job", "job/solo", 2, `"job/solo" is no CronJob: write NAME or cronjob/NAME`},
	{"a Job that a CronJob did not make", "web/solo", 2, "job/solo was not made by a CronJob"},
}

// ofBoth are the commands that take both.
var ofBoth = []string{"explain NAME", "get NAME", "events NAME"}

var bothNames = []nameRow{
	{"a CronJob", "batch/nightly", 0, ""},
	{"a CronJob by its name alone", "nightly", 0, "note: cronjob/nightly is in namespace batch"},
	{"a CronJob and a Job", "batch/both", 2, `"both" is several things; write one of them: cronjob/both -n batch, job/both -n batch`},
	{"one of them", "cronjob/batch/both", 0, ""},
	{"a Job, and a CronJob is there", "job/nightly -n batch", 1, "there is cronjob/nightly -n batch"},
	{"a CronJob, and a Job is there", "cronjob/solo -n web", 1, "there is job/solo -n web"},
	{"two words", "web solo", 2, `"web" is no kind of object: write web/solo, or job/solo -n web`},
	{"kind and namespace with name", "job web/solo", 0, ""},
}

// TestNames: every command that takes the name of an object accepts the same forms. The error about a wrong name says
// what to write instead.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	solo, run := crowd(t, dir)
	t.Run("many namespaces", func(t *testing.T) { manyNamespaces(t, dir) })
	put := strings.NewReplacer("SOLO", solo, "RUN", run)
	for _, set := range []struct {
		commands []string
		rows     []nameRow
	}{{ofJobs, jobNames}, {ofCrons, cronNames}, {ofBoth, bothNames}} {
		for _, one := range set.commands {
			name, _, _ := strings.Cut(one, " ")
			t.Run(name, func(t *testing.T) {
				for _, row := range set.rows {
					typed := strings.Replace(one, "NAME", put.Replace(row.typed), 1)
					if name == "replay" { // of a name alone it wants a Job
						row.err = strings.TrimPrefix(strings.Replace(row.err, `"etl" is in`, "job/etl is in", 1), `"nothing" `)
					}
					r := command(append(strings.Fields(typed), "--log", dir)...)
					if r.panicked != nil || r.code != row.code || !strings.Contains(r.err, put.Replace(row.err)) || (r.out == "") == (r.code == 0) {
						t.Errorf("%s: %q ended with %d (want %d %q):\n%s%.300s", row.sentence, typed, r.code, row.code, row.err, r.err, r.out)
					}
					if row.err == "" && r.err != "" {
						t.Errorf("%s: %q says %q", row.sentence, typed, r.err)
					}
					if lines := strings.Count(r.err, "\n"); lines > 14 {
						t.Errorf("%s: %q says so in %d lines", row.sentence, typed, lines)
					}
				}
			})
		}
	}
}

// manyNamespaces: a name that many namespaces have gives few lines, Jobs in trouble first.
func manyNamespaces(t *testing.T, dir string) {
	for _, typed := range []string{"explain etl", "explain job/etl", "get etl", "events etl", "replay --job etl"} {
		r := command(append(strings.Fields(typed), "--log", dir)...)
		var names []string
		for line := range strings.Lines(r.err) {
			if fields := strings.Fields(line); strings.HasPrefix(line, "  job/etl") {
				names = append(names, strings.TrimSuffix(fields[2]+" "+fields[3], ","))
			}
		}
		want := "team-05 stuck,team-03 Failed,team-11 Complete,team-10 Complete,team-09 Complete,team-08 Complete,team-07 Complete,team-06 Complete"
		if got := strings.Join(names, ","); got != want {
			t.Errorf("%s: %s\n%s", typed, got, r.err)
		}
		if !strings.Contains(r.err, "  … and 4 more: 'jobledger get jobs -A' lists all") {
			t.Errorf("%s: it does not say how many there are:\n%s", typed, r.err)
		}
	}
}
