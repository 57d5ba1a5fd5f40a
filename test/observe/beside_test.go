package observe

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestOthersBesideOurs: one process runs the delegated Jobs and records those of the built-in controller. It is killed
// in the middle; both kinds of Jobs finish. Each of its writes in the API server's audit log is about a delegated Job,
// its pods, or the Lease. No record of an observed Job is a decision or the end of a command, so nothing was requested
// for it: the informer lists and watches, and every other request carries out a recorded command. There is no
// difference, and the log replays.
func TestOthersBesideOurs(t *testing.T) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	w := besidePlace(t, ctx)
	if err := w.builtin.Launch(); err != nil {
		t.Fatal(err)
	}
	if err := w.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	kinds := []string{"plain", "fixed", "indexed", "fails", "late", "policy", "deleted"}
	var all []*batchv1.Job
	for _, theirs := range mix() {
		if !slices.Contains(kinds, theirs.Name) {
			continue
		}
		ours := theirs.DeepCopy()
		ours.Name, ours.Spec.ManagedBy = "ours-"+theirs.Name, new(events.ManagedBy)
		theirs.Name = "theirs-" + theirs.Name
		w.create(ours)
		w.create(theirs)
		all = append(all, ours, theirs)
	}
	w.await("Jobs of both run", func() bool {
		ours, theirs := w.job("ours-fixed"), w.job("theirs-fixed")
		return ours.Status.Active+ours.Status.Succeeded > 0 && theirs.Status.Active+theirs.Status.Succeeded > 0
	})
	if err := w.ours.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := w.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	w.await("every Job is finished but those that run for ever", func() bool {
		for _, j := range all {
			if now := w.job(j.Name); !strings.HasSuffix(j.Name, "-deleted") && (now == nil || !finished(now)) {
				return false
			}
		}
		return true
	})
	settled := time.Now()
	w.await("the patience has passed after the last Job ended", func() bool { return time.Since(settled) > observed+5*time.Second })
	w.recordedAll(all)
	w.wroteOfOursAlone()
	for _, line := range w.decidedOfOthers() {
		t.Error(line)
	}
	w.sayThemselves(all)
	if err := w.ours.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := w.ours.Check(ctx); err != nil {
		t.Error(err)
	}
}

// besidePlace returns a place with a controller that has the rights of a deployment.
func besidePlace(t *testing.T, ctx context.Context) *place {
	t.Helper()
	namespace, err := shared.CreateNamespace(ctx, "beside")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := controller.NewUser(ctx, shared.ControlPlane, namespace, namespace, dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &place{t: t, ctx: ctx, namespace: namespace, ours: controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Manage: "delegated",
		Args: []string{"--observe=others", "--observe-patience=" + observed.String()},
	})}
	if w.builtin, err = builtin.New(ctx, shared.ControlPlane, dir); err != nil {
		t.Fatal(err)
	}
	w.clearUp(dir)
	return w
}

// wroteOfOursAlone checks the API server's audit log.
func (w *place) wroteOfOursAlone() {
	w.t.Helper()
	writes, err := shared.Writes()
	if err != nil {
		w.t.Fatal(err)
	}
	ours := 0
	for _, x := range writes {
		if x.User != w.namespace {
			continue
		}
		switch {
		case x.Resource == "leases", x.Resource == "selfsubjectaccessreviews", x.Resource == "events" && x.Name == "": // the latter are looked at below
		case x.Name == "" && x.Code >= http.StatusBadRequest: // cut off by the kill, before the API server had read the object
		case strings.HasPrefix(x.Name, "ours-"):
			ours++
		default:
			w.t.Errorf("it asked to %s %s %q", x.Verb, x.Resource, x.Name)
		}
	}
	told, err := shared.Admin.CoreV1().Events(w.namespace).List(w.ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range told.Items {
		if strings.HasPrefix(e.InvolvedObject.Name, "theirs-") && strings.Contains(e.Source.Component+e.ReportingController, "jobledger") {
			w.t.Errorf("it told of %s: %s %s", e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
	if ours == 0 {
		w.t.Error("the audit log has no write for the delegated Jobs")
	}
}

// decidedOfOthers returns the records of observed Jobs that only a Job of ours may have, and differences.
func (w *place) decidedOfOthers() (out []string) {
	w.t.Helper()
	records, err := w.ours.Records(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	names := map[string]string{}
	for _, r := range records {
		if r.Kind == "JobAdded" {
			names[r.Stream] = r.Name
		}
		switch r.Kind {
		case "Decided", "CommandEnded", "WouldDecide":
			if !strings.HasPrefix(names[r.Stream], "ours-") || r.Kind == "WouldDecide" {
				out = append(out, fmt.Sprintf("record %d of %q is a %s: %s", r.Sequence, names[r.Stream], r.Kind, r.Facts))
			}
		}
	}
	return out
}

// sayThemselves checks that explain says for each Job who decided.
func (w *place) sayThemselves(jobs []*batchv1.Job) {
	w.t.Helper()
	const others = "its status says so (the Job is the built-in controller's)"
	for _, j := range jobs {
		if !strings.HasSuffix(j.Name, "-fails") {
			continue
		}
		text, err := w.ours.CLI(w.ctx, "explain", "job/"+j.Name, "-n", w.namespace)
		if err != nil {
			w.t.Error(err)
		}
		if strings.Contains(strings.Join(strings.Fields(text), " "), others) != strings.HasPrefix(j.Name, "theirs-") {
			w.t.Errorf("of %s explain says\n%s", j.Name, text)
		}
	}
}
