package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// limit is what Jobledger may ask of the API server and of its disk for one workload. Counts do not depend on how fast
// the machine is, but for this: a Job that takes longer publishes its progress each second, which one of a single pod
// has once, and what is seen without anything to be done about it is written down every 100 ms.
type limit struct {
	writes  float64 // of status, for each Job, beside one a second for each of the large ones, and one for each single that is late
	large   float64 // Jobs that are many pods
	single  bool    // the Jobs are of one pod
	waits   float64 // seconds that every Job takes at least, 0 for none; each more is worth a write for each
	commits float64 // for each pod, beside ten a second
	runs    float64 // writes of the status of a CronJob, for each of its runs
	life    bool    // pods run for a while: each second of each Job is worth a write, in the place of single, waits and wall time
}

// progressAfter is how long a Job takes at least whose progress is published.
const progressAfter = time.Second

// limits are what was counted and some more; who lowers a count lowers its limit. What a kill in the middle costs (w5)
// depends on when it strikes, and nothing is asked while Jobs only lie about (w6).
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
	strayRequests = 0.02 // for each pod, and one in any case: conflicts, and what is asked again
	lifeCommits   = 1    // for each pod in life, where ends are seconds apart and gather less: 0.74 were counted on a quiet machine, 0.4 on a busy one
	manyHeld      = 45   // pods that are counted by one write at least, and somewhat fewer when the last ones of a Job run

	// Events of a Job: of its end, of its pod; of many pods nine for themselves and two requests for the others, beside
	// one each three seconds.
	eventsOfAny  = 2
	eventsOfMany = 10
	countedEvery = 3 // seconds
)

// Grown lists what cost more requests, Events or commits than the limits allow, one line each.
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

// exceeded says which limits a lap exceeds.
func (m limit) exceeded(lap *Lap) (lines []string) {
	wall, pods := lap.Figures[keyWall], float64(lap.Pods)
	most := map[string]float64{
		"create pods": 1, "patch pods": 1, "update jobs/status": (m.writes*float64(lap.Jobs) + m.progress(lap)) / pods,
		// Watches that the API server ended meanwhile, as it may at any time.
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

// progress is how many status writes a lap may make that show progress, beside those that each Job has anyway.
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

// events is how many requests for Events a lap may make.
func (m limit) events(lap *Lap) float64 {
	many := m.large
	if m.waits > 0 {
		many = float64(lap.Jobs)
	}
	return eventsOfAny*float64(lap.Jobs) + float64(lap.Failed) + many*(eventsOfMany+math.Ceil(lap.Figures[keyWall]/countedEvery))
}
