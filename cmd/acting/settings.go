package acting

import (
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
)

// settingFlags are the numbers in the rules for Jobs (J-267) that an operator may change. The log records them with the
// other settings. So a replay, which makes the decisions again, uses the numbers of that time.
type settingFlags struct {
	numbers     events.Settings
	uncounted   uint
	perDecision uint
	slowStart   uint
	heldAtEnd   uint
	budget      string
}

// add adds the flags. Their defaults are the numbers in the contract.
func (f *settingFlags) add(flags *pflag.FlagSet) {
	f.numbers = events.DefaultSettings()
	n := &f.numbers
	flags.DurationVar(&n.PodFailureBackoff, "pod-failure-backoff", n.PodFailureBackoff,
		"how long the next pod waits after the first failure of one; it doubles with each that follows")
	flags.DurationVar(&n.MaxPodFailureBackoff, "max-pod-failure-backoff", n.MaxPodFailureBackoff,
		"how long it waits at most")
	flags.DurationVar(&n.APIBackoff, "api-backoff", n.APIBackoff,
		"how long a command waits after the API server refused it once; it doubles with each refusal that follows")
	flags.DurationVar(&n.MaxAPIBackoff, "max-api-backoff", n.MaxAPIBackoff,
		"how long it waits at most")
	flags.DurationVar(&n.ProgressDelay, "status-delay", n.ProgressDelay,
		"how long a change that only shows progress waits for its status write; up to 4s longer where many Jobs have some")
	flags.DurationVar(&n.DeletedPodWait, "deleted-pod-wait", n.DeletedPodWait,
		"how long a pod that is being deleted may still end by itself before it counts as failed; 0 for not at all")
	flags.DurationVar(&n.RequestTimeout, "server-request-timeout", n.RequestTimeout,
		"the API server's --request-timeout: how long a request without an answer may still take effect")
	flags.UintVar(&f.uncounted, "max-uncounted-pods", uint(n.MaxUncounted),
		"how many ended pods one status write may bring to be counted")
	flags.UintVar(&f.perDecision, "max-pod-create-delete-per-sync", uint(n.MaxPodsPerDecision),
		"how many pods one decision for a Job creates, or deletes as surplus, at most")
	flags.UintVar(&f.heldAtEnd, "max-finalizers-at-end", uint(n.HeldAtEnd),
		"how many pods of a Job may still carry their finalizer when the Job says that it has ended")
	flags.StringVar(&f.budget, controller.BudgetFlag, resource.NewQuantity(n.NamespaceBudget, resource.BinarySI).String(),
		"how much log a namespace may fill in an hour, such as 128Mi, before less of its objects is recorded; 0 for any amount")
	flags.UintVar(&f.slowStart, "slow-start", uint(n.SlowStart),
		"how many creates a Job has in flight at first, and after a refusal; it doubles as they succeed")
}

// Limits of the numbers. The status of a Job lists the UIDs of all pods that wait to be counted, and an object may have
// at most 1.5 MB.
const (
	shortest = 10 * time.Millisecond
	longest  = 7 * 24 * time.Hour

	mostDeletedPodWait = time.Minute // the replacement of a pod waits as long

	maxUncounted = 10_000
	maxPods      = 100_000
	leastBudget  = 1 << 20
	mostBudget   = 1 << 40
)

// settings returns the numbers that the flags set, or a usage error with the permitted values.
func (f *settingFlags) settings() (events.Settings, error) {
	n := f.numbers
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"pod-failure-backoff", n.PodFailureBackoff}, {"max-pod-failure-backoff", n.MaxPodFailureBackoff},
		{"api-backoff", n.APIBackoff}, {"max-api-backoff", n.MaxAPIBackoff},
		{"status-delay", n.ProgressDelay}, {"server-request-timeout", n.RequestTimeout},
	} {
		if d.value < shortest || d.value > longest {
			return n, cli.Usage("--%s=%s: must be from %s to %s", d.flag, d.value, shortest, longest)
		}
	}
	if n.DeletedPodWait < 0 || n.DeletedPodWait > mostDeletedPodWait {
		return n, cli.Usage("--deleted-pod-wait=%s: must be from 0s to %s", n.DeletedPodWait, mostDeletedPodWait)
	}
	for _, c := range []struct {
		flag  string
		value uint
		most  uint
		into  *uint32
	}{
		{"max-uncounted-pods", f.uncounted, maxUncounted, &n.MaxUncounted},
		{"max-pod-create-delete-per-sync", f.perDecision, maxPods, &n.MaxPodsPerDecision},
		{"slow-start", f.slowStart, maxPods, &n.SlowStart},
		{"max-finalizers-at-end", f.heldAtEnd, maxPods, &n.HeldAtEnd},
	} {
		if c.value < 1 || c.value > c.most {
			return n, cli.Usage("--%s=%d: must be from 1 to %d", c.flag, c.value, c.most)
		}
		*c.into = uint32(c.value)
	}
	budget, err := resource.ParseQuantity(f.budget)
	if n.NamespaceBudget = budget.Value(); err != nil || n.NamespaceBudget != 0 && (n.NamespaceBudget < leastBudget || n.NamespaceBudget > mostBudget) {
		return n, cli.Usage("--%s=%s: must be 0, or from 1Mi to 1Ti", controller.BudgetFlag, f.budget)
	}
	switch {
	case n.MaxPodFailureBackoff < n.PodFailureBackoff:
		return n, cli.Usage("--max-pod-failure-backoff=%s is shorter than --pod-failure-backoff=%s: the longest wait cannot be shorter than the first",
			n.MaxPodFailureBackoff, n.PodFailureBackoff)
	case n.MaxAPIBackoff < n.APIBackoff:
		return n, cli.Usage("--max-api-backoff=%s is shorter than --api-backoff=%s: the longest wait cannot be shorter than the first",
			n.MaxAPIBackoff, n.APIBackoff)
	case n.SlowStart > n.MaxPodsPerDecision:
		return n, cli.Usage("--slow-start=%d is more than --max-pod-create-delete-per-sync=%d allows", n.SlowStart, n.MaxPodsPerDecision)
	}
	return n, nil
}
