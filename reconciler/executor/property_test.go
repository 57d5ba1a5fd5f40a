package executor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestEveryTaskEndsOnce drives the step machine at random: submits, withdrawals, starts, ends of any kind, pauses, and
// in some runs a stop. A run that fails has its seed in its name.
func TestEveryTaskEndsOnce(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomRun(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func randomRun(t *testing.T, rng *rand.Rand) {
	s := newScript(t)
	var calls []*Call
	busy := map[key]bool{}                        // objects with a call in flight
	newest := map[key]events.Sequence{}           // of each object, the newest command that was sent
	ended := map[events.CommandID]events.Ending{} // how tasks ended
	withdrawn := map[events.CommandID]bool{}      // asked for
	step := func(submits bool) {
		switch rng.IntN(4) {
		case 0:
			if submits {
				s.submit(fmt.Sprint("job", rng.IntN(5)), fmt.Sprint(rng.IntN(3)), events.Priority(1+rng.IntN(int(events.PriorityProgress))))
			}
			if n := len(s.tasks); n > 0 {
				task := s.tasks[rng.IntN(n)]
				task.Priority = events.Priority(1 + rng.IntN(int(events.PriorityProgress)))
				s.e.Hasten(task)
			}
		case 1:
			if n := len(s.names); n > 0 && rng.IntN(3) == 0 {
				name := events.CommandID{Decided: events.Sequence(1 + rng.IntN(n))}
				if _, over := ended[name]; !over {
					withdrawn[name] = true
					s.takeBack(name)
				}
			}
		case 2:
			call, ok := s.e.Next(s.now)
			if !ok {
				s.now = max(s.now, s.e.Wake())
				break
			}
			calls = append(calls, call)
			k, at := keyOf(&call.Task), call.Task.Name.Decided
			if call.Withdrawn {
				break
			}
			if busy[k] {
				t.Fatalf("two calls of %v in flight", k)
			}
			if at < newest[k] {
				t.Fatalf("of %v command %d was sent after %d", k, at, newest[k])
			}
			busy[k], newest[k] = true, at
		case 3:
			if len(calls) == 0 {
				break
			}
			i := rng.IntN(len(calls))
			call := calls[i]
			calls = slices.Delete(calls, i, i+1)
			if _, twice := ended[call.Task.Name]; twice {
				t.Fatalf("%v ended twice", call.Task.Name)
			}
			r := endings[rng.IntN(len(endings))]
			if call.Withdrawn {
				r = call.Do(t.Context()).Ended
			} else {
				delete(busy, keyOf(&call.Task))
			}
			ended[call.Task.Name] = r.Ending
			s.now = s.now.Add(time.Duration(rng.IntN(2000)) * time.Millisecond)
			s.e.Done(call, events.TaskResult{Ended: r}, s.now)
		}
		if stats := s.e.Stats(); stats.InFlight != len(busy) || stats.InFlight > 64 || stats.Limit < 1 {
			t.Fatalf("stats %+v with %d calls in flight", stats, len(busy))
		}
	}
	for range 400 {
		step(true)
	}
	halted := rng.IntN(2) == 0
	if halted {
		s.e.Halt()
	}
	for range 20000 {
		if step(false); s.e.Idle() {
			break
		}
	}
	if !s.e.Idle() || len(ended) != len(s.names) {
		t.Fatalf("%d of %d tasks ended, idle %t", len(ended), len(s.names), s.e.Idle())
	}
	for name, ending := range ended {
		if ending == events.Withdrawn && !withdrawn[name] && !halted {
			t.Errorf("%v was given back, and nobody asked for it", name)
		}
	}
	if waiting := len(s.e.queue.keys); waiting != 0 {
		t.Errorf("%d objects are remembered though nothing is left of them", waiting)
	}
	if len(s.e.byStream) != 0 {
		t.Errorf("streams are remembered: %v", s.e.byStream)
	}
}

var endings = []events.CommandEnded{
	{Ending: events.Done, Sent: true},
	{Ending: events.OutcomeUnknown, Sent: true},
	{Ending: events.Refused, Class: events.RefusedConflict, Sent: true},
	{Ending: events.Refused, Class: events.RefusedTemplate},
	{Ending: events.Refused, Class: events.RefusedTooManyRequests, RetryAfter: 2 * time.Second, Sent: true},
	{Ending: events.Refused, Class: events.RefusedServer, RetryAfter: time.Second, Sent: true},
}
