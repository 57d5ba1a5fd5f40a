package incidents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/internal/controller"
)

// check requires that a log verifies, replays without a difference, and has every Job of the truth.
func check(t *testing.T, program, dir string) {
	t.Helper()
	c := controller.New(controller.Config{Program: program, Log: filepath.Join(dir, "log")})
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	records, err := c.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]int{}
	for _, r := range records {
		if seen[r.Stream] == nil {
			seen[r.Stream] = map[string]int{}
		}
		seen[r.Stream][r.Kind]++
	}
	nameless(t, records)
	truths := readTruth(t, filepath.Join(dir, "truth.json"))
	for _, told := range truths {
		kinds := map[string]int{}
		for stream, k := range seen {
			if strings.Contains(stream, told.UID) {
				kinds = k
			}
		}
		if kinds["JobAdded"] != 1 || kinds["JobDeleted"] != 1 || kinds["PodAdded"] != len(told.Pods) {
			t.Errorf("incident %d, Job %s with %d pods: the log has the records %v", told.Incident, told.Job, len(told.Pods), kinds)
		}
	}
	t.Logf("%s: %d records of %d Jobs", dir, len(records), len(truths))
}

// nameless requires that no record names the machine that recorded it.
func nameless(t *testing.T, records []controller.Record) {
	t.Helper()
	names := []string{os.TempDir() + "/", "127.0.0.1"}
	if host, err := os.Hostname(); err == nil && len(host) > 4 { // a shorter name may be a common word
		names = append(names, host)
	}
	for _, r := range records {
		for _, name := range names {
			if text := string(r.Facts) + string(r.Evidence); strings.Contains(text, name) {
				t.Errorf("record %d names %s: %s", r.Sequence, name, text)
			}
		}
	}
}

func readTruth(t *testing.T, path string) (all []truth) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
