package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
)

// podRef is a reference to pods, as it is written in a scenario. "a:2.1" is the second oldest pod of index 2 of Job a,
// among those that fit the action. "a.1" is the second of all pods, by index and age. "a.*" means all of them, and
// "a.*%3" every third.
type podRef struct {
	job   string
	index string // completion index; empty for any
	nth   int
	each  int // n for every nth pod; 0 for one pod
}

func parsePod(text string) (ref podRef, err error) {
	text, nth, ok := strings.Cut(text, ".")
	if every, all := strings.CutPrefix(nth, "*"); all {
		ref.each = 1
		nth = strings.TrimPrefix(every, "%")
		if ok = nth != ""; ok {
			ref.each, err = strconv.Atoi(nth)
			ok = false
		}
	}
	if err == nil && ok {
		if ref.nth, err = strconv.Atoi(nth); err != nil {
			return ref, fmt.Errorf("pod %s.%s: %w", text, nth, err)
		}
	}
	ref.job, ref.index, _ = strings.Cut(text, ":")
	return ref, err
}

// meets reports whether ref names the pod, whatever its age. For a request that is not about a pod (pod is nil), name
// is that of the Job, and it reports whether ref names the Job.
func (r *podRef) meets(pod *corev1.Pod, name string) bool {
	if pod == nil {
		return r.index == "" && name == r.job
	}
	return jobOf(pod) == r.job && (r.index == "" || indexOf(pod) == r.index)
}

// find returns the pods that ref names, out of those for which fits is true.
func (c *cluster) find(ref podRef, fits func(*corev1.Pod) bool) []*corev1.Pod {
	pods := slices.DeleteFunc(c.world.Server.AllPods(), func(p *corev1.Pod) bool { return !ref.meets(p, "") || !fits(p) })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(strings.Compare(indexOf(a), indexOf(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(looks(a), looks(b)))
	})
	if ref.each == 0 {
		return pods[min(ref.nth, len(pods)):min(ref.nth+1, len(pods))]
	}
	var out []*corev1.Pod
	for i := 0; i < len(pods); i += ref.each {
		out = append(out, pods[i])
	}
	return out
}

// looks describes a pod by what an action could depend on, to sort pods of the same age. If two look the same, it
// does not matter which of them an action changes.
func looks(p *corev1.Pod) string {
	var codes []int32
	for _, c := range p.Status.ContainerStatuses {
		codes = append(codes, c.RestartCount)
		if c.State.Terminated != nil {
			codes = append(codes, c.State.Terminated.ExitCode)
		}
	}
	return fmt.Sprint(indexOf(p), p.Status.Phase, codes, p.DeletionTimestamp, p.Finalizers, len(p.OwnerReferences), p.Labels[moved] != "",
		p.GenerateName, p.Status.Conditions)
}

// jobOf returns the name of the Job that owns the pod, or whose pod a user copied.
func jobOf(p *corev1.Pod) string {
	for _, owner := range p.OwnerReferences {
		if owner.Kind == "Job" {
			return owner.Name
		}
	}
	if name := p.Labels[batchv1.JobNameLabel]; name != "" {
		return name
	}
	name, _, _ := strings.Cut(p.GenerateName, "-")
	return name
}

func indexOf(p *corev1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }

// podDeed is an action (do) of a scenario on a pod; fits reports whether the action makes sense for a pod.
type podDeed struct {
	fits func(*corev1.Pod) bool
	do   func(c *cluster, p *corev1.Pod, args []string) error
}

func always(*corev1.Pod) bool   { return true }
func goesOn(p *corev1.Pod) bool { return !apiserver.PodTerminal(p) }
func runs(p *corev1.Pod) bool   { return p.Status.Phase == corev1.PodRunning }
func stays(p *corev1.Pod) bool  { return p.DeletionTimestamp == nil }

// uncounted reports whether no status can have counted the pod yet. Actions are limited to such pods: if a pod ended,
// lost its finalizer and is adopted again, upstream may count it a second time, and Jobledger treats it as counted
// (J-177, testdata/differ).
func uncounted(p *corev1.Pod) bool {
	return goesOn(p) && stays(p) && slices.Contains(p.Finalizers, tracking)
}

func starting(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodPending && p.Spec.NodeName != ""
}

// The label in which the action relabel keeps the controller UID of a pod, a finalizer of another client, and the
// tracking finalizer.
const (
	moved    = "oracle.jobledger.dev/moved"
	foreign  = "oracle.jobledger.dev/keep"
	tracking = batchv1.JobTrackingFinalizer
)

// podDeeds maps the verbs of a scenario to actions of kubelets and users on pods.
var podDeeds = map[string]podDeed{
	"run": {starting, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.report(p, func(s *corev1.PodStatus) { kubelet.SetRunning(p, s, c.now()) })
	}},
	"succeed": {goesOn, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.report(p, func(s *corev1.PodStatus) { kubelet.SetEnded(p, s, 0, c.now()) })
	}},
	"restart": {runs, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.report(p, func(s *corev1.PodStatus) { kubelet.SetRestarted(s, 1, c.now()) })
	}},
	"fail": {goesOn, fail},
	"kill": {stays, func(c *cluster, p *corev1.Pod, _ []string) error {
		return passOver(c.user.DeletePod(context.Background(), p.Namespace, p.Name, p.UID, ""))
	}},
	"force": {always, func(c *cluster, p *corev1.Pod, _ []string) error {
		return passOver(c.user.Delete(context.Background(), apiserver.Pods, p.Namespace, p.Name,
			apiserver.DeleteOptions{UID: p.UID, GraceSeconds: new(int64)}))
	}},
	"strip": {func(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, tracking) }, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.patch(p, `{"metadata":{"$deleteFromPrimitiveList/finalizers":[%q]}}`, tracking)
	}},
	"orphan": {func(p *corev1.Pod) bool { return uncounted(p) && len(p.OwnerReferences) > 0 }, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.patch(p, `{"metadata":{"ownerReferences":[{"$patch":"replace"}]}}`)
	}},
	"relabel": {func(p *corev1.Pod) bool { return uncounted(p) && p.Labels[batchv1.ControllerUidLabel] != "" }, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.patch(p, `{"metadata":{"labels":{%q:null,%q:%q}}}`, batchv1.ControllerUidLabel, moved, p.Labels[batchv1.ControllerUidLabel])
	}},
	"restore": {func(p *corev1.Pod) bool { return goesOn(p) && p.Labels[moved] != "" }, func(c *cluster, p *corev1.Pod, args []string) error {
		if job := c.world.Server.Job(p.Namespace, jobOf(p)); job != nil && over(job, indexOf(p)) {
			return nil
		}
		return restore(c, p, args)
	}},
	"reclaim": {func(p *corev1.Pod) bool { return p.Labels[moved] != "" }, restore},
	"reindex": {func(p *corev1.Pod) bool { return indexOf(p) != "" }, func(c *cluster, p *corev1.Pod, args []string) error {
		return c.patch(p, `{"metadata":{"annotations":{%q:%q}}}`, batchv1.JobCompletionIndexAnnotation, args[0])
	}},
	"touchpod": {always, func(c *cluster, p *corev1.Pod, _ []string) error {
		c.world.Server.Touch("somebody", apiserver.Pods, p.Namespace, p.Name)
		return nil
	}},
	"keep": {stays, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.patch(p, `{"metadata":{"finalizers":[%q]}}`, foreign)
	}},
	"unkeep": {func(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, foreign) }, func(c *cluster, p *corev1.Pod, _ []string) error {
		return c.patch(p, `{"metadata":{"$deleteFromPrimitiveList/finalizers":[%q]}}`, foreign)
	}},
}

// fail ends a pod with an exit code (1, unless a word in args gives another one) and with conditions.
func fail(c *cluster, p *corev1.Pod, args []string) error {
	code, conditions := int64(1), []corev1.PodConditionType{}
	for _, word := range args {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "exit":
			code, err = strconv.ParseInt(value, 10, 32)
		case "cond":
			conditions = append(conditions, corev1.PodConditionType(value))
		default:
			err = fmt.Errorf("%q is no word of a failure", word)
		}
		if err != nil {
			return err
		}
	}
	return c.report(p, func(s *corev1.PodStatus) {
		kubelet.SetEnded(p, s, int32(code), c.now())
		for _, kind := range conditions {
			s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: c.now()})
		}
	})
}

// restore gives a pod the label back that the action relabel moved away.
func restore(c *cluster, p *corev1.Pod, _ []string) error {
	return c.patch(p, `{"metadata":{"labels":{%q:%q,%q:null}}}`, batchv1.ControllerUidLabel, p.Labels[moved], moved)
}

func (c *cluster) now() metav1.Time { return metav1.NewTime(c.world.Clock.Now()) }

func (c *cluster) report(p *corev1.Pod, change func(*corev1.PodStatus)) error {
	return passOver(c.user.UpdatePodStatus(context.Background(), p.Namespace, p.Name, p.UID, change))
}

func (c *cluster) patch(p *corev1.Pod, format string, args ...any) error {
	_, err := c.user.PatchPod(context.Background(), p.Namespace, p.Name, fmt.Appendf(nil, format, args...))
	return passOver(err)
}
