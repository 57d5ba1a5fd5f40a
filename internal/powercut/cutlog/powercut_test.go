//go:build linux

package cutlog_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/internal/powercut"
	"github.com/jobledger/jobledger/internal/powercut/cutlog"
)

// recorded is the story, told once for all tests.
var recorded = sync.OnceValues(func() (*powercut.Trace, error) {
	root, err := os.MkdirTemp("", "powercut")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }() // what stays is in a directory for what is temporary
	return record(root, func(recorder *powercut.Recorder) { recorder.KillAfter(200 + rand.IntN(300)) }, story...)
})

// record lets processes live with the log in a directory, one after the other. Prepare, if not nil, has a word with the recorder.
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

// trace is the recorded story. A machine that cannot trace fails in CI, and skips the test elsewhere.
func trace(t *testing.T) *powercut.Trace {
	t.Helper()
	tr, err := recorded()
	need(t, err)
	return tr
}

func need(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, powercut.ErrCannotTrace) && os.Getenv("CI") == "":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// number is how often something is tried: more at length, or as often as the environment says.
func number(t *testing.T, variable string, daily, long int) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	if os.Getenv("JOBLEDGER_LONG") != "" {
		return long
	}
	if testing.Short() {
		return daily / 5
	}
	return daily
}

// seed is another one each time; the failure of one is repeated with JOBLEDGER_SEED.
func seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64); err == nil {
		n = given
	}
	t.Logf("JOBLEDGER_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 12))
}

// moments draws where the power is cut: anywhere, and just before and behind the calls on which durability hangs.
func moments(r *rand.Rand, tr *powercut.Trace, n int) []int {
	turns := tr.Find(func(s powercut.Step) bool { return s.Kind != powercut.Write && s.Kind != powercut.Say })
	var all []int
	for i := range n {
		if i%2 == 0 || len(turns) == 0 {
			all = append(all, r.IntN(len(tr.Steps)+1))
		} else {
			all = append(all, min(turns[r.IntN(len(turns))]+r.IntN(3), len(tr.Steps)))
		}
	}
	slices.Sort(all)
	return all
}

// cut is one state that a power cut left.
type cut struct {
	at    int
	what  string
	state powercut.State
	heard *cutlog.Heard
}

func (c cut) String() string { return fmt.Sprintf("cut after step %d: %s", c.at, c.what) }

// cuts gives n states of a trace to fn, each another one, until fn says that it is enough. Said is what was said before the trace.
func cuts(t *testing.T, r *rand.Rand, tr *powercut.Trace, n int, said []byte, fn func(cut) bool) {
	t.Helper()
	disk, heard, seen := powercut.NewDisk(tr), &cutlog.Heard{}, map[uint64]bool{}
	if err := heard.Hear(said); err != nil {
		t.Fatal(err)
	}
	before := 0
	for _, at := range moments(r, tr, n) {
		disk.Advance(at)
		if err := heard.Hear(tr.Said(before, at)); err != nil {
			t.Fatal(err)
		}
		before = at
		state, what := disk.State(r)
		if sum := state.Sum() ^ uint64(heard.Durable); seen[sum] {
			continue
		} else {
			seen[sum] = true
		}
		if at > 0 {
			what += ", behind: " + tr.Steps[at-1].String()
		}
		if !fn(cut{at: at, what: what, state: state, heard: heard}) {
			return
		}
	}
}

// put makes the state in a new directory, and gives it.
func (c cut) put(t *testing.T) (root string) {
	t.Helper()
	below := "/dev/shm" // no sync waits for a disk there, and none is needed: nobody cuts the power of this machine
	if _, err := os.Stat(below); err != nil {
		below = t.TempDir()
	}
	root, err := os.MkdirTemp(below, "powercut") //nolint:usetesting // the caller removes it
	if err != nil {
		t.Fatal(err)
	}
	if err := c.state.Put(root); err != nil {
		t.Fatal(err)
	}
	return root
}

func remove(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(root); err != nil {
		t.Error(err)
	}
}

func (c cut) check(t *testing.T) error {
	t.Helper()
	root := c.put(t)
	defer remove(t, root)
	err := cutlog.Check(t.Context(), logIn(root), *c.heard, options)
	if dir := os.Getenv("JOBLEDGER_KEEP"); err != nil && dir != "" {
		t.Log("the state is kept in ", dir)
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700), c.state.Put(dir)); err != nil {
			t.Error(err)
		}
	}
	return err
}

// TestPowerCutsLoseNothing cuts the power of a log that is made, grows, turns over, is killed, recovers, prunes and stops.
func TestPowerCutsLoseNothing(t *testing.T) {
	tr, r := trace(t), seed(t)
	states := 0
	cuts(t, r, tr, number(t, "JOBLEDGER_CUTS", 400, 20_000), nil, func(c cut) bool {
		states++
		if err := c.check(t); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		return !t.Failed()
	})
	t.Logf("%d states of %d calls", states, len(tr.Steps))
}

// TestAPowerCutWhileRecovering cuts the power a second time, while the log is opened that the first cut left.
func TestAPowerCutWhileRecovering(t *testing.T) {
	tr, r := trace(t), seed(t)
	again, states := number(t, "JOBLEDGER_CUTS_AGAIN", 25, 100), 0
	cuts(t, r, tr, number(t, "JOBLEDGER_RECOVERIES", 12, 150), nil, func(c cut) bool {
		root := c.put(t)
		defer remove(t, root)
		recovery, err := record(root, nil, "goes on")
		need(t, err)
		cuts(t, r, recovery, again, tr.Said(0, c.at), func(second cut) bool {
			states++
			if err := second.check(t); err != nil {
				t.Errorf("%v; then, while it recovered, %v: %v", c, second, err)
			}
			return !t.Failed()
		})
		return !t.Failed()
	})
	t.Logf("%d states", states)
}

// TestAForgottenCallIsNoticed takes calls out of the trace, or lets them come late, as a mistake in the log would: some state must show
// it. This is what the tests above are worth.
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
	beginning := func(tr *powercut.Trace) *powercut.Trace { // of the story, where the key is made
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
			r, tried := seed(t), 0
			found := ""
			cuts(t, r, row.trace, number(t, "JOBLEDGER_CUTS", 3000, 3000), nil, func(c cut) bool {
				tried++
				if err := c.check(t); err != nil {
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
