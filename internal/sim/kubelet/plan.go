package kubelet

import (
	"math/rand/v2"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/sim/apiserver"
)

// Annotations by which a Pod says how it goes. What is absent or cannot be read is decided by the seed.
const (
	// AnnotationRun is how long each run of the containers takes ("90s"), or "forever".
	AnnotationRun = "sim.jobledger.dev/run"
	// AnnotationExit is the exit code of the containers; with one of the two below, of those that fail.
	AnnotationExit = "sim.jobledger.dev/exit"
	// AnnotationFailIndexes is an index set ("0,2-4"): Pods of these completion indexes fail, others succeed.
	AnnotationFailIndexes = "sim.jobledger.dev/fail-indexes"
	// AnnotationFailAttempts is how many runs fail before one succeeds, counted per Job and index.
	AnnotationFailAttempts = "sim.jobledger.dev/fail-attempts"
)

const forever = "forever"

// Range is a duration drawn between two bounds, both included, in whole seconds when both are.
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

// attempt names what runs are counted by.
type attempt struct {
	job   types.UID
	index string
}

func attemptOf(pod *corev1.Pod) attempt {
	return attempt{apiserver.ControllerOf(pod), pod.Annotations[batchv1.JobCompletionIndexAnnotation]}
}

// runTime is how long the next run takes; endless is true when it does not end by itself.
func (k *Kubelet) runTime(pod *corev1.Pod) (d time.Duration, endless bool) {
	text := pod.Annotations[AnnotationRun]
	if text == forever {
		return 0, true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, false
	}
	return k.cfg.RunTime.draw(k.cfg.Rand), false
}

// exitCode decides the run that ends now, and counts it.
func (k *Kubelet) exitCode(pod *corev1.Pod) int32 {
	which := attemptOf(pod)
	k.attempts[which]++
	code, asked := exitAsked(pod)
	switch {
	case pod.Annotations[AnnotationFailIndexes] != "":
		if !failsByIndex(pod) {
			return 0
		}
	case pod.Annotations[AnnotationFailAttempts] != "":
		if n, err := strconv.Atoi(pod.Annotations[AnnotationFailAttempts]); err == nil && k.attempts[which] > n {
			return 0
		}
	case !asked && k.cfg.Rand.Float64() >= k.cfg.FailRate:
		return 0
	}
	return code
}

// exitAsked is the exit code of a run that fails, 1 unless the Pod asks for another.
func exitAsked(pod *corev1.Pod) (code int32, asked bool) {
	n, err := strconv.ParseInt(pod.Annotations[AnnotationExit], 10, 32)
	if err != nil {
		return 1, false
	}
	return int32(n), true
}

func failsByIndex(pod *corev1.Pod) bool {
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return false
	}
	set, err := apiserver.IndexSet(pod.Annotations[AnnotationFailIndexes], 1<<30)
	return err == nil && set[int32(index)]
}
