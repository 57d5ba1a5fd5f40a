package sidebyside

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Side is one of the things that are compared.
type Side struct {
	Name string
	// Cost does one round's share of work and returns what one unit of it cost, in nanoseconds.
	Cost func() float64
	// one does one unit, of n in a round, where the typical one counts.
	one func()
	n   int
}

// All is a side whose work does n units as a whole.
func All(name string, n int, work func()) Side {
	return Side{Name: name, Cost: func() float64 {
		start := time.Now()
		work()
		return float64(time.Since(start)) / float64(n)
	}}
}

// Computing is a side whose work does n units as a whole and waits for nothing: what counts is the time that this
// process spends on processors, the garbage collector's too, and not how long others keep it from them.
func Computing(name string, n int, work func()) Side {
	return Side{Name: name, Cost: func() float64 {
		start := Processor()
		work()
		return float64(Processor()-start) / float64(n)
	}}
}

// Typical is a side of which the median unit counts, of n in a round. Sides that are all of this sort take turns unit
// by unit: they meet the same disk at the same moment.
func Typical(name string, n int, one func()) Side { return Side{Name: name, one: one, n: n} }

// Compare measures the sides once for each round of the benchmark and reports the medians. The unit names what the
// costs are for: "record". The first side is the one that the others are the measure of.
func Compare(b *testing.B, unit string, sides ...Side) {
	b.Helper()
	costs, speeds := make([][]float64, len(sides)), make([][]float64, len(sides))
	for round := 0; b.Loop(); round++ {
		for i, cost := range measure(sides, round) {
			costs[i] = append(costs[i], cost)
			speeds[i] = append(speeds[i], cost/costs[0][round])
		}
	}
	b.ReportMetric(0, "ns/op") // of a round: it says nothing
	for i, side := range sides {
		b.ReportMetric(Median(costs[i]), side.Name+"-ns/"+unit)
		if i > 0 {
			b.ReportMetric(Median(speeds[i]), "speed/"+side.Name)
		}
	}
}

// measure is one round. The garbage of what came before is not left to it.
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

// order is who comes when: each side is at each place in turn, and before and after each other as often.
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

// Median is the middle of the values, the mean of the two in the middle when their number is even; 0 when there are
// none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
