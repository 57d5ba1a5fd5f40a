package loop_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

func TestALogWithoutRoomTakesNothing(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	before := m.log.Head()
	m.log.SetLimit(1)
	o := &events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{1}}}
	n, err := m.loop.Turn(m.now, []loop.Input{{Observation: o}})
	if n != 0 || !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("took %d inputs, %v; want none, and ErrNoRoom", n, err)
	}
	if m.log.Head() != before {
		t.Error("something was appended all the same")
	}
	m.log.SetLimit(0)
	if n, err := m.loop.Turn(m.now, []loop.Input{{Observation: o}}); n != 1 || err != nil {
		t.Errorf("with room again: took %d inputs, %v", n, err)
	}
}

func TestACriticalKindOfANewerProgramIsRefused(t *testing.T) {
	for _, row := range []struct {
		name     string
		critical bool
	}{
		{"a critical kind ends the recovery", true},
		{"another kind is passed over", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: "0f", Epoch: 1})
			header := events.Header{Sequence: 1, Time: 1, Stream: events.Controller, Kind: events.KindLogCreated, Critical: true, Last: true}
			log.Append(events.Batch{Records: []events.Record{
				{Header: header, Facts: &events.LogCreated{LogID: "0f", Epoch: 1, Format: events.Format}},
			}}, true)
			header = events.Header{
				Sequence: 2, Time: 1, Stream: events.Controller, Previous: 1, Kind: 4711, Critical: row.critical, Last: true,
			}
			log.Append(events.Batch{Records: []events.Record{{Header: header, Facts: &events.Unknown{Bytes: []byte{8, 1}}}}}, true)
			_, err := loop.Recover(t.Context(), log)
			if errors.Is(err, events.ErrNewer) != row.critical {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCommandsWaitForTheirRecord is design §2, invariant 1: no command leaves before the record that decided it is
// durable.
func TestCommandsWaitForTheirRecord(t *testing.T) {
	m := newMachine(t)
	m.log = memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.Manual())
	m.do("start")
	m.do("synced")
	m.do("job demo")
	m.log.Commit(2)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 0 {
		t.Fatalf("%d commands left before their record was durable", len(tasks))
	}
	m.log.Commit(1)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 1 {
		t.Fatalf("%d commands left once their record was durable, want 1", len(tasks))
	}
}

// TestAStopGivesBackWhatWasNotSent: when the controller stops, a command with a record that is not yet durable is never
// sent, and the log says so. A command that was already sent is awaited.
func TestAStopGivesBackWhatWasNotSent(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	m.do("job sent")
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 1 {
		t.Fatalf("%d commands left, want 1", len(tasks))
	}
	m.do("job waiting")
	m.loop.Stop(m.now)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 0 {
		t.Errorf("%d commands left after the stop", len(tasks))
	}
	for name, want := range map[string]int{"sent": 1, "waiting": 0} {
		job := m.loop.World().Job(events.JobStream(types.UID("uid-" + name)))
		if got := len(job.Creates()); got != want {
			t.Errorf("of Job %s %d creates are in flight, want %d", name, got, want)
		}
	}
	m.check()
	m.do("start")
	m.do("synced")
	m.check()
}

// TestATryIsAwaitedThroughAStop: a create is cancelled while one of its tries may still be on its way. A stop then says
// neither that the create was never sent nor that it will be sent; the executor gives it back (docs/design/0002).
func TestATryIsAwaitedThroughAStop(t *testing.T) {
	m := newMachine(t)
	m.log = memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.Manual())
	m.do("start")
	m.do("synced")
	m.do("job demo")
	m.log.Commit(1 << 20)
	tasks, _ := m.loop.Durable(m.log.Head().Sequence)
	if len(tasks) != 1 {
		t.Fatalf("%d commands left, want the create", len(tasks))
	}
	create := tasks[0].Name
	m.turn(loop.Input{Result: &events.TaskResult{
		Stream: events.JobStream("uid-demo"),
		Ended:  events.CommandEnded{Command: create, Ending: events.Refused, Class: events.RefusedQuota, Sent: true},
	}})
	m.do("job demo suspend=true")
	back := m.loop.Stop(m.now)
	if len(back) != 1 || back[0].Name != create {
		t.Errorf("to be taken back: %v, want the create", back)
	}
	job := m.loop.World().Job(events.JobStream("uid-demo"))
	if len(job.Creates()) != 1 || !job.GaveUp(create) {
		t.Errorf("%d creates are in flight, given up %t; want it awaited", len(job.Creates()), job.GaveUp(create))
	}
}

// TestWhatIsReadLateBringsNothingBack: the controller looks for a pod by its name. Before the answer comes, the watch
// reports the pod and its end. The late answer changes nothing. The same holds for a late read of a Job that is gone.
func TestWhatIsReadLateBringsNothingBack(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	m.do("job demo")
	m.do("ended 9/0 unknown")
	m.do("job demo suspend=true")
	m.do("wait 60s")
	look := events.CommandID{Decided: events.Sequence(m.newestDecision("demo"))}
	job := m.loop.World().Job(events.JobStream("uid-demo"))
	if _, ok := job.InFlight(look).(*events.ReadPod); !ok {
		t.Fatalf("in flight is %T, want a look for the pod", job.InFlight(look))
	}
	m.do("pod demo#1 phase=Pending")
	read := *m.pods["uid-demo#1"]
	m.do("pod demo#1 deleting untracked")
	m.do("gone demo#1")
	m.turn(loop.Input{Result: &events.TaskResult{
		Stream: events.JobStream("uid-demo"), Observations: []events.Observation{read},
		Ended: events.CommandEnded{Command: look, Ending: events.Done, UID: "uid-demo#1", Version: m.version, Sent: true},
	}})
	if n := job.PodCount(); n != 0 {
		t.Errorf("the Job has %d pods, want none", n)
	}

	m.do("job other suspend=true")
	seen := *m.jobs["other"]
	m.do("gone other")
	m.turn(loop.Input{Result: &events.TaskResult{
		Stream: events.JobStream("uid-other"), Observations: []events.Observation{seen},
		Ended: events.CommandEnded{Command: look, Ending: events.Done, UID: "uid-other", Version: m.version, Sent: true},
	}})
	if j := m.loop.World().Job(events.JobStream("uid-other")); j != nil && !j.Gone {
		t.Error("a Job that is gone is back")
	}
	m.check()
}

// TestLeadershipIsRecorded: the holder of the Lease is recorded at the start, and the loss of the Lease before the
// controller stops.
func TestLeadershipIsRecorded(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	l := loop.New(loop.Config{
		Log: log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Leader: "host_1",
		Salt: func() events.Salt { return events.Salt{1} },
	})
	if err := l.Start(epoch); err != nil {
		t.Fatal(err)
	}
	l.Lose(epoch + 1)
	l.Stop(epoch + 2)
	var told []string
	for rec, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		text := rec.Kind.String()
		if f, ok := rec.Facts.(*events.LeadershipChanged); ok {
			text = fmt.Sprintf("%s %t %s", text, f.Leading, f.Identity)
		}
		told = append(told, text)
	}
	want := []string{
		"LogCreated", "TermStarted", "ControllerStarted", "LeadershipChanged true host_1", "ListingStarted",
		"LeadershipChanged false host_1", "ControllerStopped",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
