package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/open"
)

// TestAListingOfSeveralPages: records that are so large that few of them are on a page, and one that is on none, are
// printed as others are, each once and in order: from the front and from the end, from a log and from a controller.
func TestAListingOfSeveralPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	makeHeavy(t, dir)
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	names := history.NamesOf(t.Context(), history.Local{Log: log})
	var lines, ofJob []string
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		names.Learn(&r)
		line := string(names.RecordJSON(&r)) + "\n"
		names.Forget(&r)
		if lines = append(lines, line); r.Stream == heavyJob {
			ofJob = append(ofJob, line)
		}
	}
	n := len(lines)
	for ask, want := range map[string][]string{
		"": lines, fmt.Sprint("--tail ", n-3): lines[3:], "--tail 9 --since 2026-03-14": lines[n-9:],
		fmt.Sprint("--limit ", n-2): lines[:n-2], fmt.Sprint("--from ", n-8): lines[n-9:],
		"prod/heavy --since 2026-03-14 --until 2036-01-01": ofJob, "heavy --limit 15": ofJob[:15],
	} {
		for _, from := range []string{"--log=" + dir, "--server=" + port(t, dir)} {
			line := append([]string{"events", "-o", "json", from}, strings.Fields(ask)...)
			r := command(line...)
			if r.code != 0 || r.out != strings.Join(want, "") {
				got := strings.Count(r.out, "\n")
				t.Errorf("%q: exit code %d, %d lines, want %d; %s", line, r.code, got, len(want), r.err)
			}
			if strings.Contains(r.err, "there may be more than these") != strings.Contains(ask, "--limit") {
				t.Errorf("%q: %s", line, r.err)
			}
		}
	}
	here := command("events", "-o", "wide", "--log", dir)
	there := command("events", "-o", "wide", "--server", port(t, dir))
	rows := strings.Split(strings.TrimSpace(here.out), "\n")[1:]
	if here.out != there.out || len(rows) != n {
		t.Errorf("the table has %d rows, of %d records; of a controller it is the same: %t", len(rows), n, here.out == there.out)
	}
	if yaml := command("events", "-o", "yaml", "--log", dir); strings.Count(yaml.out, "\nsequence: ") != n {
		t.Errorf("as YAML there are %d records", strings.Count(yaml.out, "\nsequence: "))
	}
}

var heavyJob = events.JobStream("00000000-0000-4000-8000-00000000beef")

// makeHeavy writes a log, which ends with records of the Job prod/heavy: small and large ones, and one that is larger
// than a page.
func makeHeavy(t *testing.T, dir string) {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	morning(t, log)
	head, previous := log.Head(), events.Sequence(0)
	large := slices.Repeat([]int{500 << 10}, 6)
	sizes := slices.Concat([]int{10, 10}, large, []int{10, 2600 << 10, 10}, large[:5])
	for i, size := range sizes {
		at := head.Sequence + 1 + events.Sequence(i)
		r := events.Record{
			Header: events.Header{
				Sequence: at, Time: head.Time, Stream: heavyJob, Kind: events.KindPodChanged, Previous: previous, Last: true,
			},
			Facts: &events.PodSeen{UID: "pod", Version: uint64(at), Phase: events.PodFailed},
			Evidence: events.Evidence{
				Namespace: "prod", Name: "heavy-1", Owner: "heavy", Message: strings.Repeat("<\"x ", 1+size/4),
			},
		}
		if i == 0 {
			r.Kind, r.Facts, r.Evidence.Name = events.KindJobAdded, &events.JobSeen{Version: 1, Generation: 1}, "heavy"
		}
		c := log.Append(events.Batch{Records: []events.Record{r}}, false)
		if <-c.Done(); c.Err() != nil {
			t.Fatal(c.Err())
		}
		previous = at
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
