package copies

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// finished says what is missing until each Job is complete, and no pod has our finalizer.
func (w *world) finished(now history.Now) string {
	for name := range w.jobs {
		if j := now.Jobs[name]; j == nil || !ledger.True(j, batchv1.JobComplete) {
			return "job/" + name + " is not complete"
		}
	}
	for _, pod := range now.Pods {
		if ledger.Tracked(pod) {
			return "pod/" + pod.Name + " has its finalizer"
		}
	}
	return ""
}

// judge holds what was stored in the cluster against what must be: no pod is made twice, none is counted twice or
// forgotten, and each Job had as many pods as it asked for.
func (w *world) judge() {
	w.Helper()
	w.must(w.history.CatchUp(w.ctx))
	all := w.history.Changes()
	book := ledger.Read(ledger.Config{}, all)
	for _, a := range book.Accounts() {
		a.Settle()
		if want := w.jobs[a.Job.Name]; a.Pods() != int(want) {
			w.Errorf("job/%s had %d pods, and asked for %d", a.Job.Name, a.Pods(), want)
		}
	}
	if found := book.Violations(); len(found) > 0 {
		w.Error(ledger.Explain(found, w.history))
	}
	if n := len(book.Accounts()); n != len(w.jobs) {
		w.Errorf("the history has %d Jobs, and %d were made", n, len(w.jobs))
	}
	w.once(all)
}

// once finds two pods that one command made.
func (w *world) once(all []history.Change) {
	w.Helper()
	pods := map[string]string{} // by command
	for _, c := range all {
		if c.Pod == nil {
			continue
		}
		command := c.Pod.Annotations[events.CommandAnnotation]
		if before := pods[command]; before != "" && before != c.Pod.Name {
			w.Errorf("pods %s and %s are both of command %s", before, c.Pod.Name, command)
		}
		pods[command] = c.Pod.Name
	}
	w.Logf("%d pods of %d Jobs", len(pods), len(w.jobs))
}

// sound verifies and replays a log.
func (w *world) sound(log string) {
	w.Helper()
	for command, want := range map[string]string{"verify": "", "replay": ", 0 divergences"} {
		if out := w.told(command, "--log", log); !strings.Contains(out, want) {
			w.Errorf("the log in %s is not sound:\n%s", log, out)
		}
	}
}

// prefix restores the copy into a new directory, and checks that it is a beginning of a log, or all of it. It returns
// the head.
func (w *world) prefix(name string, of store.Archive) store.Head {
	w.Helper()
	dir := filepath.Join(w.dir, name)
	w.told("restore", "--from", w.place.address, "--log", dir)
	restored := w.archive(dir).Head()
	if hash, err := of.Chain(restored.Sequence); err != nil || hash != restored.Hash {
		w.Errorf("the copy restores to record %d, hash %s, where the log has %s (%v)", restored.Sequence, restored.Hash, hash, err)
	}
	return restored
}

// whole restores the copy of a log at rest, and checks that it has all records, verifies and replays.
func (w *world) whole(name string) {
	w.Helper()
	log := w.archive(w.log())
	if head := w.prefix(name, log); head != log.Head() {
		w.Errorf("the copy ends with record %d, and the log with %d", head.Sequence, log.Head().Sequence)
	}
	if m := w.place.manifest(w.T); m.Identity != log.Identity() || len(m.Holes) > 0 {
		w.Errorf("the manifest is of log %s, with holes %v, and the log is %s", m.Identity, m.Holes, log.Identity())
	}
	w.sound(filepath.Join(w.dir, name))
}

// lost is what the log says of records that it went on without.
type lost struct {
	at    events.Sequence
	facts events.EpochChanged
}

// losses are the records behind one that say that records are lost.
func (w *world) losses(log store.Archive, behind events.Sequence) (all []lost) {
	w.Helper()
	for rec, err := range log.Read(w.ctx, behind+1) {
		w.must(err)
		if f, is := rec.Facts.(*events.EpochChanged); is {
			all = append(all, lost{rec.Sequence, *f})
		}
	}
	return all
}

// gap checks the one record that says which records are lost: it is what the dead log had, behind what was restored. A
// run may have found the loss in a pod after it listed the cluster; its records are then before it, and none of them is a
// decision.
func (w *world) gap(l lost, log, dead store.Archive, restored store.Head) {
	w.Helper()
	f := l.facts
	wrong := func(what string) {
		w.Errorf("record %d says that %s; restored was record %d, and the dead log ended with %d: %s", l.at, f.Lost.String(),
			restored.Sequence, dead.Head().Sequence, what)
	}
	if f.Reason != events.EpochRestored {
		wrong(fmt.Sprintf("its reason is %v", f.Reason))
	}
	found := l.at == restored.Sequence+1
	for rec, err := range log.Read(w.ctx, restored.Sequence+1) {
		if w.must(err); rec.Sequence == l.at {
			break
		}
		if found = rec.Kind == events.KindLossFound; rec.Kind == events.KindDecided {
			wrong(fmt.Sprintf("record %d before it is a decision", rec.Sequence))
		}
	}
	if !found {
		wrong("it follows neither what was restored nor a record that the loss was found")
	}
	if f.Lost.Epoch != dead.Identity().Epoch {
		wrong("it is of another epoch")
	}
	if f.Lost.Sequence == 0 {
		return // a pod, which knows its command alone
	}
	if f.Lost.Sequence <= restored.Sequence || f.Lost.Sequence > dead.Head().Sequence {
		wrong("the dead log never had it, or it is not lost")
	}
	if hash, err := dead.Chain(f.Lost.Sequence); err != nil || hash != f.Lost.Hash {
		wrong(fmt.Sprintf("the dead log has hash %s there (%v)", hash, err))
	}
}

// pods are the commands that made the pods that are there, by the pods' names.
func (w *world) pods() map[string]string {
	w.Helper()
	list, err := w.client.CoreV1().Pods(w.namespace).List(w.ctx, metav1.ListOptions{})
	w.must(err)
	all := map[string]string{}
	for _, pod := range list.Items {
		all[pod.Name] = pod.Annotations[events.CommandAnnotation]
	}
	return all
}

// unknown leaves the pods that no create made which the log decided up to a record.
func (w *world) unknown(pods map[string]string, log store.Archive, through events.Sequence) map[string]string {
	w.Helper()
	left := maps.Clone(pods)
	for rec, err := range log.Read(w.ctx, 0) {
		if w.must(err); rec.Sequence > through {
			break
		}
		decided, is := rec.Facts.(*events.Decision)
		if !is {
			continue
		}
		for _, c := range decided.Commands() {
			create, is := c.(*events.CreatePod)
			maps.DeleteFunc(left, func(_, command string) bool {
				_, job, ordinal, ok := events.ParseCommand(command)
				return ok && is && events.JobStream(job) == rec.Stream && ordinal == create.Ordinal
			})
		}
	}
	return left
}
