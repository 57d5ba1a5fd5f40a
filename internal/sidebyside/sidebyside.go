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
}

// All is a side whose work does n units as a whole.
func All(name string, n int, work func()) Side {
	return Side{name, func() float64 {
		start := time.Now()
		work()
		return float64(time.Since(start)) / float64(n)
	}}
}

// Computing is a side whose work does n units as a whole and waits for nothing: what counts is the time that this process
// spends on processors, the garbage collector's too, and not how long others keep it from them.
func Computing(name string, n int, work func()) Side {
	return Side{name, func() float64 {
		start := processor()
		work()
		return float64(processor()-start) / float64(n)
	}}
}

// Typical is a side whose work does one unit: it is done n times, and the median of the n counts.
func Typical(name string, n int, work func()) Side {
	return Side{name, func() float64 {
		costs := make([]float64, n)
		for i := range costs {
			start := time.Now()
			work()
			costs[i] = float64(time.Since(start))
		}
		return Median(costs)
	}}
}

// Compare measures the sides once for each round of the benchmark and reports the medians. The unit names what the costs
// are for: "record". The first side is the one that the others are the measure of.
func Compare(b *testing.B, unit string, sides ...Side) {
	b.Helper()
	costs, speeds := make([][]float64, len(sides)), make([][]float64, len(sides))
	for round := 0; b.Loop(); round++ {
		for i, cost := range measure(sides, round%2 == 1) {
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

// measure is one round. The garbage of a side is not left to the next one.
func measure(sides []Side, reverse bool) []float64 {
	costs := make([]float64, len(sides))
	for n := range sides {
		i := n
		if reverse {
			i = len(sides) - 1 - n
		}
		runtime.GC()
		costs[i] = sides[i].Cost()
	}
	return costs
}

// Median is the middle of the values, the mean of the two in the middle when their number is even; 0 when there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
