package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// limit says how many requests and commits (durable writes of the log) Jobledger may need for one workload. Most of
// these counts do not depend on the speed of the machine. Two do: a slow Job publishes its progress each second (a Job
// of one pod, once), and observations that need no action are stored every 100 ms.
type limit struct {
	// status writes for each Job. In addition, one a second is allowed for each large Job, and one for each Job of a
	// single pod that takes over 1 s
	writes float64
	large  float64 // number of large Jobs (Jobs with many pods)
	single bool    // the Jobs have one pod
	// seconds that every Job takes at least; 0: none. For each second more, one more status write is allowed for each
	// Job
	waits   float64
	commits float64 // commits (durable writes) for each pod; in addition, ten a second are allowed
	runs    float64 // status writes of a CronJob for each of its runs
	// pods run for a while (profile life). Then each second of each Job allows one status write, and single, waits and
	// the time of the workload do not count
	life bool
}

// progressAfter is the time after which a Job that still runs publishes its progress.
const progressAfter = time.Second

// limits has the limits of each workload: the measured counts, plus a margin. If you lower a count, lower its limit. w5
// has no limits, because the cost of a kill depends on its time, and w6 has none, because finished Jobs cause no
// requests.
var limits = map[string]limit{
	"w1":  {writes: 1, single: true, commits: 4},
	"w2":  {writes: 1.5, single: true, commits: 1.2},
	"w3":  {writes: 2, large: 1, commits: 0.15},
	"w3i": {writes: 2, large: 1, commits: 0.15},
	"w4":  {writes: 5, waits: 12, commits: 0.6},
	"w7":  {writes: 1.1, single: true, commits: 4},
	"w8":  {writes: 2, large: 1, commits: 0.8},
	"w9":  {writes: 2, large: 1, commits: 0.15},
	"w10": {writes: 1.1, single: true, commits: 4},
	"w11": {writes: 1.1, single: true, commits: 3, runs: 2},
	"w12": {writes: 1.1, single: true, commits: 3, runs: 2},
}

const (
	strayRequests = 0.02 // other requests for each pod, such as conflicts and retries; at least one is allowed
	// commits (durable writes of the log) for each pod that profile life allows in addition, because ends that are
	// seconds apart share fewer commits: 0.74 measured on a quiet machine, 0.4 on a busy one
	lifeCommits = 1
	// number of pods that one status write counts at least; a bit low, because of the last pods of a Job
	manyHeld = 45

	// Requests for Kubernetes Events. A Job causes two: one for its end, one for its pod. A Job with many pods causes
	// ten more, eight about single pods and two about the rest; and it causes one more every three seconds.
	eventsOfAny  = 2
	eventsOfMany = 10
	countedEvery = 3 // seconds
)

// Grown lists the workloads that needed more requests, Events or commits than their limits allow, with one line for
// each limit.
func (r *Report) Grown() (lines []string) {
	for _, o := range r.Outcomes {
		most, ok := limits[o.Workload]
		most.life = r.Setting.Profile != Instant
		for i, lap := range o.Laps[Ours] {
			if ok && lap.Wrong == "" {
				for _, line := range most.exceeded(&lap) {
					lines = append(lines, fmt.Sprintf("%s, round %d: %s", o.Workload, i+1, line))
				}
			}
		}
	}
	return lines
}

// exceeded returns one line for each limit that a lap (one run of a workload) exceeds.
func (m limit) exceeded(lap *Lap) (lines []string) {
	wall, pods := lap.Figures[keyWall], float64(lap.Pods)
	most := map[string]float64{
		"create pods": 1, "patch pods": 1, "update jobs/status": (m.writes*float64(lap.Jobs) + m.progress(lap)) / pods,
		// Watches have no limit, because the API server may end them at any time.
		"watch pods": math.Inf(1), "watch jobs": math.Inf(1), "watch cronjobs": math.Inf(1),
	}
	if lap.Runs > 0 {
		most["create jobs"], most["update cronjobs/status"] = float64(lap.Runs)/pods, m.runs*float64(lap.Runs)/pods
	}
	for _, what := range slices.Sorted(maps.Keys(lap.Requests)) {
		limit, known := most[what]
		if !known {
			limit = max(strayRequests, 1/pods)
		}
		if each := lap.Requests[what]; each > limit+1e-9 {
			lines = append(lines, fmt.Sprintf("%q is asked %.4f times for each pod, more than %.4f", what, each, limit))
		}
	}
	if most := m.events(lap); m.runs == 0 && lap.Figures[keyEvents]*pods > most+0.5 {
		lines = append(lines, fmt.Sprintf("%.0f requests for Events, more than %.0f", lap.Figures[keyEvents]*pods, most))
	}
	limit := m.commits + 10*wall/pods
	if m.life {
		limit += lifeCommits
	}
	if lap.Figures[keyCommits] > limit {
		lines = append(lines, fmt.Sprintf("%.3f commits for each pod, more than %.3f", lap.Figures[keyCommits], limit))
	}
	return lines
}

// progress returns how many status writes are allowed in a lap (one run of a workload) in addition to those that each
// Job needs. Longer laps may have more.
func (m limit) progress(lap *Lap) float64 {
	wall, held := lap.Figures[keyWall], float64(lap.Pods)/manyHeld
	if m.life {
		return math.Ceil(lap.Seconds + m.large*held)
	}
	progress := m.large * math.Ceil(wall+held)
	if m.single {
		progress += float64(lap.Late)
	}
	if m.waits > 0 {
		progress += float64(lap.Jobs) * max(0, math.Ceil(wall-m.waits))
	}
	return progress
}

// events returns how many requests for Kubernetes Events are allowed in a lap (one run of a workload).
func (m limit) events(lap *Lap) float64 {
	many := m.large
	if m.waits > 0 {
		many = float64(lap.Jobs)
	}
	return eventsOfAny*float64(lap.Jobs) + float64(lap.Failed) + many*(eventsOfMany+math.Ceil(lap.Figures[keyWall]/countedEvery))
}
