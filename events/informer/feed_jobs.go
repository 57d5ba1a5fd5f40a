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
func (m *Feed) ListJobs(jobs []*batchv1.Job, version string) error {
	return m.replaceJobs(jobs, version, true)
}

// replaceJobs takes a list; unless it is of the newest state, an ErrOlder refuses it, and nothing has changed.
func (m *Feed) replaceJobs(jobs []*batchv1.Job, listVersion string, newest bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	older := func() bool {
		return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool {
			known := m.jobs[job.UID]
			return known != nil && versions[job.UID] < known.version
		})
	}
	if err := m.beginLocked(&m.jobList, version, newest, older); err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return byAge(a, b) })
	for _, job := range jobs {
		if err := m.tellJobLocked(job, versions[job.UID]); err != nil {
			return err
		}
	}
	for _, uid := range missing(m.jobs, versions) {
		m.dropJobLocked(m.jobs[uid], version, true)
	}
	m.endLocked(&m.jobList, version)
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
func (m *Feed) JobChanged(job *batchv1.Job) error {
	stripJob(job)
	m.mu.Lock()
	defer m.mu.Unlock()
	version, err := versionOf(job)
	if err != nil {
		return err
	}
	m.jobList.newest = max(m.jobList.newest, version)
	if known := m.jobs[job.UID]; known != nil && version <= known.version {
		return nil
	}
	return m.tellJobLocked(job, version)
}

// JobDeleted takes a Job that the watch says was deleted.
func (m *Feed) JobDeleted(job *batchv1.Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	version, err := versionOf(job)
	if err != nil {
		return err
	}
	m.jobList.newest = max(m.jobList.newest, version)
	if known := m.jobs[job.UID]; known != nil {
		m.dropJobLocked(known, version, false)
	}
	return nil
}

// tellJobLocked remembers a Job, queues its observation when it is managed, and settles the pods that waited for it.
func (m *Feed) tellJobLocked(job *batchv1.Job, version uint64) error {
	known := m.jobs[job.UID]
	first := known == nil || known.fromLog
	if first {
		var err error
		if known, err = m.routingOf(job); err != nil {
			return err
		}
		m.jobs[job.UID] = known
		if known.managed && known.selector != nil {
			put(m.selecting, job.Namespace, job.UID, known)
		}
	}
	known.version = version
	if known.managed {
		o, err := observeJob(job, version, m.mode)
		if err != nil {
			return err
		}
		m.keepLocked(known, job)
		m.queue.seen(job.UID, o)
	}
	if first {
		m.settleLocked(known)
	}
	return nil
}

// routingOf takes from a Job what decides about its pods. All of it is immutable.
func (m *Feed) routingOf(job *batchv1.Job) (*knownJob, error) {
	known := &knownJob{
		ref:     refOf(job),
		managed: managed(job, m.mode),
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

func (m *Feed) keepLocked(known *knownJob, job *batchv1.Job) {
	switch {
	case known.managed && !finished(job):
		m.keeper.KeepJob(job)
		known.kept = true
	case known.kept:
		m.keeper.DropJob(known.ref.UID)
		known.kept = false
	}
}

// dropJobLocked forgets a Job and queues that it is gone.
func (m *Feed) dropJobLocked(known *knownJob, version uint64, missed bool) {
	uid := known.ref.UID
	delete(m.jobs, uid)
	remove(m.selecting, known.ref.Namespace, uid)
	if known.kept {
		m.keeper.DropJob(uid)
	}
	if known.managed {
		m.queue.gone(uid, events.Observation{
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
