package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestReplayStrict: if other rules made a decision, a difference is a failure only with --strict. A decision that names
// other rules than its controller started with is always a failure.
func TestReplayStrict(t *testing.T) {
	byOthers := func(records []events.Record, starts bool) []events.Record {
		for i := range records {
			switch f := records[i].Facts.(type) {
			case *events.ControllerStarted:
				if other := *f; starts {
					other.RulesVersion++
					records[i].Facts = &other
				}
			case *events.Decision:
				other := *f
				other.RulesVersion++
				records[i].Facts = &other
			}
		}
		return records
	}
	for _, row := range []struct {
		name          string
		change        func([]events.Record) []events.Record
		usual, strict int
		says          string
	}{
		{"as it was decided", func(r []events.Record) []events.Record { return r }, 0, 0, ""},
		{"by other rules, and these decide alike", func(r []events.Record) []events.Record { return byOthers(r, true) }, 0, 0, "decide 0 of them otherwise"},
		{"by other rules, and these decide otherwise", func(r []events.Record) []events.Record { return byOthers(altered(r, 1), true) }, 0, 1, "decide 3 of them otherwise"},
		{"a forged version of the rules", func(r []events.Record) []events.Record { return byOthers(r, false) }, 1, 1, "and its controller started with rules"},
	} {
		dir := filepath.Join(t.TempDir(), "log")
		log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, log, row.change)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{nil, {"--strict"}} {
			var out bytes.Buffer
			c := &cli.CLI{Out: &out, Err: &out, Getenv: func(string) string { return "" }}
			want := row.usual
			if flags != nil {
				want = row.strict
			}
			got := execute(t.Context(), c, append([]string{"jobledger", "replay", "--log", dir}, flags...))
			if got != want || !strings.Contains(out.String(), row.says) {
				t.Errorf("%s, %v: exit %d, want %d and %q:\n%s", row.name, flags, got, want, row.says, &out)
			}
		}
	}
}
