package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
)

// Config says what a recorded history of Jobs and pods does not show.
type Config struct {
	// Stripped reports whether a user removed the tracking finalizer of a pod, or perhaps tried to. If nil, no user
	// did.
	Stripped func(pod types.UID) bool
	// Deleted reports whether a client other than the Job's controller deleted a pod, or perhaps tried to. If nil, this
	// is unknown.
	Deleted func(pod types.UID) bool
	// Builtin says that the built-in controller also ran the Jobs. Then rules that only Jobledger promises are not
	// checked: J-030 when there is nothing to count, J-126, J-142.
	Builtin bool
}

// Violation is a rule that was broken.
type Violation struct {
	Version uint64
	Rule    string
	Job     string
	UID     types.UID // UID of the Job
	What    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s broken at version %d, job %s: %s", v.Rule, v.Version, v.Job, v.What)
}

// Ledger checks a recorded history of Jobs and pods against rules that must always hold, Job by Job.
type Ledger struct {
	config Config
	jobs   map[types.UID]*Account
	owner  map[types.UID]types.UID // by UID of the pod: UID of the Job to which it belongs, or belonged last
	found  []Violation
}

// New returns a ledger that has not seen any version yet.
func New(config Config) *Ledger {
	if config.Stripped == nil {
		config.Stripped = func(types.UID) bool { return false }
	}
	return &Ledger{config: config, jobs: map[types.UID]*Account{}, owner: map[types.UID]types.UID{}}
}

// Read returns a ledger that has checked a whole history. all must be in the order in which the versions were stored.
func Read(config Config, all []history.Change) *Ledger {
	l := New(config)
	for _, c := range all {
		l.See(c)
	}
	return l
}

// See checks the next version of an object in the history.
func (l *Ledger) See(c history.Change) {
	if c.Job != nil {
		a := l.account(c.Job.UID)
		a.version, a.seen = c.Version, c.Seen
		a.seeJob(c.Job, c.Gone)
		return
	}
	uid := l.jobOf(c)
	if uid == "" {
		return // a pod that never had an owner belongs to no Job
	}
	a := l.account(uid)
	a.version, a.seen = c.Version, c.Seen
	a.seePod(c.Pod, c.Gone)
}

// jobOf returns the UID of the Job that a pod belongs to, or belonged to last.
func (l *Ledger) jobOf(c history.Change) types.UID {
	if owner := metav1.GetControllerOfNoCopy(c.Pod); owner != nil {
		l.owner[c.Pod.UID] = owner.UID
	}
	return l.owner[c.Pod.UID]
}

func (l *Ledger) account(uid types.UID) *Account {
	a := l.jobs[uid]
	if a == nil {
		a = &Account{ledger: l, UID: uid, pods: map[types.UID]*pod{}, entries: map[types.UID]entry{}}
		l.jobs[uid] = a
	}
	return a
}

// Violations returns the violations found so far, in the order of their versions.
func (l *Ledger) Violations() []Violation { return l.found }

// Accounts returns the Jobs of the history, sorted by name and then UID.
func (l *Ledger) Accounts() []*Account {
	return slices.SortedFunc(maps.Values(l.jobs), func(a, b *Account) int {
		return cmp.Or(cmp.Compare(a.name(), b.name()), cmp.Compare(a.UID, b.UID))
	})
}

// Account is what the history shows of one Job and its pods, up to the version that was read last.
type Account struct {
	ledger  *Ledger
	UID     types.UID
	Job     *batchv1.Job // the newest version; nil before the first one
	Gone    bool
	version uint64
	seen    time.Time // when the test received the newest version of the Job or a pod
	edited  time.Time // when the test received the newest change of the spec
	success time.Time // when the test received the condition SuccessCriteriaMet
	failing time.Time // when the test received the condition FailureTarget
	pods    map[types.UID]*pod
	entries map[types.UID]entry // every UID that was ever in uncountedTerminatedPods

	spec   bounds
	wanted []wish // how many pods each version of the spec wanted, in order
	// What the status said when the end of the Job was decided. If completions are lowered later, the sets of indexes
	// shrink (J-039).
	verdict indexCounts // numbers in the version with the condition FailureTarget
	// in the version with the condition SuccessCriteriaMet: the indexes meet a rule of the success policy
	policy bool
}

// indexCounts are the numbers of failed and of completed indexes.
type indexCounts struct{ failed, completed int }

func (a *Account) name() string {
	if a.Job == nil {
		return "of UID " + string(a.UID)
	}
	return a.Job.Name
}

func (a *Account) complain(rule, format string, args ...any) {
	a.ledger.found = append(a.ledger.found, Violation{
		Version: a.version, Rule: rule, Job: a.name(), UID: a.UID, What: fmt.Sprintf(format, args...),
	})
}

// bounds has the lowest and highest values that fields of the Job's spec had so far. A controller may act on any
// version that it has seen.
type bounds struct {
	seen                             bool
	leastParallel, mostParallel      int32
	leastCompletions, mostCompletion int32
	leastBackoff, mostBackoff        int32
	leastFailedIndexes               int32
	mostFailedIndexes                int32
	leastDeadline                    int64 // 0: there was no deadline
	// in some version of the spec, a pod that is being deleted counted as failed (J-022)
	replacesEarly bool
}

func (b *bounds) note(s *batchv1.JobSpec) {
	parallel, completions, backoff := deref(s.Parallelism, 1), deref(s.Completions, -1), deref(s.BackoffLimit, 6)
	failedIndexes := deref(s.MaxFailedIndexes, 1<<30)
	if !b.seen {
		*b = bounds{
			seen: true, leastParallel: parallel, mostParallel: parallel, leastCompletions: completions, mostCompletion: completions,
			leastBackoff: backoff, mostBackoff: backoff, leastFailedIndexes: failedIndexes, mostFailedIndexes: failedIndexes,
		}
	}
	b.leastParallel, b.mostParallel = min(b.leastParallel, parallel), max(b.mostParallel, parallel)
	b.leastCompletions, b.mostCompletion = min(b.leastCompletions, completions), max(b.mostCompletion, completions)
	b.leastBackoff, b.mostBackoff = min(b.leastBackoff, backoff), max(b.mostBackoff, backoff)
	b.leastFailedIndexes, b.mostFailedIndexes = min(b.leastFailedIndexes, failedIndexes), max(b.mostFailedIndexes, failedIndexes)
	if d := s.ActiveDeadlineSeconds; d != nil && (b.leastDeadline == 0 || *d < b.leastDeadline) {
		b.leastDeadline = *d
	}
	b.replacesEarly = b.replacesEarly || !failedOnly(s)
}

// wish is how many pods one version of the spec wants, and when the next version was seen (until).
type wish struct {
	// completions is -1 if unset; until is when the test received the next version of the spec
	parallel, completions int32
	until                 time.Time
}

// wish adds how many pods the newest version of the spec wants to the list wanted.
func (a *Account) wish(s *batchv1.JobSpec) {
	now := wish{parallel: deref(s.Parallelism, 1), completions: deref(s.Completions, -1)}
	if deref(s.Suspend, false) {
		now.parallel = 0
	}
	if n := len(a.wanted); n > 0 {
		last := &a.wanted[n-1]
		if last.parallel == now.parallel && last.completions == now.completions {
			return
		}
		last.until = a.seen
	}
	a.wanted = append(a.wanted, now)
}

// leastWanted returns the lowest numbers that any version of the spec wants on which a controller may still act.
// completions is -1 if no such version sets it.
func (a *Account) leastWanted() (parallel, completions int32) {
	parallel, completions = math.MaxInt32, -1
	for _, w := range a.wanted {
		if !w.until.IsZero() && a.seen.Sub(w.until) > 2*lag {
			continue
		}
		parallel = min(parallel, w.parallel)
		if w.completions >= 0 && (completions < 0 || w.completions < completions) {
			completions = w.completions
		}
	}
	return parallel, completions
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
