package copies

import (
	"fmt"
	"os"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// TestOnlyTheCopyIsLeft: the cluster and the volume are gone, and the copy is left. On a new cluster the
// restored log explains every Job with the same bytes as before, and a controller goes on with it, and runs new Jobs.
// The bytes are those of explain as of the head that the log had. Without --at they are the same for the Jobs that have
// ended; of one that runs, the answer before is as of the clock of the controller, which is gone. Once a controller has
// gone on, answers without --at also say that it found the Jobs gone with their cluster.
func TestOnlyTheCopyIsLeft(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	old := newCluster(t)
	w := newWorld(t, old, dir, newPlaces(t)(t, dir, 0), quickly...)
	w.start()
	n := map[bool]int{false: 10, true: 50}[long]
	w.mixed(n)
	w.await(w.mixedEnded)
	w.atRest()
	head, err := w.controller.Head(w.ctx)
	w.must(err)
	at := fmt.Sprint(head)
	before, ended := w.explained(n, w.log(), "--at", at), w.explained(n, w.log())
	log := w.log()
	w.must(w.controller.Kill())
	w.must(old.Stop())
	w.must(os.RemoveAll(log))

	next := newWorld(t, sharedCluster(), newDir(t), w.place, w.flags...)
	said := next.told("restore", "--from", next.place.address, "--log", next.log())
	w.same(before, w.explained(n, next.log(), "--at", at), "after the restore")
	w.same(withoutRunning(ended), withoutRunning(w.explained(n, next.log())), "after the restore, without --at")
	flag := next.goOn(next.commandLine(said, next.log())...)
	for i := range 10 {
		next.job(fmt.Sprintf("one-%d", i), 1, controlplane.AnnotationRunFor, "100ms")
	}
	next.await(next.finished)
	next.atRest()
	w.same(before, w.explained(n, next.log(), "--at", at), "after new Jobs have run")
	next.stop()
	next.judge()
	next.whole("again")
	t.Logf("%d Jobs are explained as before; with %q the log went on", n, flag)
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	cp := controlplane.ForTest(t, controlplane.Options{})
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return cluster{cp, client}
}

// mixed makes n Jobs: that complete, with one pod and with four, that fail, of which one index fails, and that run.
func (w *world) mixed(n int) {
	w.Helper()
	for i := range n {
		name := fmt.Sprintf("job-%d", i)
		switch i % 5 {
		case 0:
			w.job(name, 1, controlplane.AnnotationRunFor, "100ms")
		case 1:
			w.job(name, 4, controlplane.AnnotationRunFor, "300ms")
		case 2:
			w.job(name, 1, controlplane.AnnotationOutcome, controlplane.OutcomeFail, controlplane.AnnotationExitCode, "3")
		case 3:
			w.job(name, 3, controlplane.AnnotationFailIndexes, "1", controlplane.AnnotationRunFor, "100ms")
		case 4:
			w.job(name, 2, controlplane.AnnotationRunFor, "1h")
		}
	}
}

// mixedEnded says what is missing until the Jobs of mixed that end have ended, and the others run.
func (w *world) mixedEnded(now history.Now) string {
	for name := range w.jobs {
		var i int
		if _, err := fmt.Sscanf(name, "job-%d", &i); err != nil {
			return err.Error()
		}
		j, so := now.Jobs[name], false
		if j != nil {
			so = map[int]bool{
				0: ledger.True(j, batchv1.JobComplete), 1: ledger.True(j, batchv1.JobComplete), 2: ledger.True(j, batchv1.JobFailed),
				3: ledger.True(j, batchv1.JobFailed), 4: j.Status.Active == 2 && j.Status.Ready != nil && *j.Status.Ready == 2,
			}[i%5]
		}
		if !so {
			return "job/" + name + " is not yet as it is to be"
		}
	}
	for _, pod := range now.Pods {
		if ledger.Tracked(pod) && ledger.Terminal(pod) {
			return "pod/" + pod.Name + " has its finalizer"
		}
	}
	return ""
}

// explained is what the log says of each Job of mixed.
func (w *world) explained(n int, log string, args ...string) (all []string) {
	w.Helper()
	for i := range n {
		all = append(all, w.told(append([]string{"explain", fmt.Sprintf("job/job-%d", i), "-n", w.namespace, "--log", log}, args...)...))
	}
	return all
}

// withoutRunning leaves out what is said of the Jobs of mixed that run.
func withoutRunning(all []string) (some []string) {
	for i, text := range all {
		if i%5 == 4 {
			text = ""
		}
		some = append(some, text)
	}
	return some
}

// same compares explanations byte by byte.
func (w *world) same(before, after []string, when string) {
	w.Helper()
	for i := range before {
		if before[i] != after[i] {
			w.Errorf("job/job-%d is explained otherwise %s. Before:\n%s\nand then:\n%s", i, when, before[i], after[i])
		}
	}
}
