package informer

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// What somebody read live goes through the same view and queue as the watch, so versions go forward whoever was
// first: what is older than what was seen is passed over, and the watch will pass over what was read. An object at
// the version already seen is told again, because whoever asked for the read waits for an answer.

// ReadJob takes a Job that was read live. It is told even if it is not managed, which only a read can find out.
func (i *Informer) ReadJob(job *batchv1.Job) error {
	v := i.view
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(job)
	if err != nil {
		return err
	}
	switch known := v.jobs[job.UID]; {
	case known == nil && v.jobList.passed(version):
		v.absentLocked(refOf(job)) // the watch has seen its end meanwhile
		return nil
	case known != nil && version < known.version:
		return nil
	}
	job = job.DeepCopy()
	stripJob(job)
	return v.tellJobLocked(job, version, true)
}

// ReadPod takes a Pod of ours that was read live.
func (i *Informer) ReadPod(pod *corev1.Pod) error {
	v := i.view
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(pod)
	if err != nil {
		return err
	}
	f := readPod(pod, version, v.identity)
	switch known := v.pods[pod.UID]; {
	case known == nil && v.podList.passed(version):
		gone := &knownPod{owner: f.owner, told: true} // the watch has seen its end meanwhile
		v.dropPodLocked(pod.UID, gone, v.podList.newest, true, f.evidence)
	case known == nil || version >= known.version:
		v.takePodLocked(f)
	}
	return nil
}

// JobAbsent takes the answer that there is no such Job, or that another has its name. It is told as missed, at the
// newest version that was seen of any Job: the answer was of a state not older than that.
func (i *Informer) JobAbsent(ref events.JobRef) {
	i.view.mu.Lock()
	defer i.view.mu.Unlock()
	i.view.absentLocked(ref)
}

func (v *view) absentLocked(ref events.JobRef) {
	known := v.jobs[ref.UID]
	if known == nil {
		known = &knownJob{ref: ref}
	}
	known.managed = true // told, whatever it was: somebody asked
	v.dropJobLocked(known, max(known.version, v.jobList.newest), true)
}

// passed reports whether the watch has told everything up to that version: what it does not know of then is gone.
func (l *listing) passed(version uint64) bool { return l.listed && version <= l.newest }
