package intake

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhoTouchedACronJob: the record of a changed spec names who changed it. The record of a Job that was made by hand
// names the field manager that made it, also after another one has written to it.
func TestWhoTouchedACronJob(t *testing.T) {
	w := projector.NewWorld()
	w.Settings.Mode, w.Settings.CronJobs = events.ModeAll, true
	in := Intake{World: w, FileStart: 1}
	editor := func(name string, at events.Time, fields ...string) events.Editor {
		return events.Editor{Edit: events.Edit{Manager: name, Operation: "Update", Time: at}, Fields: fields}
	}
	at := events.Sequence(0)
	apply := func(drafts []projector.Draft) (last projector.Draft) {
		for _, d := range drafts {
			at++
			w.Apply(&events.Record{Header: events.Header{Sequence: at, Time: 9, Stream: d.Stream, Kind: d.Kind}, Facts: d.Facts, Evidence: d.Evidence})
			last = d
		}
		return last
	}
	ref := events.JobRef{Namespace: "batch", Name: "nightly", UID: "uid-nightly"}
	seen := func(version uint64, suspend bool, editors ...events.Editor) *events.Observation {
		return &events.Observation{
			Job: ref, Facts: &events.CronJobSeen{Version: version, Created: 5, Schedule: "@daily", Suspend: suspend},
			Evidence: events.Evidence{Namespace: ref.Namespace, Name: ref.Name}, Editors: editors,
		}
	}
	wrote := func(d projector.Draft) string {
		if d.Evidence.Edit == nil {
			return ""
		}
		return d.Evidence.Edit.Manager
	}
	maker := editor("kubectl-apply", 5, "schedule", "suspend")
	o := seen(1, false, maker)
	if by := wrote(apply(in.cronJobSeen(o, o.Facts.(*events.CronJobSeen)))); by != "kubectl-apply" {
		t.Errorf("it was made by %q", by)
	}
	o = seen(2, true, maker, editor("kubectl-patch", 7, "suspend"), editor("other", 8, "jobTemplate"))
	if by := wrote(apply(in.cronJobSeen(o, o.Facts.(*events.CronJobSeen)))); by != "kubectl-patch" {
		t.Errorf("it was suspended by %q", by)
	}

	run := func(uid types.UID, version uint64, manual bool, editors ...events.Editor) *events.Observation {
		return &events.Observation{
			Job: events.JobRef{Namespace: "batch", Name: "by-hand", UID: uid}, CronJob: ref.UID, Editors: editors,
			Facts: &events.RunSeen{Job: uid, Name: "by-hand", Version: version, Created: 6, Manual: manual},
		}
	}
	tell := func(o *events.Observation) (by string, told bool) {
		d := apply(in.runAlone(o))
		f, ok := d.Facts.(*events.RunSeen)
		if !ok {
			return "", false
		}
		return f.By, true
	}
	if by, _ := tell(run("uid-1", 3, true, editor("kubectl-create", 6, "template"))); by != "kubectl-create" {
		t.Errorf("the Job was made by %q", by)
	}
	if _, told := tell(run("uid-1", 4, true, editor("kubectl-create", 8, "template"))); told {
		t.Error("it is told again, when the manager wrote again")
	}
	if by, told := tell(run("uid-2", 5, false, editor("kubectl-create", 6, "template"))); by != "" || !told {
		t.Errorf("the Job of a due time was made by %q", by)
	}
}
