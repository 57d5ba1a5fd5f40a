package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestCronJobsInManyFiles: a log of many files gives the same answers about CronJobs as a log of one file: the lists,
// with and without lists beside the files, the state of each CronJob, now and at other times, and the outcome (fate) of
// each due time.
func TestCronJobsInManyFiles(t *testing.T) {
	one := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	nights(t, one)
	dir := t.TempDir()
	many, err := boltlog.Open(dir, store.Options{LogID: testLogID, RotateBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer many.Close()
	nights(t, eachDurable{many})
	files, err := many.Files()
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	whole := history.Local{Log: one, Lists: joblist.New(joblist.Config{Log: one})}
	config := joblist.Config{Log: many, Files: many.Files, Every: 50}
	apart := history.Local{Log: many, Lists: joblist.New(config)}
	want := toldOfAll(t, whole)
	same(t, "in many files", want, toldOfAll(t, apart))
	config.Dir = dir
	if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil { // the list of the tail may be behind
		t.Fatal(err)
	}
	same(t, "with lists", want, toldOfAll(t, history.Local{Log: many, Lists: joblist.New(config)}))
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "with lists of all", want, toldOfAll(t, history.Local{Log: many, Lists: joblist.New(config)}))

	streams, err := history.FindCronJobs(t.Context(), apart, "prod", "report")
	if err != nil || len(streams) != 1 {
		t.Fatalf("%v, %v", streams, err)
	}
	whole1, err := duetimes.Read(t.Context(), whole, streams[0])
	if err != nil {
		t.Fatal(err)
	}
	newest, err := duetimes.Newest(t.Context(), apart, streams[0], 3)
	if err != nil || newest.Told == 0 || len(newest.Entries) < 3 || len(newest.Entries) >= len(whole1.Entries) {
		t.Fatalf("the newest are %d of %d, told from %d: %v", len(newest.Entries), len(whole1.Entries), newest.Told, err)
	}
	for i := range whole1.Entries {
		e := &whole1.Entries[i]
		for _, at := range []events.Time{e.First, e.Last} {
			c, err := duetimes.Around(t.Context(), apart, streams[0], at)
			if err != nil {
				t.Fatal(err)
			}
			if v := c.At(at.Go()); v.Entry == nil || v.Entry.Fate != e.Fate || v.Entry.Into != e.Into {
				t.Errorf("%s: %+v, want %+v", at.Go(), v.Entry, e.Tick)
			}
		}
	}
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-one file +%s):\n%s", what, what, diff)
	}
}

// sequences matches numbers of records, which differ: a file states again what the file before it had.
var sequences = regexp.MustCompile(`"(sequence|record|first|last|continue|command)": "?[0-9/]+"?,?`)

// due matches the time of the turn that looked last, to the second: a turn that states something again takes a
// millisecond.
var due = regexp.MustCompile(`("dueThrough": "[^"]+:\d\d)\.\d+Z"`)

// toldOfAll returns a log's answers about its CronJobs: the list, and the state of each, now and at some times.
func toldOfAll(t *testing.T, src history.Source) map[string]string {
	t.Helper()
	ctx := context.Background()
	all := map[string]string{}
	put := func(name string, v any) {
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		all[name] = due.ReplaceAllString(sequences.ReplaceAllString(string(text), ""), `${1}Z"`)
	}
	page, err := src.CronJobs(ctx, history.CronJobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	put("list", page.Items)
	var paged []history.CronSummary
	for q := (history.CronJobsQuery{Limit: 2}); ; {
		page, err := src.CronJobs(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page.Items...)
		if q.Continue = page.Continue; q.Continue == "" {
			break
		}
	}
	put("in pages", paged)
	if diff := cmp.Diff(page.Items, paged); diff != "" {
		t.Errorf("the pages are other ones than the whole list:\n%s", diff)
	}
	for _, j := range page.Items {
		streams, err := history.FindCronJobs(ctx, src, j.Namespace, j.Name)
		if err != nil || len(streams) != 1 {
			t.Fatalf("%s: %v, %v", j.Name, streams, err)
		}
		for _, at := range []history.Point{{}, {Time: events.At(march(20, "08:30:00"))}, {Time: events.At(march(23, "10:00:00"))}, {Time: events.At(march(26, "12:30:00"))}} {
			job, err := history.CronJobAt(ctx, src, streams[0], at)
			if err != nil {
				put(fmt.Sprint(j.Name, at.Time), err.Error())
				continue
			}
			if at.Time == 0 {
				job.LastDue, job.Due = nil, nil // beside the list: a file's state does not tell how a due time was told
			}
			job.LastDue, job.LastDecision = nil, nil
			if job.Due != nil {
				job.Due.Since, job.Due.Record = 0, 0
			}
			put(fmt.Sprint(j.Name, at.Time), job)
		}
	}
	return all
}
