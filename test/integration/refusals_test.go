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

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// longest is the longest wait between two tries of a refused command in TestRefusals. A Job goes on at the next try
// after the cause is gone, because a controller with the rights of a Job controller cannot watch quotas, policies and
// roles.
const longest = 2 * time.Second

// TestRefusals: each refusal by the API server is visible while it lasts, as an Event and in get. No pod is created
// twice, and the Job goes on soon after the cause is gone (J-017, J-018, J-058, J-194).
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
	c := w.run("", "--max-api-backoff="+longest.String())
	j := w.create(newJob("demo", append([]option{completions(3), parallelism(2)}, o.job...)...))
	var seen controller.Refusal
	w.logSays("get shows what is refused", func() (bool, error) {
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
	next := w.refusal(c, o.does).Next // zero: it is being tried now
	if last := time.Now().Add(longest); next.After(last) {
		t.Errorf("the cause is gone, and the next try comes at %s, want it at %s at the latest", next, last)
	}
	w.logSays("it is no longer refused", func() (bool, error) { return w.refusal(c, o.does).Tries == 0, nil })
	t.Logf("%s: went on %.1f s after the cause was gone, and %d tries", o.class, time.Since(lifted).Seconds(), seen.Tries)
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3})
	if n := len(w.pods("demo")); n != 3 {
		t.Errorf("%d pods were made for 3 completions", n)
	}
}

// refusal is refusalOf for Job demo.
func (w *world) refusal(c *controller.Controller, does string) controller.Refusal {
	return w.refusalOf(c, "demo", does)
}

// refusalOf returns the refusal of the command that get shows; zero: not refused, or the log does not know the Job yet.
func (w *world) refusalOf(c *controller.Controller, job, does string) controller.Refusal {
	j, err := c.Job(w.t.Context(), job)
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

// tells reports whether an Event of the Job describes the refusal, in the words of the contract.
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

// TestAFullQuotaIsFilledAgain: a Job waits for the only place of a quota, with the usual backoff of up to a minute.
// When the pod in that place ends, the Job gets the place before its own next try, which is half a minute away: the end
// of a pod is a hint that there is room (J-058). A machine on which a pod takes longer proves nothing, so there are
// three rounds.
func TestAFullQuotaIsFilledAgain(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	k, err := kubelet.New(t.Context(), w.client)
	if err != nil {
		t.Fatal(err)
	}
	w.quota(1)
	c := w.run("")
	holder := w.placed("demo-0")
	for round := range 3 {
		name := fmt.Sprintf("demo-%d", round+1)
		j := newJob(name)
		kubelet.Place(&j.Spec.Template)
		w.create(j)
		var waiting controller.Refusal
		w.logSays("the fifth retry of "+name+" is refused", func() (bool, error) {
			waiting = w.refusalOf(c, name, "create pod")
			return waiting.Tries >= 6, nil
		})
		if err := k.Succeed(t.Context(), &holder); err != nil {
			t.Fatal(err)
		}
		w.eventually(name+" gets the place", func() (bool, error) { return len(w.pods(name)) == 1, nil })
		holder = w.pods(name)[0]
		t.Logf("%s got the place at %s; after %d tries the next was due at %s", name, holder.CreationTimestamp, waiting.Tries, waiting.Next)
		if holder.CreationTimestamp.Time.Before(waiting.Next.Truncate(time.Second)) {
			return
		}
	}
	t.Error("no Job got the place before its own next try")
}

// quota limits the namespace to so many pods, and waits until the API server applies it.
func (w *world) quota(pods int64) {
	w.t.Helper()
	_, err := w.client.CoreV1().ResourceQuotas(w.namespace).Create(w.t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.eventually("the quota is known", func() (bool, error) {
		q, err := w.client.CoreV1().ResourceQuotas(w.namespace).Get(w.t.Context(), "few", metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) > 0, err
	})
}

// placed creates a Job on the node that the test plays, and returns its pod.
func (w *world) placed(name string) corev1.Pod {
	w.t.Helper()
	j := newJob(name)
	kubelet.Place(&j.Spec.Template)
	w.create(j)
	w.eventually(name+" has its pod", func() (bool, error) { return len(w.pods(name)) == 1, nil })
	return w.pods(name)[0]
}

// TestANamespaceThatGoes: in a namespace that is being deleted, creates are refused. That is no failure: there is no
// Event, and only one try a minute (J-059).
func TestANamespaceThatGoes(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{})
	w := newWorldOn(t, cp)
	w.rough = true
	c := w.run("")
	suspended := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	j := w.create(newJob("demo", suspended))
	w.eventually("the Job is suspended", func() (bool, error) { return len(w.job("demo").Status.Conditions) > 0, nil })
	if err := cp.Interrupt(binaries.ControllerManager); err != nil { // else the Job is deleted with its namespace
		t.Fatal(err)
	}
	if err := w.client.CoreV1().Namespaces().Delete(t.Context(), w.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.patch("demo", `{"suspend":false}`)
	var seen controller.Refusal
	w.logSays("get shows why there is no pod", func() (bool, error) {
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
