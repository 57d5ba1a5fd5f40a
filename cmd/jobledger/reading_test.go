package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommandsShowThatTheyRead: each command that reads shows so on a terminal once a second has passed, and takes the line off again before its
// answer. Here a second passes with each look at the clock.
func TestCommandsShowThatTheyRead(t *testing.T) {
	jobs, crons := incident(t, "delegated"), incident(t, "cronjobs-run")
	for _, args := range []string{
		"failures -A", "failures -A --near-misses", "plan", "explain etl-orders", "attempts etl-orders", "timeline etl-orders", "get job/etl-orders -n backoff-limit",
		"get jobs -A -o wide", "get jobs -A --limit 1", "events -A --kind ClockStepped", "events --tail 1", "get cronjobs -A",
		"ticks CRON", "why-not CRON 2026-11-23T22:00", "next CRON", "explain CRON",
	} {
		t.Run(args, func(t *testing.T) {
			log := jobs
			if strings.Contains(args, "CRON") || strings.Contains(args, "cron") {
				log, args = crons, strings.ReplaceAll(args, "CRON", "cronjob/report")
			}
			args = strings.ReplaceAll(args, "events -A", "events")
			var screen bytes.Buffer
			clock := time.Unix(0, 0)
			r := newReading(&screen, func() time.Time { clock = clock.Add(time.Second); return clock })
			c := &cli{
				out: &shownBy{&screen, r, true}, err: &shownBy{&screen, r, false}, reads: r, getenv: func(string) string { return "" },
			}
			if code := execute(t.Context(), c, append(append([]string{"jobledger"}, strings.Fields(args)...), "--log", log)); code != 0 {
				t.Fatalf("it ends with %d:\n%s", code, &screen)
			}
			text := screen.String()
			last := strings.LastIndex(text, "\rreading the log: ")
			if last < 0 {
				t.Fatalf("it does not show that it reads:\n%s", text)
			}
			_, after, cleared := strings.Cut(text[last:], "\r\x1b[K")
			if !cleared || strings.TrimSpace(after) == "" && !strings.Contains(args, "ClockStepped") {
				t.Errorf("behind the last %q there is no answer on a clear line:\n%q", "reading the log", text[last:])
			}
		})
	}
}

// TestShortReadingsShowNothing: what takes a second or less is not shown, nor what comes behind the answer.
func TestShortReadingsShowNothing(t *testing.T) {
	var screen bytes.Buffer
	clock := time.Unix(0, 0)
	r := newReading(&screen, func() time.Time { return clock })
	clock = clock.Add(readingAfter)
	if r.record(); screen.Len() > 0 {
		t.Errorf("after a second it shows %q", &screen)
	}
	clock = clock.Add(time.Millisecond)
	r.record()
	r.record() // too soon
	if got := screen.String(); got != "\rreading the log: 2 records" {
		t.Errorf("it shows %q", got)
	}
	screen.Reset()
	if _, err := io.WriteString(&shownBy{&screen, r, true}, "answer\n"); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Minute)
	if r.record(); screen.String() != "\r\x1b[Kanswer\n" {
		t.Errorf("behind the answer it shows %q", &screen)
	}
}

// incident is a copy of a recorded incident's log: opening it may write beside it.
func incident(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../examples/incidents", name, "log"))); err != nil {
		t.Fatal(err)
	}
	return dir
}
