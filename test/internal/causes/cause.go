package causes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Cause is something that a kubelet says of a pod of a Job.
type Cause struct {
	Name string
	Did  string   // in words
	Says []string // regular expressions: an answer has each
	May  string   // names of the signatures that are true, see package judge
	// Exits are the exit codes that containers have.
	Exits []int32
	// Runs: the pod has run before.
	Runs bool
	// Words are what a kubelet writes, as the generator plays it.
	Words []Step
}

// soon is how long a kubelet takes from one write to the next.
const soon = 300 * time.Millisecond

// Step is one write of a kubelet.
type Step struct {
	After time.Duration // behind the step before it
	Write func(pod *corev1.Pod, status *corev1.PodStatus)
}

// Named is the cause of that name.
func Named(name string) *Cause {
	i := slices.IndexFunc(table, func(c Cause) bool { return c.Name == name })
	if i < 0 {
		panic("no cause " + name)
	}
	return &table[i]
}

// Table is all causes.
func Table() []Cause { return table }

// after is one write, some time behind the one before it.
func after(d time.Duration, change func(*corev1.PodStatus)) Step {
	return Step{d, func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}
}

// once is one write, whatever the pod.
func once(change func(*corev1.PodStatus)) []Step {
	return []Step{{Write: func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}}
}
