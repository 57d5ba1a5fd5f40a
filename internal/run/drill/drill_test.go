package drill_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/drill"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
)

// TestADrill of a sound copy: each check holds, whatever checks are wanted. The live log, which has gone on, gives the
// same explanations.
func TestADrill(t *testing.T) {
	dir := newLog(t, nil, nil)
	root := copied(t, dir)
	grown(t, dir)
	for name, change := range map[string]func(*drill.Config){
		"without a live log":  func(*drill.Config) {},
		"with the live log":   func(c *drill.Config) { c.Live = live(t, dir, nil) },
		"few decisions":       func(c *drill.Config) { c.Decisions = 10 },
		"a directory to make": func(c *drill.Config) { c.Dir = filepath.Join(c.Dir, "new") },
		"for temporary files": func(c *drill.Config) { t.Setenv("TMPDIR", c.Dir); c.Dir = "" },
		"an earlier manifest": func(c *drill.Config) { c.Manifest = kept(t, root) },
	} {
		r, err := drilled(t, indir.New(root), change)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range r.Checks {
			if c.Outcome != drill.Holds {
				t.Errorf("%s: %s: %s: %s %q", name, c.Name, c.Outcome, c.Text, c.Details)
			}
		}
		if !r.Passed || len(r.Checks) != 7 || len(r.Jobs) != 20 {
			t.Errorf("%s: %+v", name, r)
		}
		for _, j := range r.Jobs {
			want := "was not asked"
			if name == "with the live log" {
				want = "says the same"
			}
			if j.Live != want || j.Verdict == "" {
				t.Errorf("%s: %+v", name, j)
			}
		}
		text := outcome(t, r, "Decisions").Text
		whole := strings.Contains(text, "from record 1 on")
		if whole == (name == "few decisions") || strings.Contains(text, " 0 stored states") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func kept(t *testing.T, root string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, "manifests", "*"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	return "manifests/" + filepath.Base(all[0])
}

// TestTheReport has the user, the time, the head, the checks and how long they took. Foreign texts cannot add markup to
// it.
func TestTheReport(t *testing.T) {
	dir := newLog(t, nil, nil)
	r, err := drilled(t, indir.New(copied(t, dir)), func(c *drill.Config) { c.By = "a|b <c>\x1b[31m" })
	if err != nil {
		t.Fatal(err)
	}
	text := r.Markdown()
	for _, want := range []string{
		": passed\n", `| By | a\|b &lt;c>\x1b\[31m |`, "| Program | jobledger v1 |", r.Copy.Hash, "| Decisions | holds |",
		"| Removed | holds |", "by jobledger v0, ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	document, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again drill.Report
	if err := json.Unmarshal(document, &again); err != nil || again.Copy != r.Copy || again.Markdown() != text {
		t.Errorf("its JSON says something else: %v\n%s", err, document)
	}
}

// TestADamagedObject is found and named: cut, flipped, missing. For an object that can be made again from the records,
// the report has a note.
func TestADamagedObject(t *testing.T) {
	dir := newLog(t, nil, nil)
	for what, spoil := range map[string]func(path string, content []byte) error{
		"is missing":     func(path string, _ []byte) error { return os.Remove(path) },
		"has other byte": func(path string, b []byte) error { b[len(b)/2] ^= 4; return os.WriteFile(path, b, 0o600) },
		"bytes of":       func(path string, b []byte) error { return os.WriteFile(path, b[:len(b)-1], 0o600) },
	} {
		for _, pattern := range []string{"files/*.db", "tail/*.seg", "files/*.jobs"} {
			root := copied(t, dir)
			paths, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil || len(paths) == 0 {
				t.Fatal(pattern, paths, err)
			}
			content, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(paths[0], content); err != nil {
				t.Fatal(err)
			}
			r, err := drilled(t, indir.New(root), nil)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(paths[0])
			if strings.HasSuffix(pattern, ".jobs") {
				if c := outcome(t, r, "Restore"); !r.Passed || !strings.Contains(strings.Join(c.Details, "\n"), name) {
					t.Errorf("%s %s: %+v", name, what, r)
				}
				continue
			}
			fails(t, r, "Restore", name)
			fails(t, r, "Restore", strings.TrimSuffix(what, " byte"))
			if c := outcome(t, r, "Decisions"); c.Outcome != drill.NotChecked {
				t.Errorf("decisions of a log that was not restored: %+v", c)
			}
		}
	}
}

// TestAManifestThatLies: each row's manifest is consistent, and makes a wrong statement about the same objects.
func TestAManifestThatLies(t *testing.T) {
	root := copied(t, newLog(t, nil, nil))
	content, err := os.ReadFile(filepath.Join(root, copylog.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	for lie, row := range map[string]struct {
		tell  func(m *copylog.Manifest)
		check string
		words string
	}{
		"another hash at the head": {func(m *copylog.Manifest) {
			m.Head.Hash[0] ^= 1
			m.Tail.Segments[len(m.Tail.Segments)-1].End = m.Head
		}, "Restore", "other records than the manifest says"},
		"another time of the head": {func(m *copylog.Manifest) {
			m.Head.Time++
			m.Tail.Segments[len(m.Tail.Segments)-1].End = m.Head
		}, "Restore", "and the copy with record"},
		"a later epoch": {func(m *copylog.Manifest) { m.Identity.Epoch++ }, "Restore", "the manifest says"},
		"another log": {func(m *copylog.Manifest) { m.Identity.LogID = strings.Repeat("ab", 16) }, "Restore",
			"of log"},
		"a log that begins later": {func(m *copylog.Manifest) { m.First = m.Files[len(m.Files)-1].First }, "Restore",
			"records before"},
		"other records of a file": {func(m *copylog.Manifest) { m.Files[1].Records[3] ^= 1 }, "Restore",
			"other records than the manifest says"},
	} {
		m, err := copylog.Decode(content)
		if err != nil {
			t.Fatal(err)
		}
		row.tell(m)
		lying, err := m.Encode()
		if err != nil {
			t.Errorf("%s: %v", lie, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(root, copylog.ManifestName), lying, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := drilled(t, indir.New(root), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(lie, func(t *testing.T) { fails(t, r, row.check, row.words) })
	}
	if err := os.WriteFile(filepath.Join(root, copylog.ManifestName), content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := drilled(t, indir.New(root), nil); err != nil {
		t.Error(err)
	} else {
		fails(t, r, "Manifest", "MANIFEST at "+root)
	}
	if r, err := drilled(t, copylogtest.Bucket(t), nil); err != nil {
		t.Error(err)
	} else {
		fails(t, r, "Manifest", "there is no copy at")
	}
}

// TestADecisionThatDiffers: the log is whole and its chain is right, but one of its decisions is not that of the rules.
func TestADecisionThatDiffers(t *testing.T) {
	n := 0
	root := copied(t, newLog(t, func(rec *events.Record) {
		d, is := rec.Facts.(*events.Decision)
		if !is || len(d.Steps) == 0 {
			return
		}
		if n++; n < 200 || n > 260 {
			return
		}
		changed := *d
		changed.Steps = slices.Clone(d.Steps)
		changed.Steps[0].Reason = events.Reason("SomeOther")
		rec.Facts = &changed
	}, nil))
	r, err := drilled(t, indir.New(root), nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome(t, r, "Decisions").Outcome != drill.DoesNot || r.Passed {
		t.Errorf("%+v", r)
	}
	if c := outcome(t, r, "Decisions"); !strings.Contains(strings.Join(c.Details, "\n"), "(SomeOther)") {
		t.Errorf("%q", c.Details)
	}
}

// TestStatesThatDiffer: a stored state is not that of the records before it, or a list of Jobs names another Job.
func TestStatesThatDiffer(t *testing.T) {
	n := 0
	root := copied(t, newLog(t, func(rec *events.Record) {
		f, is := rec.Facts.(*events.StoredState)
		if !is || rec.Stream == events.Controller || rec.Sequence < 1500 {
			return
		}
		var state pb.JobState
		if err := proto.Unmarshal(f.Encoded, &state); err != nil || state.GetStub() != nil {
			return
		}
		state.Ordinal++
		encoded, err := proto.Marshal(&state)
		if err != nil {
			t.Error(err)
		}
		n++
		rec.Facts = &events.StoredState{Encoded: encoded}
	}, nil))
	r, err := drilled(t, indir.New(root), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := outcome(t, r, "Decisions"); n == 0 || c.Outcome != drill.DoesNot {
		t.Errorf("%d states that differ: %+v", n, c)
	}
	root = copied(t, newLog(t, nil, func(rec *events.Record) {
		if _, is := rec.Facts.(*events.JobSeen); is {
			rec.Evidence.Name += "-other"
		}
	}))
	if r, err = drilled(t, indir.New(root), nil); err != nil {
		t.Fatal(err)
	}
	fails(t, r, "Lists of Jobs", "is not what")
}

// TestALiveLogThatSaysSomethingElse: it is also another log, or a log that has lost records of the copy.
func TestALiveLogThatSaysSomethingElse(t *testing.T) {
	dir := newLog(t, nil, nil)
	root := copied(t, dir)
	for words, other := range map[string]func() *drill.Live{
		"the live log says something else": func() *drill.Live {
			return live(t, dir, func(rec *events.Record) {
				if rec.Stream.Kind == events.StreamJob {
					rec.Time = rec.Time.Add(time.Minute)
				}
			})
		},
		"it has lost records": func() *drill.Live {
			l := live(t, dir, nil)
			l.Source = shorter{l.Source}
			return l
		},
		"and the live log is other": func() *drill.Live {
			l := live(t, dir, nil)
			l.Source = another{l.Source}
			return l
		},
	} {
		r, err := drilled(t, indir.New(root), func(c *drill.Config) { c.Live = other() })
		if err != nil {
			t.Fatal(err)
		}
		fails(t, r, "Answers", words)
	}
}

// TestADrillIsInterrupted at each object that is downloaded and at later checks: nothing is left.
func TestADrillIsInterrupted(t *testing.T) {
	root := copied(t, newLog(t, nil, nil))
	for _, check := range []string{"restore", "verify", "decide", "explain"} {
		ctx, cancel := context.WithCancel(t.Context())
		around := t.TempDir()
		_, err := drill.Run(ctx, &drill.Config{Place: indir.New(root), Dir: around, Jobs: 3,
			Tell: func(at string, _, _ uint64) {
				if at == check {
					cancel()
				}
			}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", check, err)
		}
		if left, err := os.ReadDir(around); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", check, left, err)
		}
	}
}

// TestWhatAKilledDrillLeft: the next drill there deletes it. The directory of a drill that runs stays.
func TestWhatAKilledDrillLeft(t *testing.T) {
	root, around := copied(t, newLog(t, nil, nil)), t.TempDir()
	dead, alive := filepath.Join(around, "jobledger-drill-1"), filepath.Join(around, "jobledger-drill-2")
	for _, dir := range []string{dead, alive} {
		err := errors.Join(os.MkdirAll(filepath.Join(dir, "log"), 0o700), os.WriteFile(filepath.Join(dir, "DRILL"), nil, 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	lock, err := os.Open(filepath.Join(alive, "DRILL"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // nothing was written
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if r, err := drill.Run(t.Context(), &drill.Config{Place: indir.New(root), Dir: around}); err != nil || !r.Passed {
		t.Fatalf("%+v, %v", r, err)
	}
	left, err := os.ReadDir(around)
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(alive) {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestADrillKeepsAway from the live log, from the copy, from any log, and from a directory that is not empty.
func TestADrillKeepsAway(t *testing.T) {
	dir := newLog(t, nil, nil)
	root := copied(t, dir)
	link, full, other := filepath.Join(t.TempDir(), "link"), t.TempDir(), newLog(t, nil, nil)
	if err := errors.Join(os.Symlink(dir, link), os.WriteFile(filepath.Join(full, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	had, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		dir:                           "which has the live log",
		filepath.Join(dir, "drill"):   "which has the live log",
		filepath.Join(link, "a", "b"): "which has the live log",
		root:                          "which has the copy",
		filepath.Join(root, "files"):  "which has the copy",
		filepath.Join(other, "x"):     "has a log in it",
		full:                          "is not empty (file)",
	} {
		_, err := drill.Run(t.Context(), &drill.Config{
			Place: indir.New(root), Dir: at,
			Apart: []drill.Apart{{Dir: dir, What: "the live log"}, {Dir: root, What: "the copy"}},
		})
		var usage *drill.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
	if now, err := os.ReadDir(dir); err != nil || len(now) != len(had) {
		t.Errorf("the live directory has %v, %v", now, err)
	}
}
