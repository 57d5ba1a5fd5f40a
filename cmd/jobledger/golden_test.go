package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenDir holds logs as bytes, with the answers of today's program. Until proto/frozen.binpb is committed the logs
// may be made again. From then on none of them changes; logs of another form get a new directory. bbolt's pages depend
// on the size of a page and on the byte order: these have 4,096 bytes and are little endian.
const goldenDir = "testdata/golden"

// goldenLogs are the logs that are kept.
var goldenLogs = []struct {
	name string
	make func(t *testing.T, dir string)
}{
	{"morning", makeMorning},
	{"kinds", makeKinds},
	{"season", func(t *testing.T, dir string) { makeSeason(t, dir, "", 24) }},
	{"pruned", makePruned},
	{"crashed", makeCrashed},
	{"erased", makeErased},
	{"epochs", makeEpochs},
}

// goldenCommands are run on each log.
var goldenCommands = [][]string{
	{"verify"}, {"get", "jobs", "-A", "-o", "json"}, {"events", "-o", "json"}, {"replay"},
}

// TestGoldenLogs runs today's commands on logs of earlier programs. With -update it makes the logs again that are not
// frozen, writes all answers down, and prints the changes.
func TestGoldenLogs(t *testing.T) {
	repo := repository{dir: "."}
	frozen := repo.frozenLogs(t)
	if *update {
		renew(t, frozen)
	}
	for _, wrong := range repo.changed(frozen) {
		t.Error(wrong)
	}
	logs, err := filepath.Glob(filepath.Join(goldenDir, "*", "*.tgz"))
	if err != nil || len(logs) < len(goldenLogs) {
		t.Fatalf("the golden logs are %v, %v: 'make golden UPDATE=1' makes them", logs, err)
	}
	for _, archive := range logs {
		t.Run(strings.TrimSuffix(path.Join(path.Base(path.Dir(archive)), path.Base(archive)), ".tgz"), func(t *testing.T) {
			content, err := os.ReadFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			got := asked(t, content)
			expected := strings.TrimSuffix(archive, ".tgz") + ".txt"
			want, err := os.ReadFile(expected)
			if err != nil && !*update {
				t.Fatal(err)
			}
			if bytes.Equal(got, want) {
				return
			}
			if !*update {
				t.Errorf("%s ('make golden UPDATE=1' writes it):\n%s", expected, cmp.Diff(string(want), string(got)))
				return
			}
			t.Logf("%s: what is said of it changed:\n%s", archive, cmp.Diff(string(want), string(got)))
			if err := os.WriteFile(expected, got, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// asked returns the answers of today's program about a log.
func asked(t *testing.T, archive []byte) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	unpack(t, archive, dir)
	var out bytes.Buffer
	for _, args := range goldenCommands {
		r := command(append(slices.Clone(args), "--log", dir)...)
		if r.panicked != nil {
			t.Errorf("%v panics: %v", args, r.panicked)
		}
		fmt.Fprintf(&out, "$ jobledger %s\n%s%s[exit code %d]\n\n", strings.Join(args, " "), r.out, r.err, r.code)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(dir), []byte("LOG"))
}

// repository is the git repository that a directory, which has a goldenDir, is in.
type repository struct{ dir string }

// git runs a command. The repository may be another user's.
func (r repository) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", r.dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// freezes returns the commit that added proto/frozen.binpb, which froze the schema. It is empty before that, and
// without git, which CI must have.
func (r repository) freezes(t *testing.T) string {
	t.Helper()
	out, err := r.git("log", "--format=%H", "--diff-filter=A", "--", ":/proto/frozen.binpb")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("which logs are frozen is in the history, which must be checked out: %v", err)
		}
		t.Logf("without git nobody knows which logs are frozen: %v", err)
		return ""
	}
	all := strings.Fields(out)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// frozenLogs returns the logs in the commit that froze the schema, and those added later, with their hashes in git,
// wherever this package was then.
func (r repository) frozenLogs(t *testing.T) map[string]string {
	t.Helper()
	since := r.freezes(t)
	if since == "" {
		return nil
	}
	frozen := map[string]string{}
	keep := func(name, hash string) {
		_, name, golden := strings.Cut(name, goldenDir+"/")
		if name = goldenDir + "/" + name; golden && strings.HasSuffix(name, ".tgz") && frozen[name] == "" { // the oldest counts
			frozen[name] = hash
		}
	}
	of := func(field int, args ...string) {
		out, err := r.git(args...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out) {
			if what, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				keep(name, strings.Fields(what)[field])
			}
		}
	}
	const hashOfTree, hashOfChange = 2, 3 // fields of git's lines
	of(hashOfTree, "ls-tree", "-r", "--full-tree", since)
	of(hashOfChange, "log", "--reverse", "--format=", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=A", since+"..HEAD")
	return frozen
}

// changed returns which of these logs differ from before.
func (r repository) changed(frozen map[string]string) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(frozen)) {
		if now, err := r.git("hash-object", "--", name); err != nil || now != frozen[name] {
			wrong = append(wrong, fmt.Sprintf("%s is frozen and must stay as it was: it is %q, was %s (%v)", name, now, frozen[name], err))
		}
	}
	return wrong
}

// renew makes the logs again. A log that differs from all frozen ones goes into the first directory without frozen
// logs.
func renew(t *testing.T, frozen map[string]string) {
	t.Helper()
	era := "first"
	for n := 2; slices.ContainsFunc(slices.Collect(maps.Keys(frozen)), func(name string) bool {
		return strings.HasPrefix(name, goldenDir+"/"+era+"/")
	}); n++ {
		era = fmt.Sprintf("later-%d", n)
	}
	for _, log := range goldenLogs {
		dir := filepath.Join(t.TempDir(), "log")
		log.make(t, dir)
		content := pack(t, dir)
		name := filepath.Join(goldenDir, era, log.name+".tgz")
		same := false
		for old := range frozen {
			was, err := os.ReadFile(old)
			same = same || err == nil && strings.HasSuffix(old, "/"+log.name+".tgz") && bytes.Equal(was, content)
		}
		was, err := os.ReadFile(name)
		switch {
		case same || bytes.Equal(was, content):
			continue
		case frozen[name] != "":
			t.Fatalf("%s is frozen", name)
		case errors.Is(err, os.ErrNotExist):
			t.Logf("%s is new: %d bytes", name, len(content))
		default:
			t.Logf("%s: the bytes of the log changed: %d, were %d", name, len(content), len(was))
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// pack makes an archive of a log. The same files give the same archive.
func pack(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(zipped)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "LOCK" {
			continue // it says who wrote the log
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: e.Name(), Mode: 0o600, Size: int64(len(content))}))
		if _, bad := archive.Write(content); err != nil || bad != nil {
			t.Fatal(err, bad)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(t *testing.T, content []byte, dir string) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(header.Name)), content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
