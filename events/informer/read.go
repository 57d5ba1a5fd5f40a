package informer

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// ObserveJob is what a Job that was read live tells, also one that is not managed, which only a read can find out. It
// is not queued, and routing remembers nothing of it: whoever reads passes it on, whoever folds looks at the versions,
// and the watch will show it, too. The keeper is told, but not of a Job whose end the watch has seen meanwhile. Returns
// the zero Observation if the object cannot be encoded; the watch reports the error.
func (feed *Feed) ObserveJob(job *kubewire.Job) events.Observation {
	version, err := versionOf(job)
	if err != nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	managed := feed.takesLocked(job)
	spec, err := feed.specOf(job)
	if err != nil {
		return events.Observation{}
	}
	o := feed.observeJob(job, spec, version, managed)
	if feed.jobs.known[job.UID] != nil || version > feed.jobs.newest {
		if managed && !finished(job) {
			feed.keeper.KeepJob(job)
		}
	}
	return o
}

// ObserveRun is what a Job of a CronJob that was read live tells: as ObserveJob, or only what concerns its CronJob if
// another controller runs the Job. Returns the zero Observation for a Job that no CronJob controls.
func (feed *Feed) ObserveRun(job *kubewire.Job) events.Observation {
	cronJob := feed.cronJobOf(job)
	version, err := versionOf(job)
	if err != nil || cronJob == "" {
		return events.Observation{}
	}
	feed.mu.Lock()
	known := feed.jobs.known[job.UID]
	told := known != nil && known.managed || known == nil && feed.takesLocked(job)
	feed.mu.Unlock()
	if told {
		return feed.ObserveJob(job)
	}
	return feed.observeRun(job, version, cronJob)
}

// ObserveCronJob is what a CronJob that was read live tells; it is not queued, as with ObserveJob. The keeper is told,
// unless the watch has seen meanwhile that the CronJob is gone.
func (feed *Feed) ObserveCronJob(cronJob *kubewire.CronJob) events.Observation {
	version, err := versionOf(cronJob)
	if err != nil || feed.cronJobs == nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	feed.cronJobs.strip(cronJob)
	o, err := feed.cronJobs.observeLocked(cronJob, version)
	if err != nil {
		return events.Observation{}
	}
	if feed.cronJobs.known[cronJob.UID] != nil && feed.mode == events.ModeAll {
		feed.keeper.KeepCronJob(cronJob)
	}
	return o
}

// ObservePod is what a Pod that was read live tells, routed by the Jobs that are known now; else as ObserveJob.
func (feed *Feed) ObservePod(pod *kubewire.Pod) events.Observation {
	version, err := versionOf(pod)
	if err != nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	return feed.route(feed.readPod(pod, version)).observation
}
