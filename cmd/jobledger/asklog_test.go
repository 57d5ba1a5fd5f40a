package main

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// workJobs are enough for several files.
const workJobs = 24

// makeWork writes a log of several files: Jobs of the namespace default, one after the other, every other one of which
// fails, a Job that runs all the time, and a CronJob that is due every ten minutes. The older half of the files is
// packed, and each has a list of its Jobs.
func makeWork(t testing.TB, dir string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "KEY"), seasonKey[:], 0o600)); err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID, RotateBytes: 48 << 10})
	if err != nil {
		t.Fatal(err)
	}
	c := newCronCluster(t, eachDurable{log}, began)
	nightly := c.addCron("default", "nightly", "*/10 * * * *", "", func(*events.CronJobSeen) {})
	long := c.addJob("default", "long", 900, func(*events.JobSpec) {})
	c.settle()
	c.start(long)
	for n := range workJobs {
		job := c.addJob("default", fmt.Sprintf("job-%02d", n), 1+n, func(s *events.JobSpec) { s.BackoffLimit = new(int32(0)) })
		c.settle()
		c.start(job)
		c.finish(job, c.pods(job)[0], int32(3*(n%2)), "no such file")
		c.pass(5 * time.Minute)
		if n%2 == 1 {
			c.run(nightly, 20*time.Second, 0, "")
		}
	}
	c.durable()
	for range 3 {
		if _, err := log.Pack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	trim(t, dir)
	listJobs(t, dir)
}

// readingCommands returns the commands that read a log and end: those in the tree of commands that take --log and
// --server. A drill takes them, too, and asks the question of explain. ui, mcp and serve do not end, and have their own
// tests.
func readingCommands() (names []string) {
	root := newRoot(&cli.CLI{Out: os.Stdout, Err: os.Stderr, Getenv: func(string) string { return "" }}, "jobledger")
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		reads := cmd.Flags().Lookup("log") != nil && cmd.Flags().Lookup("server") != nil
		if reads && !slices.Contains([]string{"drill", "ui", "mcp", "serve"}, cmd.Name()) {
			names = append(names, cmd.Name())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	return names
}

// questions are the arguments of each reading command. JOB is a Job, CRON the CronJob, TIME one of its due times,
// MIDDLE the time and AT the record in the middle of the damaged file. Lines with JOB are asked about several Jobs.
var questions = map[string][]string{
	"get": {
		"get job/JOB", "get job/JOB -o json", "get jobs", "get jobs -o json", "get jobs --why", "get jobs --since MIDDLE", "get jobs --sort-by name",
		"get jobs --limit 5", "get job/long --at MIDDLE", "get cronjob/CRON", "get cronjob/CRON -o json", "get cronjob/CRON --at MIDDLE",
		"get cronjobs", "get cronjobs -o json", "get jobs -o name",
	},
	"find": {"find JOB", "find JOB -o json", "find AT"},
	"explain": {
		"explain job/JOB", "explain job/JOB -o json", "explain job/JOB -o md", "explain cronjob/CRON", "explain cronjob/CRON -o json",
		"explain pod/POD",
	},
	"attempts": {"attempts job/JOB", "attempts job/JOB -o json"},
	"timeline": {"timeline job/JOB", "timeline job/JOB -o json"},
	"failures": {"failures", "failures -o json", "failures --since MIDDLE", "failures --near-misses"},
	"plan":     {"plan", "plan -o json"},
	"events": {
		"events", "events -o json", "events job/JOB", "events job/JOB -o json", "events --since MIDDLE", "events --until MIDDLE", "events --tail 10",
		"events --from AT --limit 3", "events cronjob/CRON", "events --kind JobAdded",
	},
	"replay":  {"replay", "replay --job JOB"},
	"ticks":   {"ticks cronjob/CRON", "ticks cronjob/CRON -o json", "ticks cronjob/CRON --tail 0", "ticks cronjob/CRON --since MIDDLE"},
	"next":    {"next cronjob/CRON --after 2026-03-20T00:00 -o json"},
	"why-not": {"why-not cronjob/CRON TIME", "why-not cronjob/CRON TIME -o json"},
}

// asked is a log and the questions about it.
type askedLog struct {
	dir       string
	questions []string
	whole     map[string]typed // what is said of the log before it is damaged
}

// newAskedLog prepares the questions about a log with a file that is to be damaged: about the last failed Job before
// that file, one in it, the first behind it, and the one that runs all the time.
func newAskedLog(t *testing.T, dir, file string) *askedLog {
	t.Helper()
	a := &askedLog{dir: dir, whole: map[string]typed{}}
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	files := dbFiles(t, dir)
	first, behind := firstOf(file), log.Head().Sequence+1
	if i := slices.Index(files, file); i+1 < len(files) {
		behind = firstOf(files[i+1])
	}
	spans := map[string][2]events.Sequence{} // of failed Jobs, from the first record to the last
	pods := map[string]string{}
	names := map[events.Stream]string{}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindJobAdded {
			names[r.Stream] = r.Evidence.Name
		}
		name := names[r.Stream]
		if n := 0; r.Stream.Kind == events.StreamJob && strings.HasPrefix(name, "job-") {
			if _, err := fmt.Sscanf(name, "job-%d", &n); err != nil || n%2 == 0 {
				continue
			}
			span := spans[name]
			if span[0] == 0 {
				span[0] = r.Sequence
			}
			span[1] = r.Sequence
			spans[name] = span
			if r.Kind == events.KindPodAdded {
				pods[name] = r.Evidence.Name
			}
		}
	}
	var before, within, after string
	for n := 1; n < workJobs; n += 2 {
		name := fmt.Sprintf("job-%02d", n)
		switch s := spans[name]; {
		case s[1] < first:
			before = name
		case s[0] >= behind && after == "":
			after = name
		case s[0] >= first && s[1] < behind:
			within = name
		}
	}
	jobs := []string{before, within, after}
	jobs = append(slices.DeleteFunc(jobs, func(s string) bool { return s == "" }), "long")
	middle, at := timeWithin(t, log, first, behind)
	a.ask(jobs, pods, middle, at)
	for _, q := range a.questions {
		r := command(append(strings.Fields(q), "--log", dir)...)
		if r.code != 0 {
			t.Fatalf("%s: of the whole log: %d %s", q, r.code, r.err)
		}
		a.whole[q] = r
	}
	return a
}

// timeWithin is the time and the sequence of a record in the middle of a file.
func timeWithin(t *testing.T, log store.Reader, first, behind events.Sequence) (string, events.Sequence) {
	t.Helper()
	at := (first + behind) / 2
	for r, err := range log.Read(t.Context(), at) {
		if err != nil {
			t.Fatal(err)
		}
		return r.Time.Go().UTC().Format(time.RFC3339Nano), at
	}
	t.Fatalf("there is no record %d", at)
	return "", 0
}

// ask fills in the questions.
func (a *askedLog) ask(jobs []string, pods map[string]string, middle string, at events.Sequence) {
	due, _ := time.Parse(time.RFC3339Nano, middle)
	put := func(q string) {
		q = strings.NewReplacer("CRON", "nightly", "TIME", due.Truncate(10*time.Minute).Format("2006-01-02T15:04"), "MIDDLE", middle,
			"AT", fmt.Sprint(uint64(at))).Replace(q)
		a.questions = append(a.questions, q)
	}
	for _, name := range readingCommands() {
		for _, q := range questions[name] {
			if !strings.Contains(q, "JOB") && !strings.Contains(q, "POD") {
				put(q)
				continue
			}
			for _, job := range jobs {
				if pods[job] != "" || !strings.Contains(q, "POD") {
					put(strings.NewReplacer("JOB", job, "POD", pods[job]).Replace(q))
				}
			}
		}
	}
}

// port serves a log as the controller that writes it does; empty if the log cannot be opened.
func port(t *testing.T, dir string) string {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		return ""
	}
	t.Cleanup(func() { _ = log.Close() })
	lists := joblist.New(joblist.Config{Log: log, Files: log.Files, Dir: dir})
	server := httptest.NewServer(serve.Handler(serve.Config{Log: log, Damage: log.Damage, Lists: lists, PID: os.Getpid(), Version: "v0.0.0-test"}))
	t.Cleanup(server.Close)
	return server.URL
}
