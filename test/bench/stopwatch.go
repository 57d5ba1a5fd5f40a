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

// stopwatch notes the times of events, as seen through the API server. It has one field for each namespace.
type stopwatch struct {
	mu     sync.Mutex
	fields map[string]*field
}

// field has the events of one namespace.
type field struct {
	jobs    map[string]*timing
	pods    map[types.UID]*podSeen
	changed chan struct{} // closed and replaced at every change

	finished, ended, tracked int // Jobs; pods that ended; pods with a finalizer now
	delivered                int // Jobs with a pod end that a subscriber has received

	lates, writes []time.Duration // of status writes of kubelets: delays of their begin, and times until their answers
}

// timing is the life of one Job. A time that has not come yet is zero.
type timing struct {
	asked    time.Time // just before its creation was requested; for a CronJob's: it was first seen
	created  time.Time // the API server answered the create; for a CronJob's: it was first seen
	firstPod time.Time // its first pod was seen
	lastEnd  time.Time // the API server answered the newest end of one of its pods
	finished time.Time // it was seen Complete or Failed

	delivered time.Time // a subscriber received the record of the first end of one of its pods

	shape   shape
	fates   fates          // nil: alike
	before  map[string]int // pods seen so far, by their place in the Job
	retries retries
	succession
}

type podSeen struct {
	job     *timing
	tracked bool      // it has a finalizer
	ended   time.Time // the API server answered its end
}

func newStopwatch() *stopwatch { return &stopwatch{fields: map[string]*field{}} }

// open begins to note the events of a namespace.
func (s *stopwatch) open(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fields[namespace] = &field{jobs: map[string]*timing{}, pods: map[types.UID]*podSeen{}, changed: make(chan struct{})}
}

// shut forgets a namespace.
func (s *stopwatch) shut(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fields, namespace)
}

// in calls f with the field of a namespace, if it is open, and then wakes the waiters.
func (s *stopwatch) in(namespace string, f func(*field)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.fields[namespace]; at != nil {
		f(at)
		close(at.changed)
		at.changed = make(chan struct{})
	}
}

// job returns the timing of a Job. A pod of the Job may be seen before the create is answered, so job creates it if
// needed.
func (f *field) job(name string) *timing {
	t := f.jobs[name]
	if t == nil {
		t = newTiming()
		f.jobs[name] = t
	}
	return t
}

func newTiming() *timing { return &timing{fates: alike, before: map[string]int{}} }

// foretell sets the shape of a coming Job, and how its pods live.
func (s *stopwatch) foretell(namespace string, of shape, how fates) {
	s.in(namespace, func(f *field) { f.job(of.name).shape, f.job(of.name).fates = of, how })
}

// expect notes that a Job is about to be created.
func (s *stopwatch) expect(namespace, job string) {
	now := time.Now()
	s.in(namespace, func(f *field) { f.job(job).asked = now })
}

// created notes that the create of a Job was answered.
func (s *stopwatch) created(namespace, job string) {
	now := time.Now()
	s.in(namespace, func(f *field) { f.job(job).created = now })
}

// podChanged is called by the kubelet for each change of a pod.
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

// podFate is called by the kubelet once for each pod.
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

// podWrote is called by the kubelet after each status write.
func (s *stopwatch) podWrote(pod *corev1.Pod, late, took time.Duration) {
	s.in(pod.Namespace, func(f *field) { f.lates, f.writes = append(f.lates, late), append(f.writes, took) })
}

// podEnded is called by the kubelet when a pod has ended.
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

// podDelivered notes that a subscriber received the record of the end of a Job's pod.
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
		if t.asked.IsZero() { // the contender made it, for a CronJob
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

// follow watches Jobs from now on until ctx ends, which is no error. It returns when the watch has begun. wait returns
// the error of the watch.
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

// await calls done after every change of the namespace, and returns when done returns true.
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

// over reports whether that many Jobs are finished and no pod has a finalizer.
func (f *field) over(jobs int) bool { return f.finished >= jobs && f.tracked == 0 }
