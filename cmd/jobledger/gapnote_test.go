package main

import (
	"bytes"
	"github.com/jobledger/jobledger/cmd/cli"
	"strings"
	"testing"
)

// TestEventsNameAGap: a question about a moment at which the cluster was not watched names the gap. A question about a
// span around the gap has the records of the gap itself.
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
