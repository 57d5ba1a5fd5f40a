package show_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// A Job of before a rewind is shown as it was, and that nothing was seen of it since; one that was seen is as any
// other.
func TestJobOfBeforeARewind(t *testing.T) {
	x := newTold(2, 1)
	status := &events.JobStatus{Ready: 0, Terminating: 0, Succeeded: 1, HasUncounted: true}
	x.job(status)
	x.refuse(x.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t"}), events.RefusedQuota, "exceeded quota")
	x.add(events.Controller, events.KindEpochChanged, &events.EpochChanged{
		Epoch: 2, Reason: events.EpochClusterRewound, Rewind: events.Rewind{Resource: events.Jobs, Known: 90, Found: 40},
	}, events.Evidence{})
	page := x.says(t, 0)
	expectLine(t, page, "Note:          the cluster was restored from a backup (record 6), and the Job has not been seen since: this is how it was before")
	if strings.Contains(page, "exceeded quota") {
		t.Errorf("a command of before the rewind is said to be tried again:\n%s", page)
	}
	x.add(toldJob, events.KindSpecStored, &events.JobSpec{
		Hash: "h", Completions: new(int32(2)), Parallelism: new(int32(1)), CompletionMode: "Indexed", Template: "t",
	}, events.Evidence{})
	x.job(status)
	if page := x.says(t, 0); strings.Contains(page, "restored") {
		t.Errorf("it has been seen since:\n%s", page)
	}
}
