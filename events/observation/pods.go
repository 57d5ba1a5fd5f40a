package observation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// pods observes pods. route.go decides which of them concern us.
type pods struct {
	resource[*kubewire.Pod, *knownPod]
	orphans   map[types.UID]map[types.UID]*knownPod // by owner: pods whose owner was not seen yet
	ownerless map[string]map[types.UID]*knownPod    // by namespace: pods with labels and without a controller
	// The ownerless pods by the Job that their controller-uid label names, as a generated selector matches it
	labelled map[types.UID]map[types.UID]*knownPod
}

// knownPod is the state of one existing pod.
type knownPod struct {
	entry
	tracked bool // the last report said that it has the tracking finalizer
	// Its Job; zero UID for none. The strings are shared with the Job's other pods, to save memory
	owner events.JobRef
	space string    // namespace
	held  *podFacts // its facts, as long as a change of a Job can affect what is reported of it; else nil
}

func newPods(feed *Feed, known *Known) *pods {
	r := &pods{
		orphans:   map[types.UID]map[types.UID]*knownPod{},
		ownerless: map[string]map[types.UID]*knownPod{},
		labelled:  map[types.UID]map[types.UID]*knownPod{},
	}
	r.resource = newResource(feed, r, events.Pods, known.PodsVersion)
	for _, k := range known.Pods {
		r.known[k.UID] = &knownPod{entry: entry{version: k.Version, told: true}, owner: k.Owner, space: k.Namespace}
	}
	return r
}

// ListPods takes a complete and current list of pods with its resourceVersion. The feed takes ownership of the objects.
func (feed *Feed) ListPods(pods []*corev1.Pod, version string) error {
	read := make([]*kubewire.Pod, len(pods))
	for i, pod := range pods {
		var err error
		if read[i], err = kubewire.Pods.Of(pod); err != nil {
			return err
		}
	}
	return feed.pods.takeList(read, version)
}

// PodChanged takes a pod from the watch. It ignores a version that is not newer than the last one seen.
func (feed *Feed) PodChanged(pod *corev1.Pod) error {
	read, err := kubewire.Pods.Of(pod)
	if err != nil {
		return err
	}
	return feed.pods.Changed(read)
}

// PodDeleted takes a deleted pod from the watch.
func (feed *Feed) PodDeleted(pod *corev1.Pod) error {
	read, err := kubewire.Pods.Of(pod)
	if err != nil {
		return err
	}
	return feed.pods.Deleted(read)
}

func (*pods) strip(*kubewire.Pod) {}

// takeLocked stores a pod, and reports it if it concerns us.
func (r *pods) takeLocked(pod *kubewire.Pod, version uint64) error {
	f := r.feed.readPod(pod, version)
	known := r.known[f.seen.UID]
	if known == nil {
		f.evidence.Admitted = r.feed.admittedLocked(pod)
		known = &knownPod{}
		r.known[f.seen.UID] = known
	}
	r.unholdLocked(f.seen.UID, known)
	// If the pod's annotation names a later epoch (life of the log) than this log has, the log has lost records. That
	// is reported even if the pod does not concern us
	if f.claim.Epoch > r.feed.identity.Epoch {
		r.feed.queue.mark(events.Observation{Facts: &events.LossFound{Loss: events.Loss{
			Witness: events.WitnessPod, Epoch: f.claim.Epoch, Job: f.claim.Job, Ordinal: f.claim.Ordinal, Pod: f.seen.UID,
		}}})
	}
	known.version = f.seen.Version
	known.owner = r.sharedRef(f.owner)
	if known.space = known.owner.Namespace; known.space == "" {
		known.space = f.evidence.Namespace
	}
	r.tellPodLocked(known, f)
	return nil
}

// sharedRef returns ref with the strings of the known Job, so that a pod keeps no strings of its own.
func (r *pods) sharedRef(ref events.JobRef) events.JobRef {
	if job := r.feed.jobs.known[ref.UID]; job != nil && job.ref == ref {
		return job.ref
	}
	return ref
}

// tellPodLocked queues the observation of a pod that concerns us. It keeps the facts of the pod as long as a Job that
// appears later may change what is reported.
func (r *pods) tellPodLocked(known *knownPod, f *podFacts) {
	to := r.feed.route(f)
	if seen, ok := to.observation.Facts.(*events.PodSeen); ok {
		known.tracked = seen.Tracked
	}
	if to.concerns || known.told {
		r.tellLocked(f.seen.UID, known, to.observation)
	}
	switch {
	case !to.settled:
		r.holdLocked(known, f)
	case !known.told:
		delete(r.known, f.seen.UID)
	}
}

func (r *pods) holdLocked(known *knownPod, f *podFacts) {
	known.held = f
	if f.seen.Owner != "" {
		put(r.orphans, f.seen.Owner, f.seen.UID, known)
	} else {
		put(r.ownerless, f.evidence.Namespace, f.seen.UID, known)
		if job := f.labels[controllerUIDLabel]; job != "" {
			put(r.labelled, types.UID(job), f.seen.UID, known)
		}
	}
}

func (r *pods) unholdLocked(uid types.UID, known *knownPod) {
	if f := known.held; f != nil {
		remove(r.orphans, f.seen.Owner, uid)
		remove(r.ownerless, f.evidence.Namespace, uid)
		remove(r.labelled, types.UID(f.labels[controllerUIDLabel]), uid)
		known.held = nil
	}
}

func (r *pods) forgetLocked(uid types.UID, known *knownPod) { r.unholdLocked(uid, known) }

func (*pods) gone(uid types.UID, known *knownPod, pod *kubewire.Pod, version uint64) events.Observation {
	evidence := events.Evidence{Namespace: known.space}
	if pod != nil {
		evidence = podEvidence(pod)
	}
	return events.Observation{
		Job: known.owner, Facts: &events.PodGone{UID: uid, Version: version, Missed: pod == nil}, Evidence: evidence,
	}
}

// outlived reports whether the queue may drop the waiting observation seen, because the pod was deleted meanwhile. The
// observation of an ended pod is kept, because only it tells how the pod ended.
func (*pods) outlived(seen events.Facts) bool {
	pod, ok := seen.(*events.PodSeen)
	return ok && !pod.Phase.Terminal()
}

func (r *pods) resetLocked() {
	clear(r.orphans)
	clear(r.ownerless)
	clear(r.labelled)
}

// removedLocked reports whether the removal of the pod's last finalizer also deleted the pod. In that case the API
// server answers with the version in which the pod still had the finalizer; otherwise the version is newer.
func (r *pods) removedLocked(uid types.UID, version uint64) bool {
	known := r.known[uid]
	return known != nil && known.tracked && known.version == version
}

// settleLocked reports the pods that waited for a Job, now that the Job is known. These are its own pods and, if it is
// managed, the ownerless pods that it selects. The order is that of their creation.
func (r *pods) settleLocked(job *knownJob) {
	var waiting []*knownPod
	for _, known := range r.orphans[job.ref.UID] {
		waiting = append(waiting, known)
	}
	if job.managed && !job.over {
		unowned := r.ownerless[job.ref.Namespace]
		if job.selector == nil {
			unowned = r.labelled[job.ref.UID]
		}
		for _, known := range unowned {
			if known.space == job.ref.Namespace && job.selects(known.held.labels) {
				waiting = append(waiting, known)
			}
		}
	}
	slices.SortFunc(waiting, func(a, b *knownPod) int { return a.held.compare(b.held) })
	for _, known := range waiting {
		f := known.held
		r.unholdLocked(f.seen.UID, known)
		known.owner = r.sharedRef(f.owner)
		r.tellPodLocked(known, f)
	}
}
