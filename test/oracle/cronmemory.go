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

// memory is what upstream with mends (see mends) knows of a CronJob beyond its cache: the object that it last wrote or
// read, and the status that it could not write.
type memory struct {
	newest *batchv1.CronJob       // nil for none
	shown  batchv1.CronJobStatus  // the published status at the last look
	base   batchv1.CronJobStatus  // the published status on which unsaid is based
	unsaid *batchv1.CronJobStatus // the status that could not be written; nil for none
	failed time.Time              // when a write of unsaid last failed
}

// of returns the memory of a CronJob, and creates it if needed.
func (m *mends) of(cronJob *batchv1.CronJob) *memory {
	if m.memory[cronJob.UID] == nil {
		m.memory[cronJob.UID] = &memory{}
	}
	return m.memory[cronJob.UID]
}

// look returns the CronJob as upstream with mends shall see it: at least as new as the newest known object, and with
// the status that it still has to write. held says that the watch is held, so the cached object is old.
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
		// the status had been written, only the answer was lost
		if equality.Semantic.DeepEqual(seen.Status, known.shown) {
			known.unsaid = nil
			return seen
		}
		m.acted[staleStatus] = true
	}
	return seen
}

// merged returns the status to write over the published status now, if a status unsaid, based on base, could not be
// written.
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

// UpdateStatus writes a status, and remembers the object that it wrote, or the status that it could not write. After a
// conflict it reads the CronJob.
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

// looked is upstream's work queue with two additions. If a CronJob found the name of its Job taken, it gets another
// sync at the next due time, and one when the Job with that name is gone (see follow). And the queue writes statuses
// that could not be written before.
type looked struct {
	patient
	u      *upstream
	again  map[string]bool // keys for which another sync is certain
	failed map[string]bool // keys whose sync ended in an error, until Done
}

// Get gives the next key to a worker. Before that it settles the CronJob's Job in doubt, if there is one.
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

// settle looks for a Job whose create had an unknown outcome. If the Job exists, settle adds it to the status that is
// to be written, as after a successful create.
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
		panic(err) // a Job always has a reference
	}
	known.unsaid.Active = append(known.unsaid.Active, *ref)
	known.unsaid.LastScheduleTime = &job.CreationTimestamp // holds the due time (C-157)
}

// AddAfter adds a key after a delay, unless a status still cannot be written: then the backoff decides (C-172).
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

// Forget resets the backoff of a key, unless there is a status that could not be written.
func (q looked) Forget(key string) {
	if q.unsaid(key) == nil {
		q.patient.Forget(key)
	}
}

// unsaid returns the CronJob with the status that could not be written. It returns nil if there is none, or if a write
// was tried since the last sync began.
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

// lags reports whether the watch of CronJobs is held, so that the cache is old.
func (u *upstream) lags() bool {
	u.front.mu.Lock()
	defer u.front.mu.Unlock()
	return u.held[apiserver.CronJobs]
}

// dead reports whether upstream's process was killed.
func (u *upstream) dead() bool {
	u.front.mu.Lock()
	defer u.front.mu.Unlock()
	return u.spent
}

// write writes the status that could not be written, unless a write was tried since the last sync began. It reports
// whether no such status is left. Upstream syncs once more when it sees its own create, and Jobledger does not, so a
// write is not repeated within a millisecond. A failed sync and a failed write count as one failure (C-172).
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

// Done takes a key back from a worker. If the CronJob found the name of its Job taken and no other sync will come, it
// asks for one at the next due time (C-085).
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
