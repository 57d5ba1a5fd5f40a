package replicating

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheFileOfAReplica: it is read as it was written, one that is damaged is no missing one, and a log with one is not
// written alone.
func TestTheFileOfAReplica(t *testing.T) {
	dir := t.TempDir()
	if f, err := ReadFile(dir); f != nil || err != nil {
		t.Errorf("without one it reads %+v, %v", f, err)
	}
	if err := RefuseAlone(filepath.Join(dir, "missing")); err != nil {
		t.Error(err)
	}
	for _, begun := range []bool{false, true} {
		f := File{Log: "6f", Stream: "events", Incarnation: "1a", Begun: begun}
		if err := f.write(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(dir); err != nil || *got != f || got.Of() != "events/1a" {
			t.Errorf("it reads %+v, %v; want %+v", got, err, f)
		}
	}
	err := RefuseAlone(dir)
	if err == nil || !strings.Contains(err.Error(), "--replicate") || !strings.Contains(err.Error(), "events") {
		t.Errorf("it is refused with %v", err)
	}
	for _, text := range []string{"", "{}", `{"log":"6f","stream":"events"}`, `{"log":"6f","stre`} {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := ReadFile(dir); err == nil {
			t.Errorf("%q reads as %+v", text, f)
		}
		if err := RefuseAlone(dir); err == nil {
			t.Errorf("with %q it is not refused", text)
		}
	}
}
