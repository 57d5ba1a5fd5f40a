package verdict_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store/boltlog"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// spans are what differs from one recording to the next.
var spans = regexp.MustCompile(`\d+ s|\d+m\d\ds|under 1 s`)

// TestVerdictsOnRecordedIncidents folds the log of incidents that were recorded on a real control plane, and shows the
// verdict on each Job when it retires, or when its object goes. Read the difference beside truth.json before it is
// kept.
func TestVerdictsOnRecordedIncidents(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "examples", "incidents", "delegated", "log"))); err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	w := projector.NewWorld()
	var lines []string
	say := func(j *projector.Job) {
		lines = append(lines, spans.ReplaceAllString(fmt.Sprintf("%s/%s  %s", j.Ref.Namespace, j.Ref.Name, verdict.Of(j)), "N s"))
	}
	for rec, err := range log.Read(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		j := w.Job(rec.Stream)
		if rec.Kind == events.KindJobRetired {
			say(j)
		}
		w.Apply(&rec)
		if rec.Kind == events.KindJobDeleted && j != nil {
			say(j)
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", "incidents.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
