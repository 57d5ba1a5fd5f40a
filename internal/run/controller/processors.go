package controller

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"
)

// A controller wakes, does a little, and sleeps. On several processors Go wakes another thread for each little thing,
// which takes a tenth of the CPU time; see docs/performance-history.md. So Go has one processor while one suffices, and
// all that the container may use as soon as the controller has much to do: a start, a burst, a reader of a long log.
const (
	manyAbove = 0.5  // of a processor was used since the last look
	oneBelow  = 0.25 // of a processor was used, as often as calmLooks one after another
	calmLooks = 2

	processorsLook = time.Second
)

// processors decides how many Go has. The zero value is for a program that has all.
type processors struct {
	one  bool // Go has one
	calm int  // looks, one after another, in which little was used
}

// look takes what share of a processor was used since the last look, and reports whether Go is to have another number
// now.
func (p *processors) look(used float64) (changed bool) {
	if used < oneBelow {
		p.calm++
	} else {
		p.calm = 0
	}
	switch {
	case p.one && used > manyAbove:
		p.one = false
	case !p.one && p.calm >= calmLooks:
		p.one = true
	default:
		return false
	}
	return true
}

// fitProcessors gives Go one processor or all, as the load has it, until ctx ends; unless the operator has chosen with
// GOMAXPROCS.
func fitProcessors(ctx context.Context, logger *slog.Logger) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	defer runtime.SetDefaultGOMAXPROCS()
	var p processors
	before, at := cpuTime(), time.Now()
	every(ctx, processorsLook, func(context.Context) {
		spent, now := cpuTime(), time.Now()
		used := (spent - before).Seconds() / now.Sub(at).Seconds()
		before, at = spent, now
		if !p.look(used) {
			return
		}
		if p.one {
			runtime.GOMAXPROCS(1)
		} else {
			runtime.SetDefaultGOMAXPROCS()
		}
		logger.Debug("Go has another number of processors", "processors", runtime.GOMAXPROCS(0), "used", used)
	})
}

// cpuTime is how long the process has had a processor.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // never fails
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
