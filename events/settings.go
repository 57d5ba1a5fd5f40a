package events

import (
	"slices"
	"strconv"
	"time"
)

// Settings holds the operator's options that decisions read (J-267). They are recorded, so a replay uses the options in
// force at the time of each record.
type Settings struct {
	Mode                 Mode
	Namespace            string        // empty for all namespaces
	PodFailureBackoff    time.Duration // J-103: the wait after the first pod failure
	MaxPodFailureBackoff time.Duration
	APIBackoff           time.Duration // J-017: the wait after the first refusal by the API server
	MaxAPIBackoff        time.Duration
	ProgressDelay        time.Duration // how long a status change that only shows progress may wait for its write
	RequestTimeout       time.Duration // how long a request may still take effect after it was sent
	MaxUncounted         uint32        // J-092: largest number of UIDs in status.uncountedTerminatedPods
	MaxPodsPerDecision   uint32        // J-050, J-072: largest number of pods that one decision creates or deletes
	GangScheduling       bool          // make Workloads and PodGroups for Jobs, by the rule in Gangs (J-239)
	Draining             bool          // take no new Jobs; JobSeen.Managed tells which Jobs are taken
	SlowStart            uint32        // J-057: creates in flight per Job at first, and after a refusal; 0 means 1
	// DeletedPodWait is how long a pod that is being deleted may still end by itself before it counts as failed
	// (J-022). 0, as in logs from before the setting, means no wait.
	DeletedPodWait time.Duration `json:",omitempty"`
	// NamespaceBudget is the number of bytes of log that a namespace may use in an hour; when more are used, fewer
	// versions of its objects are recorded. 0 means no limit. No decision reads it. projector.World counts the bytes
	// used.
	NamespaceBudget int64
	// DeleteExpired: delete finished Jobs once their ttlSecondsAfterFinished has passed (T-rules). Only with ModeAll.
	DeleteExpired bool `json:",omitempty"`
	// ObserveOthers: also record Jobs that other controllers run, without commands. Only with ModeDelegated.
	ObserveOthers bool `json:",omitempty"`
	// CronJobs: record CronJobs. With ModeAll the controller runs them; in other modes it only observes them.
	CronJobs bool `json:",omitempty"`
	// HeldAtEnd is the number of pods that may still have their finalizer when the condition Complete or Failed of
	// their Job is written (J-085). With more pods, finalizers are removed first. 0, as in logs from before the
	// setting, means any number.
	HeldAtEnd uint32 `json:",omitempty"`
	// DuePace limits how often a CronJob is evaluated while its due times can start nothing: once in each span of this
	// length, one minute at most (C-085). Example: @every 1s with the policy Forbid leads to one record a minute while
	// a Job runs, not to 60. 0, as in logs from before the setting, means at each due time.
	DuePace time.Duration `json:",omitempty"`
	// EveryFromStart selects how the due times of an @every schedule are counted when another controller runs the
	// CronJob (C-033). If true, they count from the last start before them. Example: a start at 10:00, an edit to
	// @every 7m at 10:03, and the next start at 10:14: 10:07 was due. If false, as in logs from before the setting,
	// they count from the edit once the start of 10:14 is known.
	EveryFromStart bool `json:",omitempty"`
	// ListPace is how long the published status of a large Job may lag before a write that only lists ended pods
	// (J-085). Example: 80 pods end within a second; one write lists them all, instead of one write for each 50. 0, as
	// in logs from before the setting, means as soon as enough pods have ended.
	ListPace time.Duration `json:",omitempty"`
	// Gangs selects the Jobs that GangScheduling applies to, and the version of the API.
	Gangs GangRule `json:",omitempty"`
}

// GangRule selects the Jobs that get a Workload and a PodGroup (J-239, J-240).
type GangRule uint8

// The rules. GangsByShape is the rule of Kubernetes 1.36 (scheduling.k8s.io/v1alpha2); the other rules are those of
// 1.37 (v1beta1).
const (
	GangsByShape GangRule = 0 // Indexed Jobs that run all their pods at once
	GangsOfRoots GangRule = 1 // Jobs without an owning controller, and Jobs whose owner delegates the PodGroup
	// The Jobs of GangsOfRoots that ask for a gang: by spec.scheduling, or by their owner's delegation
	GangsAsked GangRule = 2
)

// String returns the value of --gang-scheduling for the rule, and "shape" for GangsByShape.
func (r GangRule) String() string { return nameOf(r, "shape", "all", "asked") }

// AsksBeta reports whether the rule uses scheduling.k8s.io/v1beta1.
func (r GangRule) AsksBeta() bool { return r != GangsByShape }

// Records reports whether a Job with this spec.managedBy (empty means unset) is recorded: this controller runs it, or
// observes how another one runs it.
func (s *Settings) Records(managedBy string) bool {
	return s.Mode.Manages(managedBy) || s.Observes(managedBy)
}

// Observes reports whether a Job with this spec.managedBy is recorded although another controller runs it. Such a Job
// and its pods get no commands.
func (s *Settings) Observes(managedBy string) bool {
	switch s.Mode {
	case ModeObserve:
		return s.Mode.Manages(managedBy)
	case ModeDelegated:
		return s.ObserveOthers && managedBy != ManagedBy
	case ModeAll:
	}
	return false
}

// RunsCronJobs reports whether this controller creates the Jobs of CronJobs. If it is false and CronJobs are recorded,
// another controller does.
func (s *Settings) RunsCronJobs() bool { return s.CronJobs && s.Mode == ModeAll }

// Judges reports whether the acts of the Job's controller are compared with our own decisions. This covers the built-in
// controller and Jobledger only: a controller of another name may do something else, such as run the Job in another
// cluster.
func (s *Settings) Judges(managedBy string) bool {
	return s.Observes(managedBy) && (managedBy == "" || managedBy == BuiltinManagedBy || managedBy == ManagedBy)
}

// DefaultSettings returns the defaults of the contract (J-267).
func DefaultSettings() Settings {
	return Settings{
		Mode:                 ModeDelegated,
		PodFailureBackoff:    10 * time.Second,
		MaxPodFailureBackoff: 10 * time.Minute,
		APIBackoff:           time.Second,
		MaxAPIBackoff:        time.Minute,
		ProgressDelay:        time.Second,
		RequestTimeout:       time.Minute,
		MaxUncounted:         500,
		MaxPodsPerDecision:   500,
		SlowStart:            1,
		DeletedPodWait:       time.Second,
		NamespaceBudget:      128 << 20,
		HeldAtEnd:            50,
		DuePace:              time.Minute,
		EveryFromStart:       true,
		ListPace:             time.Second,
	}
}

// FirstWindow returns the number of creates that a Job may have in flight at first, and after a refusal (J-057).
func (s *Settings) FirstWindow() uint32 { return max(1, s.SlowStart) }

// Setting is a setting as text: the name of its flag and its value.
type Setting struct{ Flag, Value string }

// Differences returns the settings that differ from DefaultSettings.
func (s *Settings) Differences() []Setting {
	var out []Setting
	usual := DefaultSettings()
	numbers := usual.Flags()
	for _, f := range s.Flags() {
		if !slices.Contains(numbers, f) {
			out = append(out, f)
		}
	}
	return out
}

// Flags returns the settings with a number or duration, by the names of their flags, always in the same order.
func (s *Settings) Flags() []Setting {
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	flags := []Setting{
		{"pod-failure-backoff", s.PodFailureBackoff.String()},
		{"max-pod-failure-backoff", s.MaxPodFailureBackoff.String()},
		{"api-backoff", s.APIBackoff.String()},
		{"max-api-backoff", s.MaxAPIBackoff.String()},
		{"status-delay", s.ProgressDelay.String()},
		{"server-request-timeout", s.RequestTimeout.String()},
		{"max-uncounted-pods", number(s.MaxUncounted)},
		{"max-pod-create-delete-per-sync", number(s.MaxPodsPerDecision)},
		{"slow-start", number(s.FirstWindow())},
		{"log-namespace-budget", strconv.FormatInt(s.NamespaceBudget, 10)},
	}
	if s.DeletedPodWait != 0 { // 0 in logs from before the setting
		flags = append(flags, Setting{"deleted-pod-wait", s.DeletedPodWait.String()})
	}
	if s.HeldAtEnd != 0 { // 0 in logs from before the setting, where no operator chose it
		flags = append(flags, Setting{"max-finalizers-at-end", number(s.HeldAtEnd)})
	}
	return flags
}
