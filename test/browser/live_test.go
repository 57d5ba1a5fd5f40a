package browser

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// until waits until an expression of the page is true.
func (v *visitor) until(expression string) {
	v.t.Helper()
	eval[bool](v, `new Promise((yes) => {
		const look = () => (`+expression+`) ? yes(true) : setTimeout(look, 50);
		look();
	})`)
}

// visible is an expression: an element can be seen, and has a text.
func visible(selector, text string) string {
	return `((e) => e && e.checkVisibility() && e.textContent.includes(` + quoted(text) + `))(document.querySelector(` +
		quoted(selector) + `))`
}

// send sends a signal to a process.
func signal(t *testing.T, p *os.Process, s syscall.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestAPageSaysThatNobodyAnswers: the process behind an open page is stopped. The page says since when there is no
// answer, and as of which record it is; it goes on when the process does. While live updates are off, it says nothing.
func TestAPageSaysThatNobodyAnswers(t *testing.T) {
	v := open(t)
	address, process := shown(t, "--sample=delegated")
	v.arrive(address)
	for _, path := range []string{"/", "/job/backoff-limit/etl-orders", "/record/60"} {
		v.goTo(path)
		v.until(visible(".live", "live"))
		if shown := eval[bool](v, visible(".away", "")); shown {
			t.Errorf("%s: it says that nobody answers", path)
		}
		signal(t, process, syscall.SIGSTOP)
		v.until(visible(".away", "No answer since 2"))
		v.says(".away", "This page is as of 2026-11-23 22:08:06Z, record #1386.")
		signal(t, process, syscall.SIGCONT)
		v.until(`!` + visible(".away", ""))
	}
	v.do(chromedp.Click(chromedp.CSS(".live input")))
	signal(t, process, syscall.SIGSTOP)
	defer signal(t, process, syscall.SIGCONT)
	v.until(`new Promise((yes) => setTimeout(() => yes(true), 6000))`) // longer than a page waits for an event
	if shown := eval[bool](v, visible(".away", "")); shown {
		t.Error("a paused page says that nobody answers")
	}
}

// TestAPageOfARunningJob: the page of a Job of a running controller. A change is shown at once while nobody reads on the
// page. While something is open, the page says how many changes there are, moves nothing, and shows them when asked.
// When the controller stops, it says so.
func TestAPageOfARunningJob(t *testing.T) {
	whole(t)
	chromium(t)
	ctx, cancel := patience.Several(context.Background(), 3)
	t.Cleanup(cancel)
	cp := controlplane.ForTest(t, controlplane.Options{})
	namespace, err := cp.CreateNamespace(ctx, "live")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kubeconfig, err := controller.NewUser(ctx, cp, namespace, namespace, dir)
	if err != nil {
		t.Fatal(err)
	}
	c := controller.New(controller.Config{Program: program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir})
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			if err := c.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	jobs := client.BatchV1().Jobs(namespace)
	runs := map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun}
	if _, err := jobs.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "etl"}, Spec: batchv1.JobSpec{
		ManagedBy: new(events.ManagedBy),
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: runs}, Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "etl"}},
		}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suspend := func(is string) {
		t.Helper()
		patch := []byte(`{"spec":{"suspend":` + is + `}}`)
		if _, err := jobs.Patch(ctx, "etl", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patient := func(what string, holds func() bool) {
		t.Helper()
		if err := patience.Until(ctx, 50*time.Millisecond, c.Ended(), func() (bool, error) { return holds(), nil }); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	v := open(t)
	v.arrive(show(t, "--server", c.URL))
	at := "/job/" + namespace + "/etl"
	patient("the Job runs", func() bool {
		v.goTo(at)
		return strings.Contains(v.text("body"), "Running")
	})
	eval[bool](v, `window.stays = true`)
	suspend("true")
	v.until(visible(".verdict", "Suspended"))
	if !eval[bool](v, `window.stays === true`) {
		t.Error("the page was loaded anew")
	}
	v.do(chromedp.Click(`//summary[contains(text(), "records")]`))
	before := v.text("h1")
	suspend("false")
	v.until(visible(".more", "change"))
	if !eval[bool](v, `document.querySelector("details[open]") !== null`) || v.text("h1") != before {
		t.Errorf("a page that is read has changed: %q, and was %q", v.text("h1"), before)
	}
	v.do(chromedp.Click(chromedp.CSS(".more")))
	v.until(`document.querySelector("details[open]") === null`) // it is shown
	eval[bool](v, `window.scrollTo(0, 0) || true`)              // further changes are shown at once
	v.until(visible(".verdict", "Running"))
	stopped = true
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	v.until(visible(".said", "the log could not be read since 2"))
	v.says(".said", "the newest record that is known is ")
}
