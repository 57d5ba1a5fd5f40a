package kubelet

import (
	"math/rand/v2"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Annotations that decide how a Pod runs and ends. The control plane for integration tests (test/controlplane) supports
// the same, except AnnotationFailAttempts. If an annotation is absent or invalid, the seed decides.
const (
	// AnnotationOutcome is how the Pod ends: one of the outcomes below.
	AnnotationOutcome = "sim.jobledger.dev/outcome"
	// AnnotationFailIndexes is a set of completion indexes ("0,2-4") whose Pods fail. Other Pods end as
	// AnnotationOutcome says.
	AnnotationFailIndexes = "sim.jobledger.dev/fail-indexes"
	// AnnotationFailAttempts is how many runs fail, counted for each Job and index; later runs succeed.
	AnnotationFailAttempts = "sim.jobledger.dev/fail-attempts"
	// AnnotationExitCode is the exit code of containers that fail, 1 when absent.
	AnnotationExitCode = "sim.jobledger.dev/exit-code"
	// AnnotationRunFor is how long each run of the containers takes ("90s").
	AnnotationRunFor = "sim.jobledger.dev/run-for"
	// AnnotationStartAfter is how long the Pod stays Pending on its node.
	AnnotationStartAfter = "sim.jobledger.dev/start-after"
	// AnnotationStopAfter is how long its containers take to end once it is deleted.
	AnnotationStopAfter = "sim.jobledger.dev/stop-after"
)

// Outcomes of a Pod.
const (
	OutcomeSucceed = "succeed"
	OutcomeFail    = "fail"
	OutcomeRun     = "run"     // it runs until it is deleted
	OutcomePending = "pending" // it never starts
)

// Range is the bounds, both included, of a random duration. It is in whole seconds if both bounds are.
type Range struct{ Min, Max time.Duration }

func (r Range) draw(rng *rand.Rand) time.Duration {
	unit := time.Millisecond
	if r.Min%time.Second == 0 && r.Max%time.Second == 0 {
		unit = time.Second
	}
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(rng.Int64N(int64((r.Max-r.Min)/unit)+1))*unit
}

// attempt identifies an index of a Job (or a Job without indexes), to count how often its pods ran.
type attempt struct {
	job   types.UID
	index string
}

func attemptOf(pod *corev1.Pod) attempt {
	return attempt{apiserver.ControllerOf(pod), pod.Annotations[batchv1.JobCompletionIndexAnnotation]}
}

// waits maps a step to the annotation that sets its duration.
var waits = map[action]string{begin: AnnotationStartAfter, end: AnnotationRunFor, stop: AnnotationStopAfter}

// asked returns how long a step takes: as the Pod's annotation says, or else a random time in r.
func (k *Kubelet) asked(a action, pod *corev1.Pod, r Range) time.Duration {
	if d, err := time.ParseDuration(pod.Annotations[waits[a]]); err == nil && waits[a] != "" {
		return d
	}
	return r.draw(k.cfg.Rand)
}

// exitCode returns the exit code of the run that ends now, and counts the run.
func (k *Kubelet) exitCode(pod *corev1.Pod) int32 {
	which := attemptOf(pod)
	k.attempts[which]++
	if !k.fails(pod, k.attempts[which]) {
		return 0
	}
	if n, err := strconv.ParseInt(pod.Annotations[AnnotationExitCode], 10, 32); err == nil {
		return int32(n)
	}
	return 1
}

// fails reports whether a run fails. run is its number, from 1, among the runs of the same Job and index.
func (k *Kubelet) fails(pod *corev1.Pod, run int) bool {
	if failsByIndex(pod) {
		return true
	}
	if n, err := strconv.Atoi(pod.Annotations[AnnotationFailAttempts]); err == nil {
		return run <= n
	}
	switch pod.Annotations[AnnotationOutcome] {
	case OutcomeSucceed:
		return false
	case OutcomeFail:
		return true
	}
	return k.cfg.Rand.Float64() < k.cfg.FailRate
}

func failsByIndex(pod *corev1.Pod) bool {
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return false
	}
	set, err := apiserver.IndexSet(pod.Annotations[AnnotationFailIndexes], 1<<30)
	return err == nil && set[int32(index)]
}

// QuickAndSlow returns times that pods take to stop, shorter and longer than one second. Within one second a deleted
// pod may end by itself; after that it counts as failed (J-022).
func QuickAndSlow() []time.Duration {
	const ms = time.Millisecond
	return []time.Duration{0, 100 * ms, 300 * ms, 900 * ms, 1100 * ms, 3000 * ms, 25_000 * ms}
}
