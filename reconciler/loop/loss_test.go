package loop_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// claiming observes a pod with an annotation that names a create and has a valid seal.
func claiming(job types.UID, epoch, ordinal uint64) loop.Input {
	return loop.Input{Observation: &events.Observation{
		Job: events.JobRef{Namespace: "ns", Name: "demo", UID: job}, Claim: events.Claim{Epoch: epoch, Job: job, Ordinal: ordinal},
		Facts: &events.PodSeen{UID: "stray", Version: 90, Phase: events.PodRunning, Owner: job, Tracked: true, Selected: true, Index: events.NoIndex},
	}}
}

// TestAPodThatTheLogDidNotMakeProvesALoss: the loss is found before the first decision, and also when such a pod is
// seen later. A pod that the log knows proves nothing, nor does a pod of an epoch that has ended.
func TestAPodThatTheLogDidNotMakeProvesALoss(t *testing.T) {
	// A read has not found the Job, and its end was never seen. An old version of its first pod comes late.
	unfound := []string{
		"start", "synced", "job demo parallelism=2 completions=2", "ended 9/0 done uid=uid-demo#1", "ended 11/0 done uid=uid-demo#2",
		"pod demo#1 phase=Succeeded", "pod demo#2 phase=Succeeded", "ended 15/0 refused=NotFound", "wait 1s",
		"ended 18/0 refused=NotFound", "ended 20/0 done", "ended 20/1 done", "pod demo#1 phase=Running",
	}
	// A Job is over and retired. The watch is behind: it shows an old version of the first pod, and the Job is read again.
	retired := []string{
		"start", "synced", "job demo parallelism=2 completions=2", "ended 9/0 done uid=uid-demo#1", "ended 11/0 done uid=uid-demo#2",
		"pod demo#1 phase=Succeeded", "pod demo#2 phase=Succeeded", "ended 15/0 done", "ended 17/0 done", "ended 17/1 done",
		"pod demo#1 phase=Succeeded", "job demo parallelism=2 completions=2 finished=Complete",
	}
	for _, row := range []struct {
		sentence string
		before   []string
		input    loop.Input
		lost     bool
	}{
		{"a create that the Job has not come to, in the first listing", []string{"start", "job demo"}, claiming("uid-demo", 1, 1), true},
		{"a Job that the log has never seen", []string{"start"}, claiming("uid-other", 1, 1), true},
		{"an adoption", []string{"start", "job demo"}, claiming("uid-demo", 1, 0), false},
		{"a later epoch", []string{"start", "job demo", "synced"}, claiming("uid-demo", 2, 0), true},
		{"a create that was decided", []string{"start", "synced", "job demo"}, claiming("uid-demo", 1, 1), false},
		{"the next create, later", []string{"start", "synced", "job demo"}, claiming("uid-demo", 1, 2), true},
		{"a create of a Job that a read did not find, behind another pod of it", unfound, claiming("uid-demo", 1, 2), false},
		{"the next create of such a Job", unfound, claiming("uid-demo", 1, 3), true},
		{"a create of a retired Job that is seen again, behind another pod of it", retired, claiming("uid-demo", 1, 2), false},
		{"the next create of such a retired Job", retired, claiming("uid-demo", 1, 3), true},
		{"a create of the epoch before", []string{"start", "synced", "job demo", "rewound version=50"}, claiming("uid-demo", 1, 7), false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			m := newMachine(t)
			for _, command := range row.before {
				m.do(command)
			}
			head := m.log.Head().Sequence
			_, err := m.loop.Turn(m.now, []loop.Input{row.input})
			var lost *loop.LossError
			if errors.As(err, &lost) != row.lost || !row.lost && err != nil {
				t.Fatalf("the turn ended with %v", err)
			}
			if !row.lost {
				return
			}
			if lost.Loss.Witness != events.WitnessPod || lost.Loss.Pod != "stray" {
				t.Errorf("it says %+v", lost.Loss)
			}
			for r, err := range m.log.Read(t.Context(), head+1) {
				m.must(err)
				if r.Kind == events.KindDecided {
					t.Errorf("record %d decides", r.Sequence)
				}
			}
			world, err := loop.Recover(t.Context(), m.log)
			m.must(err)
			if world.Lost != lost.Loss || world.Decides() {
				t.Errorf("the next start knows of %+v, and decides: %t", world.Lost, world.Decides())
			}
		})
	}
}

// TestBeginEpoch: after a loss the log goes on in a new epoch. The record of the epoch says which records were lost,
// and the epoch begins without any knowledge of the cluster. Its term starts with it, and does not start again with the
// controller.
func TestBeginEpoch(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"start", "synced", "job demo"} {
		m.do(command)
	}
	_, err := m.loop.Turn(m.now, []loop.Input{claiming("uid-demo", 1, 9)})
	if lost := (*loop.LossError)(nil); !errors.As(err, &lost) {
		t.Fatal(err)
	}
	m.log = m.log.Crash(1 << 30)
	found := m.log.Head()
	world, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	salt := func() events.Salt { return events.Salt{1} }
	m.must(loop.BeginEpoch(t.Context(), m.log, world, m.now, salt, 4, world.Lost))
	if id := m.log.Identity(); id.Epoch != 4 {
		t.Errorf("the log is %s", id)
	}
	again, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	if again.Lost != (events.Loss{}) || again.Len() != 0 || !again.Listing {
		t.Errorf("after it %d Jobs are known, and %+v lost", again.Len(), again.Lost)
	}
	m.loop = nil // the same process goes on, on the log that it has opened
	m.do("start")
	var began []events.Facts
	for r, err := range m.log.Read(t.Context(), found.Sequence+1) {
		m.must(err)
		began = append(began, r.Facts)
	}
	f, ok := began[0].(*events.EpochChanged)
	if !ok || f.Lost.Ordinal != 9 || f.Reason != events.EpochRestored {
		t.Errorf("it says %+v", began[0])
	}
	if want := (events.TermStarted{Term: m.log.Term(), Previous: found.Hash}); *began[1].(*events.TermStarted) != want {
		t.Errorf("then %+v, want %+v", began[1], want)
	}
	if _, ok := began[2].(*events.ControllerStarted); !ok || m.log.Term() < 2 {
		t.Errorf("in term %d the next record says %+v", m.log.Term(), began[2])
	}
}

// TestTheStreamTellsOfALoss: the publisher finds a loss, and reports it as an observation.
func TestTheStreamTellsOfALoss(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	loss := events.Loss{Witness: events.WitnessStream, Epoch: 1, Sequence: 900}
	_, err := m.loop.Turn(m.now, []loop.Input{{Observation: &events.Observation{Facts: &events.LossFound{Loss: loss}}}})
	if lost := (*loop.LossError)(nil); !errors.As(err, &lost) || lost.Loss != loss {
		t.Errorf("the turn ended with %v", err)
	}
}
