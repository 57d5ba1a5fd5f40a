package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestVerifyDoesNotSendToVerify: a log has one file, damaged in its middle. verify says how much of that file is whole,
// and does not name itself as the next step.
func TestVerifyDoesNotSendToVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	season(t, eachDurable{log}, 4, nil)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	trim(t, dir)
	path := filepath.Join(dir, "00000000000000000001.db")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := len(content) / boltPage / 2; page < len(content)/boltPage-1; page++ { // the first in the middle that is in use
		changed := append([]byte(nil), content...)
		for i := range 200 {
			changed[page*boltPage+i] = 0xff
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		r := command("verify", "--log", dir)
		if r.code == 0 || strings.Contains(r.out, "verify: first bad record 1;") {
			continue
		}
		if strings.Contains(r.out, "in 0 files") || strings.Contains(r.out, "run 'jobledger verify'") || !strings.Contains(r.out, "in 1 file") {
			t.Errorf("page %d: %d: %s", page, r.code, r.out)
		}
		return
	}
	t.Fatal("no page is damaged so that it is found")
}
