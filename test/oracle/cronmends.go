package oracle

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchv1informers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes"
	typedbatchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Some rules of the CronJob contract demand something else than upstream does. In such a case the scenario is run once
// more with mends: wrappers around upstream's client, caches and queue that make it follow these rules. Upstream's
// source is unchanged. If Jobledger agrees with upstream with mends, the mends that had an effect are the difference.

// mends is the state of these wrappers, and which of them had an effect (acted). A mend is a change that makes upstream
// follow one of our rules.
type mends struct {
	mu    sync.Mutex
	acted map[*Difference]bool
	doubt map[string]*batchv1.Job // Jobs whose create had an unknown outcome (Jobs in doubt), by key of the CronJob
	died  map[string]bool         // CronJobs with a Job in doubt whose process was killed since
	taken map[string]string       // by key of the CronJob: the name of a Job that was found taken since the last sync
	// treat a due time as not handled if an ended Job of the same minute has the name of its Job
	once  bool
	other map[string]bool            // names of Jobs that such an ended Job had taken; removed when read
	waits map[string]string          // by name of a Job that was found taken: the key of the CronJob that waits for it
	made  map[types.UID]*batchv1.Job // Jobs that upstream has created and its watch has not shown yet
	seen  map[types.UID]bool         // Jobs that the watch has shown, perhaps before their create was answered

	memory map[types.UID]*memory
	tried  map[string]bool // keys for which a status write was tried since the last sync of the CronJob
}

func newMends() *mends {
	m := &mends{acted: map[*Difference]bool{}, taken: map[string]string{}, waits: map[string]string{}, tried: map[string]bool{}, seen: map[types.UID]bool{}}
	m.forget()
	return m
}

// newOnceMends returns mends with the addition lookedOnce: if an ended Job of the same minute has the name of a due
// time's Job, that due time is not stored as started.
func newOnceMends() *mends {
	m := newMends()
	m.once, m.other = true, map[string]bool{}
	return m
}

// forget drops those notes that Jobledger, too, would lose with its log.
func (m *mends) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doubt, m.memory, m.made = map[string]*batchv1.Job{}, map[types.UID]*memory{}, map[types.UID]*batchv1.Job{}
	m.died = map[string]bool{}
}

// shown notes that upstream's watch or list has shown a Job.
func (m *mends) shown(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.made, uid)
	m.seen[uid] = true
}

// follow adds handlers to upstream's informer of Jobs. They call shown for each new Job. When a Job is gone whose name
// a CronJob found taken, they call look with the key of the CronJob.
func (m *mends) follow(jobs batchv1informers.JobInformer, look func(key string)) error {
	_, err := jobs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { m.shown(o.(*batchv1.Job).UID) },
		DeleteFunc: func(o any) {
			if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
				if key := m.freed(name); key != "" {
					look(key)
				}
			}
		},
	})
	return err
}

// freed is called when a Job with this name is gone. It returns the key of the CronJob that found the name taken and
// waits for it; empty for none.
func (m *mends) freed(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := m.waits[name]
	if key != "" {
		m.acted[asleep] = true
	}
	delete(m.waits, name)
	return key
}

// listed is called when a controller starts, after its first list. It forgets the Jobs that the watch had not shown,
// because the list has all Jobs. It marks Jobs in doubt (with an unknown outcome of their create), because the process
// that created them was killed.
func (m *mends) listed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.made)
	for key := range m.doubt {
		m.died[key] = true
	}
}

func (m *mends) act(d *Difference) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acted[d] = true
}

// mendedClient is upstream's API client, with changes that make upstream follow our rules.
type mendedClient struct {
	kubernetes.Interface
	u *upstream
}

func (c mendedClient) BatchV1() typedbatchv1.BatchV1Interface {
	return mendedBatch{c.Interface.BatchV1(), c.u}
}

type mendedBatch struct {
	typedbatchv1.BatchV1Interface
	u *upstream
}

func (b mendedBatch) Jobs(ns string) typedbatchv1.JobInterface {
	return mendedJobs{b.BatchV1Interface.Jobs(ns), b.u}
}

func (b mendedBatch) CronJobs(ns string) typedbatchv1.CronJobInterface {
	return mendedCronJobs{b.BatchV1Interface.CronJobs(ns), b.u}
}

type mendedJobs struct {
	typedbatchv1.JobInterface
	u *upstream
}

// Create creates a Job. It notes whether the Job was created, its name was taken, or the outcome is unknown. It does
// not note an unknown outcome if the process was killed.
func (j mendedJobs) Create(ctx context.Context, job *batchv1.Job, opts metav1.CreateOptions) (*batchv1.Job, error) {
	dead := j.u.dead()
	made, err := j.JobInterface.Create(ctx, job, opts)
	m, owner := j.u.mends, metav1.GetControllerOf(job)
	var there *batchv1.Job
	if m.once {
		there = j.u.named(job.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if key := namespace + "/" + owner.Name; err == nil && m.seen[made.UID] {
		return made, nil
	} else if err == nil {
		m.made[made.UID] = made
	} else if apierrors.IsAlreadyExists(err) {
		m.taken[key] = job.Name
		if m.once && there != nil && apiserver.JobFinished(there) && there.Annotations[dueStamp] != job.Annotations[dueStamp] {
			m.other[job.Name] = true
		}
	} else if unknownEnd(err) && !dead {
		m.doubt[key] = job
	}
	return made, err
}

// Delete deletes a Job. If upstream created the Job and its watch has not shown it yet, Delete forgets it.
func (j mendedJobs) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	err := j.JobInterface.Delete(ctx, name, opts)
	m := j.u.mends
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.made, func(_ types.UID, made *batchv1.Job) bool { return err == nil && made.Name == name })
	return err
}

// unknownEnd reports whether err leaves the outcome of a request unknown: it is no answer, or an answer with code 500
// or higher.
func unknownEnd(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return err != nil
	}
	return answered.Status().Code >= http.StatusInternalServerError
}

// Get reads a Job. It returns "not found" if the CronJob's list of active Jobs has this name with another UID.
func (j mendedJobs) Get(ctx context.Context, name string, opts metav1.GetOptions) (*batchv1.Job, error) {
	job, err := j.JobInterface.Get(ctx, name, opts)
	if err == nil && j.u.mends.isOther(name) {
		// Without an owner, upstream (the built-in controller) does not take it for a Job of the CronJob.
		job.OwnerReferences = nil
	}
	if err == nil && j.u.listedAs(name, job.UID) {
		j.u.mends.act(otherOfName)
		return nil, apierrors.NewNotFound(batchv1.Resource("jobs"), name)
	}
	return job, err
}

// dueStamp is the annotation of a Job with the due time for which it was created (C-154).
const dueStamp = batchv1.CronJobScheduledTimestampAnnotation

// named returns the Job with this name; nil if there is none.
func (u *upstream) named(name string) *batchv1.Job {
	u.front.lock()
	defer u.front.unlock()
	for _, job := range u.world.Server.AllJobs() {
		if job.Name == name {
			return job
		}
	}
	return nil
}

// isOther reports whether an ended Job of another due time was found to have this name. It returns true once for each
// time that this was found.
func (m *mends) isOther(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.other[name]
	delete(m.other, name)
	if was {
		m.acted[lookedOnce] = true
	}
	return was
}

// listedAs reports whether a CronJob's list of active Jobs has this name with a UID other than uid.
func (u *upstream) listedAs(name string, uid types.UID) bool {
	u.front.lock()
	defer u.front.unlock()
	for _, cronJob := range u.world.Server.AllCronJobs() {
		for _, ref := range cronJob.Status.Active {
			if ref.Name == name && ref.UID != uid {
				return true
			}
		}
	}
	return false
}

// mendedInformer is upstream's informer of Jobs, which also shows the Jobs that upstream created and the watch has not
// shown yet.
type mendedInformer struct {
	batchv1informers.JobInformer
	u *upstream
}

func (i mendedInformer) Informer() cache.SharedIndexInformer {
	return mendedShared{i.JobInformer.Informer(), i.u}
}

type mendedShared struct {
	cache.SharedIndexInformer
	u *upstream
}

func (s mendedShared) GetIndexer() cache.Indexer {
	return mendedIndexer{s.SharedIndexInformer.GetIndexer(), s.u}
}

type mendedIndexer struct {
	cache.Indexer
	u *upstream
}

// ByIndex returns the Jobs of the controller with this UID; upstream uses no other index.
func (i mendedIndexer) ByIndex(name, uid string) ([]any, error) {
	all, err := i.Indexer.ByIndex(name, uid)
	for _, job := range i.u.mends.unshown(all, types.UID(uid)) {
		all = append(all, job)
	}
	return all, err
}

// unshown returns the Jobs of a controller that upstream created and the watch has not shown yet, as they were in the
// answers to their creates.
func (m *mends) unshown(all []any, controller types.UID) (out []*batchv1.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uid := range slices.Sorted(maps.Keys(m.made)) {
		if apiserver.ControllerOf(m.made[uid]) == controller &&
			!slices.ContainsFunc(all, func(job any) bool { return job.(*batchv1.Job).UID == uid }) {
			m.acted[ownAnswer] = true
			out = append(out, m.made[uid])
		}
	}
	return out
}
