package informer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// ListPods takes a whole list of Pods that is of the newest state, as of a version.
func (feed *Feed) ListPods(pods []*corev1.Pod, version string) error {
	feed.asking(&feed.podList)
	return feed.replacePods(pods, version, true)
}

// replacePods takes a list; unless it is of the newest state, an ErrOlder refuses it, and nothing has changed.
func (feed *Feed) replacePods(pods []*corev1.Pod, listVersion string, newest bool) error {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	for _, pod := range pods {
		stripPod(pod)
	}
	version, err := parseVersion(listVersion)
	if err != nil {
		return err
	}
	versions := make(map[types.UID]uint64, len(pods))
	for _, pod := range pods {
		if versions[pod.UID], err = versionOf(pod); err != nil {
			return err
		}
	}
	known := func(yield func(sighting) bool) {
		for _, pod := range pods {
			if k := feed.pods[pod.UID]; k != nil && !yield(sighting{pod.UID, versions[pod.UID], k.version, k.wrote}) {
				return
			}
		}
	}
	if err := feed.beginLocked(&feed.podList, version, newest, known); err != nil {
		return err
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return byAge(a, b) })
	for _, pod := range pods {
		feed.takePodLocked(feed.readPod(pod, versions[pod.UID]))
	}
	for _, uid := range missing(feed.pods, versions) {
		known := feed.pods[uid]
		feed.dropPodLocked(uid, known, version, true, events.Evidence{Namespace: known.space})
	}
	feed.endLocked(&feed.podList, version)
	return nil
}

// PodChanged takes a Pod from the watch. What is not newer than what was seen is passed over.
func (feed *Feed) PodChanged(pod *corev1.Pod) error {
	stripPod(pod)
	feed.mu.Lock()
	defer feed.mu.Unlock()
	version, err := versionOf(pod)
	if err != nil {
		return err
	}
	if !feed.sawLocked(&feed.podList, version) {
		return nil
	}
	if known := feed.pods[pod.UID]; known == nil || version > known.version {
		feed.takePodLocked(feed.readPod(pod, version))
	}
	return nil
}

// PodDeleted takes a Pod that the watch says was deleted.
func (feed *Feed) PodDeleted(pod *corev1.Pod) error {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	version, err := versionOf(pod)
	if err != nil {
		return err
	}
	if !feed.sawLocked(&feed.podList, version) {
		return nil
	}
	if known := feed.pods[pod.UID]; known != nil {
		feed.dropPodLocked(pod.UID, known, version, false, podEvidence(pod))
	}
	return nil
}

// takePodLocked remembers a pod and tells of it when it concerns us.
func (feed *Feed) takePodLocked(f *podFacts) {
	known := feed.pods[f.seen.UID]
	if known == nil {
		known = &knownPod{}
		feed.pods[f.seen.UID] = known
	}
	feed.unholdLocked(f.seen.UID, known)
	if f.claim.Epoch > feed.identity.Epoch { // told also of a pod that does not concern us: the log was in that epoch
		feed.queue.mark(events.Observation{Facts: &events.LossFound{Loss: events.Loss{
			Witness: events.WitnessPod, Epoch: f.claim.Epoch, Job: f.claim.Job, Ordinal: f.claim.Ordinal, Pod: f.seen.UID,
		}}})
	}
	known.version = f.seen.Version
	known.owner = feed.sharedRef(f.owner)
	if known.space = known.owner.Namespace; known.space == "" {
		known.space = f.evidence.Namespace
	}
	feed.tellPodLocked(known, f)
}

// sharedRef is ref with the strings of the Job that it names, so that pods keep none of their own.
func (feed *Feed) sharedRef(ref events.JobRef) events.JobRef {
	if job := feed.jobs[ref.UID]; job != nil && job.ref == ref {
		return job.ref
	}
	return ref
}

// tellPodLocked queues a pod's observation when the pod concerns us, holds its facts when a Job may yet come that
// changes what is to be told, and forgets it when neither is so.
func (feed *Feed) tellPodLocked(known *knownPod, f *podFacts) {
	r := feed.route(f)
	if seen, ok := r.observation.Facts.(*events.PodSeen); ok {
		known.tracked = seen.Tracked
	}
	if r.concerns || known.told {
		known.told = true
		feed.queue.seen(f.seen.UID, r.observation)
	}
	switch {
	case !r.settled:
		feed.holdLocked(known, f)
	case !known.told:
		delete(feed.pods, f.seen.UID)
	}
}

func (feed *Feed) holdLocked(known *knownPod, f *podFacts) {
	known.held = f
	if f.seen.Owner != "" {
		put(feed.orphans, f.seen.Owner, f.seen.UID, known)
	} else {
		put(feed.ownerless, f.evidence.Namespace, f.seen.UID, known)
		if job := f.labels[controllerUIDLabel]; job != "" {
			put(feed.labelled, types.UID(job), f.seen.UID, known)
		}
	}
}

func (feed *Feed) unholdLocked(uid types.UID, known *knownPod) {
	if f := known.held; f != nil {
		remove(feed.orphans, f.seen.Owner, uid)
		remove(feed.ownerless, f.evidence.Namespace, uid)
		remove(feed.labelled, types.UID(f.labels[controllerUIDLabel]), uid)
		known.held = nil
	}
}

// dropPodLocked forgets a pod and, when it was told of, queues that it is gone.
func (feed *Feed) dropPodLocked(uid types.UID, known *knownPod, version uint64, missed bool, e events.Evidence) {
	feed.unholdLocked(uid, known)
	delete(feed.pods, uid)
	if known.told {
		feed.queue.gone(uid, events.Observation{
			Job:      known.owner,
			Facts:    &events.PodGone{UID: uid, Version: version, Missed: missed},
			Evidence: e,
		})
	}
}

// settleLocked tells the pods that waited for a Job which is now known, in the order of their creation: its own, and,
// when it is managed, the ownerless ones that it selects.
func (feed *Feed) settleLocked(job *knownJob) {
	var waiting []*knownPod
	for _, known := range feed.orphans[job.ref.UID] {
		waiting = append(waiting, known)
	}
	if job.managed && !job.over {
		unowned := feed.ownerless[job.ref.Namespace]
		if job.selector == nil {
			unowned = feed.labelled[job.ref.UID]
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
		feed.unholdLocked(f.seen.UID, known)
		known.owner = feed.sharedRef(f.owner)
		feed.tellPodLocked(known, f)
	}
}
