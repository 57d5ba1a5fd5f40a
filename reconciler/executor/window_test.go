package executor

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// distant is a simulated API server. It works on a few calls at once; the others wait in their order. A call takes half
// of the service time, and on average as much again (exponentially distributed), and a round trip on top. Our window is
// always full.
type distant struct {
	seats   int
	service time.Duration
	trip    time.Duration
}

// outcome says how the window behaved during a run against a distant server.
type outcome struct {
	full   time.Duration // until the window had its greatest width; the whole run if it never had
	size   int           // of the window, median over the second half
	rate   float64       // calls a second
	queued time.Duration // wait of a call for a seat, median over the second half; other clients wait as long
}

// run keeps a window full for the time `long`, in virtual time.
func (d distant) run(limit int, long time.Duration) outcome {
	type call struct{ sent, done events.Time }
	var (
		rng      = rand.New(rand.NewPCG(1, 1))
		l        = newLimiter(limit)
		begin    = events.At(epoch)
		now      = begin
		free     = make([]events.Time, d.seats) // when each seat is free
		inFlight []call
		out      = outcome{full: long}
		sizes    []int
		queued   []time.Duration
		calls    int
	)
	for now < begin.Add(long) {
		for len(inFlight) < l.slots(now) {
			arrives := now.Add(d.trip / 2)
			seat := 0
			for i := range free {
				if free[i] < free[seat] {
					seat = i
				}
			}
			starts := max(arrives, free[seat])
			free[seat] = starts.Add(time.Duration(float64(d.service) * (1 + rng.ExpFloat64()) / 2))
			inFlight = append(inFlight, call{now, free[seat].Add(d.trip / 2)})
			queued = append(queued, starts.Sub(arrives))
		}
		next := 0
		for i := range inFlight {
			if inFlight[i].done < inFlight[next].done {
				next = i
			}
		}
		c := inFlight[next]
		now = c.done
		full := len(inFlight) >= l.share(now)
		inFlight = slices.Delete(inFlight, next, next+1)
		l.ended(finished{started: c.sent, ended: now, place: place{namespace: "default"}, full: full})
		if calls++; l.slots(now) == limit && out.full == long {
			out.full = now.Sub(begin)
		}
		sizes = append(sizes, int(l.size))
	}
	out.rate = float64(calls) / long.Seconds()
	out.size = medianOf(sizes[len(sizes)/2:])
	out.queued = medianOf(queued[len(queued)/2:])
	return out
}

func medianOf[T int | time.Duration](all []T) T { return slices.Sorted(slices.Values(all))[len(all)/2] }

// TestWindowAtServers: docs/design/0025-window.md has the table. A server with 32 cores that is 20 ms away gets the
// full width within a second, though its smallest latency says nothing of its load. A small server is kept busy, with a
// short queue.
func TestWindowAtServers(t *testing.T) {
	for _, row := range []struct {
		sentence string
		server   distant
		full     time.Duration // within which the window has its greatest width; 0 for no limit
		least    float64       // share of what the server can do, or of what the window lets through
		queued   time.Duration // at most
	}{
		{"2 cores, on the same machine", distant{2, 4 * time.Millisecond, 0}, 0, 0.95, 40 * time.Millisecond},
		{"2 cores, 2 ms away", distant{2, 4 * time.Millisecond, 2 * time.Millisecond}, 0, 0.95, 40 * time.Millisecond},
		{"8 cores, 2 ms away", distant{8, 4 * time.Millisecond, 2 * time.Millisecond}, 0, 0.95, 40 * time.Millisecond},
		{"32 cores, 2 ms away", distant{32, 4 * time.Millisecond, 2 * time.Millisecond}, time.Second, 0.85, 10 * time.Millisecond},
		{"32 cores, 20 ms away", distant{32, 4 * time.Millisecond, 20 * time.Millisecond}, time.Second, 0.85, 10 * time.Millisecond},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			const limit = 64
			got := row.server.run(limit, 10*time.Second)
			most := min(float64(row.server.seats)/row.server.service.Seconds(), limit/(row.server.service+row.server.trip).Seconds())
			t.Logf("full after %v, %d at once, %.0f calls/s of %.0f, %v in the queue", got.full, got.size, got.rate, most, got.queued)
			if row.full != 0 && got.full > row.full {
				t.Errorf("full width after %v, want %v", got.full, row.full)
			}
			if got.rate < row.least*most {
				t.Errorf("%.0f calls a second, want %.0f at least", got.rate, row.least*most)
			}
			if got.queued > row.queued {
				t.Errorf("calls wait %v at the server, want %v at most", got.queued, row.queued)
			}
		})
	}
}
