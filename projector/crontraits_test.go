package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	"github.com/jobledger/jobledger/projector"
)

// TestEveryCommandOfACronJobIsFolded: a command is in flight once it is decided, also in a world that is restored from
// its state. A refusal ends it: no such command is tried again as it is.
func TestEveryCommandOfACronJobIsFolded(t *testing.T) {
	s := events.CronJobStream("00000000-0000-4000-8000-000000000009")
	for traits := range events.AllTraits() {
		if traits.Backoff != events.BackoffCron {
			continue
		}
		t.Run(traits.Name, func(t *testing.T) {
			w, at := projector.NewWorld(), events.Sequence(0)
			put := func(kind events.Kind, facts events.Facts) events.Sequence {
				at++
				w.Apply(&events.Record{Header: events.Header{Sequence: at, Time: events.Time(at), Stream: s, Kind: kind}, Facts: facts})
				return at
			}
			put(events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "* * * * *"})
			c := examples.Command(traits)
			name := events.CommandID{Decided: put(events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: []events.Command{c}}}})}
			facts, names, _ := w.StreamState(s)
			again := projector.NewWorld()
			if err := again.RestoreStream(s, facts, names); err != nil {
				t.Fatal(err)
			}
			if w.Subject(s).InFlight(name) != c || again.Subject(s).InFlight(name) == nil {
				t.Fatalf("once decided %v is in flight, restored %v", w.Subject(s).InFlight(name), again.Subject(s).InFlight(name))
			}
			put(events.KindCommandEnded, &events.CommandEnded{Command: name, Ending: events.Refused, Class: events.RefusedServer, Type: traits.Kind})
			if got := w.Subject(s).InFlight(name); got != nil {
				t.Errorf("after a refusal %v is in flight", got)
			}
		})
	}
}
