package recordjson

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
	"github.com/jobledger/jobledger/internal/dev/examples"
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
	all := examples.Facts()
	var out bytes.Buffer
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		r := events.Record{Header: events.Header{
			Sequence: 7, Time: 1_700_000_000_000_000_001, Stream: events.JobStream("u"), Previous: 6, Causes: []events.Sequence{5, 6},
			Kind: kind, Critical: true, Last: true,
		}, Facts: all[kind]}
		if kind == events.KindPodAdded {
			r.Evidence = *examples.Filled(&events.Evidence{})
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
