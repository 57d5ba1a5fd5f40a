package sidebyside

import (
	"flag"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		sentence string
		values   []float64
		want     float64
	}{
		{"of nothing it is 0", nil, 0},
		{"of one value it is that", []float64{3}, 3},
		{"of an odd number it is the middle one", []float64{9, 1, 5}, 5},
		{"of an even number it is the mean of the two in the middle", []float64{8, 1, 100, 4}, 6},
	} {
		if got := Median(tt.values); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sentence, got, tt.want)
		}
	}
}

// TestARatioIsFormedWithinItsRound: the machine is ten times slower in the second round, and the ratios do not change.
func TestARatioIsFormedWithinItsRound(t *testing.T) {
	var order []string
	side := func(name string, costs ...float64) Side {
		round := -1
		return Side{Name: name, Cost: func() float64 {
			order = append(order, name)
			round++
			return costs[round%len(costs)]
		}}
	}
	if err := flag.Set("test.benchtime", "4x"); err != nil {
		t.Fatal(err)
	}
	result := testing.Benchmark(func(b *testing.B) {
		Compare(b, "record", side("log", 20, 200), side("floor", 10, 100))
	})
	if got := result.Extra["speed/floor"]; got != 0.5 {
		t.Errorf("the ratio is %v, want 0.5", got)
	}
	if got := result.Extra["log-ns/record"]; got != 110 {
		t.Errorf("the cost is %v, want the median of 20, 200, 20 and 200", got)
	}
	if want := []string{"log", "floor", "floor", "log"}; !slices.Equal(order[:4], want) {
		t.Errorf("measured in the order %v, want %v", order[:4], want)
	}
}

func TestTypicalUnitsTakeTurns(t *testing.T) {
	order := ""
	costs := measure([]Side{
		Typical("log", 3, func() { order += "l" }),
		Typical("floor", 3, func() { order += "f" }),
	}, 0)
	if order != "lfflfl" {
		t.Errorf("done in the order %s, want each before the other in turn", order)
	}
	if costs[0] <= 0 || costs[1] <= 0 {
		t.Errorf("costs are %v, want what was measured", costs)
	}
}
