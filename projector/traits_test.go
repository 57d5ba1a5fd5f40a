package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// TestEveryCommandIsFoldedAsItsTraitsSay: a command of each kind is in flight once it is decided. After a passing
// refusal it stands or has ended, as its row says. Both hold in a world that is restored from its state, too. A command
// that ends another one has no flight of its own.
func TestEveryCommandIsFoldedAsItsTraitsSay(t *testing.T) {
	for traits := range events.AllTraits() {
		if traits.Backoff == events.BackoffCron {
			continue // no command of a Job
		}
		t.Run(traits.Name, func(t *testing.T) {
			f, c := newFold(), examples.Command(traits)
			f.restart(func(s *events.Settings) { s.GangScheduling = true })
			if uid := events.PodOf(c); uid != "" {
				f.pod(func(p *events.PodSeen) { p.UID = uid })
			}
			if ordinal, _ := events.OrdinalOf(c); traits.Reads && ordinal != 0 { // it looks for a pod of a create
				f.end(f.decide(&events.CreatePod{Ordinal: ordinal, Template: "t"}), unknown)
			}
			name := f.decide(c)
			sent := traits.Target != events.TargetCommand
			if got := subject(f).InFlight(name); (got == c) != sent || (got != nil) != sent {
				t.Fatalf("once decided %v is in flight, want it to be the command: %t", got, sent)
			}
			if got := restored(t, f).InFlight(name); (got != nil) != sent {
				t.Errorf("once the Job is restored %v is in flight, want it to be the command: %t", got, sent)
			}
			f.end(name, refused(events.RefusedServer))
			flight, _ := standing(subject(f), name)
			if again, _ := standing(restored(t, f), name); (again != nil) != (flight != nil) {
				t.Errorf("after a refusal it stands: %t, once the Job is restored %t", flight != nil, again != nil)
			}
			if got := flight != nil; got != traits.Retried || got != (subject(f).InFlight(name) != nil) {
				t.Errorf("after a refusal it stands: %t, and in flight is %v; want it to stand: %t", got, subject(f).InFlight(name), traits.Retried)
			}
		})
	}
}

func subject(f *fold) projector.Subject { return f.world.Subject(events.JobStream(job)) }

// restored returns the subject as restored from its state.
func restored(t *testing.T, f *fold) projector.Subject {
	t.Helper()
	s := events.JobStream(job)
	facts, names, ok := f.world.StreamState(s)
	if !ok {
		t.Fatal("the Job has no state")
	}
	w := projector.NewWorld()
	w.Settings = f.world.Settings
	if err := w.RestoreStream(s, facts, names); err != nil {
		t.Fatal(err)
	}
	return w.Subject(s)
}

// standing returns the command of that name and its backoff, if the subject tries commands again.
func standing(s projector.Subject, name events.CommandID) (*commands.Flight, *commands.Retry) {
	if j := projector.HolderOf(s); j != nil {
		return j.Retrying(name)
	}
	return nil, nil
}
