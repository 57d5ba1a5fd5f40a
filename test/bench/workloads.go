package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// workload is a task that both controllers do, such as "500 Jobs of one pod at once".
type workload struct {
	name string
	says string // title of the workload, with one %d for each number in sizes
	full sizes
	fast sizes // the smaller numbers for Config.Quick
	// prepare, if set, creates what must exist before the measurement begins.
	prepare func(ctx context.Context, r *run, s sizes) error
	// drive creates the Jobs and returns when they have finished.
	drive func(ctx context.Context, r *run, s sizes) error
	// measure, if set, runs and measures the whole workload; drive is then not used.
	measure func(ctx context.Context, r *run) (Lap, error)
	// rounds, if not 0, is the largest number of rounds, for a workload that takes minutes.
	rounds int
	// smallOnly: latencies are measured for Jobs of one pod only.
	smallOnly bool
	// alike: all pods end at once and succeed, in any profile.
	alike bool
	// only, if not empty, is the only controller that runs it, and flags are additional flags for that controller.
	only  string
	flags []string
}

// sizes are the numbers in the title of a workload, in that order.
type sizes []int

func (w *workload) sizes(quick bool) sizes {
	if quick {
		return w.fast
	}
	return w.full
}

func (w *workload) title(quick bool) string {
	var numbers []any
	for _, n := range w.sizes(quick) {
		numbers = append(numbers, n)
	}
	return fmt.Sprintf(w.says, numbers...)
}

var workloads = []*workload{
	{
		name: "w1", says: "%d Jobs of one pod, one after another",
		full: sizes{30}, fast: sizes{8}, drive: oneAfterAnother,
	},
	{
		name: "w2", says: "%d Jobs of one pod at once",
		full: sizes{500}, fast: sizes{150}, drive: allAtOnce,
	},
	{
		name: "w3", says: "one Job of %d pods, parallelism %d",
		full: sizes{2000, 500}, fast: sizes{400, 100}, drive: oneJob(false),
	},
	{
		name: "w3i", says: "one Indexed Job of %d pods, parallelism %d",
		full: sizes{2000, 500}, fast: sizes{400, 100}, drive: oneJob(true),
	},
	{
		name: "w4", says: "%d Indexed Jobs of %d pods, of each %d indexes fail and are tried again after 10 s (backoffLimitPerIndex)",
		full: sizes{100, 20, 2}, fast: sizes{20, 10, 1}, drive: failures,
	},
	{
		name: "w5", says: "one Job of %d pods, parallelism %d; kill -9 when half have ended, and start again",
		full: sizes{2000, 500}, fast: sizes{400, 100}, drive: killed,
	},
	{
		name: "w6", says: "%d finished Jobs lie about, with their pods; idle for %d s",
		full: sizes{5000, 30}, fast: sizes{300, 5}, measure: lyingAbout, rounds: 1, alike: true,
	},
	{
		name: "w7", says: "%d Jobs of one pod, %d each second",
		full: sizes{300, 15}, fast: sizes{60, 15}, drive: steadily,
	},
	{
		name: "w8", says: "one Job of %d pods, parallelism %d",
		full: sizes{200, 10}, fast: sizes{60, 10}, drive: oneJob(false),
	},
	{
		name: "w9", says: "one Job of %d pods, parallelism %d, and beside it %d Jobs of one pod, 2 each second; latencies are theirs",
		full: sizes{10000, 500, 60}, fast: sizes{1000, 100, 8}, drive: beside, smallOnly: true, rounds: 1,
	},
	{
		name: "w10", says: "%d Jobs of one pod, %d each second; a NATS server in the process (--nats-embedded) and a subscriber to all of its stream",
		full: sizes{300, 15}, fast: sizes{60, 15}, drive: streamed,
		only: Ours, flags: []string{"--nats-embedded", "--nats-listen", "127.0.0.1:0"},
	},
	{
		name: "w11", says: "%d CronJobs, of which %d fall due in the same minute; each runs a Job of one pod",
		full: sizes{10000, 1000}, fast: sizes{300, 60}, prepare: cronJobs, drive: burst,
	},
	{
		name: "w12", says: "%d CronJobs, of which %d fall due in the same minute, and beside them %d Jobs of one pod, %d each second; latencies are theirs",
		full: sizes{10000, 1000, 450, 15}, fast: sizes{300, 60, 90, 15}, prepare: cronJobs, drive: burstBeside, smallOnly: true,
	},
	{
		name: "w13", says: "idle for %d s, beside no CronJob, then %d suspended ones, then %d; and started again among them",
		full: sizes{60, 1000, 10000}, fast: sizes{5, 50, 200}, measure: suspended, rounds: 1,
	},
}

// choose returns the workloads with these names, or all if there are no names.
func choose(names []string) ([]*workload, error) {
	if len(names) == 0 {
		return workloads, nil
	}
	var chosen []*workload
	for _, name := range names {
		i := slices.IndexFunc(workloads, func(w *workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no workload %q: there are %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, workloads[i])
	}
	return chosen, nil
}

// Names returns the names of all workloads.
func Names() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

const smallPrefix = "small-"

// small returns n Jobs of one pod.
func small(n int) []shape {
	var all []shape
	for i := range n {
		all = append(all, shape{name: smallPrefix + strconv.Itoa(i), pods: 1, parallelism: 1})
	}
	return all
}

func oneAfterAnother(ctx context.Context, r *run, s sizes) error {
	for _, one := range small(s[0]) {
		if err := r.create(ctx, one); err != nil {
			return err
		}
		if err := r.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

func allAtOnce(ctx context.Context, r *run, s sizes) error {
	if err := r.create(ctx, small(s[0])...); err != nil {
		return err
	}
	return r.finish(ctx)
}

func oneJob(indexed bool) func(context.Context, *run, sizes) error {
	return func(ctx context.Context, r *run, s sizes) error {
		if err := r.create(ctx, large(s, indexed)); err != nil {
			return err
		}
		return r.finish(ctx)
	}
}

func large(s sizes, indexed bool) shape {
	return shape{name: "large", pods: int32(s[0]), parallelism: int32(s[1]), indexed: indexed}
}

func failures(ctx context.Context, r *run, s sizes) error {
	var all []shape
	for i := range s[0] {
		all = append(all, shape{name: fmt.Sprintf("failing-%d", i), pods: int32(s[1]), parallelism: int32(s[1]), fail: s[2], indexed: true, perIndex: true})
	}
	if err := r.create(ctx, all...); err != nil {
		return err
	}
	return r.finish(ctx)
}

// killed kills the measured controller in the middle of a large Job, restarts it at once, and so measures how it
// recovers.
func killed(ctx context.Context, r *run, s sizes) error {
	if err := r.create(ctx, large(s, false)); err != nil {
		return err
	}
	if err := r.await(ctx, func(f *field) bool { return f.ended >= s[0]/2 }); err != nil {
		return err
	}
	var err error
	if r.gone, err = usageOf(r.process.pid); err != nil {
		return err
	}
	if err := r.process.kill(); err != nil {
		return err
	}
	began := time.Now()
	if r.process, err = r.contender.start(r.dir); err != nil {
		return err
	}
	// The requests that the killed process had sent arrive before the new process starts. So a pod that is seen after
	// this count comes from the new process.
	before := 0
	r.watch.in(r.namespace, func(f *field) { before = len(f.pods) })
	if err := r.await(ctx, func(f *field) bool { return len(f.pods) > before || f.over(len(r.shapes)) }); err != nil {
		return err
	}
	r.extra[keyAgain] = milliseconds(time.Since(began))
	return r.finish(ctx)
}

func steadily(ctx context.Context, r *run, s sizes) error {
	all := small(s[0])
	err := every(ctx, time.Second/time.Duration(s[1]), len(all), func(i int) error { return r.create(ctx, all[i]) })
	if err != nil {
		return err
	}
	return r.finish(ctx)
}

func beside(ctx context.Context, r *run, s sizes) error {
	if err := r.create(ctx, large(s, false)); err != nil {
		return err
	}
	all := small(s[2])
	if err := every(ctx, time.Second/2, len(all), func(i int) error { return r.create(ctx, all[i]) }); err != nil {
		return err
	}
	return r.finish(ctx)
}

// every calls f(0), f(1), …, f(n-1), one call in each interval. It stops when ctx ends.
func every(ctx context.Context, interval time.Duration, n int, f func(i int) error) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
