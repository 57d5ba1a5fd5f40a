package show

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", name, d)
	}
}

// TestRecordShape keeps the JSON of every kind of record: programs read it, so it only grows.
func TestRecordShape(t *testing.T) {
	all := allFacts()
	var out bytes.Buffer
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		r := events.Record{Header: events.Header{
			Sequence: 7, Time: 1_700_000_000_000_000_001, Stream: events.JobStream("u"), Previous: 6, Causes: []events.Sequence{5, 6},
			Kind: kind, Critical: true, Last: true,
		}, Facts: all[kind]}
		if kind == events.KindPodAdded {
			r.Evidence = *filled(&events.Evidence{})
			r.Evidence.Template = []byte("{\"spec\":\n {}}")
		}
		line := Record(&r)
		if !json.Valid(line) {
			t.Errorf("%s is no JSON: %s", kind, line)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	golden(t, "records.json", out.Bytes())
}

func TestEveryKindIsShown(t *testing.T) {
	all := allFacts()
	for k := events.Kind(1); k < 256; k++ {
		if k.Known() && all[k] == nil {
			t.Errorf("%s has no example here", k)
		}
	}
	for kind, facts := range all {
		var names Names
		r := events.Record{Header: events.Header{Sequence: 7, Time: 1, Stream: events.JobStream("u"), Kind: kind}, Facts: facts}
		if kind != events.KindWouldDecide && names.Detail(&r) == "" {
			t.Errorf("%s says nothing", kind)
		}
	}
}

func TestRecordOfErasedAndUnknownFacts(t *testing.T) {
	header := events.Header{Sequence: 1, Stream: events.Controller, Kind: 200}
	for want, facts := range map[string]events.Facts{
		`{"sequence":1,"stream":"controller","kind":"Kind(200)","facts":{"erased":true}}`:    &events.Erased{},
		`{"sequence":1,"stream":"controller","kind":"Kind(200)","facts":{"unknown":"AQI="}}`: &events.Unknown{Bytes: []byte{1, 2}},
		`{"sequence":1,"stream":"controller","kind":"Kind(200)"}`:                            nil,
	} {
		if got := string(Record(&events.Record{Header: header, Facts: facts})); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestNoTextSteersATerminal: whatever a pod says, JSON and sentences hold visible characters only, and JSON gives it back.
func TestNoTextSteersATerminal(t *testing.T) {
	rude := "a\x1b[31mred\a\r\n\u009b2J\u202eevil\x00\u2028\U000e0041\xff\\\"end"
	r := events.Record{
		Header:   events.Header{Sequence: 1, Stream: events.JobStream("u"), Kind: events.KindPodChanged},
		Facts:    &events.PodSeen{Phase: events.PodFailed, Index: events.NoIndex},
		Evidence: events.Evidence{Name: rude, Message: rude, Reason: "r"},
	}
	line := Record(&r)
	var back struct{ Evidence struct{ Message string } }
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	want := "a\x1b[31mred\a\r\n\u009b2J\u202eevil\x00\u2028\U000e0041\ufffd\\\"end"
	if back.Evidence.Message != want {
		t.Errorf("JSON gives %q, want %q", back.Evidence.Message, want)
	}
	var names Names
	pretty, err := Indented(Job{Name: rude})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(line), names.Detail(&r), names.Object(&r), Clean(rude), string(bytes.ReplaceAll(pretty, []byte("\n"), nil))} {
		for _, c := range text {
			if hidden(c) {
				t.Errorf("%q holds %q", text, c)
			}
		}
	}
	if got := Clean("plain – größe 你好 “x”"); got != "plain – größe 你好 “x”" {
		t.Errorf("a harmless text became %q", got)
	}
}
