package cutlog

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/powercut"
)

// Cut is a power cut at one point of a trace (recorded system calls), and the state in which it left the disk.
type Cut struct {
	At    int    // number of steps (recorded calls) that had begun
	What  string // what survived, in words
	State powercut.State
	Said  []byte // what the process printed since the previous cut
}

func (c Cut) String() string { return fmt.Sprintf("cut after step %d: %s", c.At, c.What) }

// Cuts yields up to n different power cuts during a trace, chosen at random, in the order of time. Each has one of the
// states that the disk can be left in.
func Cuts(r *rand.Rand, tr *powercut.Trace, n int) iter.Seq[Cut] {
	return func(yield func(Cut) bool) {
		disk, seen, heard := powercut.NewDisk(tr), map[[2]uint64]bool{}, 0
		for _, at := range moments(r, tr, n) {
			disk.Advance(at)
			state, what := disk.State(r)
			said := tr.Said(0, at)
			if sum := [2]uint64{state.Sum(), uint64(len(said))}; seen[sum] {
				continue
			} else {
				seen[sum] = true
			}
			if at > 0 {
				what += ", behind: " + tr.Steps[at-1].String()
			}
			if !yield(Cut{At: at, What: what, State: state, Said: said[heard:]}) {
				return
			}
			heard = len(said)
		}
	}
}

// moments returns n random moments for power cuts. A moment is a number of steps that have begun. Half of them are
// anywhere; the other half are just before or after a call that matters for durability, which is any except a write
// or a print.
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

// Put writes the state that the cut left into a new directory. The caller removes it with Remove.
func (c Cut) Put(t *testing.T) (root string) {
	t.Helper()
	below := "/dev/shm" // a file system in memory, where syncs take no time
	if _, err := os.Stat(below); err != nil {
		below = t.TempDir()
	}
	root, err := os.MkdirTemp(below, "powercut") //nolint:usetesting // the caller removes it
	if err != nil {
		t.Fatal(err)
	}
	if err := c.State.Put(root); err != nil {
		t.Fatal(err)
	}
	return root
}

// Remove removes the directory that Put created.
func Remove(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(root); err != nil {
		t.Error(err)
	}
}

// Keep writes the state that the cut left into the directory named by JOBLEDGER_KEEP, if it is set, so that a failure
// can be examined.
func (c Cut) Keep(t *testing.T) {
	t.Helper()
	dir := os.Getenv("JOBLEDGER_KEEP")
	if dir == "" {
		return
	}
	t.Log("the state is kept in ", dir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700), c.State.Put(dir)); err != nil {
		t.Error(err)
	}
}

// Need ends the test if no trace could be recorded. If the machine does not allow tracing, the test fails in CI and is
// skipped elsewhere.
func Need(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, powercut.ErrCannotTrace) && os.Getenv("CI") == "":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// Number returns how many trials a test runs: the value of the environment variable if it is set, else long with
// JOBLEDGER_LONG, a fifth of daily with -short or in make test, and daily otherwise.
func Number(variable string, daily, long int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	if effort.IsLong() {
		return long
	}
	if testing.Short() || !effort.IsWhole() {
		return max(1, daily/5)
	}
	return daily
}

// Seed returns a random source with a new seed each time, and logs the seed. JOBLEDGER_SEED repeats a run.
func Seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64); err == nil {
		n = given
	}
	t.Logf("JOBLEDGER_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 12))
}
