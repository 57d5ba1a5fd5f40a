package incidents

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// podCause is an action on one pod of a Job.
type podCause struct {
	name   string
	phases string   // phases in which it is possible, see podPhases
	pool   bool     // the action is on a node, so the Job has its own nodes
	option []option // of the Job
	stops  bool     // the pod is asked to end, and ends with 143 if it runs
	lives  bool     // the pod runs on
	did    string
	says   []string // regular expressions: an answer must match each
	pod    []string // the same for an answer about the pod, if its words differ
	may    string   // signatures that are true, see package judge
	exits  []int32
	do     func(*situation, *corev1.Pod)
}

// podPhases are the times of the action.
var podPhases = map[string]string{
	"pending":  "the pod has a node and has not started",
	"running":  "the pod runs",
	"last":     "the pod runs, and the try before exited 3: there is no other",
	"first":    "the pod runs; the next try exits 3, and is the last",
	"deleting": "the pod runs, and tom has deleted it: it takes its time to end",
	"after":    "the pod has exited 3, and the Job has failed",
}

// podRow returns the situation of a cause with a shape in a phase.
func podRow(c *podCause, sh shape, phase string) row {
	return row{cause: c.name, shape: sh.name, phase: phase, stage: func(s *situation) { s.stagePod(c, sh, phase) }}
}

func (s *situation) stagePod(c *podCause, sh shape, phase string) {
	options := slices.Concat(sh.options, c.option)
	if c.pool {
		s.node(s.nodeName("a"), s.name, s.small(c))
		options = append(options, pool(s.name))
	}
	s.told.Did, s.told.True = c.did+"; "+podPhases[phase], strings.Fields(c.may)
	if phase == "deleting" {
		options = append(options, stopsAfter("8s"))
	} else {
		options = append(options, stopsAfter("1s"))
	}
	s.submit(options...)
	p := s.bring(phase)
	if c.stops && phase != "pending" {
		s.told.Exits = append(s.told.Exits, 143)
	}
	s.told.Exits = append(s.told.Exits, c.exits...)
	c.do(s, p)
	s.settle(c, p, phase)
	s.tell(c, sh, phase)
}

// bring brings the Job and its pod to the phase of the action.
func (s *situation) bring(phase string) *corev1.Pod {
	p := s.next()
	if phase == "last" {
		s.fail(p, 3)
		p = s.next()
	}
	s.hit(p)
	if phase == "pending" {
		return p
	}
	s.kubelet(p, runs(0))
	s.pass(2 * time.Second)
	switch phase {
	case "deleting":
		s.deletePod(tom, p.Name, -1)
		s.told.Exits = append(s.told.Exits, 143)
		s.pass(time.Second)
	case "after":
		s.exit(p, 3)
		s.awaitEnd(s.truth)
		s.pass(time.Second)
	}
	return p
}

// settle plays everything after the action, to the end of the Job.
func (s *situation) settle(c *podCause, p *corev1.Pod, phase string) {
	if phase == "after" {
		s.pass(2 * time.Second)
		return
	}
	if c.lives {
		s.pass(2 * time.Second)
		s.succeed(p)
	}
	s.await(s.truth, "the pod has ended", func(v view) bool {
		for _, x := range v.pods {
			if x.UID == p.UID {
				return ended(x)
			}
		}
		return true
	})
	if c.pool {
		s.node(s.nodeName("b"), s.name, nil) // room for later pods
	}
	if phase == "first" {
		s.fail(s.next(), 3)
	}
	s.succeedRest()
	s.pass(time.Second)
}

// tell writes down what answers must say.
func (s *situation) tell(c *podCause, sh shape, phase string) {
	if sh.name == "ttl" {
		s.may("ttl")
	}
	if sh.name == "success" {
		s.stopped() // pods that successPolicy does not wait for, if they had started
	}
	switch phase {
	case "after":
		s.says(`exit(ed)? 3\b`)
		s.told.PodSays = [][]string{{`exit(ed)? 3\b`}}
		return
	case "deleting":
		s.may("client")
		s.says(`deleted .*by an API client`)
		s.told.PodSays = [][]string{{`by an API client|ENDED BY API client`}}
		return
	}
	for _, w := range c.says {
		s.says(w)
	}
	for _, w := range append(slices.Clone(c.pod), map[bool][]string{true: c.says}[c.pod == nil]...) {
		s.told.PodSays = append(s.told.PodSays, []string{w})
	}
	if phase == "last" || phase == "first" {
		s.says(`exit(ed)? 3\b`)
	}
}

// nodeName returns the name of a node that only this situation uses.
func (s *situation) nodeName(which string) string { return s.name + "-" + which }
