package copies

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/suite"
)

var (
	shared suite.Suite
	long   = effort.IsLong()
)

func TestMain(m *testing.M) {
	most := fmt.Sprint(2 * runtime.GOMAXPROCS(0))           // tests mostly wait for clocks
	if err := flag.Set("test.parallel", most); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	shared.Main(m, suite.Options{Tags: []string{"failpoints"}})
}

// atLength leaves a test out of make test, which it would make longer than it may be.
func atLength(t *testing.T) {
	t.Helper()
	if !long {
		t.Skip("at length (JOBLEDGER_LONG)")
	}
}

// rows are the numbers of a test's rows: one in make test, all at length, of which JOBLEDGER_PART=n/N takes each Nth.
func rows(t *testing.T, all int) (some []int) {
	t.Helper()
	if !long {
		all = 1
	}
	part, parts := 1, 1
	if text := os.Getenv("JOBLEDGER_PART"); text != "" && long {
		if _, err := fmt.Sscanf(text, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
			t.Fatalf("JOBLEDGER_PART=%s: want n/N", text)
		}
	}
	for n := part - 1; n < all; n += parts {
		some = append(some, n)
	}
	return some
}

// random is a row's source of chance: always the same in make test, from JOBLEDGER_SEED or the time at length.
func random(t *testing.T, row int) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if long {
		seed = fromTime
	}
	if text := os.Getenv("JOBLEDGER_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("JOBLEDGER_SEED=%s: %v", text, err)
		}
	}
	t.Logf("JOBLEDGER_SEED=%d draws the same moments for row %d again", seed, row)
	return rand.New(rand.NewPCG(seed, uint64(row)))
}

var fromTime = uint64(time.Now().UnixNano())
