package main

import (
	"bytes"
	"github.com/jobledger/jobledger/cmd/cli"
	"strings"
	"testing"
)

// TestEventsNameAGap: a moment that is asked for and lies in a time in which the cluster was not watched is named; a
// span around that time has the records that say so themselves.
func TestEventsNameAGap(t *testing.T) {
	const log = "../../examples/incidents/delegated/log"
	listing := ""
	for _, line := range strings.Split(eventsOf(t, log, "--kind", "ListingStarted", "-o", "json"), "\n") {
		if i := strings.Index(line, `"lastSeen":"`); i >= 0 {
			listing = line[i+len(`"lastSeen":"`):]
			listing = listing[:len("2006-01-02T15:04:05")]
			break
		}
	}
	if listing == "" {
		t.Fatal("the recorded log has no gap")
	}
	for since, want := range map[string]bool{listing + ".999999999Z": true, listing[:len("2006-01-02")]: false} {
		if got := strings.Contains(eventsOf(t, log, "--since", since, "--limit", "1"), "note: the cluster was not watched from "+listing[:10]); got != want {
			t.Errorf("--since %s: it names a gap: %t, want %t", since, got, want)
		}
	}
}

// eventsOf is what events prints, and what it notes.
func eventsOf(t *testing.T, log string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	c := &cli.CLI{Out: &out, Err: &out, Getenv: func(string) string { return "" }}
	if status := execute(t.Context(), c, append([]string{"jobledger", "events", "--log", log}, args...)); status != 0 {
		t.Fatalf("exit %d: %s", status, &out)
	}
	return out.String()
}
