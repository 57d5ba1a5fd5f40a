package cronjobs

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// The size of the test.
const (
	cronJobs = 100
	minutes  = 8
)

// TestBesideTheBuiltIn: Jobledger and the built-in controller treat CronJobs alike. It leaves out intended differences,
// which the oracle tests (test/oracle, cronmends.go): a Job's name that another object has taken, CronJobs that are
// created again under the same name, watches that lag, and requests that fail (C-020, C-081, C-105, C-121, C-140,
// C-145, C-146, C-147, C-150, C-220).
func TestBesideTheBuiltIn(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("it takes minutes of the clock: JOBLEDGER_LONG=1")
	}
	seed := seedOf(t)
	t.Logf("JOBLEDGER_SEED=%d plays it again", seed)
	p := newPair(t, seed)
	for p.addAll(); time.Now().After(p.minute.Add(50 * time.Second)); p.addAll() {
		t.Log("the CronJobs were not made within a minute, so their creation times are not of one minute on both sides: once more")
		p = newPair(t, seed)
	}
	p.nextMinute()
	p.at(3 * time.Second)
	p.start()
	p.at(14 * time.Second)
	p.compare(24*time.Second, "after the start")
	for i := range minutes {
		p.at(24 * time.Second)
		p.endJobs()
		p.at(32 * time.Second)
		p.compare(36*time.Second, "Jobs have ended")
		p.at(36 * time.Second)
		p.meddle()
		p.at(44 * time.Second)
		p.compare(50*time.Second, "users have edited")
		p.at(50 * time.Second)
		switch i % 4 {
		case 1:
			p.kill()
			p.start()
		case 3: // the next due times pass during this
			p.kill()
			p.nextMinute()
			p.at(3 * time.Second)
			p.start()
		}
		p.nextMinute()
		p.at(14 * time.Second)
		p.compare(24*time.Second, "CronJobs were due")
	}
	p.finish()
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("JOBLEDGER_SEED")
	if text == "" {
		return rand.Uint64()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("JOBLEDGER_SEED: %v", err)
	}
	return seed
}
