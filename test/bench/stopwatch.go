package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/bench/kubelet"
)

// stopwatch notes when Jobs and pods change, as seen through the API server. It has a field for each watched namespace.
type stopwatch struct {
	mu     sync.Mutex
	fields map[string]*field
}

// field is what the stopwatch has seen in one namespace.
type field struct {
	jobs    map[string]*timing
	pods    map[types.UID]*podSeen
	changed chan struct{} // closed and replaced after every change

	finished, ended, tracked int // numbers of finished Jobs, of ended pods, and of pods with a finalizer now
	delivered                int // number of Jobs for which a subscriber received the end of a pod

	// of status writes by simulated kubelets: how late they began (lates), and how long their answers took (writes)
	lates, writes []time.Duration
}

// timing has the times in the life of one Job. A time that has not come yet is zero.
type timing struct {
	asked    time.Time // just before the create request; for a Job of a CronJob: when the Job was first seen
	created  time.Time // when the API server answered the create; for a Job of a CronJob: when the Job was first seen
	firstPod time.Time // when its first pod was seen
	lastEnd  time.Time // when the API server answered the write that ended the latest pod
	finished time.Time // when the Job was seen Complete or Failed

	delivered time.Time // when a subscriber received the first record about the end of one of the Job's pods

	shape   shape
	fates   fates          // says how the Job's pods live; nil: all succeed at once
	before  map[string]int // number of pods seen so far, by completion index
	retries retries
	succession
}

type podSeen struct {
	job     *timing
	tracked bool      // the pod has a finalizer now
	ended   time.Time // when the API server answered the write that ended the pod
}

func newStopwatch() *stopwatch { return &stopwatch{fields: map[string]*field{}} }

// open makes the stopwatch note, from now on, what happens in a namespace.
func (s *stopwatch) open(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fields[namespace] = &field{jobs: map[string]*timing{}, pods: map[types.UID]*podSeen{}, changed: make(chan struct{})}
}

// shut makes the stopwatch note nothing more about a namespace, and drops its notes.
func (s *stopwatch) shut(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fields, namespace)
}

// in calls f with the notes about a namespace, and then wakes all callers of await. If shut was called for the
// namespace, it does nothing.
func (s *stopwatch) in(namespace string, f func(*field)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.fields[namespace]; at != nil {
		f(at)
		close(at.changed)
		at.changed = make(chan struct{})
	}
}

// job returns the times of a Job. If there is no entry it creates one, because a pod of the Job may be seen before
// the create of the Job is answered.
func (f *field) job(name string) *timing {
	t := f.jobs[name]
	if t == nil {
		t = newTiming()
		f.jobs[name] = t
	}
	return t
}

func newTiming() *timing { return &timing{fates: alike, before: map[string]int{}} }

// foretell sets, for a Job that will be created, its shape (of) and how its pods live (how).
func (s *stopwatch) foretell(namespace string, of shape, how fates) {
	s.in(namespace, func(f *field) { f.job(of.name).shape, f.job(of.name).fates = of, how })
}

// expect notes that the create request for a Job is about to be sent.
func (s *stopwatch) expect(namespace, job string) {
	now := time.Now()
	s.in(namespace, func(f *field) { f.job(job).asked = now })
}

// created notes that the API server answered the create of a Job.
func (s *stopwatch) created(namespace, job string) {
	now := time.Now()
	s.in(namespace, func(f *field) { f.job(job).created = now })
}

// podChanged notes a change of a pod. The simulated kubelet calls it for each change.
func (s *stopwatch) podChanged(kind watch.EventType, pod *corev1.Pod) {
	now := time.Now()
	s.in(pod.Namespace, func(f *field) {
		if kind == watch.Deleted {
			if p := f.pods[pod.UID]; p != nil && p.tracked {
				f.tracked--
			}
			delete(f.pods, pod.UID)
			return
		}
		p := f.pods[pod.UID]
		first := p == nil
		if first {
			p = &podSeen{job: newTiming()} // a pod without an owner belongs to no Job
			if owner := metav1.GetControllerOf(pod); owner != nil {
				p.job = f.job(owner.Name)
			}
			f.pods[pod.UID] = p
			p.job.podSeen(now)
			if p.job.firstPod.IsZero() {
				p.job.firstPod = now
			}
		}
		p.job.retries.see(pod, p.job.shape, first, now)
		was := p.tracked
		if p.tracked = len(pod.Finalizers) > 0; p.tracked && !was {
			f.tracked++
		} else if was && !p.tracked {
			f.tracked--
			p.job.podReleased(p.ended, now)
		}
	})
}

// podFate returns how a pod lives: how long it runs, and whether it fails. The simulated kubelet calls it once for each
// pod.
func (s *stopwatch) podFate(pod *corev1.Pod) (fate kubelet.Fate) {
	s.in(pod.Namespace, func(f *field) {
		if p := f.pods[pod.UID]; p != nil {
			place := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
			fate = p.job.fates(place, p.job.before[place])
			p.job.before[place]++
		}
	})
	return fate
}

// podWrote notes how late a status write began, and how long it took. The simulated kubelet calls it after each status
// write.
func (s *stopwatch) podWrote(pod *corev1.Pod, late, took time.Duration) {
	s.in(pod.Namespace, func(f *field) { f.lates, f.writes = append(f.lates, late), append(f.writes, took) })
}

// podEnded notes that a pod has ended. The simulated kubelet calls it when the API server has answered that write.
func (s *stopwatch) podEnded(pod *corev1.Pod) {
	now := time.Now()
	s.in(pod.Namespace, func(f *field) {
		if p := f.pods[pod.UID]; p != nil && p.ended.IsZero() {
			f.ended++
			p.ended = now
			p.job.podEnded(now)
			p.job.lastEnd = now
		}
	})
}

// podDelivered notes that a subscriber received the record about the end of a pod of a Job.
func (s *stopwatch) podDelivered(namespace, job string) {
	now := time.Now()
	s.in(namespace, func(f *field) {
		if t := f.job(job); t.delivered.IsZero() {
			t.delivered = now
			f.delivered++
		}
	})
}

func (s *stopwatch) jobChanged(job *batchv1.Job) {
	now := time.Now()
	s.in(job.Namespace, func(f *field) {
		t := f.job(job.Name)
		if t.asked.IsZero() { // a CronJob's Job, created by the contender: the bench sent no create request
			t.asked, t.created = now, now
		}
		if t.finished.IsZero() && finished(job) {
			t.finished = now
			f.finished++
		}
	})
}

// finished reports whether a Job is Complete or Failed.
func finished(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// follow begins to watch Jobs. The function wait goes on with the watch until ctx ends, and then returns nil; before,
// it returns the error of the watch.
func (s *stopwatch) follow(ctx context.Context, client kubernetes.Interface) (wait func() error, err error) {
	list, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("list Jobs: %w", err)
	}
	version := list.ResourceVersion
	return func() error {
		for ctx.Err() == nil {
			w, err := client.BatchV1().Jobs("").Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("watch Jobs: %w", err)
			}
			for event := range w.ResultChan() {
				job, ok := event.Object.(*batchv1.Job)
				if !ok {
					if ctx.Err() != nil {
						return nil
					}
					return fmt.Errorf("watch Jobs: %w", apierrors.FromObject(event.Object))
				}
				version = job.ResourceVersion
				if event.Type == watch.Added || event.Type == watch.Modified {
					s.jobChanged(job)
				}
			}
		}
		return nil
	}, nil
}

// await returns when done returns true for the notes about the namespace; it calls done again after each change
// there.
func (s *stopwatch) await(ctx context.Context, namespace string, done func(*field) bool) error {
	for {
		s.mu.Lock()
		f := s.fields[namespace]
		ok, changed := done(f), f.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// over reports whether at least jobs Jobs are finished, and no pod has a finalizer any more.
func (f *field) over(jobs int) bool { return f.finished >= jobs && f.tracked == 0 }
