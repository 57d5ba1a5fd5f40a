package show_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
)

// told folds records of one Job and gives what `get` says of it afterwards.
type told struct {
	fold    *history.Fold
	seq     events.Sequence
	now     events.Time
	decided map[events.Sequence]events.Command
}

var toldJob = events.JobStream("uid")

func newTold(completions, parallelism int32) *told {
	x := &told{
		fold: history.NewFold(), now: events.At(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)), decided: map[events.Sequence]events.Command{},
	}
	settings := events.DefaultSettings()
	settings.Mode = events.ModeAll
	x.add(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings}, events.Evidence{})
	x.add(toldJob, events.KindSpecStored, &events.JobSpec{
		Hash: "h", Completions: &completions, Parallelism: &parallelism, CompletionMode: "Indexed", Template: "t",
	}, events.Evidence{})
	return x
}

func (x *told) add(s events.Stream, kind events.Kind, facts events.Facts, e events.Evidence) events.Sequence {
	x.seq++
	x.fold.Apply(&events.Record{Header: events.Header{Sequence: x.seq, Time: x.now, Stream: s, Kind: kind}, Facts: facts, Evidence: e})
	return x.seq
}

func (x *told) job(status *events.JobStatus) {
	x.add(toldJob, events.KindJobAdded, &events.JobSeen{Version: 1, Managed: true, Spec: "h", SpecAt: 2, Status: status},
		events.Evidence{Namespace: "ns", Name: "demo"})
}

func (x *told) refuse(at events.Sequence, class events.RefusalClass, words string) {
	ended := (&events.Task{Name: events.CommandID{Decided: at}, Command: x.decided[at]}).Ended(events.Refused)
	ended.Class, ended.Sent = class, true
	x.add(toldJob, events.KindCommandEnded, &ended, events.Evidence{Namespace: "ns", Name: "demo-x", Message: words})
}

func (x *told) decide(c events.Command) events.Sequence {
	at := x.add(toldJob, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
		Stage: "s", Rule: "r", Reason: "R", Commands: []events.Command{c},
	}}}, events.Evidence{})
	x.decided[at] = c
	return at
}

// says is the page of the Job, d later.
func (x *told) says(t *testing.T, d time.Duration) string {
	t.Helper()
	view := history.JobOf(x.fold, x.fold.Account(toldJob), x.seq, x.now.Add(d))
	var out bytes.Buffer
	if err := (&show.Page{Out: &out}).Job(&view); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func expectLine(t *testing.T, page, line string) {
	t.Helper()
	if !strings.Contains(page, line+"\n") {
		t.Errorf("the page lacks the line\n%s\nin\n%s", line, page)
	}
}

// TestRefusalsAreShown: what is refused since when, how often, in the server's words, and when it is tried next; the
// tries since the newest record are known (J-058, J-237).
func TestRefusalsAreShown(t *testing.T) {
	x := newTold(3, 3)
	x.job(&events.JobStatus{Ready: events.Unset, Terminating: events.Unset})
	pod := &events.PodSeen{UID: types.UID("p"), Version: 5, Phase: events.PodFailed, Tracked: true, Owner: "uid", Selected: true, Index: 0, Ordinal: 1}
	x.add(toldJob, events.KindPodAdded, pod, events.Evidence{Namespace: "ns", Name: "demo-0"})
	create := x.decide(&events.CreatePod{Ordinal: 2, Index: 1, Template: "t"})
	drop := x.decide(&events.DropFinalizer{Pod: "p"})
	write := x.decide(&events.WriteStatus{Base: 1})
	x.refuse(create, events.RefusedQuota, "exceeded quota")
	x.refuse(drop, events.RefusedForbidden, "no \x1b[31mright")
	x.refuse(write, events.RefusedInvalid, "status.failed: may not shrink")

	page := x.says(t, 0)
	expectLine(t, page, `Refused:       create pod #2 for index 1: Quota since 2026-03-14 09:00:00.000Z, 1 try, next at 09:00:01.000Z; record 8: exceeded quota`)
	expectLine(t, page, `               remove finalizer of pod demo-0: Forbidden since 2026-03-14 09:00:00.000Z, 1 try, next at 09:00:01.000Z; record 9: no \x1b[31mright`)
	expectLine(t, page, `               write status: Invalid since 2026-03-14 09:00:00.000Z, 1 try, next at 09:00:01.000Z; record 10: status.failed: may not shrink`)
	expectLine(t, x.says(t, 100*time.Second),
		`Refused:       create pod #2 for index 1: Quota since 2026-03-14 09:00:00.000Z, 7 tries, next at 09:02:03.000Z; record 8: exceeded quota`)
	if due := x.says(t, time.Second); strings.Contains(due, "1 try, next at 09:00:01.000Z; record 10") || !strings.Contains(due, "write status: Invalid") {
		t.Errorf("a write that is being tried is to come:\n%s", due)
	}
	if strings.Contains(page, "Trouble:") {
		t.Errorf("a refusal is told twice:\n%s", page)
	}

	x.add(toldJob, events.KindCommandEnded, &events.CommandEnded{Type: events.CommandCreatePod, Command: events.CommandID{Decided: create}, Ending: events.Done, UID: "q", Version: 9}, events.Evidence{Name: "demo-1"})
	if page := x.says(t, 0); strings.Contains(page, "exceeded quota") {
		t.Errorf("what is done is still refused:\n%s", page)
	}
}

// TestWhatTheStatusCannotShowIsNoted: succeeded indexes went by an elastic scale-down, and the API server does not let
// the number go down (J-236).
func TestWhatTheStatusCannotShowIsNoted(t *testing.T) {
	status := &events.JobStatus{Ready: 0, Terminating: 0, Succeeded: 3, CompletedIndexes: "0,2,4", HasUncounted: true}
	held := newTold(2, 1)
	held.job(status)
	expectLine(t, held.says(t, 0), "Note:          status.succeeded stays at 3, though 1 index has succeeded: the API server lets it go down only while "+
		"completions and parallelism are equal")
	legal := newTold(2, 2)
	legal.job(status)
	if page := legal.says(t, 0); strings.Contains(page, "Note:") {
		t.Errorf("the status can show it:\n%s", page)
	}
}
