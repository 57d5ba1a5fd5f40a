package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// A step of a timeline: what the test does, as a kubelet or a user; what must become true; and what must not be true
// from the end of the step before to the end of this one. becomes and never return a sentence about what is missing or
// wrong; empty: all is well.
type step struct {
	what    string
	does    func(*timeline)
	becomes func(scene) string
	lasts   time.Duration // how long never must still hold after that
	never   func(scene) string
}

// scene is the stored state of the Job and its pods at some version.
type scene struct {
	job  *batchv1.Job
	pods []*corev1.Pod // existing pods, in the order of their creation
}

// timeline is one Job on a node for which the test plays the kubelet.
type timeline struct {
	*world
	ctx     context.Context
	kubelet *kubelet.Kubelet
	history *history.History
	args    []string // of the controller
	ends    []uint64 // of each step: the newest version that it saw
}

func newTimeline(t *testing.T) *timeline {
	t.Helper()
	w := newWorld(t)
	ctx, cancel := patience.Context(t.Context())
	t.Cleanup(cancel)
	k, err := kubelet.New(ctx, w.client)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Watch(ctx, w.client, w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	return &timeline{world: w, ctx: ctx, kubelet: k, history: h}
}

// play runs the steps of a Job, and then checks everything that was stored meanwhile.
func (l *timeline) play(job *batchv1.Job, steps []step) {
	l.t.Helper()
	kubelet.Place(&job.Spec.Template)
	l.run("", l.args...)
	l.create(job)
	for _, s := range steps {
		l.take(s)
	}
	if err := l.history.CatchUp(l.ctx); err != nil {
		l.t.Fatal(err)
	}
	l.review(steps)
}

func (l *timeline) take(s step) {
	l.t.Helper()
	if s.does != nil {
		s.does(l)
	}
	var reached scene
	ctx, cancel := l.controllers[0].While(l.ctx)
	defer cancel()
	err := l.history.Await(ctx, func(n history.Now) string {
		reached = sceneOf(n)
		if reached.job == nil {
			return "there is no Job"
		}
		return s.becomes(reached)
	})
	if err != nil {
		l.review(nil)
		l.t.Fatalf("%s: %v\nstatus %+v", s.what, err, reached)
	}
	if s.lasts > 0 {
		l.holds(s.what, s.lasts, func() error { return nil }) // review checks never, over all stored versions
	}
	l.ends = append(l.ends, newest(l.history.Changes()))
}

func newest(all []history.Change) uint64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Version
}

// review checks every stored version, by the rule of its step and by the rules that always hold.
func (l *timeline) review(steps []step) {
	l.t.Helper()
	all := l.history.Changes()
	now := history.Now{Jobs: map[string]*batchv1.Job{}, Pods: map[types.UID]*corev1.Pod{}}
	for _, c := range all {
		switch {
		case c.Job != nil:
			now.Jobs[c.Job.Name] = c.Job
		case c.Gone:
			delete(now.Pods, c.Pod.UID)
		default:
			now.Pods[c.Pod.UID] = c.Pod
		}
		i := slices.IndexFunc(l.ends, func(end uint64) bool { return c.Version <= end })
		if s := sceneOf(now); i >= 0 && i < len(steps) && steps[i].never != nil && s.job != nil {
			if wrong := steps[i].never(s); wrong != "" {
				l.t.Errorf("%s: at version %d %s: %+v", steps[i].what, c.Version, wrong, s.job.Status)
			}
		}
	}
	if found := ledger.Read(ledger.Config{}, all).Violations(); len(found) > 0 {
		l.t.Error(ledger.Explain(found, l.history))
	}
}

func sceneOf(n history.Now) scene {
	s := scene{job: n.Jobs["demo"]}
	for _, pod := range n.Pods {
		s.pods = append(s.pods, pod)
	}
	slices.SortFunc(s.pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(ordinal(a), ordinal(b)), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// ordinal returns the number of a pod among the pods of its Job.
func ordinal(p *corev1.Pod) uint64 {
	_, _, n, _ := events.ParseCommand(p.Annotations[events.CommandAnnotation])
	return n
}

// ofIndex returns the pods of a completion index.
func (s scene) ofIndex(index string) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(s.pods), func(p *corev1.Pod) bool {
		return p.Annotations[batchv1.JobCompletionIndexAnnotation] != index
	})
}

// now returns the stored state, as far as the watch has got.
func (l *timeline) now() scene { return sceneOf(l.history.Now()) }

func (l *timeline) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// userDeletes deletes, as a user, the i-th existing pod, with the default grace period of thirty seconds.
func userDeletes(i int) func(*timeline) {
	return func(l *timeline) {
		l.must(l.client.CoreV1().Pods(l.namespace).Delete(l.ctx, l.now().pods[i].Name, metav1.DeleteOptions{}))
	}
}

// The kubelet's part: each function acts on the i-th existing pod.
func runs(i int) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Run(l.ctx, l.now().pods[i], true)) }
}

func succeeds(i int) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Succeed(l.ctx, l.now().pods[i])) }
}

func fails(i int) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Fail(l.ctx, l.now().pods[i], 1)) }
}

func leaves(i int) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Remove(l.ctx, l.now().pods[i])) }
}

func all(deeds ...func(*timeline)) func(*timeline) {
	return func(l *timeline) {
		for _, do := range deeds {
			do(l)
		}
	}
}

// counts are the counters of a status; -1: any value.
type counts struct{ active, ready, terminating, succeeded, failed int32 }

const whatever = -1

// is returns how a status differs from counts, and what else is missing.
func is(want counts, also ...func(scene) string) func(scene) string {
	return func(s scene) string {
		j := &s.job.Status
		if j.Ready == nil || j.Terminating == nil || j.UncountedTerminatedPods == nil {
			return "the status is not complete"
		}
		got := []int32{j.Active, *j.Ready, *j.Terminating, j.Succeeded, j.Failed}
		for i, n := range []int32{want.active, want.ready, want.terminating, want.succeeded, want.failed} {
			if n != whatever && n != got[i] {
				return fmt.Sprintf("active, ready, terminating, succeeded, failed are %v, not %v", got, want)
			}
		}
		return first(also...)(s)
	}
}

// first returns the first sentence that a rule returns.
func first(rules ...func(scene) string) func(scene) string {
	return func(s scene) string {
		for _, rule := range rules {
			if said := rule(s); said != "" {
				return said
			}
		}
		return ""
	}
}

// has requires a condition with a reason; empty: any reason.
func has(kind batchv1.JobConditionType, reason string) func(scene) string {
	return func(s scene) string {
		c := condition(s.job, kind)
		if c == nil || reason != "" && c.Reason != reason {
			return fmt.Sprintf("condition %s for %s is not there", kind, reason)
		}
		return ""
	}
}

// lacks requires that a condition is absent.
func lacks(kind batchv1.JobConditionType) func(scene) string {
	return func(s scene) string {
		if condition(s.job, kind) != nil {
			return fmt.Sprintf("it is %s", kind)
		}
		return ""
	}
}

func podsAre(n int) func(scene) string {
	return func(s scene) string {
		if len(s.pods) != n {
			return fmt.Sprintf("there are %d pods, not %d", len(s.pods), n)
		}
		return ""
	}
}

func atMost(n int) func(scene) string {
	return func(s scene) string {
		if len(s.pods) > n {
			return fmt.Sprintf("there are %d pods, more than %d", len(s.pods), n)
		}
		return ""
	}
}

// freed requires that no pod has the finalizer; held requires that all pods have it.
func freed(s scene) string {
	for _, p := range s.pods {
		if ledger.Tracked(p) {
			return "pod " + p.Name + " carries the finalizer"
		}
	}
	return ""
}

func held(s scene) string {
	for _, p := range s.pods {
		if !ledger.Tracked(p) {
			return "pod " + p.Name + " does not carry the finalizer"
		}
	}
	return ""
}

// nothingListed requires that uncountedTerminatedPods is set and empty.
func nothingListed(s scene) string {
	if u := s.job.Status.UncountedTerminatedPods; u == nil || len(u.Succeeded)+len(u.Failed) > 0 {
		return fmt.Sprintf("uncountedTerminatedPods is %v", u)
	}
	return ""
}

// indexesAre requires these completed and failed indexes.
func indexesAre(completed, failed string) func(scene) string {
	return func(s scene) string {
		if f := s.job.Status.FailedIndexes; s.job.Status.CompletedIndexes != completed || f == nil || *f != failed {
			return fmt.Sprintf("completedIndexes is %q, failedIndexes %v", s.job.Status.CompletedIndexes, f)
		}
		return ""
	}
}

// uncounted requires that no pod was counted.
func uncounted(s scene) string {
	if s.job.Status.Failed != 0 || s.job.Status.Succeeded != 0 {
		return fmt.Sprintf("%d failed and %d succeeded", s.job.Status.Failed, s.job.Status.Succeeded)
	}
	return ""
}
