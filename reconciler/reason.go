package reconciler

import "github.com/jobledger/jobledger/events"

// Reasons of a decision's steps, as operators read them in the log. A released name never changes. The reasons for
// which a Job ends are also the reasons of its conditions (J-159).
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

	// JobSuspended: spec.suspend is set; the Job's pods are deleted without being counted, and its deadline does not
	// run.
	JobSuspended events.Reason = "JobSuspended"
	// JobResumed: spec.suspend is no longer set; the Job starts again.
	JobResumed events.Reason = "JobResumed"

	// GroupWanted: the Job's pods are to be scheduled together, by a Workload and a PodGroup.
	GroupWanted events.Reason = "GroupWanted"
	// MorePodsWanted: fewer pods run than the Job wants.
	MorePodsWanted events.Reason = "MorePodsWanted"
	// OutcomeUnknown: it is unknown whether the creation of a pod took effect. The creation is repeated under the same
	// name, so that it cannot make a second pod.
	OutcomeUnknown events.Reason = "OutcomeUnknown"
	// LookFirst: it is unknown whether the creation of a pod took effect, and the pod is not wanted any more. A live
	// read by name shows whether it exists.
	LookFirst events.Reason = "LookFirst"
	// NoLongerWanted: the creation of a pod is in flight or in backoff, and the Job does not want the pod any more.
	NoLongerWanted events.Reason = "NoLongerWanted"
	// RemovalOver: the API server refused to remove a pod. The removal is given up, because the pod has ended
	// meanwhile, no longer belongs to the Job, or is wanted again.
	RemovalOver events.Reason = "RemovalOver"
	// FewerPodsWanted: more pods run than the Job wants; the least advanced ones are deleted without being counted.
	FewerPodsWanted events.Reason = "FewerPodsWanted"
	// DuplicateIndex: several pods run for one index, or a pod runs for an index that needs none. The most advanced pod
	// of an index that needs one stays.
	DuplicateIndex events.Reason = "DuplicateIndex"
	// FinalizerGone: a surplus pod's finalizer is gone, so it can be deleted without being counted.
	FinalizerGone events.Reason = "FinalizerGone"
	// JobFailing: the Job fails, so its active pods are deleted.
	JobFailing events.Reason = "JobFailing"

	// JobSucceeded: the Job has succeeded with pods left over; they are deleted and not counted.
	JobSucceeded events.Reason = "JobSucceeded"

	// Progress: the published status has been out of date for long enough to be worth a write.
	Progress events.Reason = "Progress"
	// PodsWait: pods being deleted keep their finalizer until the status counts them.
	PodsWait events.Reason = "PodsWait"
	// ManyUncounted: so many ended pods are not counted yet that a status write is worthwhile.
	ManyUncounted events.Reason = "ManyUncounted"
	// StaleView: a status write was refused, or its outcome is unknown. The Job is read before the next write.
	StaleView events.Reason = "StaleView"
	// OwnerGone: the Job's selector matches pods without an owner. The Job adopts them.
	OwnerGone events.Reason = "OwnerGone"
	// JobUnconfirmed: the Job is read before it adopts a pod, because a Job being deleted must not adopt pods.
	JobUnconfirmed events.Reason = "JobUnconfirmed"
	// NotSelected: the Job owns pods that its selector no longer matches. They are released without being counted.
	NotSelected events.Reason = "NotSelected"
	// OwnerUnknown: pods have our finalizer and name an owner Job that no listing shows. The Job is looked up.
	OwnerUnknown events.Reason = "OwnerUnknown"

	// TTLExpired: the Job finished spec.ttlSecondsAfterFinished ago or earlier; it is deleted, after its pods.
	TTLExpired events.Reason = "TTLExpired"
	// NotDeleted: the Job has changed since its deletion was decided. It is read, and the decision is made again.
	NotDeleted events.Reason = "NotDeleted"

	// HistoryLimit: more Jobs of the CronJob have finished than spec.successfulJobsHistoryLimit or
	// spec.failedJobsHistoryLimit keeps; the oldest are deleted.
	HistoryLimit events.Reason = "HistoryLimit"
	// ListUncertain: the CronJob's status.active does not match the Jobs that were seen. The doubtful objects are read
	// first.
	ListUncertain events.Reason = "ListUncertain"
	// JobUnexpected: a Job of the CronJob runs that is not in status.active.
	JobUnexpected events.Reason = "JobUnexpected"
	// JobEnded: a Job in status.active has finished.
	JobEnded events.Reason = "JobEnded"
	// JobMissing: a Job in status.active is gone, and its end was not seen.
	JobMissing events.Reason = "JobMissing"
	// MadeByHand: a user made a Job from the CronJob's template.
	MadeByHand events.Reason = "MadeByHand"
	// StatusBehind: the CronJob's published status is out of date.
	StatusBehind events.Reason = "StatusBehind"
	// StatusStale: a write of the CronJob's status failed. The CronJob is read before the next write.
	StatusStale events.Reason = "StatusStale"
	// BadZone: no time zone rules are known for spec.timeZone; nothing starts.
	BadZone events.Reason = "BadZone"
	// BadSchedule: spec.schedule cannot be parsed; nothing starts.
	BadSchedule events.Reason = "BadSchedule"
	// ZoneInSchedule: the schedule itself names a time zone, which is not supported officially.
	ZoneInSchedule events.Reason = "ZoneInSchedule"
	// DueTimes: due times of the schedule have passed. The step records what became of each, or what holds it back.
	DueTimes events.Reason = "DueTimes"
	// ScheduleChanged: from now on due times follow a changed schedule.
	ScheduleChanged events.Reason = "ScheduleChanged"
	// ZoneChanged: from now on due times follow the time zone rules of another version of the time zone database.
	ZoneChanged events.Reason = "ZoneChanged"
	// DueTimesSeen: another controller runs the CronJob. The step records what it made of the due times.
	DueTimesSeen events.Reason = "DueTimesSeen"
	// TakenOver: another controller ran the CronJob until now. The step records what became of the due times before.
	TakenOver events.Reason = "TakenOver"
	// CronJobDeleted: the CronJob is deleted, or is being deleted. It has no further due times.
	CronJobDeleted events.Reason = "CronJobDeleted"
	// ManyMissed: by estimate, more than 100 due times have passed since the last one that started.
	ManyMissed events.Reason = "ManyMissed"
	// RunDue: a run is due.
	RunDue events.Reason = "RunDue"
	// RunStarted: the Job of a due time was made.
	RunStarted events.Reason = "RunStarted"
	// RunRefused: the Job of a due time cannot be created.
	RunRefused events.Reason = "RunRefused"
	// RunUnknown: it is unknown whether the Job of a due time was created.
	RunUnknown events.Reason = "RunUnknown"
	// RunForbidden: an earlier Job still runs, and the concurrency policy is Forbid.
	RunForbidden events.Reason = "RunForbidden"
	// RunReplaced: an earlier Job still runs, and the concurrency policy is Replace.
	RunReplaced events.Reason = "RunReplaced"
	// Triggered: a user asked for a run now.
	Triggered events.Reason = "Triggered"

	// Unexplained: the Job ended in a way that nothing seen of it explains (only in observe mode).
	Unexplained events.Reason = "Unexplained"

	// Accounted: the confirmed status counts the pods, or they are never counted. Their finalizers are removed.
	Accounted events.Reason = "Accounted"
)
