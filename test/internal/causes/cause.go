package causes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Cause is something that happens to a pod of a Job and that a kubelet writes into the pod's status.
type Cause struct {
	Name string
	Did  string   // what happens to the pod, as a sentence
	Says []string // regular expressions; Jobledger's answer about the pod must match each
	May  string   // names of other explanations that are true here, too (signatures of package judge)
	// Exits are the exit codes that containers have.
	Exits []int32
	// Runs is true if the pod runs before this happens.
	Runs bool
	// Words are the status writes of the kubelet, as the generator of test/incidents simulates them.
	Words []Step
}

// soon is the time that a kubelet takes between two status writes of these histories.
const soon = 300 * time.Millisecond

// Step is one status write of a simulated kubelet.
type Step struct {
	After time.Duration // time since the step before
	Write func(pod *corev1.Pod, status *corev1.PodStatus)
}

// Named returns the cause with this name. It panics if there is none.
func Named(name string) *Cause {
	i := slices.IndexFunc(table, func(c Cause) bool { return c.Name == name })
	if i < 0 {
		panic("no cause " + name)
	}
	return &table[i]
}

// Table returns all causes.
func Table() []Cause { return table }

// after returns a status write that comes d after the one before.
func after(d time.Duration, change func(*corev1.PodStatus)) Step {
	return Step{d, func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}
}

// once returns a history of a single status write. change needs no information about the pod.
func once(change func(*corev1.PodStatus)) []Step {
	return []Step{{Write: func(_ *corev1.Pod, status *corev1.PodStatus) { change(status) }}}
}
