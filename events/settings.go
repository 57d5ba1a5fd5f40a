package events

import (
	"slices"
	"strconv"
	"time"
)

// Settings are the options of an operator that decisions read (J-267). They are recorded, so a replay uses the ones of
// that time.
type Settings struct {
	Mode                 Mode
	Namespace            string        // empty for all namespaces
	PodFailureBackoff    time.Duration // J-103: the first wait after a pod failed
	MaxPodFailureBackoff time.Duration
	APIBackoff           time.Duration // J-017: the first wait after the API server refused
	MaxAPIBackoff        time.Duration
	ProgressDelay        time.Duration // how long a change that only shows progress may wait for its write
	RequestTimeout       time.Duration // how long a request that was sent may still take effect
	MaxUncounted         uint32        // J-092
	MaxPodsPerDecision   uint32        // J-050, J-072
	GangScheduling       bool          // Workloads and PodGroups are made for Jobs, as Gangs says (J-239)
	Draining             bool          // Jobs that have not begun are not taken; what is taken stands in JobSeen.Managed
	SlowStart            uint32        // J-057: how many creates a Job has in flight at first, and after a refusal; 0 is 1
	// DeletedPodWait is how long a pod that is being deleted may still end by itself before it counts as failed (J-022). 0
	// is not at all, as in logs of before the setting.
	DeletedPodWait time.Duration `json:",omitempty"`
	// NamespaceBudget is how many bytes of log a namespace may take in an hour before less of it is recorded; 0 for any
	// number. No decision reads it: it says what is recorded, and with a share of its own in the World how much that was.
	NamespaceBudget int64
	// DeleteExpired: finished Jobs are deleted once their ttlSecondsAfterFinished has passed (T-rules). Only with ModeAll.
	DeleteExpired bool `json:",omitempty"`
	// ObserveOthers: Jobs that other controllers run are recorded, too, and only looked at. Only with ModeDelegated.
	ObserveOthers bool `json:",omitempty"`
	// CronJobs: CronJobs are recorded. With ModeAll they are run, else only looked at.
	CronJobs bool `json:",omitempty"`
	// HeldAtEnd is how many pods may still carry their finalizer when the terminal condition of their Job is written
	// (J-085). With more of them the finalizers go first. 0 for any number: so it was before there was the setting.
	HeldAtEnd uint32 `json:",omitempty"`
	// DuePace: when the due times of a CronJob in one such span start nothing any more, it is looked at again in the next
	// span (C-085). It is a minute at most, in which its Jobs have one name. Example: @every 1s with the policy Forbid
	// leads to a record each minute while a Job runs. 0 is at each due time, as in logs of before the setting.
	DuePace time.Duration `json:",omitempty"`
	// EveryFromStart: the due times of @every that another controller runs count from the run that was started last before
	// them (C-033). Example: a start at 10:00, an edit to @every 7m at 10:03, and the next start at 10:14. 10:07 was due.
	// Without it they count from the edit when the start of 10:14 is known: so it was before there was the setting.
	EveryFromStart bool `json:",omitempty"`
	// ListPace is how long the published status of a large Job may lag before a write comes that only lists pods that
	// ended (J-085). Example: 80 pods end in a second. One write lists them, and not one for each 50. 0: as soon as there
	// are enough of them, as in logs of before the setting.
	ListPace time.Duration `json:",omitempty"`
	// Gangs says for which Jobs, where GangScheduling is on, and by which version of the API.
	Gangs GangRule `json:",omitempty"`
}

// GangRule says which Jobs get a Workload and a PodGroup (J-239, J-240).
type GangRule uint8

// The rules. The first is that of Kubernetes 1.36 (scheduling.k8s.io/v1alpha2), the others are those of 1.37 (v1beta1).
const (
	GangsByShape GangRule = 0 // Indexed Jobs that run all their pods at once
	GangsOfRoots GangRule = 1 // Jobs that no controller owns, and those whose owner delegates the PodGroup
	GangsAsked   GangRule = 2 // of these the ones that ask for it: by spec.scheduling, or by their owner's delegation
)

// String is the value of --gang-scheduling that says so, and shape for the rule of Kubernetes 1.36.
func (r GangRule) String() string { return nameOf(r, "shape", "all", "asked") }

// AsksBeta reports whether groups are made by scheduling.k8s.io/v1beta1.
func (r GangRule) AsksBeta() bool { return r != GangsByShape }

// Records reports whether Jobs with that spec.managedBy are recorded, because we run or observe them; empty means
// unset.
func (s *Settings) Records(managedBy string) bool {
	return s.Mode.Manages(managedBy) || s.Observes(managedBy)
}

// Observes reports whether another controller runs Jobs with that spec.managedBy, and we only look at them. No command
// is about such a Job or its pods.
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

// RunsCronJobs reports whether this controller makes the Jobs of CronJobs. Else another one does, if CronJobs are
// recorded.
func (s *Settings) RunsCronJobs() bool { return s.CronJobs && s.Mode == ModeAll }

// Judges reports whether we compare the deeds of such a Job's controller with our own decisions. Controllers of other
// names are not compared: they may do something else with their Jobs, such as run them in another cluster.
func (s *Settings) Judges(managedBy string) bool {
	return s.Observes(managedBy) && (managedBy == "" || managedBy == BuiltinManagedBy || managedBy == ManagedBy)
}

// DefaultSettings are the contract's numbers (J-267).
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

// FirstWindow is how many creates a Job has in flight at first, and after a refusal (J-057).
func (s *Settings) FirstWindow() uint32 { return max(1, s.SlowStart) }

// Setting is one of the settings, by the name of its flag and as text.
type Setting struct{ Flag, Value string }

// Differences are the settings that are not the contract's numbers.
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

// Flags are the settings that have a number, by the names of their flags, always in the same order.
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
	if s.DeletedPodWait != 0 { // of before there was the setting, as below
		flags = append(flags, Setting{"deleted-pod-wait", s.DeletedPodWait.String()})
	}
	if s.HeldAtEnd != 0 { // of before there was the setting: nobody chose that
		flags = append(flags, Setting{"max-finalizers-at-end", number(s.HeldAtEnd)})
	}
	return flags
}
