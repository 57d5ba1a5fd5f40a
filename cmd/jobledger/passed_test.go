package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// flooded is the log of a morning, in which the namespace batch was over its budget from its beginning on. The controller was killed a
// minute after it had said so last.
func flooded(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	morning(t, log)
	var previous, first events.Record
	for r, err := range log.ReadStream(t.Context(), events.Controller, 0, store.Forward) {
		if err != nil {
			t.Fatal(err)
		}
		if previous = r; first.Sequence == 0 {
			first = r
		}
	}
	head := log.Head()
	said := events.Record{
		Header: events.Header{
			Sequence: head.Sequence + 1, Time: head.Time.Add(time.Second), Stream: events.Controller, Previous: previous.Sequence,
			Kind: events.KindPassedOver, Last: true,
		},
		Facts: &events.PassedOver{
			Since: first.Time, Versions: 3013, Open: true, Went: []events.ObjectsWent{{Resource: events.ObjectPod, Objects: 1234}},
		},
		Evidence: events.Evidence{Namespace: "batch"},
	}
	log.Append(events.Batch{Records: []events.Record{said}}, true)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatWasPassedOverIsSaid: each answer that may miss something, as a namespace was over its budget of log, says so, for people and for
// programs. None claims to be complete. Answers about other namespaces do not speak of it.
func TestWhatWasPassedOverIsSaid(t *testing.T) {
	dir := flooded(t)
	for _, row := range []struct{ ask, says, json string }{
		{"explain job/hopeless -n batch -v", "namespace batch was over its budget of log. 1234 pods came and went without a record (3013 versions); what was passed over since", `"passedOver"`},
		{"explain job/hopeless -n batch", "NOT ALL IS RECORDED", `"uncountedSince"`},
		{"explain pod/hopeless-lk6b8 -n batch -v", "PASSED OVER from", `"passedOver"`},
		{"explain job/steps -n batch -v", "PASSED OVER from", `"passedOver"`},
		{"attempts job/hopeless -n batch", "not all is recorded", "not all is recorded"},
		{"timeline job/hopeless -n batch", "not all is recorded from", `"passedOver"`},
		{"failures -n batch", "not all is recorded of namespace batch", `"passedOver"`},
		{"failures", "not all is recorded of namespace batch", `"passedOver"`},
		{"events job/hopeless -n batch", "note: not all is recorded from", `"passedOver"`},
		{"events -n batch", "note: not all is recorded from", `"passedOver"`},
		{"events --tail 3", "note: not all is recorded from", `"passedOver"`},
		{"get job/steps -n batch", "namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -n batch", "note: namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -A", "note: namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -A --sort-by .name", "note: namespace batch is over its budget of log since", `"passedOver"`},

		{"explain job/demo -n default -v", "history complete", `"sections"`},
		{"attempts job/demo -n default", "", ""},
		{"timeline job/demo -n default", "", ""},
		{"failures -n default", "", ""},
		{"events -n default", "", ""},
		{"get jobs -n default", "", ""},
		{"get job/demo -n default", "", ""},
	} {
		text, document := spokenOf(t, dir, row.ask), spokenOf(t, dir, row.ask+" -o json")
		for form, got := range map[string]string{"text": text, "json": document} {
			want := row.says
			if form == "json" {
				want = row.json
			}
			spoken := strings.Contains(got, "budget") || strings.Contains(got, "passedOver")
			switch of := strings.Contains(row.ask, "default"); {
			case !strings.Contains(strings.Join(strings.Fields(got), " "), want):
				t.Errorf("%s, as %s, does not say %q:\n%s", row.ask, form, want, got)
			case of && spoken:
				t.Errorf("%s, as %s, tells of another namespace:\n%s", row.ask, form, got)
			case !of && strings.Contains(got, "history complete"):
				t.Errorf("%s, as %s, claims to be complete:\n%s", row.ask, form, got)
			case !of && strings.Contains(got, "RULED OUT"):
				t.Errorf("%s, as %s, rules something out:\n%s", row.ask, form, got)
			}
		}
	}
}

// spokenOf is what a command prints, on both outputs.
func spokenOf(t *testing.T, dir, args string) string {
	t.Helper()
	var out bytes.Buffer
	c := &cli{out: &out, err: &out, getenv: func(string) string { return "" }}
	if status := c.execute(t.Context(), append([]string{"jobledger"}, append(strings.Fields(args), "--log", dir)...)); status != 0 {
		t.Fatalf("%s: exit %d: %s", args, status, &out)
	}
	return out.String()
}
