package incidents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestTheCronJobsAreWhole: the logs of incident 20 verify and replay, have every CronJob, and do not name the machine
// that recorded them.
func TestTheCronJobsAreWhole(t *testing.T) {
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mode{cronsRun, cronsObserved} {
		t.Run(string(m), func(t *testing.T) {
			dir := t.TempDir() // readers may write beside a log
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(examples, string(m)))); err != nil {
				t.Fatal(err)
			}
			checkCronJobs(t, program, dir)
		})
	}
}

// TestWhyNotSaysTheTruth asks what became of each due time of the recorded CronJobs, and of a time between two of them.
// The answer says of each started run, and of no other, that it started: its Job, how late, and by whom. It has the
// reason that the script knows. If no Jobledger watched the other controller, the answer may be "unknown".
func TestWhyNotSaysTheTruth(t *testing.T) {
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mode{cronsRun, cronsObserved} {
		t.Run(string(m), func(t *testing.T) { askCronJobs(t, program, m, filepath.Join(examples, string(m))) })
	}
}

func readCronTruth(t *testing.T, dir string) (all []cronTruth) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(cronTable) {
		t.Fatalf("%s has %d parts, and the table %d: make incidents", dir, len(all), len(cronTable))
	}
	return all
}

// checkCronJobs requires that a log verifies, replays without a difference, and has each CronJob from its beginning to
// its end.
func checkCronJobs(t *testing.T, program, dir string) {
	t.Helper()
	c := controller.New(controller.Config{Program: program, Log: filepath.Join(dir, "log")})
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	records, err := c.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nameless(t, records)
	for _, told := range readCronTruth(t, dir) {
		kinds := map[string]int{}
		for _, r := range records {
			if strings.Contains(r.Stream, told.UID) {
				kinds[r.Kind]++
			}
		}
		if kinds["CronJobAdded"] != 1 || kinds["CronJobDeleted"] != 1 || kinds["RunSeen"] == 0 {
			t.Errorf("CronJob %s: the log has the records %v", told.CronJob, kinds)
		}
	}
}

// tick is a due time, or a range of them, in the program's output.
type tick struct {
	First, Last                   time.Time
	Fate, Job, Late               string
	Observed                      bool
	UnwatchedFrom, UnwatchedUntil time.Time
}

func (k *tick) has(due time.Time) bool { return !due.Before(k.First) && !due.After(k.Last) }

type whyNot struct {
	Due       bool
	Tick      *tick
	Sentences []sentence
}

func askCronJobs(t *testing.T, program string, m mode, dir string) {
	a := asker{controller.New(controller.Config{Program: program, Log: filepath.Join(dir, "log")}), m}
	for _, told := range effort.Each(3, readCronTruth(t, dir)) {
		t.Run(told.Namespace, func(t *testing.T) { a.askCronJob(t, &told) })
	}
}

func (a asker) value(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := a.CLI(t.Context(), append(args, "-o", "json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatal(err)
	}
}

func (a asker) askCronJob(t *testing.T, told *cronTruth) {
	of := []string{"cronjob/" + told.CronJob, "-n", told.Namespace}
	var ticks struct{ Items []tick }
	a.value(t, &ticks, append([]string{"ticks"}, of...)...)
	var answers strings.Builder
	for _, due := range told.dues() {
		var why, between whyNot
		at := due.Format(time.RFC3339)
		a.value(t, &why, append([]string{"why-not", of[0], at}, of[1:]...)...)
		var said []string
		for _, s := range why.Sentences {
			said = append(said, s.Text)
		}
		text := strings.Join(said, "\n")
		fmt.Fprintf(&answers, "%s\n%s\n\n", at, text)
		for _, wrong := range a.wrong(told, due, &why, text) {
			t.Errorf("%s: %s:\n%s", at, wrong, text)
		}
		entries := 0
		for i := range ticks.Items {
			if k := &ticks.Items[i]; k.has(due) {
				if entries++; why.Tick != nil && k.Fate != why.Tick.Fate {
					t.Errorf("%s: ticks says %s, and why-not %s", at, k.Fate, why.Tick.Fate)
				}
			}
		}
		if entries != 1 {
			t.Errorf("%s: ticks has %d entries of it", at, entries)
		}
		if a.value(t, &between, append([]string{"why-not", of[0], due.Add(30 * time.Second).Format(time.RFC3339)}, of[1:]...)...); between.Due {
			t.Errorf("half a minute after %s is said to be a due time", at)
		}
	}
	table, err := a.CLI(t.Context(), append([]string{"ticks"}, of...)...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(a.Log(), examples) {
		return // a recording that is not kept
	}
	golden(t, filepath.Join("testdata", string(a.mode), told.Namespace+".txt"), table+"\n"+answers.String())
}

// wrong returns the parts of an answer that are not true.
func (a asker) wrong(told *cronTruth, due time.Time, why *whyNot, text string) (all []string) {
	if !why.Due || why.Tick == nil {
		return []string{"it was a due time, and has a fate"}
	}
	got, run := why.Tick, told.run(due)
	unseen := told.Gap != nil && due.After(told.Gap.From) && due.Before(told.Gap.To)
	switch {
	case got.Observed != (a.mode == cronsObserved):
		all = append(all, fmt.Sprintf("it is told as observed: %t", got.Observed))
	case run == nil && got.Fate == "Started":
		all = append(all, "it was not started")
	case run == nil && a.mode == cronsObserved && got.Fate != "NotStarted":
		all = append(all, "it was not started, and somebody watched: "+got.Fate)
	case run != nil && got.Fate == "Unknown" && unseen && a.mode == cronsObserved:
		// The controller was killed, so it is known to have watched only up to its newest record.
		if got.UnwatchedFrom.After(told.Gap.From) || told.Gap.From.Sub(got.UnwatchedFrom) > time.Minute || got.UnwatchedUntil.Sub(told.Gap.To).Abs() > 3*time.Second {
			all = append(all, fmt.Sprintf("nobody watched from %s to %s", told.Gap.From, told.Gap.To))
		}
	case run != nil && got.Fate != "Started":
		all = append(all, "it was started, and is "+got.Fate)
	case run != nil:
		late, _ := time.ParseDuration(got.Late)
		if d := run.At.Sub(due) - late; got.Job != run.Job || d.Abs() > 2*time.Second && !unseen {
			all = append(all, fmt.Sprintf("it was started as %s, %s late", run.Job, run.At.Sub(due)))
		}
	}
	if by := run != nil && run.By == ours; run != nil && by == got.Observed {
		all = append(all, "it was started by "+run.By)
	}
	if k := told.kept(due); k != nil {
		for _, word := range k.Says {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				all = append(all, fmt.Sprintf("the answer does not say %q", word))
			}
		}
	}
	return all
}
