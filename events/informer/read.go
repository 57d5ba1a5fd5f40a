package informer

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// ObserveJob is what a Job that was read live tells, also one that is not managed, which only a read can find out. It is
// not queued, and routing remembers nothing of it: whoever reads passes it on, whoever folds looks at the versions, and the
// watch will show it, too. The keeper is told, but not of a Job whose end the watch has seen meanwhile.
// Returns the zero Observation if the object cannot be encoded; the watch reports the error.
func (feed *Feed) ObserveJob(job *batchv1.Job) events.Observation {
	version, err := versionOf(job)
	if err != nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	managed := feed.takesLocked(job)
	o, err := feed.observeJob(job, version, managed)
	if err != nil {
		return events.Observation{}
	}
	if feed.jobs.known[job.UID] != nil || version > feed.jobs.newest {
		if managed && !finished(job) {
			feed.keeper.KeepJob(job)
		}
	}
	return o
}

// ObservePod is what a Pod that was read live tells, routed by the Jobs that are known now; else as ObserveJob.
func (feed *Feed) ObservePod(pod *corev1.Pod) events.Observation {
	version, err := versionOf(pod)
	if err != nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	return feed.route(feed.readPod(pod, version)).observation
}
