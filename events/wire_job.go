package events

import (
	"k8s.io/apimachinery/pkg/types"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func uidsToWire(us []types.UID) [][]byte {
	if len(us) == 0 {
		return nil
	}
	out := make([][]byte, len(us))
	for i, u := range us {
		out[i] = uidToWire(u)
	}
	return out
}

func uidsFromWire(ss [][]byte) []types.UID {
	if len(ss) == 0 {
		return nil
	}
	out := make([]types.UID, len(ss))
	for i, s := range ss {
		out[i] = uidFromWire(s)
	}
	return out
}

func jobSeenToWire(f *JobSeen, free *[]string) *pb.JobSeen {
	w := &pb.JobSeen{
		Version: f.Version, Generation: f.Generation, Created: int64(f.Created), Deleted: int64(f.Deleted),
		Managed: f.Managed, ManagedBy: f.ManagedBy, Spec: f.Spec, SpecAt: uint64(f.SpecAt),
		BuiltinWrote: int64(f.BuiltinWrote), Parent: uint32(f.Parent),
	}
	if f.Status != nil {
		w.Status = StatusToWire(f.Status, free)
	}
	if f.Confirms != (CommandID{}) {
		w.Confirms = CommandNameToWire(f.Confirms)
	}
	return w
}

func parseJobSeen(stored []byte, free []string) (Facts, error) {
	var m pb.JobSeen
	if err := parse(stored, &m); err != nil {
		return nil, err
	}
	return jobSeenFromWire(&m, &texts{all: free}), nil
}

func jobSeenFromWire(w *pb.JobSeen, t *texts) *JobSeen {
	f := &JobSeen{
		Version: w.GetVersion(), Generation: w.GetGeneration(), Created: Time(w.GetCreated()), Deleted: Time(w.GetDeleted()),
		Managed: w.GetManaged(), ManagedBy: w.GetManagedBy(), Spec: w.GetSpec(), SpecAt: Sequence(w.GetSpecAt()),
		BuiltinWrote: Time(w.GetBuiltinWrote()), Parent: Parent(w.GetParent()),
	}
	if w.GetStatus() != nil {
		f.Status = statusFromWire(w.GetStatus(), t)
	}
	f.Confirms = CommandNameFromWire(w.GetConfirms())
	return f
}

func jobGoneToWire(f *JobGone) *pb.JobGone { return &pb.JobGone{Version: f.Version, Missed: f.Missed} }

func jobGoneFromWire(w *pb.JobGone) *JobGone {
	return &JobGone{Version: w.GetVersion(), Missed: w.GetMissed()}
}

func retiredToWire(f *JobRetired) *pb.JobRetired {
	return &pb.JobRetired{
		Result: pb.JobResult(f.Result), Reason: string(f.Reason), Succeeded: f.Succeeded, Failed: f.Failed,
		Started: int64(f.Started), Finished: int64(f.Finished),
	}
}

func retiredFromWire(w *pb.JobRetired) *JobRetired {
	return &JobRetired{
		Result: JobResult(w.GetResult()), Reason: Reason(w.GetReason()), Succeeded: w.GetSucceeded(), Failed: w.GetFailed(),
		Started: Time(w.GetStarted()), Finished: Time(w.GetFinished()),
	}
}

// SpecToWire translates a Job's spec for a record or a stored state.
func SpecToWire(f *JobSpec) *pb.JobSpec {
	return &pb.JobSpec{
		Hash: f.Hash, Parallelism: f.Parallelism, Completions: f.Completions, CompletionMode: f.CompletionMode,
		BackoffLimit: f.BackoffLimit, ActiveDeadlineSeconds: f.ActiveDeadlineSeconds, Suspend: f.Suspend,
		TtlSecondsAfterFinished: f.TTLSecondsAfterFinished, BackoffLimitPerIndex: f.BackoffLimitPerIndex,
		MaxFailedIndexes: f.MaxFailedIndexes, PodReplacementPolicy: f.PodReplacementPolicy,
		RestartPolicy: f.RestartPolicy, ManualSelector: f.ManualSelector, Selector: f.Selector,
		PodFailurePolicy: f.PodFailurePolicy, SuccessPolicy: f.SuccessPolicy, Template: f.Template, SchedulingGroup: f.SchedulingGroup,
		Redacted: f.Redacted, Policies: f.Policies, Key: f.Key,
		Scheduling: f.Scheduling, SchedulingPolicy: f.SchedulingPolicy, MinCount: f.MinCount,
	}
}

// SpecFromWire decodes a Job's spec that SpecToWire made.
func SpecFromWire(w *pb.JobSpec) *JobSpec {
	return &JobSpec{
		Hash: w.GetHash(), Parallelism: w.Parallelism, Completions: w.Completions, CompletionMode: w.GetCompletionMode(),
		BackoffLimit: w.BackoffLimit, ActiveDeadlineSeconds: w.ActiveDeadlineSeconds, Suspend: w.GetSuspend(),
		TTLSecondsAfterFinished: w.TtlSecondsAfterFinished, BackoffLimitPerIndex: w.BackoffLimitPerIndex,
		MaxFailedIndexes: w.MaxFailedIndexes, PodReplacementPolicy: w.GetPodReplacementPolicy(),
		RestartPolicy: w.GetRestartPolicy(), ManualSelector: w.GetManualSelector(), Selector: w.GetSelector(),
		PodFailurePolicy: w.GetPodFailurePolicy(), SuccessPolicy: w.GetSuccessPolicy(), Template: w.GetTemplate(), SchedulingGroup: w.GetSchedulingGroup(),
		Redacted: w.GetRedacted(), Policies: w.GetPolicies(), Key: w.GetKey(),
		Scheduling: w.GetScheduling(), SchedulingPolicy: w.GetSchedulingPolicy(), MinCount: w.MinCount,
	}
}

// PoliciesToWire translates selector and policies of a spec for a record or a stored state.
func PoliciesToWire(f *JobPolicies) *pb.JobPolicies {
	return &pb.JobPolicies{Hash: f.Hash, Selector: f.Selector, PodFailurePolicy: f.PodFailurePolicy, SuccessPolicy: f.SuccessPolicy}
}

// PoliciesFromWire decodes selector and policies that PoliciesToWire made.
func PoliciesFromWire(w *pb.JobPolicies) *JobPolicies {
	return &JobPolicies{
		Hash: w.GetHash(), Selector: w.GetSelector(), PodFailurePolicy: w.GetPodFailurePolicy(), SuccessPolicy: w.GetSuccessPolicy(),
	}
}

func templateToWire(f *JobTemplate) *pb.JobTemplate {
	return &pb.JobTemplate{Hash: f.Hash, Size: f.Size}
}

func templateFromWire(w *pb.JobTemplate) *JobTemplate {
	return &JobTemplate{Hash: w.GetHash(), Size: w.GetSize()}
}

// StatusToWire translates a Job's status for a record or a stored state. It appends the messages of conditions, which
// are stored apart, to free, in order.
func StatusToWire(s *JobStatus, free *[]string) *pb.JobStatus {
	return &pb.JobStatus{
		Active: s.Active, ReadyPlusOne: s.Ready + 1, TerminatingPlusOne: s.Terminating + 1,
		Succeeded: s.Succeeded, Failed: s.Failed,
		CompletedIndexes: s.CompletedIndexes, FailedIndexes: s.FailedIndexes, HasUncounted: s.HasUncounted,
		UncountedSucceeded: uidsToWire(s.UncountedSucceeded), UncountedFailed: uidsToWire(s.UncountedFailed),
		StartTime: int64(s.StartTime), CompletionTime: int64(s.CompletionTime),
		Conditions: conditionsToWire(s.Conditions, free),
	}
}

// StatusFromWire decodes a Job's status that StatusToWire made. free holds the messages of conditions, in order; it is
// empty when they were erased.
func StatusFromWire(w *pb.JobStatus, free []string) *JobStatus {
	return statusFromWire(w, &texts{all: free})
}

func statusFromWire(w *pb.JobStatus, t *texts) *JobStatus {
	return &JobStatus{
		Active: w.GetActive(), Ready: w.GetReadyPlusOne() - 1, Terminating: w.GetTerminatingPlusOne() - 1,
		Succeeded: w.GetSucceeded(), Failed: w.GetFailed(),
		CompletedIndexes: w.GetCompletedIndexes(), FailedIndexes: w.FailedIndexes, HasUncounted: w.GetHasUncounted(),
		UncountedSucceeded: uidsFromWire(w.GetUncountedSucceeded()), UncountedFailed: uidsFromWire(w.GetUncountedFailed()),
		StartTime: Time(w.GetStartTime()), CompletionTime: Time(w.GetCompletionTime()),
		Conditions: conditionsFromWire(w.GetConditions(), t),
	}
}

func conditionsToWire(cs []JobCondition, free *[]string) []*pb.JobCondition {
	var out []*pb.JobCondition
	for _, c := range cs {
		*free = append(*free, c.Message)
		out = append(out, &pb.JobCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Since: int64(c.Since), Probed: int64(c.Probed),
		})
	}
	return out
}

func conditionsFromWire(ws []*pb.JobCondition, t *texts) []JobCondition {
	var out []JobCondition
	for _, w := range ws {
		out = append(out, JobCondition{
			Type: w.GetType(), Status: w.GetStatus(), Reason: w.GetReason(), Message: t.take(),
			Since: Time(w.GetSince()), Probed: Time(w.GetProbed()),
		})
	}
	return out
}
