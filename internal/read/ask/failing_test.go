package ask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// TestAReadThatFailsIsTold, whichever read of a question fails: of the lists, of the finder, and of the question itself.
// Records of a newer program are left to the test of package history.
func TestAReadThatFailsIsTold(t *testing.T) {
	src, now := recorded(t, "cronjobs-observed")
	log := src.(history.Local).Log
	crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := crons.Items[0]
	jobs, err := src.Jobs(t.Context(), history.JobsQuery{Namespace: c.Namespace, Limit: 1})
	if err != nil || len(jobs.Items) == 0 {
		t.Fatal(jobs, err)
	}
	cron, job := "cronjob/"+c.Namespace+"/"+c.Name, jobs.Items[0].Namespace+"/"+jobs.Items[0].Name
	var all []historytest.Question
	for _, line := range []string{
		"ticks " + cron + " --tail=3", fmt.Sprintf("ticks %s --at=%d", cron, log.Head().Sequence), "next " + cron, "why-not " + cron + " 5m", "get " + cron, "get job/" + job,
		"jobs --limit=2 --since=00:00", "cronjobs --limit=2", "find " + c.Name, "attempts " + job, "ticks " + c.Name,
		"events --limit=30", "events --tail=30 --words=whole", "events " + c.Name,
		"events " + job + " --since=00:00 --until=23:00 --words=beside",
	} {
		all = append(all, historytest.Question{Name: line, Ask: func(ctx context.Context, f *historytest.Failing, d *store.Damage) (string, error) {
			if d == nil {
				d = &store.Damage{}
			}
			lists := joblist.New(joblist.Config{Log: f})
			return askedOnce(ctx, t, ask.Source{Source: f.Source(lists, d), Damage: d}, now, line)
		}})
	}
	if n := historytest.EachReadFails(t, log, all...); n < 100 {
		t.Errorf("only %d reads failed", n)
	}
}

// TestAReadOfAnExplanationThatFailsIsTold, from whatever place it reads. The note whose pod it is has a UID then in the
// place of a name.
func TestAReadOfAnExplanationThatFailsIsTold(t *testing.T) {
	src, now := recorded(t, "cronjobs-observed")
	log := src.(history.Local).Log
	jobs, err := src.Jobs(t.Context(), history.JobsQuery{Limit: 1})
	if err != nil || len(jobs.Items) == 0 {
		t.Fatal(jobs, err)
	}
	job, failed := jobs.Items[0].Namespace+"/"+jobs.Items[0].Name, 0
	pod := ""
	stream := events.JobStream(types.UID(jobs.Items[0].UID))
	for r, err := range log.ReadStream(t.Context(), stream, 0, store.Forward) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindPodAdded {
			pod = "pod/" + jobs.Items[0].Namespace + "/" + r.Evidence.Name
		}
	}
	for _, line := range []string{"explain " + pod, "explain job/" + job + " --link=L=https://l.example/{{.Pod}}"} {
		read := func(f *historytest.Failing) (string, error) {
			d := &store.Damage{}
			f.Reader = log
			lists := joblist.New(joblist.Config{Log: f})
			return askedOnce(t.Context(), t, ask.Source{Source: f.Source(lists, d), Damage: d}, now, line)
		}
		sound := &historytest.Failing{}
		whole, err := read(sound)
		if err != nil {
			t.Fatal(line, err)
		}
		for where := range sound.Reads {
			f := &historytest.Failing{Where: where, Nth: 1, With: func(events.Sequence) error { return historytest.ErrRead }}
			got, err := read(f)
			if f.Failed {
				failed++
			}
			if f.Failed && !errors.Is(err, historytest.ErrRead) && got != whole && !strings.Contains(where, "(*Finder).called") {
				t.Errorf("%s: a read from %s fails: %v, and the answer is\n%.900s", line, where, err, got)
			}
		}
	}
	if failed < 20 {
		t.Errorf("only %d reads failed", failed)
	}
}

// askedOnce asks one question, and returns its answer with all that is noted beside it.
func askedOnce(ctx context.Context, t *testing.T, src ask.Source, now time.Time, line string) (string, error) {
	t.Helper()
	var out strings.Builder
	note := func(text string) { fmt.Fprintln(&out, text) }
	src.Note, src.Behind, src.Clock = note, note, func() time.Time { return now }
	q, args := begun(t, line)
	if err := q.Read(args); err != nil {
		t.Fatal(err)
	}
	answer, err := q.Ask(ctx, src)
	if answer == nil { // the damage is shown beside the error
		return "", errors.Join(append(src.Damage.Met(), err)...)
	}
	text, unwritten := ask.Write(answer, nil)
	return out.String() + string(text), errors.Join(append(src.Damage.Met(), err, unwritten)...)
}

// begun begins the question of a command line.
func begun(t *testing.T, line string) (q ask.Request, args []string) {
	t.Helper()
	words := strings.Fields(line)
	entry, is := ask.Named(words[0])
	if !is {
		t.Fatalf("there is no question %s", words[0])
	}
	q = entry.Begin()
	for _, word := range words[1:] {
		flag, is := strings.CutPrefix(word, "--")
		if !is {
			args = append(args, word)
			continue
		}
		name, value, _ := strings.Cut(flag, "=")
		if err := q.Flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return q, args
}
