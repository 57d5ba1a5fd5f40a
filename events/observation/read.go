package observation

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// ObserveJob returns the observation of a Job from a live read, even of a Job that is not managed. It neither queues
// the observation nor changes what the feed knows of the Job: the caller passes the observation on, the fold ignores it
// if it is older than what is known, and the watch delivers the same state later. It gives the Job to the Keeper,
// unless the watch has already seen its end. It returns the zero Observation if the object cannot be encoded; the watch
// reports that error.
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

// ObserveRun returns the observation of a CronJob's Job from a live read, like ObserveJob. If another controller runs
// the Job, the observation is only a RunSeen. It returns the zero Observation for a Job that no CronJob controls.
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

// ObserveCronJob returns the observation of a CronJob from a live read, and does not queue it. It gives the CronJob to
// the Keeper, unless the watch has already seen its deletion.
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

// ObservePod returns the observation of a pod from a live read, with the Jobs known now. It does not queue it.
func (feed *Feed) ObservePod(pod *kubewire.Pod) events.Observation {
	version, err := versionOf(pod)
	if err != nil {
		return events.Observation{}
	}
	feed.mu.Lock()
	defer feed.mu.Unlock()
	return feed.route(feed.readPod(pod, version)).observation
}
