package incidents

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stuckCause keeps a Job from making progress.
type stuckCause struct {
	name    string
	options []option
	named   func(string) option           // an option that uses the name of the situation
	prepare func(*situation)              // runs before the Job is created
	kubelet func(*situation, *corev1.Pod) // plays the kubelet of a pod with a node
	lift    func(*situation)              // removes the cause; nil: not possible, or another situation
	refused bool                          // the API server refuses the pods: an observer cannot know why
	nopod   bool                          // no pod should be created
	did     string
	says    []string
	may     string
	exits   []int32
}

// stuckPhases are the ways in which the situation goes on.
var stuckPhases = map[string]string{
	"stuck":    "nothing changes",
	"deadline": "activeDeadlineSeconds (9) passes",
	"lifted":   "after some seconds the cause is taken away",
	"deleted":  "after some seconds maria deletes the Job",
}

func stuckRows() (all []row) {
	for _, c := range stuckCauses {
		for _, phase := range []string{"stuck", "deadline", "lifted", "deleted"} {
			for _, sh := range []string{"limit3", "indexed"} {
				switch {
				case phase == "lifted" && c.lift == nil,
					phase == "deadline" && c.suspends(), // a suspended Job has not started
					sh == "indexed" && (phase != "stuck" || c.name == "crashloop"):
					continue
				}
				all = append(all, row{cause: c.name, shape: sh, phase: phase, stage: func(s *situation) { s.stageStuck(c, shapeOf(sh), phase) }})
			}
		}
	}
	return all
}

func (c *stuckCause) suspends() bool { return strings.HasPrefix(c.name, "suspend") }

func (s *situation) stageStuck(c *stuckCause, sh shape, phase string) {
	s.told.Did, s.told.True, s.told.Exits = c.did+"; "+stuckPhases[phase], strings.Fields(c.may), c.exits
	if c.prepare != nil {
		c.prepare(s)
	}
	options := slices.Concat(sh.options, c.options, []option{stopsAfter("1s")})
	if c.name == "selector" || c.name == "untolerated" || c.name == "small" {
		options = append(options, pool(s.name))
	}
	if c.named != nil {
		options = append(options, c.named(s.name))
	}
	if phase == "deadline" {
		options = append(options, deadline(9))
		s.may("deadline")
		s.says(`activeDeadlineSeconds`)
	}
	s.submit(options...)
	if c.kubelet != nil {
		p := s.next()
		s.hit(p)
		c.kubelet(s, p)
	}
	s.tellStuck(c)
	switch phase {
	case "stuck":
		s.pass(8 * time.Second)
	case "deadline":
		s.awaitEnd(s.truth)
	case "lifted":
		s.told.PodSays = nil // it succeeds in the end
		if c.name == "volume" {
			s.told.Says = [][]string{{`starting`}} // a long start is not unusual
		}
		s.pass(7 * time.Second)
		c.lift(s)
		s.played = map[uid]bool{}
		s.succeedRest()
	case "deleted":
		s.pass(7 * time.Second)
		s.may("client")
		s.says(`by an API client`)
		s.deleteJob(maria, s.truth.Job, "Background")
		s.awaitGone(s.truth)
	}
}

// tellStuck writes down what answers must say.
func (s *situation) tellStuck(c *stuckCause) {
	if c.refused && s.mode == situationsObserved {
		s.told.Untold = "the API server tells a refusal to the controller that asked, and no Job or pod shows it"
		s.says(`no pod came|no pod has come|no pod`)
		s.may("schedule", "quota", "refused", "edit") // the answer names them as missing knowledge
		return
	}
	for _, w := range c.says {
		s.says(w)
		if c.kubelet != nil && !strings.Contains(w, "exit") { // attempts shows exit codes of ended tries only
			s.told.PodSays = append(s.told.PodSays, []string{w})
		}
	}
}
