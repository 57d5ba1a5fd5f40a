package spent

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestStretchesOfATry: what it spent its time on has no hole, and nothing of it stands twice.
func TestStretchesOfATry(t *testing.T) {
	for _, row := range []struct {
		name string
		try  try.Try
		want string
	}{
		{"asked for, seen, bound, run, ended",
			try.Try{Ordered: whentest.Seen(1, 0), Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3),
				Started: whentest.Seen(4, 6), Ended: whentest.Seen(5, 10)},
			"creating 0-1 scheduling 1-3 starting 3-6 running 6-10"},
		{"it goes on", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Started: whentest.Seen(4, 6)},
			"scheduling 1-3 starting 3-6 running 6-20"},
		{"it waits for a node", try.Try{Seen: whentest.Seen(2, 1)}, "scheduling 1-20"},
		{"it starts", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3)}, "scheduling 1-3 starting 3-20"},
		{"it is being deleted", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Started: whentest.Seen(4, 6),
			AskedSeen: whentest.Seen(5, 8)},
			"scheduling 1-3 starting 3-6 running 6-8 stopping 8-20"},
		{"deleted while it started", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3),
			AskedSeen: whentest.Seen(5, 8), Gone: whentest.Seen(6, 9)},
			"scheduling 1-3 starting 3-9"},
		{"deleted as it ended",
			try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Started: whentest.Seen(4, 6),
				AskedSeen: whentest.Seen(5, 10), Ended: whentest.Seen(5, 10)},
			"scheduling 1-3 starting 3-6 running 6-10"},
		{"its start was not seen, and its node says when",
			try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Running: whentest.Sec(5), Ended: whentest.Seen(5,
				10)},
			"scheduling 1-3 starting 3-5 running 5-10"},
		{"by its node before it was bound", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3),
			Running: whentest.Sec(2), Ended: whentest.Seen(5, 10)},
			"scheduling 1-3 running 3-10"},
		{"by its node behind its end", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3),
			Running: whentest.Sec(12), Ended: whentest.Seen(5, 10)},
			"scheduling 1-3 starting 3-10"},
		{"it never ran", try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Ended: whentest.Seen(5, 10)},
			"scheduling 1-3 starting 3-10"},
		{"it ran, and on which node is not known", try.Try{Seen: whentest.Seen(2, 1), Started: whentest.Seen(4, 6),
			Ended: whentest.Seen(5, 10)},
			"scheduling 1-6 running 6-10"},
	} {
		var got []string
		for _, s := range Stretches(&row.try, whentest.Sec(20)) {
			span := []string{s.From.Sub(whentest.Sec(0)).String(), s.To.Sub(whentest.Sec(0)).String()}
			got = append(got, PhaseNames[s.Phase]+" "+strings.ReplaceAll(strings.Join(span, "-"), "s", ""))
		}
		if text := strings.Join(got, " "); text != row.want {
			t.Errorf("%s: %s, want %s", row.name, text, row.want)
		}
	}
}

// TestTimeIsDividedAsSecondBySecond: sweep is as fast as its stretches are many; this is as slow as the time is long.
func TestTimeIsDividedAsSecondBySecond(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // which are tried is no secret
		var all []Stretch
		for range r.IntN(8) {
			from := r.IntN(30) - 3
			all = append(all, Stretch{Phase(r.IntN(int(phases))), whentest.Sec(float64(from)), whentest.Sec(float64(from +
				r.IntN(12)))})
		}
		from, to := r.IntN(6), 6+r.IntN(20)
		var want [phases]time.Duration
		for n := from; n < to; n++ {
			now := phases
			for _, s := range all {
				if s.From <= whentest.Sec(float64(n)) && whentest.Sec(float64(n)) < s.To {
					now = min(now, s.Phase)
				}
			}
			if now == phases {
				now = phaseDeciding
			}
			want[now] += time.Second
		}
		if got := sweep(all, whentest.Sec(float64(from)), whentest.Sec(float64(to))); got != want {
			t.Fatalf("seed %d: %v from %d to %d: %v, want %v", seed, all, from, to, got, want)
		}
	}
	if sweep(nil, whentest.Sec(1), whentest.Sec(1)) != ([phases]time.Duration{}) {
		t.Error("no time is divided")
	}
}

// TestWhatTheNodesTellOfARun: the end of a try that was seen more than 5 s after the node's time of it is told by both
// clocks.
func TestWhatTheNodesTellOfARun(t *testing.T) {
	ran := func(began, finished, asked, ended float64) *try.Try {
		x := try.Try{Seen: whentest.Seen(2, 1), Placed: whentest.Seen(3, 3), Started: whentest.Seen(4, 6), Ended: whentest.Seen(8, ended)}
		x.Containers = []events.ContainerEnd{{Name: "main", Started: whentest.Sec(began), Finished: whentest.Sec(finished)}}
		if finished != 0 {
			x.Finished = whentest.Sec(finished)
		}
		if asked != 0 {
			x.AskedSeen = whentest.Seen(7, asked)
		}
		return &x
	}
	now, late := ran(6, 15, 0, 20), ran(6, 14, 0, 20)
	for _, row := range []struct {
		name  string
		tries []*try.Try
		want  string
	}{
		{"none", nil, ""},
		{"seen 5 s late, as it may be", []*try.Try{now}, ""},
		{"seen 6 s late", []*try.Try{late}, " (8s by its node's clock)"},
		{"beside one that was seen at once", []*try.Try{now, late}, " (not the same by the nodes' clocks)"},
		{"beside one that never ran", []*try.Try{late, {Seen: whentest.Seen(2, 1), Gone: whentest.Seen(3, 9)}}, " (8s by its node's clock)"},
		{"both late", []*try.Try{late, late}, " (not the same by the nodes' clocks)"},
		{"its node's clock went back", []*try.Try{ran(6, 5, 0, 20)}, ""},
		{"it was asked to stop as it began", []*try.Try{ran(6, 14, 6, 20)}, ""},
		{"asked to stop then, beside one that ran", []*try.Try{ran(6, 14, 6, 20), now}, ""},
		{"the node does not say when", []*try.Try{ran(6, 0, 0, 20)}, ""},
	} {
		if got := ByNodes(row.tries); got != row.want {
			t.Errorf("%s: it says %q, want %q", row.name, got, row.want)
		}
	}
}
