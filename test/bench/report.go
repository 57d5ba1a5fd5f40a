package bench

import (
	"fmt"
	"time"
)

// Report is the result of a run of the bench.
type Report struct {
	At         time.Time     `json:"at"`
	Setting    Setting       `json:"setting"`
	Quick      bool          `json:"quick"`
	Rounds     int           `json:"rounds"`
	Kubernetes string        `json:"kubernetes"`
	Go         string        `json:"go"`
	Processor  string        `json:"processor"`
	CPUs       int           `json:"cpus"`
	Took       time.Duration `json:"took"`
	// Bench is the CPU time that the bench itself used: for the simulated kubelets, the stopwatch, and creating and
	// checking Jobs.
	Bench    time.Duration `json:"bench_cpu"`
	Outcomes []*Outcome    `json:"workloads"`
	Dir      string        `json:"-"`
}

// Outcome is the result of one workload, over all rounds.
type Outcome struct {
	Workload string           `json:"workload"`
	Title    string           `json:"title"`
	Laps     map[string][]Lap `json:"laps"` // by contender (compared controller), in the order of the rounds
	// Medians are the medians over the rounds, by contender and figure.
	Medians map[string]map[string]float64 `json:"medians"`
	// Ratios are, by figure, our value ÷ the built-in controller's in the same round. Each is the median over the
	// rounds.
	Ratios map[string]float64 `json:"ratios"`
	// Requests are the medians of requests for each pod, by contender, verb and resource.
	Requests map[string]map[string]float64 `json:"requests"`
	// Others is the largest share of the machine that other processes had in a lap (one run by one controller).
	Others float64 `json:"others"`
}

// Wrong lists the wrong outcomes, with one line for each lap (one workload, run once by one controller).
func (r *Report) Wrong() (lines []string) {
	for _, o := range r.Outcomes {
		for _, name := range contenders {
			for i, lap := range o.Laps[name] {
				if lap.Wrong != "" {
					lines = append(lines, fmt.Sprintf("%s by %s, round %d: %s", o.Workload, name, i+1, lap.Wrong))
				}
			}
		}
	}
	return lines
}

// summarise computes medians and ratios from the laps, without those with a wrong outcome.
func (o *Outcome) summarise() {
	o.Medians, o.Requests, o.Ratios = map[string]map[string]float64{}, map[string]map[string]float64{}, map[string]float64{}
	for name, laps := range o.Laps {
		figures, requests := map[string][]float64{}, map[string][]float64{}
		right := 0
		for _, lap := range laps {
			o.Others = max(o.Others, lap.Others)
			if lap.Wrong != "" {
				continue
			}
			right++
			collect(figures, lap.Figures)
			collect(requests, lap.Requests)
		}
		for kind := range requests { // a round without requests of this kind counts as 0
			for len(requests[kind]) < right {
				requests[kind] = append(requests[kind], 0)
			}
		}
		o.Medians[name], o.Requests[name] = medians(figures), medians(requests)
	}
	ratios := map[string][]float64{}
	for i, ours := range o.Laps[Ours] {
		if i >= len(o.Laps[Builtin]) {
			break
		}
		theirs := o.Laps[Builtin][i]
		for key, v := range ours.Figures {
			if w := theirs.Figures[key]; w != 0 && ours.Wrong == "" && theirs.Wrong == "" {
				ratios[key] = append(ratios[key], v/w)
			}
		}
	}
	o.Ratios = medians(ratios)
	for _, f := range Figures {
		if f.Aside {
			delete(o.Ratios, f.Key)
		}
	}
}

func collect(to map[string][]float64, from map[string]float64) {
	for key, v := range from {
		to[key] = append(to[key], v)
	}
}

func medians(of map[string][]float64) map[string]float64 {
	out := map[string]float64{}
	for key, all := range of {
		out[key] = median(all)
	}
	return out
}
