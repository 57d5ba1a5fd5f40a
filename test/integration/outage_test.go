package integration

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// lasting are the arguments of a controller that survives a long outage: without --leader-elect=false the lost Lease
// ends it.
var lasting = []string{"--server-request-timeout=10s", "--leader-elect=false"}

// TestOutages breaks its own control planes. Requests that were in flight when the API server was killed are in doubt
// for as long as a server may act on them: ten seconds here, by the flags of the server and of the controller.
func TestOutages(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	breakable := func(t *testing.T) *controlplane.ControlPlane {
		return controlplane.ForTest(t, controlplane.Options{APIServerArgs: []string{"--request-timeout=10s"}})
	}
	t.Run("during a Job", func(t *testing.T) {
		t.Parallel()
		cp := breakable(t)
		for _, component := range []string{binaries.APIServer, binaries.Etcd} {
			t.Run(component+" is away for a while during a 30-pod Job", func(t *testing.T) { outage(t, cp, component) })
		}
	})
	t.Run("the watch is lost beyond resuming while Jobs are deleted, created and go on", func(t *testing.T) {
		t.Parallel()
		forgotten(t, breakable(t))
	})
}

// outage: the Job completes with the right counters. If something may have been missed, the log says what
// (design §2, invariant 9).
func outage(t *testing.T, cp *controlplane.ControlPlane, component string) {
	w := newWorldOn(t, cp)
	w.rough = true
	c := w.run("", lasting...)
	w.create(newJob("demo", indexed, completions(30), parallelism(6), runFor("400ms")))
	w.eventually("a third of the Job is done", func() (bool, error) { return w.job("demo").Status.Succeeded >= 10, nil })
	if err := cp.Interrupt(component); err != nil {
		t.Fatal(err)
	}
	w.logSays("the controller has noticed, or has nothing to ask", func() (bool, error) {
		ended, err := c.Records(t.Context(), "--kind", "CommandEnded")
		if err != nil {
			return false, err
		}
		last := ended[len(ended)-1]
		var how struct{ Ending string }
		return how.Ending == "unknown" || how.Ending == "refused" || time.Since(last.Time) > 3*time.Second, last.Into(&how)
	})
	if err := cp.Resume(t.Context(), component); err != nil {
		t.Fatal(err)
	}
	w.podsRunAgain("demo")
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 30, completed: "0-29"})
	if n := len(w.pods("demo")); n != 30 {
		t.Errorf("%d pods were made for 30 indexes", n)
	}
	w.listingsAreClosed(c)
}

// podsRunAgain returns when no pod of the Job hangs because kwok lost it. Unlike a kubelet, kwok does not retry
// failures, nor play events from its start-up. A newly started kwok plays all existing pods.
func (w *world) podsRunAgain(job string) {
	w.t.Helper()
	const long = 10 * time.Second // far longer than these pods run
	started := time.Now()
	w.eventually("no pod stands still", func() (bool, error) {
		stuck := slices.ContainsFunc(w.pods(job), func(p corev1.Pod) bool {
			return p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded && time.Since(p.CreationTimestamp.Time) > long
		})
		done := condition(w.job(job), batchv1.JobComplete) != nil
		if stuck && time.Since(started) > long {
			started = time.Now()
			return false, errors.Join(w.cp.Interrupt(binaries.Kwok), w.cp.Resume(w.t.Context(), binaries.Kwok))
		}
		return done, nil
	})
}

// forgotten: the controller hangs while the API server drops the events that it would need, so it must list again. What
// happened meanwhile is recorded as far as it can be seen, together with what may have been missed.
func forgotten(t *testing.T, cp *controlplane.ControlPlane) {
	w := newWorldOn(t, cp)
	w.rough = true
	c := w.run("", lasting...)
	w.create(newJob("goes-on", completions(6), parallelism(2), runFor("500ms")))
	doomed := w.create(newJob("doomed", parallelism(2), outcome(controlplane.OutcomeRun)))
	w.eventually("both run", func() (bool, error) { return w.job("goes-on").Status.Succeeded > 0 && w.runs("doomed") == 2, nil })
	before, pods := w.head(c), w.pods("doomed")

	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	restart := func() {
		t.Helper()
		if err := cp.Interrupt(binaries.APIServer); err != nil {
			t.Fatal(err)
		}
		if err := cp.Resume(t.Context(), binaries.APIServer); err != nil {
			t.Fatal(err)
		}
	}
	restart() // ends the watches, which else would deliver later what was sent to the stopped controller
	w.delete("doomed")
	w.gone(doomed)
	w.letGoByHand("doomed")
	w.eventually("the pods of the deleted Job are gone", func() (bool, error) { return len(w.pods("doomed")) == 0, nil })
	w.create(newJob("made-meanwhile", completions(2), parallelism(2)))
	for i := range 20 { // other objects move the resource version on
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("filler-%d", i)}}
		if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	restart() // its watch history begins here
	if err := c.Continue(); err != nil {
		t.Fatal(err)
	}

	w.ends("goes-on", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 6})
	w.ends("made-meanwhile", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 2})
	relists := w.listingsAreClosed(c)
	if len(relists) == 0 {
		t.Fatal("the log does not say that the watch was lost")
	}
	for _, l := range relists {
		if l.LastSeen.IsZero() || len(l.LastVersions) != len(l.Resources) || slices.Contains(l.LastVersions, 0) {
			t.Errorf("the listing does not say what may have been missed: %+v", l)
		}
	}
	w.deletionWasMissed(c, doomed, pods, before)
}

// head returns the sequence of the newest durable record.
func (w *world) head(c *controller.Controller) uint64 {
	w.t.Helper()
	head, err := c.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return head
}

// letGoByHand removes all finalizers of the Job's pods, as an impatient administrator would.
func (w *world) letGoByHand(job string) {
	w.t.Helper()
	for _, p := range w.pods(job) {
		_, err := w.client.CoreV1().Pods(w.namespace).Patch(
			w.t.Context(), p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// deletionWasMissed checks that the log records, after `after`, the deletion of the Job as missed, and for each of its
// pods that it is gone: from a list, or because the server did not find it. If the pods were listed first, the
// controller may have made others meanwhile; these are not checked.
func (w *world) deletionWasMissed(c *controller.Controller, j *batchv1.Job, pods []corev1.Pod, after uint64) {
	w.t.Helper()
	records, err := c.Records(w.t.Context(), "job/"+string(j.UID), "--from", strconv.FormatUint(after+1, 10))
	if err != nil {
		w.t.Fatal(err)
	}
	missed := map[string]int{}
	for _, r := range records {
		var said struct {
			Missed bool
			Class  string
		}
		if err := r.Into(&said); err != nil {
			w.t.Fatal(err)
		}
		notFound := r.Kind == "CommandEnded" && said.Class == "NotFound" && r.Name != j.Name // else it is its status write
		if r.Kind == "JobDeleted" && said.Missed || r.Kind == "PodDeleted" && said.Missed || notFound {
			missed[r.Name]++
		}
	}
	for _, name := range append([]string{j.Name}, names(pods)...) {
		if missed[name] != 1 {
			w.t.Errorf("the log says %d times that %s went while nobody watched, want once", missed[name], name)
		}
	}
	w.letGo(j.Name)
}

func names(pods []corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

// listing has the facts of a ListingStarted record.
type listing struct {
	Reason       string
	Resources    []string
	LastSeen     time.Time
	LastVersions []uint64
}

// listingsAreClosed checks that every listing in the log was closed before the next decision. It returns the listings
// that a lost watch made necessary.
func (w *world) listingsAreClosed(c *controller.Controller) []listing {
	w.t.Helper()
	records, err := c.Records(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var relists []listing
	open := map[string]uint64{} // resource → record that began its listing
	for _, r := range records {
		var l listing
		switch r.Kind {
		case "ListingStarted", "Synced":
			if err := r.Into(&l); err != nil {
				w.t.Fatal(err)
			}
			for _, resource := range l.Resources {
				if r.Kind == "Synced" {
					delete(open, resource)
				} else {
					open[resource] = r.Sequence
				}
			}
			if l.Reason == "relist" {
				w.t.Logf("record %d: listing again %v, last seen %s at %v", r.Sequence, l.Resources, l.LastSeen, l.LastVersions)
				relists = append(relists, l)
			}
		case "Decided":
			if len(open) > 0 {
				w.t.Errorf("record %d decides during a listing: %v", r.Sequence, open)
			}
		}
	}
	if len(open) > 0 {
		w.t.Errorf("listings were never closed: %v", open)
	}
	return relists
}
