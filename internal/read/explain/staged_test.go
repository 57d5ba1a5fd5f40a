package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// staged is a log of the Job batch/demo, as it is written beside it. Its clock is that of cronSeen.
type staged struct {
	*cronSeen
	version uint64
}

var (
	demo        = events.JobStream("uid-demo")
	demoObject  = events.Evidence{Namespace: "batch", Name: "demo"}
	demoPod     = events.Evidence{Namespace: "batch", Name: "demo-x1", Node: "node-1"}
	demoCreated = cronClock("09:00:00")
)

// stage begins a log with the Job's spec, at 08:59.
func stage(t *testing.T, ours bool, change func(*events.JobSpec)) *staged {
	t.Helper()
	l := &staged{cronSeen: newCronSeen(t, ours)}
	spec := &events.JobSpec{Hash: "h", BackoffLimit: new(int32(6)), Completions: new(int32(1)), Parallelism: new(int32(1)), RestartPolicy: "Never", Template: "t"}
	if change != nil {
		change(spec)
	}
	l.tell("08:59:00", events.KindSpecStored, spec, demoObject)
	return l
}

func (l *staged) tell(clock string, kind events.Kind, f events.Facts, e events.Evidence) events.Sequence {
	l.t.Helper()
	return l.addWith(clock, demo, kind, f, e)
}

// job tells a version of the Job with a status.
func (l *staged) job(clock string, s *events.JobStatus) events.Sequence {
	return l.jobWith(clock, s, func(*events.JobSeen) {})
}

func (l *staged) jobWith(clock string, s *events.JobStatus, change func(*events.JobSeen)) events.Sequence {
	l.t.Helper()
	kind := events.KindJobChanged
	if l.version++; l.version == 1 {
		kind = events.KindJobAdded
	}
	f := &events.JobSeen{Version: l.version, Generation: 1, Created: demoCreated, Managed: true, Spec: "h", SpecAt: 3, Status: s}
	change(f)
	return l.tell(clock, kind, f, demoObject)
}

// pod tells a version of the Job's only pod.
func (l *staged) pod(clock string, change func(*events.PodSeen, *events.Evidence)) events.Sequence {
	l.t.Helper()
	kind := events.KindPodChanged
	if l.version < 1000 {
		l.version, kind = 1000, events.KindPodAdded
	}
	l.version++
	f := &events.PodSeen{
		UID: "uid-x1", Owner: "uid-demo", Version: l.version, Created: cronClock("09:00:01"), Phase: events.PodRunning, Scheduled: true, Tracked: true, Selected: true, Index: events.NoIndex,
	}
	e := demoPod
	change(f, &e)
	return l.tell(clock, kind, f, e)
}

// pass lets time pass: something else is seen.
func (l *staged) pass(clock string) {
	l.t.Helper()
	l.add(clock, events.Controller, events.KindNodeChanged, &events.NodeSeen{Name: "node-1", UID: "uid-node-1", Ready: events.NodeReady})
}

// said is all that an answer about the Job says, as a page has it, one sentence on each line.
func (l *staged) said() string {
	l.t.Helper()
	c, err := job.Read(l.t.Context(), history.Local{Log: l.log}, demo, history.Point{})
	if err != nil {
		l.t.Fatal(err)
	}
	neverFalse(l.t, l.source())
	keepAll(l.t, l.source())
	a := c.Answer()
	page := show.Markdown(&a, words.Zone{})
	for _, s := range a.Sections {
		for _, x := range s.Sentences {
			page += "\n" + s.Head + " " + x.Text
		}
	}
	return strings.Replace(page, a.Verdict.Text, "\nVERDICT "+a.Verdict.Text+"\n", 1)
}

// hold compares what is said with phrases that it is to have, and with those that it may not have.
func hold(t *testing.T, said string, says, not []string) {
	t.Helper()
	for _, phrase := range says {
		if !strings.Contains(said, phrase) {
			t.Errorf("it does not say %q:\n%s", phrase, said)
		}
	}
	for _, phrase := range not {
		if strings.Contains(said, phrase) {
			t.Errorf("it says %q:\n%s", phrase, said)
		}
	}
}
