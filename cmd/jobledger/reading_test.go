package main

import (
	"bytes"
	"github.com/jobledger/jobledger/cmd/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommandsShowThatTheyRead: each command that reads shows that on a terminal once a second has passed, and clears
// the line before its answer. Here each look at the clock takes a second.
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
			r := cli.NewReading(&screen, func() time.Time { clock = clock.Add(time.Second); return clock })
			c := &cli.CLI{Out: &screen, Err: &screen, Getenv: func(string) string { return "" }}
			c.Show(r)
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

// incident is a copy of a recorded incident's log: opening it may write beside it.
func incident(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../examples/incidents", name, "log"))); err != nil {
		t.Fatal(err)
	}
	return dir
}
