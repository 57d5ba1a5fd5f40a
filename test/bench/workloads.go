package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload is something to do for a Job controller.
type workload struct {
	name string
	says string // with one %d for each number of sizes
	full sizes
	fast sizes // with Config.Quick
	// drive creates the Jobs and returns when they are over.
	drive func(ctx context.Context, r *run, s sizes) error
	// measure, if there is one, does the whole lap in the place of drive.
	measure func(ctx context.Context, r *run) (Lap, error)
}

// sizes are the numbers of a workload, in the order in which its sentence names them.
type sizes []int

func (w *workload) sizes(quick bool) sizes {
	if quick {
		return w.fast
	}
	return w.full
}

func (w *workload) title(quick bool) string {
	var numbers []any
	for _, n := range w.sizes(quick) {
		numbers = append(numbers, n)
	}
	return fmt.Sprintf(w.says, numbers...)
}

var workloads = []*workload{
	{
		name: "w1", says: "%d Jobs of one pod, one after another",
		full: sizes{30}, fast: sizes{8}, drive: oneAfterAnother,
	},
	{
		name: "w2", says: "%d Jobs of one pod at once",
		full: sizes{500}, fast: sizes{150}, drive: allAtOnce,
	},
	{
		name: "w3", says: "one Job of %d pods, parallelism %d",
		full: sizes{2000, 500}, fast: sizes{400, 100}, drive: oneJob(false),
	},
	{
		name: "w3i", says: "one Indexed Job of %d pods, parallelism %d",
		full: sizes{2000, 500}, fast: sizes{400, 100}, drive: oneJob(true),
	},
}

// choose returns the workloads of these names, all without any.
func choose(names []string) ([]*workload, error) {
	if len(names) == 0 {
		return workloads, nil
	}
	var chosen []*workload
	for _, name := range names {
		i := slices.IndexFunc(workloads, func(w *workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no workload %q: there are %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, workloads[i])
	}
	return chosen, nil
}

// Names are the names of all workloads.
func Names() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// shape is a Job, and what is to come of it.
type shape struct {
	name              string
	pods, parallelism int32
	indexed           bool
	fail              int // so many of its pods fail, and are replaced
}

// node is on every pod, so that no scheduler is needed. There is no such node, and nobody minds.
const node = "bench"

func (s shape) job() *batchv1.Job {
	mode, never := batchv1.NonIndexedCompletion, int32(1000)
	if s.indexed {
		mode = batchv1.IndexedCompletion
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: batchv1.JobSpec{
			Completions: &s.pods, Parallelism: &s.parallelism, CompletionMode: &mode, BackoffLimit: &never,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				NodeName: node, RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: "none"}},
			}},
		},
	}
}

// small are n Jobs of one pod.
func small(n int) []shape {
	var all []shape
	for i := range n {
		all = append(all, shape{name: fmt.Sprintf("small-%d", i), pods: 1, parallelism: 1})
	}
	return all
}

func oneAfterAnother(ctx context.Context, r *run, s sizes) error {
	for _, one := range small(s[0]) {
		if err := r.create(ctx, one); err != nil {
			return err
		}
		if err := r.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

func allAtOnce(ctx context.Context, r *run, s sizes) error {
	if err := r.create(ctx, small(s[0])...); err != nil {
		return err
	}
	return r.finish(ctx)
}

func oneJob(indexed bool) func(context.Context, *run, sizes) error {
	return func(ctx context.Context, r *run, s sizes) error {
		if err := r.create(ctx, large(s, indexed)); err != nil {
			return err
		}
		return r.finish(ctx)
	}
}

func large(s sizes, indexed bool) shape {
	return shape{name: "large", pods: int32(s[0]), parallelism: int32(s[1]), indexed: indexed}
}

// every calls f at every interval, with 0 to n-1, until ctx ends.
func every(ctx context.Context, interval time.Duration, n int, f func(i int) error) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
