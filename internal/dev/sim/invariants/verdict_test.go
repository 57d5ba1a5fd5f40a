package invariants

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ends adds an interim condition for a reason, at the given time after the start.
func ends(kind batchv1.JobConditionType, reason, message string, after time.Duration) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(s.StartTime.Add(after)),
		})
	}
}

func fails(reason, message string) func(*batchv1.JobStatus) {
	return ends(batchv1.JobFailureTarget, reason, message, 0)
}

func failedIndexes(text string) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) { s.FailedIndexes = &text }
}

// perIndex makes an Indexed Job of four. No index may fail a pod; with again, each may fail one.
func perIndex(s *batchv1.JobSpec) {
	indexedJob(s)
	s.Completions, s.Parallelism, s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(4)), new(int32(4)), new(int32(0)), new(int32(1))
}

func again(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(1)) }

func policy(action batchv1.PodFailurePolicyAction, code int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
			},
		}}}
	}
}

func backoff(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.BackoffLimit = &n }
}

// exit makes a pod that runs and ends with an exit code.
func (l *lab) exit(name string, index int, code int32) types.UID {
	l.Helper()
	pod := l.run(name, index)
	l.fail(name, code)
	return pod.UID
}

// fail lets a running pod end with an exit code.
func (l *lab) fail(name string, code int32) {
	l.Helper()
	l.must(l.user.UpdatePodStatus(ctx, "default", name, "", func(s *corev1.PodStatus) {
		s.Phase = corev1.PodFailed
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	}))
}

func onFailure(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }

// restarted makes a pod that runs, with so many restarts of its container.
func (l *lab) restarted(name string, times int32) types.UID {
	l.Helper()
	pod := l.run(name, -1)
	l.must(l.user.UpdatePodStatus(ctx, "default", name, "", func(s *corev1.PodStatus) {
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: times}}
	}))
	return pod.UID
}

func failures(n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[batchv1.JobIndexFailureCountAnnotation] = n }
}

// lose makes a pod of an index that fails. Its annotation says how many pods of the index failed before.
func (l *lab) lose(name string, index int, before string) types.UID {
	l.Helper()
	pod := l.create(name, index, failures(before))
	l.must(l.user.BindPod(ctx, "default", name, pod.UID, "node-0"))
	l.phase(name, corev1.PodRunning)
	l.phase(name, corev1.PodFailed)
	return pod.UID
}

// TestVerdicts: the end of a Job follows from the ends of its pods, and no Job goes on when it should have ended.
//
//conformance:fact the simulation finds: %s
func TestVerdicts(t *testing.T) {
	fatal := "Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0"
	for _, row := range []struct {
		name    string
		want    string
		history func(*lab)
	}{
		{"a Job of two completes with one", "J-160", func(l *lab) {
			l.job()
			l.end("a", -1, corev1.PodSucceeded)
			l.status(counts(1, 0), complete)
		}},
		{"a Job completes while a pod is active", "J-160", func(l *lab) {
			l.job()
			a, b := l.end("a", -1, corev1.PodSucceeded), l.end("b", -1, corev1.PodSucceeded)
			l.status(uncounted([]types.UID{a, b}, nil), func(s *batchv1.JobStatus) { s.Active = 1 }, isNow(batchv1.JobSuccessCriteriaMet))
		}},
		{"more pods failed than the limit", "", func(l *lab) {
			l.job(backoff(1))
			a, b := l.end("a", -1, corev1.PodFailed), l.end("b", -1, corev1.PodFailed)
			l.status(uncounted(nil, []types.UID{a, b}), fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"as many pods failed as the limit allows, and the Job fails", "J-112", func(l *lab) {
			l.job(backoff(1))
			a := l.end("a", -1, corev1.PodFailed)
			l.status(uncounted(nil, []types.UID{a}), fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"more pods failed than the limit, and the Job goes on", "J-112", func(l *lab) {
			l.job(backoff(0))
			a := l.end("a", -1, corev1.PodFailed)
			l.status(uncounted(nil, []types.UID{a}))
		}},
		{"more pods failed than the limit, and the Job succeeds", "J-143", func(l *lab) {
			l.job(backoff(0))
			z, a, b := l.end("z", -1, corev1.PodFailed), l.end("a", -1, corev1.PodSucceeded), l.end("b", -1, corev1.PodSucceeded)
			l.status(uncounted([]types.UID{a, b}, []types.UID{z}), isNow(batchv1.JobSuccessCriteriaMet))
		}},
		{"the deadline is a second away", "J-146", func(l *lab) {
			l.job()
			l.status(ends(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded, "", time.Hour-time.Second))
		}},
		{"the deadline is over, but for an hour by which the clock was set", "J-146", func(l *lab) {
			l.job()
			l.status()
			l.Clock().Advance(time.Minute)
			l.checker.ClockSet(time.Hour)
			l.status(ends(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded, "", time.Hour+time.Minute))
		}},
		{"the deadline is over, though the clock was set back", "", func(l *lab) {
			l.job()
			l.status()
			l.checker.ClockSet(-time.Hour)
			l.Clock().Advance(time.Hour)
			l.status(ends(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded, "", 0))
		}},
		{"containers were restarted as often as the limit allows", "", func(l *lab) {
			l.job(backoff(2), onFailure)
			l.restarted("a", 2)
			l.status(fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"containers were restarted less often than the limit allows", "J-113", func(l *lab) {
			l.job(backoff(2), onFailure)
			l.restarted("a", 1)
			l.status(fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"restarts of a pod that is accounted for", "J-113", func(l *lab) {
			l.job(backoff(2), onFailure)
			a := l.restarted("a", 2)
			l.phase("a", corev1.PodSucceeded)
			l.status(uncounted([]types.UID{a}, nil))
			l.status(fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"a FailJob rule matched", "", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionFailJob, 42))
			a := l.exit("a", -1, 42)
			l.status(uncounted(nil, []types.UID{a}), fails(batchv1.JobReasonPodFailurePolicy, fatal))
		}},
		{"a FailJob rule is said to have matched another exit code", "J-132", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionFailJob, 42))
			a := l.exit("a", -1, 41)
			l.status(uncounted(nil, []types.UID{a}), fails(batchv1.JobReasonPodFailurePolicy, fatal))
		}},
		{"a FailJob rule is said to have matched a pod that was removed as surplus", "J-133", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionFailJob, 42))
			l.run("a", -1)
			l.drop(l.controller, "a")
			l.fail("a", 42)
			l.status(fails(batchv1.JobReasonPodFailurePolicy, fatal))
		}},
		{"a pod whose failure fails the Job is listed, and the Job goes on", "J-131", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionFailJob, 42))
			a := l.exit("a", -1, 42)
			l.status(uncounted(nil, []types.UID{a}))
		}},
		{"an ignored failure counts for the limit", "J-112", func(l *lab) {
			l.job(backoff(0), policy(batchv1.PodFailurePolicyActionIgnore, 42))
			l.exit("a", -1, 42)
			l.status(fails(batchv1.JobReasonBackoffLimitExceeded, ""))
		}},
		{"an ignored failure is listed", "J-114", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionIgnore, 42))
			a := l.exit("a", -1, 42)
			l.status(uncounted(nil, []types.UID{a}))
		}},
		{"an ignored failure is counted in the end", "J-085", func(l *lab) {
			l.job(policy(batchv1.PodFailurePolicyActionIgnore, 42))
			l.exit("a", -1, 42)
			l.status(counts(0, 1), failed)
		}},
		{"fewer completions, and the index goes while its finalizer is on its way", "", func(l *lab) {
			job := l.job(indexedJob)
			l.end("b", 1, corev1.PodSucceeded)
			for _, n := range []int32{1, 2} {
				job.Spec.Completions, job.Spec.Parallelism = new(n), new(n)
				var err error
				job, err = l.user.UpdateJob(ctx, job)
				l.must(err)
			}
			l.drop(l.controller, "b")
		}},
		{"a suspended Job keeps its start time", "J-148", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			l.status(isNow(batchv1.JobSuspended))
		}},
		{"a resumed Job has no start time", "J-151", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			l.status(isNow(batchv1.JobSuspended), func(s *batchv1.JobStatus) { s.StartTime = nil })
			job := l.current()
			job.Spec.Suspend = new(false)
			_, err := l.user.UpdateJob(ctx, job)
			l.must(err)
			l.status(func(s *batchv1.JobStatus) { s.Conditions[0].Status = corev1.ConditionFalse })
		}},
		{"a reason that nobody knows", "J-159", func(l *lab) {
			l.job()
			l.status(fails("Whim", ""))
		}},
		{"a rule of the success policy is met", "", func(l *lab) {
			l.job(indexedJob, func(s *batchv1.JobSpec) {
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}, {SucceededCount: new(int32(1))}}}
			})
			l.end("a", 0, corev1.PodSucceeded)
			l.status(indexes("0", 1), ends(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 1", 0))
		}},
		{"a rule of the success policy is met that goes beyond the completions", "", func(l *lab) {
			l.job(indexedJob, func(s *batchv1.JobSpec) {
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0-99"), SucceededCount: new(int32(1))}}}
			})
			l.end("a", 0, corev1.PodSucceeded)
			l.status(indexes("0", 1), ends(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 0", 0))
		}},
		{"no rule of the success policy is met", "J-139", func(l *lab) {
			l.job(indexedJob, func(s *batchv1.JobSpec) {
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}}}
			})
			l.end("a", 0, corev1.PodSucceeded)
			l.status(indexes("0", 1), ends(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, "Matched rules at index 0", 0))
		}},
		{"an index fails when its limit is exhausted, and too many end the Job", "", func(l *lab) {
			l.job(perIndex)
			a, b := l.lose("a", 0, "0"), l.lose("b", 1, "0")
			l.status(uncounted(nil, []types.UID{a, b}), failedIndexes("0,1"), fails(batchv1.JobReasonMaxFailedIndexesExceeded, ""))
		}},
		{"an index fails before its limit is exhausted", "J-116", func(l *lab) {
			l.job(perIndex, again)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"))
		}},
		{"the failure of an index is forgotten", "J-116", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes(""))
		}},
		{"an index is failed no more", "J-117", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"))
			l.status(failedIndexes(""))
		}},
		{"one index failed, two are too many", "J-123", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"), fails(batchv1.JobReasonMaxFailedIndexesExceeded, ""))
		}},
		{"two indexes failed, and the Job goes on", "J-123", func(l *lab) {
			l.job(perIndex)
			a, b := l.lose("a", 0, "0"), l.lose("b", 1, "0")
			l.status(uncounted(nil, []types.UID{a, b}), failedIndexes("0,1"))
		}},
		{"a Job fails for its indexes while some have not ended", "J-124", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"), fails(batchv1.JobReasonFailedIndexes, ""))
		}},
		{"all indexes have ended, one failed, and the Job goes on", "J-124", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			for i, name := range []string{"x", "y", "z"} {
				l.end(name, i+1, corev1.PodSucceeded)
			}
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"), indexes("1-3", 3))
		}},
		{"a failed index gets another pod", "J-052, J-117", func(l *lab) {
			l.job(perIndex)
			a := l.lose("a", 0, "0")
			l.status(uncounted(nil, []types.UID{a}), failedIndexes("0"))
			l.create("b", 0, failures("1"))
		}},
		{"a completed index gets another pod", "J-052", func(l *lab) {
			l.job(indexedJob)
			l.end("a", 0, corev1.PodSucceeded)
			l.status(indexes("0", 1))
			l.create("b", 0)
		}},
		{"a replacement carries the failures of its index on", "", func(l *lab) {
			l.job(perIndex, again)
			l.lose("a", 0, "0")
			l.create("b", 0, failures("1"))
		}},
		{"a replacement forgets that its index has failed", "J-119", func(l *lab) {
			l.job(perIndex, again)
			l.lose("a", 0, "0")
			l.create("b", 0, failures("0"))
		}},
		{"a pod says of its index more failures than there were", "J-119", func(l *lab) {
			l.job(perIndex)
			l.create("b", 0, failures("1"))
		}},
		{"an index is given away while its pod is terminating, where only failed pods are replaced", "J-052", func(l *lab) {
			l.job(indexedJob, func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) })
			l.run("a", 0)
			l.delete(l.user, "a")
			l.create("b", 0)
		}},
		{"a slot is given away while its pod is terminating, where only failed pods are replaced", "J-048", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.PodReplacementPolicy, s.Parallelism = new(batchv1.Failed), new(int32(1)) })
			l.run("a", -1)
			l.delete(l.user, "a")
			l.create("b", -1)
		}},
		{"a pod that was replaced when that was still allowed", "", func(l *lab) {
			l.job(indexedJob)
			l.run("a", 0)
			l.delete(l.user, "a")
			l.update(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) })
			l.create("b", 0)
		}},
		{"elsewhere a terminating pod is replaced at once", "", func(l *lab) {
			l.job(indexedJob)
			l.run("a", 0)
			l.delete(l.user, "a")
			l.create("b", 0)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t, false)
			row.history(l)
			wantRule(t, l.checker.Check(), row.want)
		})
	}
}
