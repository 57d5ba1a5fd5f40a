package causes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Cause is something that happens to a pod of a Job and that a kubelet writes down.
type Cause struct {
	Name string
	Did  string   // as a sentence
	Says []string // regular expressions; an answer must match each
	May  string   // names of the signatures that are true here, see package judge
	// Exits are the exit codes that containers have.
	Exits []int32
	// Runs: the pod has run before.
	Runs bool
	// Words are the writes of a kubelet, as the generator plays them.
	Words []Step
}

// soon is the time from one write of a kubelet to the next.
const soon = 300 * time.Millisecond

// Step is one write of a kubelet.
type Step struct {
	After time.Duration // time since the step before
	Write func(pod *corev1.Pod, status *corev1.PodStatus)
}

// Named returns the cause of that name.
func Named(name string) *Cause {
	i := slices.IndexFunc(table, func(c Cause) bool { return c.Name == name })
	if i < 0 {
		panic("no cause " + name)
	}
	return &table[i]
}

// Table returns all causes.
func Table() []Cause { return table }

// after is one write, at that time after the one before.
func after(d time.Duration, change func(*corev1.PodStatus)) Step {
	return Step{d, func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}
}

// once is one write that is the same for any pod.
func once(change func(*corev1.PodStatus)) []Step {
	return []Step{{Write: func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}}
}
