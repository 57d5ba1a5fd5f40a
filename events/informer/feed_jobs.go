package informer

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// ListJobs takes a whole list of Jobs that is of the newest state, as of a version.
func (feed *Feed) ListJobs(jobs []*batchv1.Job, version string) error {
	feed.asking(&feed.jobList)
	return feed.replaceJobs(jobs, version, true)
}

// replaceJobs takes a list; unless it is of the newest state, an ErrOlder refuses it, and nothing has changed.
func (feed *Feed) replaceJobs(jobs []*batchv1.Job, listVersion string, newest bool) error {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	for _, job := range jobs {
		stripJob(job)
	}
	version, err := parseVersion(listVersion)
	if err != nil {
		return err
	}
	versions := make(map[types.UID]uint64, len(jobs))
	for _, job := range jobs {
		if versions[job.UID], err = versionOf(job); err != nil {
			return err
		}
	}
	known := func(yield func(sighting) bool) {
		for _, job := range jobs {
			if k := feed.jobs[job.UID]; k != nil && !yield(sighting{job.UID, versions[job.UID], k.version, k.wrote}) {
				return
			}
		}
	}
	if err := feed.beginLocked(&feed.jobList, version, newest, known); err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return byAge(a, b) })
	for _, job := range jobs {
		if err := feed.tellJobLocked(job, versions[job.UID]); err != nil {
			return err
		}
	}
	for _, uid := range missing(feed.jobs, versions) {
		feed.dropJobLocked(feed.jobs[uid], version, true)
	}
	feed.endLocked(&feed.jobList, version)
	return nil
}

// byAge puts objects into the order of their creation, the same for every list.
func byAge(a, b metav1.Object) int {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(at.Compare(bt.Time), cmp.Compare(a.GetUID(), b.GetUID()))
}

// missing is the sorted UIDs that are known but not listed.
func missing[K any](known map[types.UID]K, listed map[types.UID]uint64) []types.UID {
	var uids []types.UID
	for uid := range known {
		if _, ok := listed[uid]; !ok {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

// JobChanged takes a Job from the watch. What is not newer than what was seen is passed over.
func (feed *Feed) JobChanged(job *batchv1.Job) error {
	stripJob(job)
	feed.mu.Lock()
	defer feed.mu.Unlock()
	version, err := versionOf(job)
	if err != nil {
		return err
	}
	if !feed.sawLocked(&feed.jobList, version) {
		return nil
	}
	if known := feed.jobs[job.UID]; known != nil && version <= known.version {
		return nil
	}
	return feed.tellJobLocked(job, version)
}

// JobDeleted takes a Job that the watch says was deleted.
func (feed *Feed) JobDeleted(job *batchv1.Job) error {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	version, err := versionOf(job)
	if err != nil {
		return err
	}
	if !feed.sawLocked(&feed.jobList, version) {
		return nil
	}
	if known := feed.jobs[job.UID]; known != nil {
		feed.dropJobLocked(known, version, false)
	}
	return nil
}

// tellJobLocked remembers a Job, queues its observation when it is managed, and settles the pods that waited for it.
func (feed *Feed) tellJobLocked(job *batchv1.Job, version uint64) error {
	known := feed.jobs[job.UID]
	first := known == nil || known.fromLog
	if first {
		var err error
		if known, err = feed.routingOfLocked(job); err != nil {
			return err
		}
		feed.jobs[job.UID] = known
		if !known.managed {
			feed.notTaken(job)
		}
	}
	known.version = version
	known.over = finished(job) || job.DeletionTimestamp != nil
	switch {
	case !known.managed || known.selector == nil:
	case known.over:
		remove(feed.selecting, job.Namespace, job.UID)
	case first:
		put(feed.selecting, job.Namespace, job.UID, known)
	}
	if known.managed {
		o, err := feed.observeJob(job, version, known.managed)
		if err != nil {
			return err
		}
		feed.keepLocked(known, job)
		feed.queue.seen(job.UID, o)
	}
	if first {
		feed.settleLocked(known)
	}
	return nil
}

// routingOfLocked takes from a Job what decides about its pods. All of it is immutable, but for whether a Job has begun, which is
// asked once.
func (feed *Feed) routingOfLocked(job *batchv1.Job) (*knownJob, error) {
	known := &knownJob{
		ref:     refOf(job),
		managed: feed.takesLocked(job),
		ours:    job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == events.ManagedBy,
	}
	if !generatedSelector(job.Spec.Selector, job.UID) {
		s, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("read selector of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
		known.selector = s
	}
	if p := job.Spec.PodFailurePolicy; p != nil {
		for _, rule := range p.Rules {
			for _, c := range rule.OnPodConditions {
				known.conditions = append(known.conditions, string(c.Type))
			}
		}
	}
	return known, nil
}

func (feed *Feed) keepLocked(known *knownJob, job *batchv1.Job) {
	switch {
	case known.managed && !finished(job):
		feed.keeper.KeepJob(job)
		known.kept = true
	case known.kept:
		feed.keeper.DropJob(known.ref.UID)
		known.kept = false
	}
}

// dropJobLocked forgets a Job and queues that it is gone.
func (feed *Feed) dropJobLocked(known *knownJob, version uint64, missed bool) {
	uid := known.ref.UID
	delete(feed.jobs, uid)
	remove(feed.selecting, known.ref.Namespace, uid)
	if known.kept {
		feed.keeper.DropJob(uid)
	}
	if known.managed {
		feed.queue.gone(uid, events.Observation{
			Job:      known.ref,
			Facts:    &events.JobGone{Version: version, Missed: missed},
			Evidence: events.Evidence{Namespace: known.ref.Namespace, Name: known.ref.Name},
		})
	}
}

func put[K comparable, V any](m map[K]map[types.UID]V, key K, uid types.UID, value V) {
	if m[key] == nil {
		m[key] = map[types.UID]V{}
	}
	m[key][uid] = value
}

func remove[K comparable, V any](m map[K]map[types.UID]V, key K, uid types.UID) {
	delete(m[key], uid)
	if len(m[key]) == 0 {
		delete(m, key)
	}
}
