package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/test/controlplane"
)

// Lap is the result of one workload, run once by one contender (one of the two compared controllers).
type Lap struct {
	// Figures are the measured numbers by their keys; the list named Figures describes them.
	Figures map[string]float64 `json:"figures"`
	// Requests is the number of requests for each pod of the workload, by verb and resource, such as "create pods". It
	// does not include Events and Leases.
	Requests map[string]float64 `json:"requests"`
	// Others is the share of the machine that other processes used during the lap; 1 stands for all processors.
	Others float64 `json:"others"`
	// Jobs and Pods are how many the workload has. Pods includes those that fail.
	Jobs int `json:"jobs"`
	Pods int `json:"pods"`
	// Failed is the number of pods that fail.
	Failed int `json:"failed"`
	// Runs is the number of Jobs that CronJobs created.
	Runs int `json:"runs,omitempty"`
	// Late is the number of Jobs that took a second or longer, and so also published their progress.
	Late int `json:"late"`
	// Seconds is the sum over all Jobs of the time from creation to end, in seconds.
	Seconds float64 `json:"seconds"`
	found
}

// found is what check has found: how the outcome of a workload differs from the expected one.
type found struct {
	// Wrong describes the errors in words; empty: nothing is wrong. A lap with errors has no figures.
	Wrong string `json:"wrong,omitempty"`
	// Duplicates is the number of pods too many, Losses the number of pods too few.
	Duplicates int `json:"duplicates"`
	Losses     int `json:"losses"`
}

// measure runs the workload once, and returns what it cost.
func (r *run) measure(ctx context.Context) (Lap, error) {
	s := r.workload.sizes(r.config.Quick)
	if r.workload.prepare != nil {
		if err := r.workload.prepare(ctx, r, s); err != nil {
			return Lap{}, err
		}
	}
	before, err := r.point()
	if err != nil {
		return Lap{}, err
	}
	if err := r.workload.drive(ctx, r, s); err != nil {
		return Lap{}, r.orWrong(ctx, err)
	}
	if err := r.rest(ctx); err != nil {
		return Lap{}, err
	}
	after, err := r.point()
	if err != nil {
		return Lap{}, err
	}
	lap := Lap{Figures: r.extra, Others: others(before.mark, after.mark, r.gone.cpu), Jobs: len(r.shapes), Runs: len(r.crons.runs)}
	if lap.found, err = r.check(ctx); err != nil || lap.Wrong != "" {
		return Lap{found: lap.found}, err
	}
	lap.Pods = r.pods() // after check, because check may have set how many failed pods are expected
	for _, s := range r.shapes {
		lap.Failed += s.fail
	}
	pods := float64(lap.Pods)
	r.times(&lap)
	r.costs(lap.Figures, before, after, pods)
	lap.Requests, lap.Figures[keyEvents] = perPod(after.requests, r.contender.name, pods)
	if r.looker != nil {
		asked, _ := perPod(after.requests, Observer, 1)
		for what, n := range asked {
			lap.Figures[keyObserverRequests] += n
			if verb, _, _ := strings.Cut(what, " "); verb != "list" && verb != "watch" {
				lap.Wrong = fmt.Sprintf("the observer asked for %s", what)
				return lap, nil
			}
		}
	}
	for _, verb := range []string{"update", "patch"} {
		lap.Figures[keyStatus] += lap.Requests[verb+" jobs/status"] * pods / float64(max(1, lap.Jobs))
	}
	for what, n := range lap.Requests {
		// Watches are not counted, because the API server may end one in a burst, and the controller must then open
		// it again.
		if !strings.HasPrefix(what, "watch ") {
			lap.Figures[keyRequests] += n
		}
	}
	return lap, nil
}

// orWrong adds to err what is wrong with the Jobs now. After a timeout, for example, that is often the cause.
func (r *run) orWrong(ctx context.Context, err error) error {
	found, checking := r.check(context.WithoutCancel(ctx))
	if found.Wrong == "" {
		return errors.Join(err, checking)
	}
	return fmt.Errorf("%w; by then: %s", err, found.Wrong)
}

// pods returns how many pods the workload should create.
func (r *run) pods() (n int) {
	for _, s := range r.shapes {
		n += int(s.pods) + s.fail
	}
	return n
}

// point has what one run of a workload has cost from its start up to one moment.
type point struct {
	mark
	ledger   ledger
	requests []controlplane.Write // requests since the previous point
}

func (r *run) point() (p point, err error) {
	looker := 0
	if r.looker != nil {
		looker = r.looker.pid
	}
	if p.mark, err = r.mark(r.process.pid, looker); err != nil {
		return p, err
	}
	if r.contender.name == Ours {
		if p.ledger, err = ledgerIn(logIn(r.dir)); err != nil {
			return p, err
		}
	}
	p.requests, r.audited, err = r.cp.WritesSince(r.audited)
	return p, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile returns the smallest value that at least percent of all values do not exceed. It sorts all.
func quantile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)*percent+99)/100-1]
}

// costs adds the figures that come from the kernel and from the log. before and after are the costs at the beginning
// and the end, and pods is the number of pods.
func (r *run) costs(figures map[string]float64, before, after point, pods float64) {
	// A killed process's usage is in neither mark, and the counters of its successor began at zero. So add what it
	// used.
	cpu := r.gone.cpu + after.contender.cpu - before.contender.cpu
	written := r.gone.written + after.contender.written - before.contender.written
	figures[keyCPU] = milliseconds(cpu) / pods
	figures[keyServerCPU] = milliseconds(after.server.cpu-before.server.cpu) / pods
	figures[keyEtcdCPU] = milliseconds(after.etcd.cpu-before.etcd.cpu) / pods
	figures[keyClusterCPU] = milliseconds(r.gone.cpu+after.cluster()-before.cluster()) / pods
	if r.config.Setting.Profile == Cluster {
		figures[keyAroundCPU] = milliseconds(after.around.cpu-before.around.cpu) / pods
	}
	if r.line.pid != 0 {
		figures[keyLinkCPU] = milliseconds(after.link.cpu-before.link.cpu) / pods
	}
	figures[keyBenchCPU] = milliseconds(after.self.cpu-before.self.cpu) / pods
	figures[keyPeak] = float64(max(r.gone.peak, after.contender.peak)) / (1 << 20)
	figures[keyWritten] = float64(written) / 1024 / pods
	if r.looker != nil {
		figures[keyObserverCPU] = milliseconds(after.observer.cpu-before.observer.cpu) / pods
		figures[keyObserverShare] = float64(after.observer.cpu-before.observer.cpu) / float64(cpu)
		figures[keyObserverPeak] = float64(after.observer.peak) / (1 << 20)
	}
	if r.contender.name == Ours {
		figures[keyGrown] = float64(after.ledger.grown-before.ledger.grown) / 1024 / pods
		figures[keyCommits] = float64(after.ledger.commits-before.ledger.commits) / pods
	}
}

// others returns which share of the machine's CPU time was used by processes outside the bench, between two marks
// (usages at a moment). gone is the CPU time of the bench's processes that were killed, which neither mark has.
func others(before, after mark, gone time.Duration) float64 {
	own := gone
	for _, p := range [][2]usage{
		{before.contender, after.contender}, {before.observer, after.observer}, {before.server, after.server}, {before.etcd, after.etcd}, {before.around, after.around},
		{before.link, after.link}, {before.self, after.self},
	} {
		own += p[1].cpu - p[0].cpu
	}
	busy := after.machine.busy - before.machine.busy
	return max(0, float64(busy-own)/float64(after.machine.all-before.machine.all))
}

// perPod returns how many requests a user sent for each pod, by verb and resource, and separately the number for
// Events. It leaves out Leases and SelfSubjectAccessReviews.
func perPod(requests []controlplane.Write, user string, pods float64) (all map[string]float64, events float64) {
	counts := map[string]int{}
	for _, w := range requests {
		switch {
		case w.User != user || w.Resource == "leases" || w.Resource == "selfsubjectaccessreviews":
		case w.Resource == "events":
			events++
		case w.Code >= 400:
			counts[fmt.Sprintf("%s %s (%d)", w.Verb, w.Resource, w.Code)]++
		default:
			counts[w.Verb+" "+w.Resource]++
		}
	}
	all = map[string]float64{}
	for what, n := range counts {
		all[what] = float64(n) / pods
	}
	return all, events / pods
}

// summary describes a lap (one run of a workload) in one line.
func (l Lap) summary() string {
	if l.Wrong != "" {
		return "WRONG: " + l.Wrong
	}
	var words []string
	for _, f := range Figures {
		if v, ok := l.Figures[f.Key]; ok && f.Brief {
			words = append(words, fmt.Sprintf("%s %s", f.Title, f.format(v)))
		}
	}
	return strings.Join(append(words, fmt.Sprintf("others %.0f %%", 100*l.Others)), ", ")
}
