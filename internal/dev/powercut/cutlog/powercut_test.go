//go:build linux

package cutlog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/powercut"
	"github.com/jobledger/jobledger/internal/dev/powercut/cutlog"
)

// recorded returns the trace of the story, recorded once for all tests.
var recorded = sync.OnceValues(func() (*powercut.Trace, error) {
	root, err := os.MkdirTemp("", "powercut")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }() // anything left is in a temporary directory
	return record(root, mortal, story...)
})

// mortal makes the first process of a story be killed at a random call.
func mortal(recorder *powercut.Recorder) { recorder.KillAfter(200 + rand.IntN(300)) }

// record lets processes live with the log in a directory, one after the other. It first calls prepare, unless that is
// nil, with the recorder.
func record(root string, prepare func(*powercut.Recorder), lives ...string) (*powercut.Trace, error) {
	recorder, err := powercut.NewRecorder(root)
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		prepare(recorder)
	}
	for _, life := range lives {
		cmd := exec.Command(os.Args[0], logIn(root))
		cmd.Env = append(os.Environ(), childEnv+"="+life)
		if err := recorder.Run(cmd); err != nil {
			return nil, fmt.Errorf("the process that %s: %w", life, err)
		}
	}
	return recorder.Trace(), nil
}

// trace returns the recorded story.
func trace(t *testing.T) *powercut.Trace {
	t.Helper()
	tr, err := recorded()
	cutlog.Need(t, err)
	return tr
}

// check checks n states of a trace, and calls fn with each result until fn returns false. said is the output before the
// trace.
func check(t *testing.T, r *rand.Rand, tr *powercut.Trace, n int, said []byte, fn func(cutlog.Cut, error) bool) {
	t.Helper()
	heard := &cutlog.Heard{}
	hear := func(said []byte) {
		if err := heard.Hear(said); err != nil {
			t.Fatal(err)
		}
	}
	hear(said)
	for c := range cutlog.Cuts(r, tr, n) {
		hear(c.Said)
		root := c.Put(t)
		err := cutlog.Check(t.Context(), logIn(root), *heard, options)
		cutlog.Remove(t, root)
		if !fn(c, err) {
			return
		}
	}
}

// wrong fails the test if err says that something is wrong with a state.
func wrong(t *testing.T, c cutlog.Cut, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%v: %v", c, err)
		c.Keep(t)
	}
}

// TestPowerCutsLoseNothing cuts the power of a log that begins, grows, turns over, is killed, recovers, prunes and
// stops. With JOBLEDGER_LONG it also records other stories.
func TestPowerCutsLoseNothing(t *testing.T) {
	r, states, calls := cutlog.Seed(t), 0, 0
	for n := range cutlog.Number("JOBLEDGER_STORIES", 1, 20) {
		tr := trace(t)
		if n > 0 {
			told := []string{story[0]}
			for range 4 {
				told = append(told, story[1+r.IntN(len(story)-1)])
			}
			var err error
			tr, err = record(t.TempDir(), mortal, told...)
			cutlog.Need(t, err)
		}
		calls += len(tr.Steps)
		check(t, r, tr, cutlog.Number("JOBLEDGER_CUTS", 400, 1500), nil, func(c cutlog.Cut, err error) bool {
			states++
			wrong(t, c, err)
			return !t.Failed()
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("%d states of %d calls", states, calls)
}

// TestAPowerCutWhileRecovering cuts the power a second time, while a process opens the log that the first cut left.
func TestAPowerCutWhileRecovering(t *testing.T) {
	tr, r := trace(t), cutlog.Seed(t)
	again, states := cutlog.Number("JOBLEDGER_CUTS_AGAIN", 25, 100), 0
	for c := range cutlog.Cuts(r, tr, cutlog.Number("JOBLEDGER_RECOVERIES", 12, 150)) {
		root := c.Put(t)
		recovery, err := record(root, nil, "goes on")
		cutlog.Remove(t, root)
		cutlog.Need(t, err)
		check(t, r, recovery, again, tr.Said(0, c.At), func(second cutlog.Cut, err error) bool {
			states++
			if wrong(t, second, err); t.Failed() {
				t.Logf("before that, %v", c)
			}
			return !t.Failed()
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("%d states", states)
}

// TestAForgottenCallIsNoticed removes calls from the trace, or makes them late, as an error in the log would. Some
// state must show each such error. This shows that the tests above find errors.
func TestAForgottenCallIsNoticed(t *testing.T) {
	suffix := func(kind powercut.Kind, suffixes ...string) func(powercut.Step) bool {
		return func(s powercut.Step) bool {
			return s.Kind == kind && slices.ContainsFunc(suffixes, func(e string) bool { return strings.HasSuffix(s.Name, e) })
		}
	}
	n := 0
	everySecond := func(match func(powercut.Step) bool) func(powercut.Step) bool {
		return func(s powercut.Step) bool {
			if !match(s) {
				return false
			}
			n++
			return n%2 == 1
		}
	}
	tr := trace(t)
	late := func(suffix string) *powercut.Trace {
		return tr.Late(
			func(s powercut.Step) bool {
				return s.Kind == powercut.Sync && strings.Contains(s.Name, suffix) && strings.HasSuffix(s.Name, ".tmp")
			},
			func(s powercut.Step) bool { return s.Kind == powercut.Sync && s.Name == logName })
	}
	beginning := func(tr *powercut.Trace) *powercut.Trace { // the part of the story that makes the key
		short := *tr
		short.Steps = tr.Steps[:min(len(tr.Steps), 200)]
		return &short
	}
	for _, row := range []struct {
		what  string
		trace *powercut.Trace
	}{
		{"the data of a commit are not synced", tr.Without(everySecond(suffix(powercut.Sync, ".db")))},
		{"the tail is never synced", tr.Without(suffix(powercut.Sync, ".db"))},
		{"a new file is not synced before it has its name", tr.Without(suffix(powercut.Sync, "next.db.tmp"))},
		{"a packed file is not synced before it has its name", tr.Without(suffix(powercut.Sync, "0.db.tmp", "1.db.tmp", "2.db.tmp",
			"3.db.tmp", "4.db.tmp", "5.db.tmp", "6.db.tmp", "7.db.tmp", "8.db.tmp", "9.db.tmp"))},
		{"the log's directory is not synced", tr.Without(func(s powercut.Step) bool { return s.Kind == powercut.Sync && s.Name == logName })},
		{"the directories above the log are not synced", tr.Without(func(s powercut.Step) bool {
			return s.Kind == powercut.Sync && (s.Name == "." || s.Name == path.Dir(logName))
		})},
		{"the key has its name before it is synced", beginning(late("KEY"))},
		{"a snapshot has its name before it is synced", late(".snap")},
		{"a snapshot is not synced", tr.Without(suffix(powercut.Sync, ".snap.tmp"))},
	} {
		t.Run(row.what, func(t *testing.T) {
			tried, found := 0, ""
			check(t, cutlog.Seed(t), row.trace, 3000, nil, func(c cutlog.Cut, err error) bool {
				tried++
				if err != nil {
					found = fmt.Sprintf("%v: %v", c, err)
				}
				return found == ""
			})
			if found == "" {
				t.Errorf("%d states, and nothing is noticed", tried)
			}
			t.Logf("noticed in state %d: %s", tried, found)
		})
	}
}
