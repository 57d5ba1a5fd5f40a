package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// quick lets a command in backoff be asked at least every 2 s: how soon a Job goes on after the cause is gone is bound
// by its next try, because quotas, policies and roles cannot be watched with the rights of a Job controller.
const quick = "--max-api-backoff=2s"

// How soon the Job must go on then.
const (
	nextTry  = 3 * time.Second  // is when it is asked again at the latest: the longest wait, and a second for two clocks
	recovery = 20 * time.Second // has what a try and its effects take, and two looks at it, on a machine that has much else to do
)

// TestRefusals: whatever the API server refuses, and for however long, is visible while it lasts, as an Event and in get; no pod
// is made twice; and the Job goes on soon after the cause is gone (J-017, J-018, J-058, J-194).
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]obstacle{
		"a quota is used up":                     quotaObstacle(),
		"a policy denies pods":                   policyObstacle(),
		"pods may not be created":                rightsObstacle("pods", "create", "create pod", "FailedCreate"),
		"pods may not be patched":                rightsObstacle("pods", "patch", "remove finalizer of pod", ""),
		"statuses may not be written":            rightsObstacle("jobs/status", "update", "write status", ""),
		"a limit range refuses what a pod asks":  limitObstacle(),
		"the template names what does not exist": priorityObstacle(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuse(t, &o)
		})
	}
}

func refuse(t *testing.T, o *obstacle) {
	w := newWorld(t)
	w.rough = true // rights are taken away
	if err := o.set(w); err != nil {
		t.Fatal(err)
	}
	c := w.run("", quick)
	j := w.create(newJob("demo", append([]option{completions(3), parallelism(2)}, o.job...)...))
	var seen controller.Refusal
	w.eventually("get shows what is refused", func() (bool, error) {
		seen = w.refusal(c, o.does)
		return seen.Tries >= 2, nil
	})
	if seen.Class != o.class || !strings.Contains(seen.Says, o.words) || seen.Since.Before(j.CreationTimestamp.Time) {
		t.Errorf("get shows %+v, want %s and %q", seen, o.class, o.words)
	}
	if o.event != "" {
		w.eventually("an Event tells of it", func() (bool, error) { return w.tells(j, o) })
	}
	if o.does == "create pod" && len(w.pods("demo")) > 0 {
		t.Errorf("there are pods: %v", names(w.pods("demo")))
	}

	if err := o.lift(w); err != nil {
		t.Fatal(err)
	}
	lifted := time.Now()
	if wait := w.refusal(c, o.does).Next.Sub(lifted); wait > nextTry { // it has none when it is tried just now
		t.Errorf("the cause is gone, and the next try comes after %s, want at most %s", wait, nextTry)
	}
	w.eventually("it is no longer refused", func() (bool, error) { return w.refusal(c, o.does).Tries == 0, nil })
	took := time.Since(lifted)
	t.Logf("%s: went on %.1f s after the cause was gone, and %d tries", o.class, took.Seconds(), seen.Tries)
	if took > recovery {
		t.Errorf("it took %s to go on after the cause was gone, want at most %s", took, recovery)
	}
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3})
	if n := len(w.pods("demo")); n != 3 {
		t.Errorf("%d pods were made for 3 completions", n)
	}
}

// refusal is what get shows of the command; zero when it is not refused, or the log does not know the Job yet.
func (w *world) refusal(c *controller.Controller, does string) controller.Refusal {
	j, err := c.Job(w.t.Context(), "demo")
	if err != nil {
		return controller.Refusal{}
	}
	for _, r := range j.Refused {
		if strings.HasPrefix(r.Does, does) {
			return r
		}
	}
	return controller.Refusal{}
}

// tells reports whether an Event of the Job tells of the refusal, in the words of the contract.
func (w *world) tells(j *batchv1.Job, o *obstacle) (bool, error) {
	list, err := w.client.CoreV1().Events(w.namespace).List(w.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(j.UID)})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
		return e.Reason == o.event && e.Type == corev1.EventTypeWarning && strings.HasPrefix(e.Message, "Error creating: ") &&
			strings.Contains(e.Message, o.words)
	}), nil
}

// TestAFullQuotaIsFilledAgain: Jobs that share a quota of two pods, with the usual backoff of up to a minute, follow one another
// closely all the same: the end of a pod is a hint that there is room (J-058).
func TestAFullQuotaIsFilledAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.client.CoreV1().ResourceQuotas(w.namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "two"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the quota is known", func() (bool, error) {
		q, err := w.client.CoreV1().ResourceQuotas(w.namespace).Get(t.Context(), "two", metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) > 0, err
	})
	w.run("")
	const jobs = 10
	begin := time.Now()
	for i := range jobs {
		w.create(newJob(fmt.Sprintf("demo-%d", i), runFor("2s")))
	}
	for i := range jobs {
		w.ends(fmt.Sprintf("demo-%d", i), result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	}
	took := time.Since(begin)
	t.Logf("%d Jobs of 2 s each, two at a time: %.1f s", jobs, took.Seconds())
	if took > time.Minute {
		t.Errorf("they took %s: they waited for their backoff", took)
	}
	if n := len(w.pods("")); n != jobs {
		t.Errorf("%d pods were made for %d Jobs", n, jobs)
	}
}

// TestANamespaceThatGoes: what is to be made in a namespace that is being deleted is no failure and no burden: no Event, no
// tries but one a minute (J-059).
func TestANamespaceThatGoes(t *testing.T) {
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{})
	w := newWorldOn(t, cp)
	w.rough = true
	c := w.run("")
	suspended := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	j := w.create(newJob("demo", suspended))
	w.eventually("the Job is suspended", func() (bool, error) { return len(w.job("demo").Status.Conditions) > 0, nil })
	if err := cp.Interrupt(binaries.ControllerManager); err != nil { // else the Job would be gone with its namespace
		t.Fatal(err)
	}
	if err := w.client.CoreV1().Namespaces().Delete(t.Context(), w.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.patch("demo", `{"suspend":false}`)
	var seen controller.Refusal
	w.eventually("get shows why there is no pod", func() (bool, error) {
		seen = w.refusal(c, "create pod")
		return seen.Tries > 0, nil
	})
	if seen.Class != "NamespaceTerminating" || seen.Next.Sub(seen.Since) < 50*time.Second {
		t.Errorf("get shows %+v, want NamespaceTerminating and another try in a minute", seen)
	}
	w.holds("it is left alone", 5*time.Second, func() error {
		writes, err := cp.Writes()
		if err != nil {
			return err
		}
		tries := 0
		for _, x := range writes {
			if x.Namespace == w.namespace && x.Verb == "create" && x.Resource == "pods" {
				tries++
			}
		}
		if tries > 1 {
			return fmt.Errorf("%d tries to make a pod", tries)
		}
		told, err := w.tells(j, &obstacle{event: "FailedCreate"})
		if told {
			err = errors.New("an Event tells of it")
		}
		return err
	})
	if err := cp.Resume(t.Context(), binaries.ControllerManager); err != nil {
		t.Fatal(err)
	}
	w.gone(j)
}
