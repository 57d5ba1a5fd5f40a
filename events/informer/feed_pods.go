package informer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// ListPods takes a whole list of Pods that is of the newest state, as of a version.
func (m *Feed) ListPods(pods []*corev1.Pod, version string) error {
	return m.replacePods(pods, version, true)
}

// replacePods takes a list; unless it is of the newest state, an ErrOlder refuses it, and nothing has changed.
func (m *Feed) replacePods(pods []*corev1.Pod, listVersion string, newest bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	older := func() bool {
		return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
			known := m.pods[pod.UID]
			return known != nil && versions[pod.UID] < known.version
		})
	}
	if err := m.beginLocked(&m.podList, version, newest, older); err != nil {
		return err
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return byAge(a, b) })
	for _, pod := range pods {
		m.takePodLocked(readPod(pod, versions[pod.UID], m.identity))
	}
	for _, uid := range missing(m.pods, versions) {
		known := m.pods[uid]
		m.dropPodLocked(uid, known, version, true, events.Evidence{Namespace: known.space})
	}
	m.endLocked(&m.podList, version)
	return nil
}

// PodChanged takes a Pod from the watch. What is not newer than what was seen is passed over.
func (m *Feed) PodChanged(pod *corev1.Pod) error {
	stripPod(pod)
	m.mu.Lock()
	defer m.mu.Unlock()
	version, err := versionOf(pod)
	if err != nil {
		return err
	}
	m.podList.newest = max(m.podList.newest, version)
	if known := m.pods[pod.UID]; known == nil || version > known.version {
		m.takePodLocked(readPod(pod, version, m.identity))
	}
	return nil
}

// PodDeleted takes a Pod that the watch says was deleted.
func (m *Feed) PodDeleted(pod *corev1.Pod) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	version, err := versionOf(pod)
	if err != nil {
		return err
	}
	m.podList.newest = max(m.podList.newest, version)
	if known := m.pods[pod.UID]; known != nil {
		m.dropPodLocked(pod.UID, known, version, false, podEvidence(pod))
	}
	return nil
}

// takePodLocked remembers a pod and tells of it when it concerns us.
func (m *Feed) takePodLocked(f *podFacts) {
	known := m.pods[f.seen.UID]
	if known == nil {
		known = &knownPod{}
		m.pods[f.seen.UID] = known
	}
	m.unholdLocked(f.seen.UID, known)
	known.version = f.seen.Version
	known.owner = m.sharedRef(f.owner)
	if known.space = known.owner.Namespace; known.space == "" {
		known.space = f.evidence.Namespace
	}
	m.tellPodLocked(known, f)
}

// sharedRef is ref with the strings of the Job that it names, so that pods keep none of their own.
func (m *Feed) sharedRef(ref events.JobRef) events.JobRef {
	if job := m.jobs[ref.UID]; job != nil && job.ref == ref {
		return job.ref
	}
	return ref
}

// tellPodLocked queues a pod's observation when the pod concerns us, holds its facts when a Job may yet come that
// changes what is to be told, and forgets it when neither is so.
func (m *Feed) tellPodLocked(known *knownPod, f *podFacts) {
	r := m.route(f)
	if r.concerns || known.told {
		known.told = true
		m.queue.seen(f.seen.UID, r.observation)
	}
	switch {
	case !r.settled:
		m.holdLocked(known, f)
	case !known.told:
		delete(m.pods, f.seen.UID)
	}
}

func (m *Feed) holdLocked(known *knownPod, f *podFacts) {
	known.held = f
	if f.seen.Owner != "" {
		put(m.orphans, f.seen.Owner, f.seen.UID, known)
	} else {
		put(m.ownerless, f.evidence.Namespace, f.seen.UID, known)
	}
}

func (m *Feed) unholdLocked(uid types.UID, known *knownPod) {
	if f := known.held; f != nil {
		remove(m.orphans, f.seen.Owner, uid)
		remove(m.ownerless, f.evidence.Namespace, uid)
		known.held = nil
	}
}

// dropPodLocked forgets a pod and, when it was told of, queues that it is gone.
func (m *Feed) dropPodLocked(uid types.UID, known *knownPod, version uint64, missed bool, e events.Evidence) {
	m.unholdLocked(uid, known)
	delete(m.pods, uid)
	if known.told {
		m.queue.gone(uid, events.Observation{
			Job:      known.owner,
			Facts:    &events.PodGone{UID: uid, Version: version, Missed: missed},
			Evidence: e,
		})
	}
}

// settleLocked tells the pods that waited for a Job which is now known, in the order of their creation: its own, and,
// when it is managed, the ownerless ones that it selects.
func (m *Feed) settleLocked(job *knownJob) {
	var waiting []*knownPod
	for _, known := range m.orphans[job.ref.UID] {
		waiting = append(waiting, known)
	}
	if job.managed {
		for _, known := range m.ownerless[job.ref.Namespace] {
			if job.selects(known.held.labels) {
				waiting = append(waiting, known)
			}
		}
	}
	slices.SortFunc(waiting, func(a, b *knownPod) int { return a.held.compare(b.held) })
	for _, known := range waiting {
		f := known.held
		m.unholdLocked(f.seen.UID, known)
		known.owner = m.sharedRef(f.owner)
		m.tellPodLocked(known, f)
	}
}
