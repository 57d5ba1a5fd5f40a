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

	"github.com/jobledger/jobledger/internal/dev/powercut"
)

// Cut is one state that a power cut left.
type Cut struct {
	At    int    // steps that had begun
	What  string // what survived
	State powercut.State
	Said  []byte // what was said since the cut before
}

func (c Cut) String() string { return fmt.Sprintf("cut after step %d: %s", c.At, c.What) }

// Cuts draws up to n states of a trace, each another one, in the order of their moments.
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

// Put makes the state in a new directory that Remove removes.
func (c Cut) Put(t *testing.T) (root string) {
	t.Helper()
	below := "/dev/shm" // no sync waits for a disk there, and none is needed: the power of this machine stays on
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

// Remove removes what Put made.
func Remove(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(root); err != nil {
		t.Error(err)
	}
}

// Keep puts a state that a test failed on where JOBLEDGER_KEEP says, if it does.
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

// Need ends a test that has no trace. A machine that cannot trace fails in CI, and skips the test elsewhere.
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

// Number is how often something is tried: more at length, or as often as the environment says.
func Number(variable string, daily, long int) int {
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

// Seed is another one each time; the failure of one is repeated with JOBLEDGER_SEED.
func Seed(t *testing.T) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64); err == nil {
		n = given
	}
	t.Logf("JOBLEDGER_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 12))
}
