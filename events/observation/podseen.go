package observation

import (
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// podFacts holds the content of a Pod object. route.go adds what depends on the known Jobs each time the pod is
// reported: Tracked, Selected and Candidates.
type podFacts struct {
	seen     events.PodSeen // without Tracked, Selected and Candidates; with all conditions
	evidence events.Evidence
	owner    events.JobRef // its controller, if that is a batch/v1 Job
	labels   map[string]string
	ours     bool // has events.TrackingFinalizer
	builtin  bool // has events.BuiltinTrackingFinalizer
	marked   bool // has the annotation of a create or an adoption, of any log
	claim    events.Claim
}

// readPod does the same as the function readPod, and two things more: it drops a claim (annotation that names the
// create command) whose seal, a keyed hash, is not valid, and it trims the texts that the namespace does not keep.
func (feed *Feed) readPod(pod *kubewire.Pod, version uint64) *podFacts {
	f := readPod(pod, version, feed.identity)
	if f.claim != (events.Claim{}) && pod.Annotations[events.SealAnnotation] != feed.key.Seal(pod.Namespace, pod.Annotations[events.CommandAnnotation]) {
		f.claim = events.Claim{}
	}
	feed.messages.trim(&f.evidence)
	return f
}

// readPod reads from a pod at this version what an observation may need. identity is that of the log: pods that this
// log created get the ordinal of their create.
func readPod(pod *kubewire.Pod, version uint64, identity events.Identity) *podFacts {
	f := &podFacts{
		seen: events.PodSeen{
			UID:     pod.UID,
			Version: version,
			Phase:   phaseOf(pod.Status.Phase),
			Created: events.At(pod.CreationTimestamp.Time),
			Deleted: instant(pod.DeletionTimestamp),

			DeletionGracePeriodSeconds: pod.DeletionGracePeriodSeconds,

			Index:     indexOf(pod),
			Scheduled: pod.Spec.NodeName != "",

			IndexFailures:        count(pod.Annotations[batchv1.JobIndexFailureCountAnnotation]),
			IndexIgnoredFailures: count(pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation]),
		},
		labels:  pod.Labels,
		ours:    slices.Contains(pod.Finalizers, events.TrackingFinalizer),
		builtin: slices.Contains(pod.Finalizers, events.BuiltinTrackingFinalizer),
		marked:  pod.Annotations[events.CommandAnnotation] != "",
	}
	if c := metav1.GetControllerOfNoCopy(pod); c != nil {
		if c.Kind == "Job" && c.APIVersion == batchv1.SchemeGroupVersion.String() {
			f.owner = events.JobRef{Namespace: pod.Namespace, Name: bounded(c.Name, maxName), UID: boundedUID(c.UID)}
			f.seen.Owner = f.owner.UID
		} else {
			f.seen.Foreign = true
		}
	}
	id, job, ordinal, ok := events.ParseCommand(pod.Annotations[events.CommandAnnotation])
	job = boundedUID(job)
	if ok && f.seen.Owner == "" && !f.seen.Foreign {
		f.seen.Maker = job
	}
	if ok && id == identity && (job == f.seen.Owner || job == f.seen.Maker) {
		f.seen.Ordinal = ordinal
	}
	if ok && id.LogID == identity.LogID {
		f.claim = events.Claim{Epoch: id.Epoch, Job: job, Ordinal: ordinal}
	}
	readStatus(pod, &f.seen)
	f.evidence = podEvidence(pod)
	return f
}

func phaseOf(p corev1.PodPhase) events.PodPhase {
	switch p {
	case corev1.PodPending:
		return events.PodPending
	case corev1.PodRunning:
		return events.PodRunning
	case corev1.PodSucceeded:
		return events.PodSucceeded
	case corev1.PodFailed:
		return events.PodFailed
	case corev1.PodUnknown:
		return events.PodUnknown
	}
	return events.PodPhaseNone
}

// indexOf returns the completion index in the pod's annotation; NoIndex when it is not an integer from 0 to MaxInt32.
func indexOf(pod *kubewire.Pod) int32 {
	annotation := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if annotation == "" { // the usual case; parsing would allocate an error
		return events.NoIndex
	}
	n, err := strconv.Atoi(annotation)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return events.NoIndex
	}
	return int32(n)
}

// count parses a failure count. A missing, invalid or negative number, or one above MaxInt32, is 0 (J-116).
func count(annotation string) uint32 {
	if annotation == "" {
		return 0
	}
	n, err := strconv.Atoi(annotation)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return uint32(n)
}

func readStatus(pod *kubewire.Pod, seen *events.PodSeen) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			seen.Ready, seen.ReadySince = true, events.At(c.LastTransitionTime.Time)
		}
		seen.Conditions = append(seen.Conditions, events.PodCondition{Type: string(c.Type), Status: string(c.Status)})
	}
	sidecars := pod.Spec.Sidecars
	// Regular containers come before init containers, because exit code rules are checked in that order (J-129)
	for _, c := range pod.Status.ContainerStatuses {
		n := uint32(max(c.RestartCount, 0))
		seen.Restarts += n
		seen.MaxRestarts = max(seen.MaxRestarts, n)
		addExit(seen, &c, false)
	}
	for _, c := range pod.Status.InitContainerStatuses {
		n := uint32(max(c.RestartCount, 0))
		seen.Restarts += n
		if slices.Contains(sidecars, c.Name) {
			seen.MaxSidecarRestarts = max(seen.MaxSidecarRestarts, n)
		}
		addExit(seen, &c, true)
	}
	if seen.Phase.Terminal() || seen.Deleted != 0 {
		seen.Finished = finishTime(pod, sidecars)
		seen.EndedFirst = endedFirst(pod, sidecars)
	}
	if !seen.Phase.Terminal() {
		seen.Waiting = waitingFor(pod)
		seen.Sandbox = sandboxOf(pod, seen.Waiting)
	}
}

func addExit(seen *events.PodSeen, c *kubewire.ContainerStatus, isInit bool) {
	if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
		seen.Exits = append(seen.Exits, events.ContainerExit{Name: bounded(c.Name, maxName), Init: isInit, Code: t.ExitCode})
	}
}
