package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slot is the unit of time in a scenario. No backoff (10 s, 20 s, … 10 min) and no deadline in a scenario ends near a
// multiple of 70 s. So it does not matter if one controller acts a second later than the other.
const slot = 70 * time.Second

// lastWait is the number of slots (of 70 s) after the last action. That is longer than both controllers ever wait.
const lastWait = 30

// Scenario describes the objects of a simulated cluster, and a list of timed actions on them.
type Scenario struct {
	Nodes    string   // words for the kubelets: "start=1s stop=5s"; see [kubelets]
	Jobs     []string // one Job a line: its name and words; see [newJob]
	CronJobs []string // one CronJob a line; see [newCronJob]
	Steps    []Step
}

// Step is a list of actions ("deeds") that happen at once, after a wait.
type Step struct {
	Wait  time.Duration
	Deeds []string // the actions; deeds.go and crondeeds.go list them
}

// wait returns s.Wait as it is written in a scenario: as a number of slots (of 70 s), or as a duration.
func (s Step) wait() string {
	if s.Wait%slot == 0 {
		return strconv.Itoa(int(s.Wait / slot))
	}
	return s.Wait.String()
}

func parseWait(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(n) * slot, nil
	}
	return time.ParseDuration(text)
}

// Parse reads a scenario, in the form that String writes:
//
//	kubelet start=1s stop=5s
//	job a indexed completions=3 parallelism=2
//	+0 create a
//	+1 fail a:0 exit=3; suspend a
//
// A wait may be a duration, too: "+90s". Lines that begin with # are comments.
func Parse(text string) (Scenario, error) {
	var s Scenario
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		first, others, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case first == "kubelet":
			s.Nodes = others
		case first == "job":
			s.Jobs = append(s.Jobs, others)
		case first == "cronjob":
			s.CronJobs = append(s.CronJobs, others)
		case strings.HasPrefix(first, "+"):
			wait, err := parseWait(first[1:])
			if err != nil {
				return s, fmt.Errorf("line %d: %w", n+1, err)
			}
			step := Step{Wait: wait}
			for _, deed := range strings.Split(others, ";") {
				step.Deeds = append(step.Deeds, strings.TrimSpace(deed))
			}
			s.Steps = append(s.Steps, step)
		default:
			return s, fmt.Errorf("line %d: %q is neither a job, a cronjob nor a step", n+1, line)
		}
	}
	return s, nil
}

// String returns the scenario in the form that [Parse] reads.
func (s Scenario) String() string {
	var b strings.Builder
	if s.Nodes != "" {
		fmt.Fprintf(&b, "kubelet %s\n", s.Nodes)
	}
	for _, j := range s.Jobs {
		fmt.Fprintf(&b, "job %s\n", j)
	}
	for _, c := range s.CronJobs {
		fmt.Fprintf(&b, "cronjob %s\n", c)
	}
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "+%s %s\n", step.wait(), strings.Join(step.Deeds, "; "))
	}
	return b.String()
}

// controller is one of the two controllers that are compared, in a cluster of its own.
type controller interface {
	// do carries out all actions before the controller sees any of them.
	do(deeds []string) error
	// pass lets time pass.
	pass(time.Duration) error
}

// killed returns a copy of the scenario in which each kill in the middle of work ("die 3") comes `later` writes
// later, or earlier if that is negative. at reports whether there is such a kill.
func (s Scenario) killed(later int) (shifted Scenario, at bool) {
	shifted = s
	shifted.Steps = slices.Clone(s.Steps)
	for i, step := range s.Steps {
		shifted.Steps[i].Deeds = slices.Clone(step.Deeds)
		for k, deed := range step.Deeds {
			var n int
			if _, err := fmt.Sscanf(deed, "die %d", &n); err == nil && n > 0 {
				shifted.Steps[i].Deeds[k] = fmt.Sprintf("die %d", max(n+later, 0))
				at = true
			}
		}
	}
	return shifted, at
}

// play runs the scenario until nothing happens any more. The controller must just have been started.
func (s Scenario) play(c controller) error {
	for n, step := range s.Steps {
		if err := c.pass(step.Wait); err != nil {
			return fmt.Errorf("before step %d: %w", n+1, err)
		}
		if err := c.do(step.Deeds); err != nil {
			return fmt.Errorf("step %d: %w", n+1, err)
		}
	}
	if end := s.end(); len(end) > 0 {
		if err := c.pass(slot); err != nil {
			return err
		}
		if err := c.do(end); err != nil {
			return err
		}
	}
	return c.pass(lastWait * slot)
}

// end returns the actions after the last step: a watch that is still held delivers again, and a controller that is
// dead is started.
func (s Scenario) end() (deeds []string) {
	last := map[string]string{}
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			switch verb, _, _ := strings.Cut(deed, " "); verb {
			case "die", "start":
				last["start"] = verb
			case "hold", "release":
				last["release"] = verb
			}
		}
	}
	for _, deed := range []string{"release", "start"} {
		if last[deed] != "" && last[deed] != deed {
			deeds = append(deeds, deed)
		}
	}
	return deeds
}
