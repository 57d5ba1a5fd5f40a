package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestALogOfBeforeIsRefused: a stored log of the last program before the first release, with packed files, a snapshot
// and its witnesses. Its version numbers are higher than today's. Every command says in one sentence what it is and
// what to do, and changes nothing of it.
func TestALogOfBeforeIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	before := unpackBefore(t, dir)
	const sentence = "this log was written by a jobledger of before the first release, and this one does not read it: " +
		"keep that program to read it, and begin a new log: give --log an empty directory, and --adopt"
	for _, args := range [][]string{
		{"verify"}, {"events"}, {"get", "jobs", "-A"}, {"failures", "-A"}, {"explain", "job/job-01"}, {"replay"},
		{"run", "--kubeconfig", deadCluster(t), "--leader-elect=false", "--listen="},
	} {
		r := command(append(args, "--log", dir)...)
		if r.code == 0 || strings.Count(r.out+r.err, sentence) != 1 || strings.Contains(r.out+r.err, "corrupt") {
			t.Errorf("%s ends with %d, and says:\n%s%s", args[0], r.code, r.out, r.err)
		}
	}
	for name, content := range before {
		if now, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(now) != content {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}

// TestFilesOfBeforeBesideALog: an old snapshot and old witnesses in the directory of today's log are refused in one
// sentence, which names the file. No record of the log is lost by them. An old index is not used, and is made again.
func TestFilesOfBeforeBesideALog(t *testing.T) {
	before := unpackBefore(t, t.TempDir())
	for _, row := range []struct {
		name string
		says string
		runs bool
	}{
		{"00000000000000000416.snap", "this snapshot was written by a jobledger of before the first release, and this one does not read it: remove the file", false},
		{"HEAD", "HEAD was written by a jobledger of before the first release, and this one does not read it: it is no file of this log: move it away", false},
		{"CLOSED", "CLOSED was written by a jobledger of before the first release, and this one does not read it: it is no file of this log: move it away", false},
		{"00000000000000000254.idx", "the stored index is not that of the records; remove", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			makeSeason(t, dir, "", 24)
			if r := command("verify", "--log", dir); r.code != 0 {
				t.Fatalf("verify of the log as it was: %d, %s%s", r.code, r.out, r.err)
			}
			if err := os.WriteFile(filepath.Join(dir, row.name), []byte(before[row.name]), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := command("verify", "--log", dir); strings.Count(r.out+r.err, row.says) != 1 {
				t.Errorf("verify ends with %d, and says:\n%s%s", r.code, r.out, r.err)
			}
			log, err := boltlog.Open(dir, smallFiles)
			if err == nil {
				_, _, err = log.LoadSnapshot(t.Context())
				err = errors.Join(err, log.Close())
			}
			if (err == nil) != row.runs || err != nil && (!errors.Is(err, events.ErrBefore) || strings.Count(err.Error(), row.says) != 1) {
				t.Errorf("a controller is told: %v", err)
			}
			if r := command("verify", "--log", dir); row.runs && (r.code != 0 || strings.Contains(r.out+r.err, row.says)) {
				t.Errorf("after a start verify ends with %d, and says:\n%s%s", r.code, r.out, r.err)
			}
		})
	}
}

// unpackBefore unpacks that log to a directory, and returns its files.
func unpackBefore(t *testing.T, dir string) map[string]string {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", "before", "log.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, archive, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(content)
	}
	return files
}

// deadCluster returns a kubeconfig for a server that does not run.
func deadCluster(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, openKubeconfig("http://127.0.0.1:9"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
