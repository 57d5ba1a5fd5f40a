package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lyingAbout runs Jobs of one pod, and then restarts the contender (a compared controller) while the finished Jobs
// still exist. Jobledger is restarted twice: with the log of these Jobs, and without a log. The built-in controller has
// no log, so it is restarted once, and both figures are the same.
func lyingAbout(ctx context.Context, r *run) (Lap, error) {
	s := r.workload.sizes(r.config.Quick)
	if _, err := r.start(ctx); err != nil {
		return Lap{}, err
	}
	before, err := r.point()
	if err != nil {
		return Lap{}, err
	}
	if err := allAtOnce(ctx, r, s); err != nil {
		return Lap{}, r.orWrong(ctx, err)
	}
	if err := r.rest(ctx); err != nil {
		return Lap{}, err
	}
	ran, err := r.point()
	if err != nil {
		return Lap{}, err
	}
	lap := Lap{Figures: map[string]float64{}}
	if lap.found, err = r.check(ctx); err != nil || lap.Wrong != "" {
		return lap, err
	}
	if r.contender.name == Ours {
		lap.Figures[keyGrown] = float64(ran.ledger.grown-before.ledger.grown) / 1024 / float64(s[0])
	}
	err = r.again(ctx, &lap, s[1])
	return lap, err
}

// again restarts the contender (a compared controller), and measures for some seconds what it costs while idle.
// Jobledger is restarted twice: first it keeps its log, then the log is removed.
func (r *run) again(ctx context.Context, lap *Lap, seconds int) error {
	warm, err := r.idleAgain(ctx, seconds)
	if err != nil {
		return err
	}
	cold := warm
	if r.contender.name == Ours {
		if err := os.Rename(logIn(r.dir), filepath.Join(r.dir, "log-of-before")); err != nil {
			return err
		}
		if cold, err = r.idleAgain(ctx, seconds); err != nil {
			return err
		}
	}
	lap.Figures[keyStart], lap.Figures[keyStartCold] = warm.start, cold.start
	lap.Figures[keyIdleRSS], lap.Figures[keyIdleRSSCold] = warm.rss, cold.rss
	lap.Figures[keyIdleCPU], lap.Figures[keyIdleRequests] = warm.cpu, warm.requests
	lap.Others = max(lap.Others, warm.others, cold.others)
	return nil
}

// idle is what a contender (a compared controller) costs while nothing happens.
type idle struct {
	start    float64 // ms from the start of the process until the pod of a waiting Job was seen
	rss      float64 // MiB
	cpu      float64 // ms per second
	requests float64 // per minute
	others   float64
}

// idleAgain restarts the contender (a compared controller), and measures for some seconds what it costs while idle.
func (r *run) idleAgain(ctx context.Context, seconds int) (idle, error) {
	if err := r.process.stop(ctx); err != nil {
		return idle{}, err
	}
	took, err := r.start(ctx)
	if err != nil {
		return idle{}, err
	}
	i, err := r.idle(ctx, seconds)
	i.start = milliseconds(took)
	return i, err
}

// idle measures for some seconds what the contender (a compared controller) costs while nothing happens.
func (r *run) idle(ctx context.Context, seconds int) (i idle, err error) {
	before, err := r.point()
	if err != nil {
		return i, err
	}
	over := time.NewTimer(time.Duration(seconds) * time.Second)
	defer over.Stop()
	select {
	case <-over.C:
	case <-r.process.ended:
		return i, fmt.Errorf("%s ended while it was idle: %w\n%s", r.contender.name, r.process.err, r.process.tail())
	case <-ctx.Done():
		return i, context.Cause(ctx)
	}
	after, err := r.point()
	if err != nil {
		return i, err
	}
	length := after.at.Sub(before.at)
	return idle{
		rss:      float64(after.contender.rss) / (1 << 20),
		cpu:      milliseconds(after.contender.cpu-before.contender.cpu) / length.Seconds(),
		requests: float64(len(after.requests)) / length.Minutes(),
		others:   others(before.mark, after.mark, 0),
	}, nil
}
