package crons

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// writeLog writes a log in memory to a directory.
func writeLog(t *testing.T, log *memlog.Log, dir string) {
	t.Helper()
	to, err := boltlog.Open(dir, store.Options{LogID: log.Identity().LogID})
	if err != nil {
		t.Fatal(err)
	}
	var batch events.Batch
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if batch.Records = append(batch.Records, r); r.Last {
			to.Append(batch, false)
			batch = events.Batch{}
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// buildElsewhere builds the program with another time zone database: in each of its zones, clocks show the time of
// Kathmandu.
func buildElsewhere(t *testing.T, dir string) (program string) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(dir, "zoneinfo.zip")
	writeDatabase(t, database)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "internal", "subject", "zones", "zoneinfo.zip"): database}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "jobledger")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "reader", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./cmd/jobledger")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	if !bytes.Contains(content(t, program), content(t, database)) {
		t.Fatal("the program does not have the other database")
	}
	return program
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeDatabase(t *testing.T, path string) {
	t.Helper()
	other, ok := zones.Find("Asia/Kathmandu")
	if !ok {
		t.Fatal("no rules of Asia/Kathmandu")
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(file)
	for _, name := range zones.Names() {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write(other.TZif); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// runElsewhere runs the program with another zone and time zone database of the machine, too.
func runElsewhere(program, dir string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "TZ=America/Los_Angeles", "ZONEINFO="+filepath.Join(dir, "zoneinfo.zip"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
