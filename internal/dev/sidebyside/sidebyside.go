package sidebyside

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Side is one of the things that a benchmark compares, such as one implementation.
type Side struct {
	Name string
	// Cost does the work of one round, and returns the cost of one unit in nanoseconds.
	Cost func() float64
	// one does a single unit of work, and is called n times in a round; the cost of the round is the median.
	one func()
	n   int
}

// All returns a side that does n units of work in one call.
func All(name string, n int, work func()) Side {
	return Side{Name: name, Cost: func() float64 {
		start := time.Now()
		work()
		return float64(time.Since(start)) / float64(n)
	}}
}

// Computing returns a side that does n units of work in one call, and never waits. Its cost is the processor time of
// this process, including the garbage collector, so other processes do not affect it.
func Computing(name string, n int, work func()) Side {
	return Side{Name: name, Cost: func() float64 {
		start := Processor()
		work()
		return float64(Processor()-start) / float64(n)
	}}
}

// Typical returns a side whose cost in a round is the median of n units of work. Such sides take turns after each unit,
// so that they meet the same state of the disk.
func Typical(name string, n int, one func()) Side { return Side{Name: name, one: one, n: n} }

// Compare measures the sides once in each round of the benchmark, and reports the medians. unit names what a cost is
// for, such as "record". The other sides are compared with the first one.
func Compare(b *testing.B, unit string, sides ...Side) {
	b.Helper()
	costs, speeds := make([][]float64, len(sides)), make([][]float64, len(sides))
	for round := 0; b.Loop(); round++ {
		for i, cost := range measure(sides, round) {
			costs[i] = append(costs[i], cost)
			speeds[i] = append(speeds[i], cost/costs[0][round])
		}
	}
	b.ReportMetric(0, "ns/op") // 0 hides the usual ns/op, which would be the time of a whole round and says nothing
	for i, side := range sides {
		b.ReportMetric(Median(costs[i]), side.Name+"-ns/"+unit)
		if i > 0 {
			b.ReportMetric(Median(speeds[i]), "speed/"+side.Name)
		}
	}
}

// measure runs one round, and returns the cost of each side. Before each side it collects garbage, so that no side pays
// for the garbage of another.
func measure(sides []Side, round int) []float64 {
	costs, units := make([]float64, len(sides)), make([][]float64, len(sides))
	for _, i := range order(len(sides), round) {
		if runtime.GC(); sides[i].Cost != nil {
			costs[i] = sides[i].Cost()
		}
	}
	for more := true; more; round++ {
		more = false
		for _, i := range order(len(sides), round) {
			if side := &sides[i]; len(units[i]) < side.n {
				start := time.Now()
				side.one()
				units[i] = append(units[i], float64(time.Since(start)))
				more = true
			}
		}
	}
	for i := range sides {
		if len(units[i]) > 0 {
			costs[i] = Median(units[i])
		}
	}
	return costs
}

// order returns the order of the sides in a round. Over many rounds each side is equally often at each place, and
// equally often before and after each other side.
func order(n, round int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = (i + round/2) % n
	}
	if round%2 == 1 {
		slices.Reverse(out)
	}
	return out
}

// Median returns the middle value, or the mean of the two middle values if their number is even; 0 for no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
