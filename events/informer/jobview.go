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

// replaceJobs takes a whole list of Jobs.
func (v *view) replaceJobs(jobs []*batchv1.Job, listVersion string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.parseLocked(listVersion)
	if err != nil {
		return err
	}
	versions := make(map[types.UID]uint64, len(jobs))
	for _, job := range jobs {
		if versions[job.UID], err = v.versionLocked(job); err != nil {
			return err
		}
	}
	older := func() bool {
		return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool {
			known := v.jobs[job.UID]
			return known != nil && versions[job.UID] < known.version
		})
	}
	if err := v.beginLocked(&v.jobList, version, older); err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return byAge(a, b) })
	for _, job := range jobs {
		if err := v.tellJobLocked(job, versions[job.UID], false); err != nil {
			return err
		}
	}
	for _, uid := range missing(v.jobs, versions) {
		v.dropJobLocked(v.jobs[uid], version, true)
	}
	v.endLocked(&v.jobList, version)
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

// jobChanged takes a Job from the watch. What is not newer than what was seen is passed over.
func (v *view) jobChanged(job *batchv1.Job) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(job)
	if err != nil {
		return err
	}
	v.jobList.newest = max(v.jobList.newest, version)
	if known := v.jobs[job.UID]; known != nil && version <= known.version {
		return nil
	}
	return v.tellJobLocked(job, version, false)
}

// jobDeleted takes a Job that the watch says was deleted.
func (v *view) jobDeleted(job *batchv1.Job) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, err := v.versionLocked(job)
	if err != nil {
		return err
	}
	v.jobList.newest = max(v.jobList.newest, version)
	if known := v.jobs[job.UID]; known != nil {
		v.dropJobLocked(known, version, false)
	}
	return nil
}

// tellJobLocked remembers a Job, queues its observation when it is managed (or asked for), and settles the pods that
// waited for it.
func (v *view) tellJobLocked(job *batchv1.Job, version uint64, asked bool) error {
	known := v.jobs[job.UID]
	first := known == nil || known.fromLog
	if first {
		var err error
		if known, err = v.routingOf(job); err != nil {
			return err
		}
		v.jobs[job.UID] = known
		if known.managed && known.selector != nil {
			put(v.selecting, job.Namespace, job.UID, known)
		}
	}
	known.version = version
	if known.managed || asked {
		o, err := observeJob(job, version, known.managed)
		if err != nil {
			return err
		}
		v.keepLocked(known, job)
		v.queue.seen(job.UID, o)
	}
	if first {
		v.settleLocked(known)
	}
	return nil
}

// routingOf takes from a Job what decides about its pods. All of it is immutable.
func (v *view) routingOf(job *batchv1.Job) (*knownJob, error) {
	known := &knownJob{
		ref:     refOf(job),
		managed: managed(job, v.mode),
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

func (v *view) keepLocked(known *knownJob, job *batchv1.Job) {
	switch {
	case known.managed && !finished(job):
		v.keeper.KeepJob(job)
		known.kept = true
	case known.kept:
		v.keeper.DropJob(known.ref.UID)
		known.kept = false
	}
}

// dropJobLocked forgets a Job and queues that it is gone.
func (v *view) dropJobLocked(known *knownJob, version uint64, missed bool) {
	uid := known.ref.UID
	delete(v.jobs, uid)
	remove(v.selecting, known.ref.Namespace, uid)
	if known.kept {
		v.keeper.DropJob(uid)
	}
	if known.managed {
		v.queue.gone(uid, events.Observation{
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
