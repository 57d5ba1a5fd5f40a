package controller

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"
)

// The limits at which GOMAXPROCS is set to one processor or to all. A controller wakes, does a little, and sleeps. With
// several processors Go wakes another thread for each small task, which takes a tenth of the CPU time; see
// docs/performance-history.md. So Go has one processor while one suffices, and all that the container may use as soon
// as there is much work: a start, a burst, a reader of a long log.
//
// Examples: Go has one processor, and used 0.6 of it in the last second, so it gets all. Go has all, and used 0.2 of
// one in each of the last two seconds, so it gets one.
const (
	manyAbove = 0.5  // if Go used more of a processor in the last second, it gets all processors
	oneBelow  = 0.25 // if Go used less in each of the last calmLooks seconds, it gets one
	calmLooks = 2

	processorsLook = time.Second
)

// processors decides whether GOMAXPROCS is one processor or all. The zero value begins with all.
type processors struct {
	one  bool // Go has one processor
	calm int  // number of calls of look in a row with a use below oneBelow
}

// look decides between one processor and all, and reports whether that changes. used is how much of a processor was
// used since the last call; 0.5 is half of one.
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

// fitProcessors sets GOMAXPROCS to one processor or to all, depending on the load, until ctx ends. It does nothing if
// the operator has set GOMAXPROCS.
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

// cpuTime returns the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // Getrusage of the own process never fails
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
