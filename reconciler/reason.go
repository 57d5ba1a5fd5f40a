package reconciler

import "github.com/jobledger/jobledger/events"

// Reasons of steps, as operators read them in the log. They are for ever. Those of an end of the Job are also the
// reasons of its conditions, as J-159 has them.
const (
	// BackoffLimitExceeded: more pods failed than spec.backoffLimit allows; the Job fails, its pods are deleted.
	BackoffLimitExceeded events.Reason = "BackoffLimitExceeded"
	// DeadlineExceeded: the Job ran for longer than spec.activeDeadlineSeconds; it fails, its pods are deleted.
	DeadlineExceeded events.Reason = "DeadlineExceeded"
	// PodFailurePolicy: a failed pod matched a FailJob rule; the Job fails, its pods are deleted.
	PodFailurePolicy events.Reason = "PodFailurePolicy"
	// MaxFailedIndexesExceeded: more indexes failed than spec.maxFailedIndexes allows; the Job fails, its pods are
	// deleted.
	MaxFailedIndexesExceeded events.Reason = "MaxFailedIndexesExceeded"
	// FailedIndexes: every index has completed or failed, and some failed; the Job fails.
	FailedIndexes events.Reason = "FailedIndexes"
	// SuccessPolicy: a rule of the successPolicy is met; the Job is complete, its pods are deleted.
	SuccessPolicy events.Reason = "SuccessPolicy"
	// CompletionsReached: as many pods succeeded as the Job wants; it is complete.
	CompletionsReached events.Reason = "CompletionsReached"

	// JobSuspended: spec.suspend is set; the Job's pods are deleted, uncounted, and its time stands still.
	JobSuspended events.Reason = "JobSuspended"
	// JobResumed: spec.suspend is no longer set; the Job starts again.
	JobResumed events.Reason = "JobResumed"

	// GroupWanted: the Job's pods are to be scheduled together, by a Workload and a PodGroup.
	GroupWanted events.Reason = "GroupWanted"
	// MorePodsWanted: fewer pods run than the Job wants.
	MorePodsWanted events.Reason = "MorePodsWanted"
	// OutcomeUnknown: it is unknown whether a create took effect; it is tried again under the same name, which meets the
	// pod if there is one.
	OutcomeUnknown events.Reason = "OutcomeUnknown"
	// LookFirst: it is unknown whether a create took effect, and it is not wanted again: its pod is looked for by name.
	LookFirst events.Reason = "LookFirst"
	// NoLongerWanted: a create is in backoff, or is on its way, and the Job does not want that pod any more.
	NoLongerWanted events.Reason = "NoLongerWanted"
	// RemovalOver: the removal of a pod was refused, and the pod has ended meanwhile, is the Job's no longer, or is wanted
	// again.
	RemovalOver events.Reason = "RemovalOver"
	// FewerPodsWanted: more pods run than the Job wants; the least advanced go, uncounted.
	FewerPodsWanted events.Reason = "FewerPodsWanted"
	// DuplicateIndex: several pods run for one index, or one for an index that needs none; the most advanced stays.
	DuplicateIndex events.Reason = "DuplicateIndex"
	// FinalizerGone: a surplus pod's finalizer is gone, so it can be deleted without being counted.
	FinalizerGone events.Reason = "FinalizerGone"
	// JobFailing: the Job fails, so its active pods are deleted.
	JobFailing events.Reason = "JobFailing"

	// JobSucceeded: the Job has succeeded with pods left over; they are deleted and not counted.
	JobSucceeded events.Reason = "JobSucceeded"

	// Progress: the published status has been behind for long enough.
	Progress events.Reason = "Progress"
	// PodsWait: pods that are being deleted wait for their finalizer until the status accounts for them.
	PodsWait events.Reason = "PodsWait"
	// ManyUncounted: enough pods wait to be counted to make a write worth its while.
	ManyUncounted events.Reason = "ManyUncounted"
	// StaleView: a status write was refused or its end is unknown: the Job is read before the next one.
	StaleView events.Reason = "StaleView"
	// OwnerGone: the Job's selector matches pods without an owner: the Job adopts them.
	OwnerGone events.Reason = "OwnerGone"
	// JobUnconfirmed: before a pod is adopted the Job is read, so that one that is deleted adopts none.
	JobUnconfirmed events.Reason = "JobUnconfirmed"
	// NotSelected: the Job owns pods whose labels its selector no longer matches: they are released, uncounted.
	NotSelected events.Reason = "NotSelected"
	// OwnerUnknown: pods carry our finalizer and name a Job that no listing shows: it is looked for.
	OwnerUnknown events.Reason = "OwnerUnknown"

	// TTLExpired: the Job finished spec.ttlSecondsAfterFinished ago or earlier; it is deleted, after its pods.
	TTLExpired events.Reason = "TTLExpired"
	// NotDeleted: the Job has changed since it was decided to delete it: it is read and judged again.
	NotDeleted events.Reason = "NotDeleted"

	// HistoryLimit: more Jobs of the CronJob have finished than spec.successfulJobsHistoryLimit or failedJobsHistoryLimit
	// keeps.
	HistoryLimit events.Reason = "HistoryLimit"
	// ListUncertain: the list of active Jobs does not fit what was seen: what it is about is read first.
	ListUncertain events.Reason = "ListUncertain"
	// JobUnexpected: a Job of the CronJob runs that is not in its list of active ones.
	JobUnexpected events.Reason = "JobUnexpected"
	// JobEnded: a Job in the list of active ones has finished.
	JobEnded events.Reason = "JobEnded"
	// JobMissing: a Job in the list of active ones is gone, and its end was not seen.
	JobMissing events.Reason = "JobMissing"
	// MadeByHand: somebody made a Job from the CronJob's template.
	MadeByHand events.Reason = "MadeByHand"
	// StatusBehind: the CronJob's status is to say something else than it does.
	StatusBehind events.Reason = "StatusBehind"
	// StatusStale: a write of the CronJob's status did not go through: the CronJob is read before the next one.
	StatusStale events.Reason = "StatusStale"
	// BadZone: spec.timeZone has no rules; nothing starts.
	BadZone events.Reason = "BadZone"
	// BadSchedule: spec.schedule cannot be read; nothing starts.
	BadSchedule events.Reason = "BadSchedule"
	// ZoneInSchedule: the schedule names a time zone itself.
	ZoneInSchedule events.Reason = "ZoneInSchedule"
	// DueTimes: due times have passed: each has its fate, or is held back.
	DueTimes events.Reason = "DueTimes"
	// ScheduleChanged: due times count by another schedule from here on.
	ScheduleChanged events.Reason = "ScheduleChanged"
	// ZoneChanged: due times count by other rules of the time zone from here on: those of another time zone database.
	ZoneChanged events.Reason = "ZoneChanged"
	// DueTimesSeen: another controller runs the CronJob, and what it made of due times was seen.
	DueTimesSeen events.Reason = "DueTimesSeen"
	// TakenOver: another controller ran the CronJob until now: due times of before have their fates.
	TakenOver events.Reason = "TakenOver"
	// CronJobDeleted: the CronJob is deleted, or is being deleted: there are no more due times.
	CronJobDeleted events.Reason = "CronJobDeleted"
	// ManyMissed: more than 100 due times have passed since the last one that started, by estimate.
	ManyMissed events.Reason = "ManyMissed"
	// RunDue: a run is due.
	RunDue events.Reason = "RunDue"
	// RunStarted: the Job of a due time was made.
	RunStarted events.Reason = "RunStarted"
	// RunRefused: the Job of a due time cannot be made.
	RunRefused events.Reason = "RunRefused"
	// RunUnknown: it is unknown whether the Job of a due time was made.
	RunUnknown events.Reason = "RunUnknown"
	// RunForbidden: a Job of before runs, and the concurrency policy is Forbid.
	RunForbidden events.Reason = "RunForbidden"
	// RunReplaced: a Job of before runs, and the concurrency policy is Replace.
	RunReplaced events.Reason = "RunReplaced"
	// Triggered: somebody asked for a run now.
	Triggered events.Reason = "Triggered"

	// Unexplained: the Job ended in a way that nothing which was seen of it explains (only in observe mode).
	Unexplained events.Reason = "Unexplained"

	// Accounted: the confirmed status accounts for the pods, or nothing is to be counted of them: their finalizers go.
	Accounted events.Reason = "Accounted"
)
