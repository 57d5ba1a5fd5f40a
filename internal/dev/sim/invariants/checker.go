package invariants

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Config configures a Checker.
type Config struct {
	Server *apiserver.Server
	// Actor is the name of the controller under test in the server's log of writes. All its processes use the same
	// name.
	Actor string
	// Manages reports whether the controller under test must run a Job. If nil, it must run the Jobs with managedBy =
	// events.ManagedBy.
	Manages func(*batchv1.Job) bool
	// DeletesExpired says that the controller deletes finished Jobs after their TTL.
	DeletesExpired bool
	// HeldAtEnd limits how many pods may still carry the finalizer when a Job is finished; 0 for no limit.
	HeldAtEnd int
	// DeletedPodWait is how long a Pod that is being deleted may take to end before it counts as failed (J-022). With 0
	// it counts at once.
	DeletedPodWait time.Duration
	// Intent, if set, returns the purpose of a write of a Pod (a creation, or the removal of the finalizer), and the
	// versions on which the controller decided it. Without Intent some checks are weaker.
	Intent func(apiserver.Write) (Intent, bool)
	// CronSeen, if set, returns which version of its CronJob the controller had seen when it decided on a write of a
	// Job; 0 if unknown. Without it some checks are skipped.
	CronSeen func(apiserver.Write) uint64
}

// Intent is why the controller made a write to a Pod.
type Intent struct {
	// Surplus: the finalizer is removed in order to delete the Pod without counting it (J-073).
	Surplus bool
	// NeverCounted: the finalizer is removed because the controller decided, before the Pod ended, that it is never to
	// be counted (J-091).
	NeverCounted bool
	// PodSeen and JobSeen are the resource versions of the Pod and its Job on which the decision was made; 0 if
	// unknown.
	PodSeen, JobSeen uint64
}

// Violation is a promise that the controller broke.
type Violation struct {
	Rule    string // identifier of the rule, or section of the design
	Version uint64 // resource version of the write, or of the server if there was no write
	Job     string
	Pod     string
	CronJob string
	What    string
}

func (v *Violation) Error() string {
	text := fmt.Sprintf("%s broken at version %d", v.Rule, v.Version)
	if v.Job != "" {
		text += ", job " + v.Job
	}
	if v.Pod != "" {
		text += ", pod " + v.Pod
	}
	if v.CronJob != "" {
		text += ", CronJob " + v.CronJob
	}
	return text + ": " + v.What
}

// Checker follows the writes of one server. The package comment describes what it checks.
type Checker struct {
	cfg    Config
	writes int // number of writes that were checked
	calls  int // number of calls that were checked
	jobs   map[types.UID]*job
	pods   map[types.UID]*pod
	crons  map[types.UID]*cron
	ran    map[types.UID]bool // Jobs that belong to a CronJob, or did
	names  map[types.UID]apiserver.Key
	found  []error

	forgotten bool // the controller has lost its log, or another one has taken over
	clock     []setting
}

// New returns a Checker that has read nothing yet.
func New(cfg Config) *Checker {
	if cfg.Manages == nil {
		cfg.Manages = func(j *batchv1.Job) bool { return j.Spec.ManagedBy != nil && *j.Spec.ManagedBy == events.ManagedBy }
	}
	return &Checker{cfg: cfg, jobs: map[types.UID]*job{}, pods: map[types.UID]*pod{}, crons: map[types.UID]*cron{}, ran: map[types.UID]bool{}, names: map[types.UID]apiserver.Key{}}
}

// LogLost tells the checker that the controller lost its log, or that another controller with a log of its own took
// over. The new process knows neither the requests of the old one nor the pods that it was about to delete. From then
// on a request of the old one may take effect late.
func (c *Checker) LogLost() {
	c.forgotten = true
	for _, p := range c.pods {
		p.surplus = false
	}
}

// Backup is what a Checker knows at one moment; [Checker.Rewound] returns to it.
type Backup struct {
	jobs  map[types.UID]*job
	pods  map[types.UID]*pod
	crons map[types.UID]*cron
	names map[types.UID]apiserver.Key
}

// Backup returns what the Checker knows now, to be kept with a backup of the server. Call Check before it.
func (c *Checker) Backup() *Backup {
	b := &Backup{names: maps.Clone(c.names), crons: copiedCrons(c.crons)}
	b.jobs, b.pods = copied(c.jobs, c.pods)
	return b
}

// Rewound tells the checker that the server was restored from the backup that was made with b. The later writes are
// undone, and the controller has forgotten them as if it had lost its log. With away, another controller exists, and
// its log may still have them.
func (c *Checker) Rewound(b *Backup, away bool) {
	c.jobs, c.pods = copied(b.jobs, b.pods)
	c.undo(b.crons, away)
	c.names = maps.Clone(b.names)
	c.writes, c.calls = len(c.cfg.Server.Writes(0)), len(c.cfg.Server.Calls(0))
	c.LogLost()
}

// copied returns deep copies of what the checker knows about Jobs and pods, for a backup.
func copied(jobs map[types.UID]*job, pods map[types.UID]*pod) (map[types.UID]*job, map[types.UID]*pod) {
	twins, js, ps := map[*job]*job{}, map[types.UID]*job{}, map[types.UID]*pod{}
	for uid, j := range jobs {
		twin := *j
		twin.versions, twin.pods = slices.Clone(j.versions), map[types.UID]*pod{}
		twins[j], js[uid] = &twin, &twin
	}
	for uid, p := range pods {
		twin := *p
		twin.versions, twin.entries, twin.job = slices.Clone(p.versions), map[*job]entry{}, twins[p.job]
		for j, e := range p.entries {
			twin.entries[twins[j]] = e
		}
		ps[uid] = &twin
	}
	for uid, j := range jobs {
		for pod := range j.pods {
			js[uid].pods[pod] = ps[pod]
		}
	}
	return js, ps
}

// MaySurplus tells the checker about a decision that a new process found in its log: to remove a pod's finalizer, and
// delete the pod uncounted. The process cannot know whether the old process sent the request.
func (c *Checker) MaySurplus(uid types.UID) {
	if p := c.pods[uid]; p != nil && p.tracked && p.job != nil && !c.accounted(p.job, p) {
		p.dropTried = true
	}
}

// Check checks the writes and calls since the last Check. It returns all violations in them, each a *Violation, joined.
func (c *Checker) Check() error {
	c.found = nil
	calls := c.cfg.Server.Calls(c.calls)
	c.calls += len(calls)
	writes := c.cfg.Server.Writes(c.writes)
	c.writes += len(writes)
	for _, w := range writes {
		for len(calls) > 0 && calls[0].Version < w.Version {
			c.called(calls[0])
			calls = calls[1:]
		}
		c.wrote(w)
	}
	for _, call := range calls {
		c.called(call)
	}
	return c.joined()
}

func (c *Checker) joined() error { return errors.Join(c.found...) }

func (c *Checker) report(rule string, version uint64, j *job, p *pod, format string, args ...any) {
	v := &Violation{Rule: rule, Version: version, What: fmt.Sprintf(format, args...)}
	if j != nil {
		v.Job = fmt.Sprintf("%s (%s)", j.key, j.uid)
	}
	if p != nil {
		v.Pod = fmt.Sprintf("%s (%s)", p.key, p.uid)
	}
	c.found = append(c.found, v)
}

// wrote checks one write, and then adds it to what the checker knows. The checks see the state before the write.
func (c *Checker) wrote(w apiserver.Write) {
	if w.Before == nil {
		if first, taken := c.names[w.UID]; taken {
			c.report("UIDs are unique", w.Version, nil, nil, "%s has the UID of %s", w.Key, first)
		}
		c.names[w.UID] = w.Key
	}
	switch w.Kind {
	case apiserver.Jobs:
		c.wroteJob(w)
	case apiserver.Pods:
		c.wrotePod(w)
	case apiserver.CronJobs:
		c.wroteCron(w)
	case apiserver.Namespaces:
	}
}

func (c *Checker) wroteJob(w apiserver.Write) {
	j := c.jobs[w.UID]
	if j == nil {
		j = &job{uid: w.UID, key: w.Key, pods: map[types.UID]*pod{}}
		c.jobs[w.UID] = j
	}
	before, _ := w.Before.(*batchv1.Job)
	after, _ := w.After.(*batchv1.Job)
	if w.Actor == c.cfg.Actor {
		c.checkJobWrite(w, j, before, after)
	}
	c.wroteRun(w, before, after)
	j.follow(w.Actor, before, after)
	j.stored = w.Time
}

func (c *Checker) wrotePod(w apiserver.Write) {
	p := c.pods[w.UID]
	if p == nil {
		p = &pod{uid: w.UID, key: w.Key, createdBy: w.Actor, late: w.Late && c.forgotten, again: c.named(w.Key)}
		c.pods[w.UID] = p
	}
	before, _ := w.Before.(*corev1.Pod)
	after, _ := w.After.(*corev1.Pod)
	if w.Actor == c.cfg.Actor {
		c.checkPodWrite(w, p, before, after)
	}
	p.follow(c, w, before, after)
	if before == nil && w.Actor == c.cfg.Actor {
		c.checkRoom(w, p)
	}
}

// named reports whether there ever was a pod of that name.
func (c *Checker) named(key apiserver.Key) bool {
	for _, p := range c.pods {
		if p.key == key {
			return true
		}
	}
	return false
}

// called checks one API call of the controller: a status must not be refused as invalid, and a deletion or a patch must
// name a UID.
func (c *Checker) called(a apiserver.Answered) {
	if a.Actor != c.cfg.Actor {
		return
	}
	if a.Kind == apiserver.Jobs && a.Subresource == "status" && apierrors.IsInvalid(a.Err) {
		c.report("J-237, status writes are valid", a.Version, nil, nil, "status of %s/%s: %v", a.Namespace, a.Name, a.Err)
	}
	if a.Kind == apiserver.Jobs && a.Verb == "delete" && a.UID == "" {
		c.report("T-071", a.Version, nil, nil, "%s without a UID", a.Call)
	}
	if a.Kind != apiserver.Pods {
		return
	}
	if (a.Verb == "delete" || a.Verb == "patch") && a.UID == "" {
		c.report("J-083, J-254", a.Version, nil, nil, "%s without a UID", a.Call)
	}
	// A webhook refusal is certain: the patch had no effect, and if the pod then ends it must be counted.
	denied := a.Fault.Kind == apiserver.WebhookDenied
	if p := c.pods[a.UID]; p != nil && a.Verb == "patch" && a.Err != nil && !denied && p.tracked && p.job != nil && !c.accounted(p.job, p) {
		// If the patch was to remove the finalizer, the pod was surplus, since no status accounts for it. The patch
		// may still take effect, or be sent again.
		p.dropTried = true
	}
	arrived := a.Err == nil || apierrors.IsNotFound(a.Err) || apierrors.IsConflict(a.Err) ||
		a.Fault.Kind == apiserver.TimeoutAfter || a.Fault.Kind == apiserver.TimeoutLate || a.Fault.Kind == apiserver.ServerErrorAfter
	if p := c.pods[a.UID]; p != nil && a.Verb == "delete" && arrived {
		p.deleteSent = true
	}
}

func failedOnly(j *batchv1.Job) bool {
	return j.Spec.PodFailurePolicy != nil || j.Spec.PodReplacementPolicy != nil && *j.Spec.PodReplacementPolicy == batchv1.Failed
}

func indexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

func isTrue(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}
