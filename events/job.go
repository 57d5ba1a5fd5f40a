package events

import "k8s.io/apimachinery/pkg/types"

// JobRef names a Job object.
type JobRef struct {
	Namespace, Name string
	UID             types.UID
}

// JobSeen has the fields of a Job object that decisions read.
type JobSeen struct {
	Version    uint64 // resourceVersion
	Generation int64
	Created    Time
	Deleted    Time // deletionTimestamp; 0 when it is not being deleted
	Managed    bool // this controller runs the Job, by its mode and the Job's managedBy
	ManagedBy  string
	Spec       string   // hash of the spec's content, which another record stores
	SpecAt     Sequence // the record that stores the spec
	// Status is the observed status. It is nil when it equals the status that the log already knows, or when Confirms
	// implies it.
	Status *JobStatus
	// Confirms names the status write in flight that the observed status is the result of; zero for none.
	Confirms CommandID
	// BuiltinWrote is when kube-controller-manager last wrote the status, by the API server's clock. It is 0 if it
	// never did, and in all modes but ModeAll.
	BuiltinWrote Time
	Parent       Parent `json:",omitempty"`
}

// Parent says which controller owns the Job's object. That decides about the Job's Workload and PodGroup, which
// schedule its pods together (J-240).
type Parent uint8

// The values.
const (
	ParentUnknown Parent = 0 // not looked at: the Job gets no PodGroup, or by other rules than those of Kubernetes 1.37
	ParentNone    Parent = 1 // no controller owns the Job
	ParentOther   Parent = 2 // a controller owns the Job
	// A controller owns the Job, and delegates the PodGroup to the Job controller, which makes it from a template of
	// the owner's Workload
	ParentDelegates Parent = 3
)

// String returns the value as it is written in JSON.
func (p Parent) String() string { return nameOf(p, "unknown", "none", "other", "delegates") }

func nameOf[N ~uint8](n N, names ...string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return "unknown"
}

// JobGone records that the Job was deleted, or (Missed) was absent from a complete list.
type JobGone struct {
	Version uint64
	Missed  bool
}

// JobSpec holds the fields of a Job's spec that decisions read. Equal specs are stored once per file of the log. Nil
// means an unset field.
type JobSpec struct {
	Hash                    string
	Parallelism             *int32
	Completions             *int32
	CompletionMode          string
	BackoffLimit            *int32
	ActiveDeadlineSeconds   *int64
	Suspend                 bool
	TTLSecondsAfterFinished *int32
	BackoffLimitPerIndex    *int32
	MaxFailedIndexes        *int32
	PodReplacementPolicy    string
	RestartPolicy           string
	ManualSelector          bool
	Selector                string // the user's selector as JSON; empty for the generated one
	PodFailurePolicy        string // as JSON of the API; empty for none
	SuccessPolicy           string // as JSON of the API; empty for none
	Template                string // hash of the whole pod template, not of the redacted one
	SchedulingGroup         bool   `json:",omitempty"` // the pod template names a scheduling group itself
	// Hash of the pod template without secret values: the Hash of a JobTemplate record
	Redacted string `json:",omitempty"`
	// Hash of selector and policies, the Hash of a JobPolicies record; empty if the Job has none of them
	Policies string `json:",omitempty"`
	Key      string `json:",omitempty"` // ID of the secret key that made Hash, Template and Scheduling
	// Scheduling is the hash of spec.scheduling without gang.minCount; empty when the field is unset.
	Scheduling       string `json:",omitempty"`
	SchedulingPolicy string `json:",omitempty"` // PolicyBasic or PolicyGang; empty when spec.scheduling names none
	MinCount         *int32 `json:",omitempty"` // minCount of a gang
}

// The values of SchedulingPolicy in [JobSpec].
const (
	PolicyBasic = "Basic"
	PolicyGang  = "Gang"
)

// Apart returns the spec as a record stores it: without selector and policies, which a JobPolicies record holds.
func (s *JobSpec) Apart() *JobSpec {
	if s.Policies == "" {
		return s
	}
	apart := *s
	apart.Selector, apart.PodFailurePolicy, apart.SuccessPolicy = "", "", ""
	return &apart
}

// Whole returns the spec completed by selector and policies from p, which Apart has left out.
func (s *JobSpec) Whole(p *JobPolicies) *JobSpec {
	whole := *s
	whole.Selector, whole.PodFailurePolicy, whole.SuccessPolicy = p.Selector, p.PodFailurePolicy, p.SuccessPolicy
	return &whole
}

// Differs returns the fields in which two specs differ, by their JSON names.
func (s *JobSpec) Differs(o *JobSpec) []string {
	return differing(
		field{"parallelism", equal(s.Parallelism, o.Parallelism)},
		field{"completions", equal(s.Completions, o.Completions)},
		field{"completionMode", s.CompletionMode == o.CompletionMode},
		field{"backoffLimit", equal(s.BackoffLimit, o.BackoffLimit)},
		field{"activeDeadlineSeconds", equal(s.ActiveDeadlineSeconds, o.ActiveDeadlineSeconds)},
		field{"suspend", s.Suspend == o.Suspend},
		field{"ttlSecondsAfterFinished", equal(s.TTLSecondsAfterFinished, o.TTLSecondsAfterFinished)},
		field{"backoffLimitPerIndex", equal(s.BackoffLimitPerIndex, o.BackoffLimitPerIndex)},
		field{"maxFailedIndexes", equal(s.MaxFailedIndexes, o.MaxFailedIndexes)},
		field{"podReplacementPolicy", s.PodReplacementPolicy == o.PodReplacementPolicy},
		field{"manualSelector", s.ManualSelector == o.ManualSelector},
		field{"selector", s.Selector == o.Selector},
		field{"podFailurePolicy", s.PodFailurePolicy == o.PodFailurePolicy},
		field{"successPolicy", s.SuccessPolicy == o.SuccessPolicy},
		field{"template", s.Template == o.Template && s.RestartPolicy == o.RestartPolicy && s.SchedulingGroup == o.SchedulingGroup},
		field{
			"scheduling",
			s.Scheduling == o.Scheduling && s.SchedulingPolicy == o.SchedulingPolicy && equal(s.MinCount, o.MinCount),
		},
	)
}

// field is a named field, and whether it is equal in two messages.
type field struct {
	name string
	same bool
}

// differing returns the names of the fields that are not equal.
func differing(fields ...field) []string {
	var names []string
	for _, f := range fields {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}

func equal[T comparable](a, b *T) bool { return a == b || (a != nil && b != nil && *a == *b) }

// JobTemplate records a pod template without its secret values. Equal templates are stored once per namespace and file
// of the log. Evidence.Template holds the text; when the text is too large, only Hash and Size are stored.
type JobTemplate struct {
	Hash string
	Size uint64 // size of the text in bytes, even if the text is not stored
}

// JobPolicies records the immutable parts of a spec that may be large. Equal ones are stored once per namespace and
// file of the log.
type JobPolicies struct {
	Hash                                      string
	Selector, PodFailurePolicy, SuccessPolicy string
}

// Unset marks an optional number of a status that is absent.
const Unset = -1

// JobStatus is the status of a Job. Ready and Terminating are Unset when the object lacks the field.
type JobStatus struct {
	Active, Ready, Terminating int32
	Succeeded, Failed          int32
	CompletedIndexes           string // the API's text form (J-041)
	FailedIndexes              *string
	HasUncounted               bool // status.uncountedTerminatedPods is present, even if empty
	UncountedSucceeded         []types.UID
	UncountedFailed            []types.UID
	StartTime, CompletionTime  Time
	Conditions                 []JobCondition
}

// JobCondition is a condition of a Job. No decision reads Message.
type JobCondition struct {
	Type, Status, Reason, Message string
	Since, Probed                 Time // lastTransitionTime, lastProbeTime
}

// StoredState records the whole state of one Job, CronJob or namespace, so that a reader can begin at this file of the
// log. Encoded is a JobState message, encoded by package projector. The names in it are in Evidence.State.
type StoredState struct{ Encoded []byte }

// JobResumed records that a listing has ended, so that the loop decides about a Job again.
type JobResumed struct{}

// TimerFired records that a wait is over, so that the loop decides about a Job again.
type TimerFired struct{}

// JobResult says how a Job ended: Complete or Failed.
type JobResult uint8

// The results of a Job.
const (
	ResultNone     JobResult = 0 // the Job has not ended
	ResultComplete JobResult = 1
	ResultFailed   JobResult = 2
)

// String returns the type of the condition that gives the result; empty for none.
func (r JobResult) String() string {
	switch r {
	case ResultComplete:
		return "Complete"
	case ResultFailed:
		return "Failed"
	case ResultNone:
	}
	return ""
}

// JobRetired records that nothing is left to do for a finished Job, and how it ended. The controller then keeps only a
// few fields of the Job until its object is deleted. Evidence.Sentence says in one line how it ended (the verdict);
// Evidence.Message is the message of the condition Failed. All fields are zero in records from before results were
// recorded.
type JobRetired struct {
	Result            JobResult
	Reason            Reason // of the condition Complete or Failed
	Succeeded, Failed int32  // counters of the status
	// Started is the start time in the status, Finished the time of the condition. For a Job that was suspended and
	// resumed, Started is the time of the last resume.
	Started, Finished Time
}

// Differs returns the fields in which f and o differ, by their JSON names.
func (f *JobRetired) Differs(o *JobRetired) []string {
	return differing(
		field{"result", f.Result == o.Result}, field{"reason", f.Reason == o.Reason},
		field{"succeeded", f.Succeeded == o.Succeeded}, field{"failed", f.Failed == o.Failed},
		field{"started", f.Started == o.Started}, field{"finished", f.Finished == o.Finished},
	)
}

func (*JobSeen) facts() factType     { return factJobSeen }
func (*JobGone) facts() factType     { return factJobGone }
func (*JobSpec) facts() factType     { return factJobSpec }
func (*JobTemplate) facts() factType { return factJobTemplate }
func (*JobPolicies) facts() factType { return factJobPolicies }
func (*StoredState) facts() factType { return factStoredState }
func (*JobResumed) facts() factType  { return factJobResumed }
func (*TimerFired) facts() factType  { return factTimerFired }
func (*JobRetired) facts() factType  { return factJobRetired }
