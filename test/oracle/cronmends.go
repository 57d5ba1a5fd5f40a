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

// mends holds the state of the mends, and which of them had an effect (acted).
type mends struct {
	mu    sync.Mutex
	acted map[*Difference]bool
	doubt map[string]*batchv1.Job // by key of a CronJob: its Job whose create had an unknown outcome ("in doubt")
	died  map[string]bool         // keys in doubt whose process was killed since
	taken map[string]string       // by key of a CronJob: the name of a Job that was found taken since its last sync
	// if an ended Job of the same minute has the name of a due time, treat that due time as not looked at
	once  bool
	other map[string]bool            // names of Jobs that were found taken by such an ended Job; removed when read
	waits map[string]string          // by name of a Job that was found taken: the key of the CronJob that waits since
	made  map[types.UID]*batchv1.Job // Jobs that upstream created and the watch has not shown yet
	seen  map[types.UID]bool         // Jobs that the watch has shown, perhaps before the answer to their create

	memory map[types.UID]*memory
	tried  map[string]bool // by key: a status write was tried since the last sync of the CronJob
}

func newMends() *mends {
	m := &mends{acted: map[*Difference]bool{}, taken: map[string]string{}, waits: map[string]string{}, tried: map[string]bool{}, seen: map[types.UID]bool{}}
	m.forget()
	return m
}

// newOnceMends returns mends that include lookedOnce: a due time is not stored as started if an ended Job of its minute
// has the name of its Job.
func newOnceMends() *mends {
	m := newMends()
	m.once, m.other = true, map[string]bool{}
	return m
}

// forget drops what Jobledger would forget with its log.
func (m *mends) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doubt, m.memory, m.made = map[string]*batchv1.Job{}, map[types.UID]*memory{}, map[types.UID]*batchv1.Job{}
	m.died = map[string]bool{}
}

// shown notes that the watch, or a list, has shown a Job.
func (m *mends) shown(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.made, uid)
	m.seen[uid] = true
}

// follow adds handlers to upstream's Job informer. They call shown for each new Job. When a Job is gone whose name a
// CronJob found taken, they call look with the key of this CronJob.
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

// freed returns the key of the CronJob that waits because it found this Job name taken; empty for none.
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

// listed is called when a controller starts. It forgets the Jobs that the watch had not shown, because a list shows
// all. It marks the Jobs in doubt, because the process that created them was killed.
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

// mendedClient is upstream's client, wrapped by mends.
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

// Create creates a Job. It notes whether the Job was created, its name was taken, or the outcome is unknown. Creates of
// a killed process are not noted as unknown.
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

// Delete deletes a Job, and forgets it if upstream created it and the watch has not shown it.
func (j mendedJobs) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	err := j.JobInterface.Delete(ctx, name, opts)
	m := j.u.mends
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.made, func(_ types.UID, made *batchv1.Job) bool { return err == nil && made.Name == name })
	return err
}

// unknownEnd reports whether the outcome of a request is unknown.
func unknownEnd(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return err != nil
	}
	return answered.Status().Code >= http.StatusInternalServerError
}

// Get reads a Job. It returns "not found" if a list of active Jobs has this name with another UID.
func (j mendedJobs) Get(ctx context.Context, name string, opts metav1.GetOptions) (*batchv1.Job, error) {
	job, err := j.JobInterface.Get(ctx, name, opts)
	if err == nil && j.u.mends.isOther(name) {
		job.OwnerReferences = nil // so that upstream does not take it for the CronJob's
	}
	if err == nil && j.u.listedAs(name, job.UID) {
		j.u.mends.act(otherOfName)
		return nil, apierrors.NewNotFound(batchv1.Resource("jobs"), name)
	}
	return job, err
}

// dueStamp is the annotation that holds the due time of a Job (C-154).
const dueStamp = batchv1.CronJobScheduledTimestampAnnotation

// named returns the Job with a name, or nil.
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

// isOther reports whether a name was found taken by the ended Job of another due time. It does so once for each time.
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

// listedAs reports whether a list of active Jobs has this name with another UID.
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

// mendedInformer is upstream's informer of Jobs. It also shows Jobs that upstream created and that the watch has not
// shown.
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

// ByIndex returns Jobs by the UID of their controller, the only index that upstream uses.
func (i mendedIndexer) ByIndex(name, uid string) ([]any, error) {
	all, err := i.Indexer.ByIndex(name, uid)
	for _, job := range i.u.mends.unshown(all, types.UID(uid)) {
		all = append(all, job)
	}
	return all, err
}

// unshown returns the Jobs of a controller that upstream created and that the watch has not shown, as they were in the
// answer to their create.
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
