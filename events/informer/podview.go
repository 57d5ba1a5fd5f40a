package informer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// replacePods takes a whole list of Pods.
func (v *view) replacePods(pods []*corev1.Pod, listVersion string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.parseLocked(listVersion)
	if err != nil {
		return err
	}
	versions := make(map[types.UID]uint64, len(pods))
	for _, pod := range pods {
		if versions[pod.UID], err = v.versionLocked(pod); err != nil {
			return err
		}
	}
	older := func() bool {
		return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
			known := v.pods[pod.UID]
			return known != nil && versions[pod.UID] < known.version
		})
	}
	if err := v.beginLocked(&v.podList, version, older); err != nil {
		return err
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return byAge(a, b) })
	for _, pod := range pods {
		v.takePodLocked(readPod(pod, versions[pod.UID], v.identity))
	}
	for _, uid := range missing(v.pods, versions) {
		known := v.pods[uid]
		v.dropPodLocked(uid, known, version, true, events.Evidence{Namespace: known.space})
	}
	v.endLocked(&v.podList, version)
	return nil
}

// podChanged takes a Pod from the watch. What is not newer than what was seen is passed over.
func (v *view) podChanged(pod *corev1.Pod) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(pod)
	if err != nil {
		return err
	}
	v.podList.newest = max(v.podList.newest, version)
	if known := v.pods[pod.UID]; known == nil || version > known.version {
		v.takePodLocked(readPod(pod, version, v.identity))
	}
	return nil
}

// podDeleted takes a Pod that the watch says was deleted.
func (v *view) podDeleted(pod *corev1.Pod) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(pod)
	if err != nil {
		return err
	}
	v.podList.newest = max(v.podList.newest, version)
	if known := v.pods[pod.UID]; known != nil {
		v.dropPodLocked(pod.UID, known, version, false, podEvidence(pod))
	}
	return nil
}

// takePodLocked remembers a pod and tells of it when it concerns us.
func (v *view) takePodLocked(f *podFacts) {
	known := v.pods[f.seen.UID]
	if known == nil {
		known = &knownPod{}
		v.pods[f.seen.UID] = known
	}
	v.unholdLocked(f.seen.UID, known)
	known.version = f.seen.Version
	known.owner = v.sharedRef(f.owner)
	if known.space = known.owner.Namespace; known.space == "" {
		known.space = f.evidence.Namespace
	}
	v.tellPodLocked(known, f)
}

// sharedRef is ref with the strings of the Job that it names, so that pods keep none of their own.
func (v *view) sharedRef(ref events.JobRef) events.JobRef {
	if job := v.jobs[ref.UID]; job != nil && job.ref == ref {
		return job.ref
	}
	return ref
}

// tellPodLocked queues a pod's observation when the pod concerns us, holds its facts when a Job may yet come that
// changes what is to be told, and forgets it when neither is so.
func (v *view) tellPodLocked(known *knownPod, f *podFacts) {
	r := v.route(f)
	if r.concerns || known.told {
		known.told = true
		v.queue.seen(f.seen.UID, r.observation)
	}
	switch {
	case !r.settled:
		v.holdLocked(known, f)
	case !known.told:
		delete(v.pods, f.seen.UID)
	}
}

func (v *view) holdLocked(known *knownPod, f *podFacts) {
	known.held = f
	if f.seen.Owner != "" {
		put(v.orphans, f.seen.Owner, f.seen.UID, known)
	} else {
		put(v.ownerless, f.evidence.Namespace, f.seen.UID, known)
	}
}

func (v *view) unholdLocked(uid types.UID, known *knownPod) {
	if f := known.held; f != nil {
		remove(v.orphans, f.seen.Owner, uid)
		remove(v.ownerless, f.evidence.Namespace, uid)
		known.held = nil
	}
}

// dropPodLocked forgets a pod and, when it was told of, queues that it is gone.
func (v *view) dropPodLocked(uid types.UID, known *knownPod, version uint64, missed bool, e events.Evidence) {
	v.unholdLocked(uid, known)
	delete(v.pods, uid)
	if known.told {
		v.queue.gone(uid, events.Observation{
			Job:      known.owner,
			Facts:    &events.PodGone{UID: uid, Version: version, Missed: missed},
			Evidence: e,
		})
	}
}

// settleLocked tells the pods that waited for a Job which is now known, in the order of their creation: its own, and,
// when it is managed, the ownerless ones that it selects.
func (v *view) settleLocked(job *knownJob) {
	var waiting []*knownPod
	for _, known := range v.orphans[job.ref.UID] {
		waiting = append(waiting, known)
	}
	if job.managed {
		for _, known := range v.ownerless[job.ref.Namespace] {
			if job.selects(known.held.labels) {
				waiting = append(waiting, known)
			}
		}
	}
	slices.SortFunc(waiting, func(a, b *knownPod) int { return a.held.compare(b.held) })
	for _, known := range waiting {
		f := known.held
		v.unholdLocked(f.seen.UID, known)
		known.owner = v.sharedRef(f.owner)
		v.tellPodLocked(known, f)
	}
}
