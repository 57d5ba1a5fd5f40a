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
	Managed    bool // this controller is to run it, by its mode and the Job's managedBy
	ManagedBy  string
	Spec       string   // hash of the spec's content
	SpecAt     Sequence // the record that stores the content
	// Status as the object shows it; nil when it equals what the log knows already, or Confirms tells it.
	Status *JobStatus
	// Confirms names the status write in flight whose result the object shows; zero for none.
	Confirms CommandID
	// BuiltinWrote is when kube-controller-manager last wrote the status, by the API server's clock; 0 when it never did,
	// and in other modes than ModeAll.
	BuiltinWrote Time
	Parent       Parent `json:",omitempty"`
}

// Parent says whether a controller owns a Job, as the making of Workloads and PodGroups asks (J-240).
type Parent uint8

// What may be known of a Job's owner.
const (
	ParentUnknown   Parent = 0 // nobody looked: groups are not made, or not by the rules of Kubernetes 1.37
	ParentNone      Parent = 1 // no controller owns the Job
	ParentOther     Parent = 2 // a controller does
	ParentDelegates Parent = 3 // a controller does, and has the Job's controller make a PodGroup after a template of its Workload
)

// String is what JSON says of it.
func (p Parent) String() string { return nameOf(p, "unknown", "none", "other", "delegates") }

func nameOf[N ~uint8](n N, names ...string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return "unknown"
}

// JobGone says that the Job object was deleted, or (Missed) was absent from a complete list.
type JobGone struct {
	Version uint64
	Missed  bool
}

// JobSpec is the part of a Job's spec that decisions read, once per content and file. Nil means that the field is
// unset.
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
	Selector                string // JSON of the user's selector; empty for the generated one
	PodFailurePolicy        string // the API's JSON; empty for none
	SuccessPolicy           string // the API's JSON; empty for none
	Template                string // hash of the pod template as it is, not of the redacted one
	SchedulingGroup         bool   `json:",omitempty"` // the pod template names a scheduling group of its own
	Redacted                string `json:",omitempty"` // hash of the redacted template, which a JobTemplate names
	Policies                string `json:",omitempty"` // hash of selector and policies, which a JobPolicies has; empty for none of them
	Key                     string `json:",omitempty"` // ID of the key of Hash, Template and Scheduling
	// Scheduling is the hash of spec.scheduling but for gang.minCount; empty when the Job has no such field.
	Scheduling       string `json:",omitempty"`
	SchedulingPolicy string `json:",omitempty"` // PolicyBasic or PolicyGang; empty where spec.scheduling names none
	MinCount         *int32 `json:",omitempty"` // of a gang
}

// The policies of spec.scheduling, as [JobSpec] has them.
const (
	PolicyBasic = "Basic"
	PolicyGang  = "Gang"
)

// Apart gives the spec as a record stores it: without the fields that JobPolicies holds.
func (s *JobSpec) Apart() *JobSpec {
	if s.Policies == "" {
		return s
	}
	apart := *s
	apart.Selector, apart.PodFailurePolicy, apart.SuccessPolicy = "", "", ""
	return &apart
}

// Whole is the spec with what its JobPolicies have.
func (s *JobSpec) Whole(p *JobPolicies) *JobSpec {
	whole := *s
	whole.Selector, whole.PodFailurePolicy, whole.SuccessPolicy = p.Selector, p.PodFailurePolicy, p.SuccessPolicy
	return &whole
}

// Differs names the fields of the API in which s and o differ, as JSON spells them.
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

// field is a field of a message, and whether it is the same in two of them.
type field struct {
	name string
	same bool
}

// differing names the fields that are not the same.
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

// JobTemplate names a redacted pod template, once per content, namespace and file. Its text is Evidence.Template.
// Without the text, only hash and size are stored.
type JobTemplate struct {
	Hash string
	Size uint64 // of the text in bytes, also of one that is not stored
}

// JobPolicies are the parts of a spec that may be large and that cannot change, once per content, namespace and file.
type JobPolicies struct {
	Hash                                      string
	Selector, PodFailurePolicy, SuccessPolicy string // as in JobSpec
}

// Unset marks an optional number of a status that is not there.
const Unset = -1

// JobStatus is the status of a Job object. Ready and Terminating are Unset when the object has no such field.
type JobStatus struct {
	Active, Ready, Terminating int32
	Succeeded, Failed          int32
	CompletedIndexes           string // the API's text form (J-041)
	FailedIndexes              *string
	HasUncounted               bool // the object of uncounted pods is present, be it empty
	UncountedSucceeded         []types.UID
	UncountedFailed            []types.UID
	StartTime, CompletionTime  Time
	Conditions                 []JobCondition
}

// JobCondition is a condition of a Job. Message is evidence.
type JobCondition struct {
	Type, Status, Reason, Message string
	Since, Probed                 Time // lastTransitionTime, lastProbeTime
}

// StoredState is a stream's state with which it begins in a new file: the message JobState as package projector encodes
// it. The names in it stand in Evidence.State.
type StoredState struct{ Encoded []byte }

// JobResumed touches a Job after a listing, so that it is decided.
type JobResumed struct{}

// TimerFired touches a Job because a wait of its has been served.
type TimerFired struct{}

// JobResult is how a Job ended.
type JobResult uint8

// The results.
const (
	ResultNone     JobResult = 0 // it has not ended
	ResultComplete JobResult = 1
	ResultFailed   JobResult = 2
)

// String is the condition that says so; empty for none.
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

// JobRetired says that nothing is left to do for a Job, and how it ended; a stub of it is kept until its object is
// gone. In records of before results were recorded all fields are zero. Evidence.Sentence is the verdict in one line,
// Evidence.Message the message of the condition Failed.
type JobRetired struct {
	Result            JobResult
	Reason            Reason // of the condition that says so
	Succeeded, Failed int32  // as the status counts
	// Started is the start time in the status, Finished the time of the condition. A Job that was suspended and resumed
	// started when it was resumed last.
	Started, Finished Time
}

// Differs names the fields in which f and o differ, as JSON spells them.
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
