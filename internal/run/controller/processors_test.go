package controller

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneProcessorWhileOneSuffices(t *testing.T) {
	for _, row := range []struct {
		name string
		used []float64 // of a processor, look by look
		want []int     // the looks, from 1, after which Go has another number
	}{
		{name: "idle", used: []float64{0, 0, 0, 0}, want: []int{2}},
		{name: "a start, then calm", used: []float64{1.8, 1.2, .1, .1, .1}, want: []int{4}},
		{name: "never calm for long", used: []float64{.1, .3, .1, .4, .1, .3}},
		{name: "a burst", used: []float64{0, 0, .9, 1.9, 0, 0, 0}, want: []int{2, 3, 6}},
		{name: "busy, and one suffices", used: []float64{0, 0, .4, .5, .4}, want: []int{2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var p processors
			var got []int
			for i, used := range row.used {
				if p.look(used) {
					got = append(got, i+1)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("changed after the looks %v, want %v", got, row.want)
			}
		})
	}
}

// TestProcessorsAreGivenBack: a program that goes on after a controller, as tests do, has all processors again.
func TestProcessorsAreGivenBack(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	all := runtime.GOMAXPROCS(0)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); fitProcessors(ctx, slog.New(slog.DiscardHandler)) }()
		time.Sleep((calmLooks + 1) * processorsLook) // of the bubble's time, in which next to nothing is used
		synctest.Wait()
		if got := runtime.GOMAXPROCS(0); got != 1 {
			t.Errorf("an idle controller has %d processors, want 1", got)
		}
		stop()
		<-ended
	})
	if got := runtime.GOMAXPROCS(0); got != all {
		t.Errorf("%d processors after the controller, want %d", got, all)
	}
}
