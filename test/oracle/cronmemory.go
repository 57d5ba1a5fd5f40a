package oracle

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1informers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedbatchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	batchv1listers "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/reference"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// memory is what upstream remembers of a CronJob with mends (changes that make it follow our rules): the object that it
// last wrote or read, and the status that it could not write.
type memory struct {
	newest *batchv1.CronJob       // nil for none
	shown  batchv1.CronJobStatus  // the status in the API server when upstream last looked at it
	base   batchv1.CronJobStatus  // the status in the API server to which unsaid is a change
	unsaid *batchv1.CronJobStatus // the status that could not be written yet; nil for none
	failed time.Time              // when a write of unsaid last failed
}

// of returns what is remembered of a CronJob. If there is nothing yet, it creates an empty entry.
func (m *mends) of(cronJob *batchv1.CronJob) *memory {
	if m.memory[cronJob.UID] == nil {
		m.memory[cronJob.UID] = &memory{}
	}
	return m.memory[cronJob.UID]
}

// look returns the CronJob as upstream shall see it: at least as new as the newest known object, and with the status
// that is not written yet. held says that the watch delivers nothing, so the cached object is old.
func (m *mends) look(cached *batchv1.CronJob, held bool) *batchv1.CronJob {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, seen := m.of(cached), cached
	if known.newest != nil && apiserver.VersionOf(known.newest) > apiserver.VersionOf(cached) {
		m.acted[staleStatus] = m.acted[staleStatus] || held
		seen = known.newest
	}
	known.shown = seen.Status
	if known.unsaid != nil {
		seen = seen.DeepCopy()
		seen.Status = merged(seen.Status, known.base, *known.unsaid)
		// If the API server has the status already, the write succeeded, and only its answer was lost.
		if equality.Semantic.DeepEqual(seen.Status, known.shown) {
			known.unsaid = nil
			return seen
		}
		m.acted[staleStatus] = true
	}
	return seen
}

// merged returns the status to write if a status (unsaid) could not be written. base is the status to which unsaid was
// a change, and now is the status in the API server.
func merged(now, base, unsaid batchv1.CronJobStatus) batchv1.CronJobStatus {
	out := batchv1.CronJobStatus{
		LastScheduleTime:   laterUnless(unsaid.LastScheduleTime.Equal(base.LastScheduleTime), now.LastScheduleTime, unsaid.LastScheduleTime),
		LastSuccessfulTime: laterUnless(unsaid.LastSuccessfulTime.Equal(base.LastSuccessfulTime), now.LastSuccessfulTime, unsaid.LastSuccessfulTime),
	}
	has := func(all []corev1.ObjectReference, ref corev1.ObjectReference) bool {
		return slices.ContainsFunc(all, func(r corev1.ObjectReference) bool { return r.UID == ref.UID })
	}
	for _, ref := range now.Active {
		if !has(base.Active, ref) || has(unsaid.Active, ref) {
			out.Active = append(out.Active, ref)
		}
	}
	for _, ref := range unsaid.Active {
		if !has(base.Active, ref) && !has(out.Active, ref) {
			out.Active = append(out.Active, ref)
		}
	}
	return out
}

func laterUnless(same bool, now, unsaid *metav1.Time) *metav1.Time {
	if same || unsaid == nil || now != nil && now.After(unsaid.Time) {
		return now
	}
	return unsaid
}

type mendedCronJobs struct {
	typedbatchv1.CronJobInterface
	u *upstream
}

// UpdateStatus writes a status, and remembers the object that it wrote, or else the status that it could not write.
// After a conflict it reads the CronJob again.
func (c mendedCronJobs) UpdateStatus(ctx context.Context, cronJob *batchv1.CronJob, opts metav1.UpdateOptions) (*batchv1.CronJob, error) {
	after, err := c.CronJobInterface.UpdateStatus(ctx, cronJob, opts)
	var live *batchv1.CronJob
	if apierrors.IsConflict(err) {
		if found, missing := c.Get(ctx, cronJob.Name, metav1.GetOptions{}); missing == nil && found.UID == cronJob.UID {
			live = found
		}
	}
	m := c.u.mends
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(cronJob)
	m.tried[namespace+"/"+cronJob.Name] = true
	if err == nil {
		known.newest, known.unsaid = after, nil
		return after, nil
	}
	if live != nil {
		known.newest = live
	}
	known.base, known.unsaid, known.failed = known.shown, cronJob.Status.DeepCopy(), time.Now()
	return nil, err
}

type mendedCronInformer struct {
	batchv1informers.CronJobInformer
	u *upstream
}

func (i mendedCronInformer) Lister() batchv1listers.CronJobLister {
	return mendedCronLister{i.CronJobInformer.Lister(), i.u}
}

type mendedCronLister struct {
	batchv1listers.CronJobLister
	u *upstream
}

func (l mendedCronLister) CronJobs(ns string) batchv1listers.CronJobNamespaceLister {
	return mendedCronNamespace{l.CronJobLister.CronJobs(ns), l.u}
}

type mendedCronNamespace struct {
	batchv1listers.CronJobNamespaceLister
	u *upstream
}

func (n mendedCronNamespace) Get(name string) (*batchv1.CronJob, error) {
	cached, err := n.CronJobNamespaceLister.Get(name)
	if err != nil {
		return nil, err
	}
	return n.u.mends.look(cached, n.u.lags()), nil
}

// looked is upstream's work queue with two additions. If a CronJob found that the name of its Job was taken, it is
// synced again at the next due time, and when the Job with that name is gone (see follow). And the queue writes
// statuses that could not be written before.
type looked struct {
	patient
	u      *upstream
	again  map[string]bool // keys that will certainly be synced again
	failed map[string]bool // keys whose sync ended with an error; removed by Done
}

// Get returns the next key for a worker. Before, it finds out whether the CronJob's Job exists, if the outcome of its
// create is unknown.
func (q looked) Get() (key string, shutdown bool) {
	key, shutdown = q.patient.Get()
	q.u.mends.mu.Lock()
	defer q.u.mends.mu.Unlock()
	delete(q.u.mends.tried, key)
	if job := q.u.mends.doubt[key]; job != nil {
		q.settle(key, job)
	}
	return key, shutdown
}

// settle is called for a Job whose create had an unknown outcome. If the Job exists, settle adds it to the status
// that is to be written, as after a successful create.
func (q looked) settle(key string, job *batchv1.Job) {
	m := q.u.mends
	cached, err := q.u.cached.CronJobs(namespace).Get(key[len(namespace)+1:])
	found, missing := q.u.jobs.Get(context.Background(), job.Name, metav1.GetOptions{})
	if err != nil || missing != nil && !apierrors.IsNotFound(missing) {
		return
	}
	why := unknownCreate
	if m.died[key] {
		why = killedCreate
	}
	delete(m.doubt, key)
	delete(m.died, key)
	if missing != nil || !metav1.IsControlledBy(found, cached) {
		return
	}
	m.acted[why] = true
	known := m.of(cached)
	if known.unsaid == nil {
		known.base = cached.Status
		if known.newest != nil && apiserver.VersionOf(known.newest) > apiserver.VersionOf(cached) {
			known.base = known.newest.Status
		}
		known.unsaid = known.base.DeepCopy()
	}
	ref, err := reference.GetReference(scheme.Scheme, found)
	if err != nil {
		panic(err) // no error is possible for an object of a known kind such as Job
	}
	known.unsaid.Active = append(known.unsaid.Active, *ref)
	// In the Job that upstream (the built-in controller) sends, the creation timestamp is the due time (C-157).
	known.unsaid.LastScheduleTime = &job.CreationTimestamp
}

// AddAfter adds a key to the queue after a delay. While a status cannot be written, it does nothing, because the key's
// backoff decides when it is tried again (C-172).
func (q looked) AddAfter(key string, d time.Duration) {
	if q.comes(key); q.write(key) {
		q.patient.AddAfter(key, d)
	}
}

func (q looked) AddRateLimited(key string) {
	q.u.mends.mu.Lock()
	q.again[key], q.failed[key] = true, true
	q.u.mends.mu.Unlock()
	q.patient.AddRateLimited(key)
}

func (q looked) comes(key string) {
	q.u.mends.mu.Lock()
	defer q.u.mends.mu.Unlock()
	q.again[key] = true
}

// Forget resets the backoff of a key, unless a status could not be written.
func (q looked) Forget(key string) {
	if q.unsaid(key) == nil {
		q.patient.Forget(key)
	}
}

// unsaid returns the CronJob with the status that could not be written. It returns nil if there is none, or if a write
// was tried since the current sync began.
func (q looked) unsaid(key string) *batchv1.CronJob {
	cached, err := q.u.cached.CronJobs(namespace).Get(key[len(namespace)+1:])
	if err != nil {
		return nil
	}
	m := q.u.mends
	m.mu.Lock()
	known := m.of(cached)
	pending := known.unsaid != nil && !m.tried[key]
	m.mu.Unlock()
	if !pending {
		return nil
	}
	return m.look(cached, q.u.lags())
}

// lags reports whether upstream's cache of CronJobs may be old, because their watch delivers nothing at the moment.
func (u *upstream) lags() bool {
	u.front.mu.Lock()
	defer u.front.mu.Unlock()
	return u.held[apiserver.CronJobs]
}

// dead reports whether the process of the built-in controller was killed.
func (u *upstream) dead() bool {
	u.front.mu.Lock()
	defer u.front.mu.Unlock()
	return u.spent
}

// write writes a status that could not be written before, unless a write was tried since the current sync began. It
// reports whether no such status is left. Upstream syncs again when it sees its own create, and Jobledger does not; so
// a write is not tried twice within a millisecond. A failed sync and a failed write count as one failure (C-172).
func (q looked) write(key string) bool {
	cronJob := q.unsaid(key)
	if cronJob == nil {
		return true
	}
	m := q.u.mends
	m.mu.Lock()
	just, failed := time.Since(m.of(cronJob).failed) < time.Millisecond, q.failed[key]
	m.mu.Unlock()
	if just {
		return false
	}
	if _, err := q.u.statuses.UpdateStatus(context.Background(), cronJob, metav1.UpdateOptions{}); err != nil {
		if !failed {
			q.AddRateLimited(key)
		}
		return false
	}
	q.patient.Forget(key)
	return true
}

// Done says that a worker has finished with a key. If the CronJob found the name of its Job taken, and will not be
// synced otherwise, Done asks for a sync at the next due time (C-085).
func (q looked) Done(key string) {
	m := q.u.mends
	q.write(key)
	m.mu.Lock()
	ends := !q.again[key]
	sleeps := ends && m.taken[key] != ""
	if sleeps {
		m.waits[namespace+"/"+m.taken[key]] = key
	}
	delete(m.taken, key)
	delete(q.again, key)
	delete(q.failed, key)
	m.mu.Unlock()
	if sleeps {
		m.act(asleep)
		now := time.Now().Add(time.Duration(q.u.skew.Load()))
		if cronJob, err := q.u.cached.CronJobs(namespace).Get(key[len(namespace)+1:]); err == nil {
			if at, ok := dueTime(cronJob, now, 1); ok {
				q.patient.AddAfter(key, at.Add(100*time.Millisecond).Sub(now))
			}
		}
	}
	q.patient.Done(key)
}
