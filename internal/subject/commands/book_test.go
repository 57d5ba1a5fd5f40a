package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// schedule is a subject that is no Job: it has children, by UID, which it deletes, and is written and read as a whole.
type schedule struct {
	Book[*schedule]
	settings events.Settings
	children map[types.UID]*Target
	heard    []string
	at       events.Sequence
	now      events.Time
}

// scheduleRows have functions only where a command means something to a schedule.
var scheduleRows = Rows[*schedule]{
	events.CommandDeletePod: {
		Launch: func(s *schedule, f *Flight) {
			if child := s.children[events.PodOf(f.Command)]; child != nil {
				s.Launch(f, child)
			}
		},
		Landed: func(s *schedule, f *Flight) { s.hear("landed %s", events.PodOf(f.Command)) },
	},
	events.CommandCreateWorkload: {
		Over: func(s *schedule, f *Flight, e *events.CommandEnded, made string) {
			s.hear("over as %d, made %q", e.Ending, made)
		},
	},
}

func newSchedule() *schedule {
	s := &schedule{settings: events.DefaultSettings(), children: map[types.UID]*Target{"a": {}, "b": {}}, now: events.Time(time.Hour)}
	s.Book = New(s, &scheduleRows, &s.settings)
	return s
}

func (s *schedule) hear(format string, args ...any) {
	s.heard = append(s.heard, fmt.Sprintf(format, args...))
}

// decided folds a decision, and says how its first command is called.
func (s *schedule) decided(commands ...events.Command) events.CommandID {
	s.at++
	rec := &events.Record{Header: events.Header{Sequence: s.at, Time: s.now}}
	s.Decide(rec, &events.Decision{Steps: []events.Step{{Commands: commands}}})
	return events.CommandID{Decided: s.at}
}

func (s *schedule) ends(name events.CommandID, how events.CommandEnded) {
	s.at++
	how.Command = name
	s.End(&events.Record{Header: events.Header{Sequence: s.at, Time: s.now}, Evidence: events.Evidence{Name: "thing"}}, &how)
}

// is what the book says of a command.
func (s *schedule) is(name events.CommandID) string {
	var is []string
	if s.InFlight(name) != nil {
		is = append(is, "in flight")
	}
	if f := s.Retrying(name); f != nil {
		is = append(is, fmt.Sprintf("retrying for the %d. time in %s", f.Refused.Count, f.Refused.Until.Sub(s.now)))
	}
	if s.GaveUp(name) {
		is = append(is, "given up")
	}
	return strings.Join(append(is, s.heard...), ", ")
}

// TestABookOfAnySubject: a book needs to know nothing of the subject that has it. Its commands are launched, retried
// and withdrawn, and end, by their traits; the subject adds what they mean to it.
func TestABookOfAnySubject(t *testing.T) {
	server := events.CommandEnded{Ending: events.Refused, Class: events.RefusedServer}
	missing := events.CommandEnded{Ending: events.Refused, Class: events.RefusedNotFound}
	done := events.CommandEnded{Ending: events.Done}
	deleteA, deleteB := &events.DeletePod{Pod: "a"}, &events.DeletePod{Pod: "b"}
	for _, row := range []struct {
		sentence string
		of       func(s *schedule) string
		want     string
	}{
		{"a command that means nothing more is in flight", func(s *schedule) string {
			return s.is(s.decided(&events.ReadJob{}))
		}, "in flight"},
		{"it is found by its target and its slot", func(s *schedule) string {
			name := s.decided(&events.ReadJob{})
			return fmt.Sprint(s.Itself.Flight(events.SlotRead).Name() == name, s.Itself.Flight(events.SlotGroup) == nil, s.children["a"].first == nil)
		}, "true true true"},
		{"it lands when it is done", func(s *schedule) string {
			name := s.decided(&events.ReadJob{})
			s.ends(name, done)
			return s.is(name) + fmt.Sprint(s.Busy(), s.Itself.first == nil)
		}, "false true"},
		{"one that is not retried lands when it is refused", func(s *schedule) string {
			name := s.decided(&events.ReadJob{})
			s.ends(name, server)
			return s.is(name) + fmt.Sprint(s.Busy())
		}, "false"},
		{"one that is retried stays, with a backoff of its own", func(s *schedule) string {
			a, b := s.decided(deleteA), s.decided(deleteB)
			s.ends(a, server)
			return s.is(a) + "; " + s.is(b)
		}, "in flight, retrying for the 1. time in 1s; in flight"},
		{"its backoff grows, and lands with it", func(s *schedule) string {
			a := s.decided(deleteA)
			s.ends(a, server)
			s.now = s.now.Add(time.Second)
			s.ends(a, server)
			retrying := s.is(a)
			s.ends(a, done)
			again := s.decided(deleteA)
			s.ends(again, server)
			return retrying + "; " + s.is(again)
		}, "in flight, retrying for the 2. time in 2s; in flight, retrying for the 1. time in 1s, landed a"},
		{"commands that share a backoff go on with it", func(s *schedule) string {
			name := s.decided(&events.CreateWorkload{})
			s.ends(name, server)
			s.ends(name, missing)
			s.now = s.now.Add(time.Second)
			next := s.decided(&events.CreatePodGroup{})
			s.ends(next, server)
			return s.is(next)
		}, `in flight, retrying for the 2. time in 2s, over as 2, made "thing"`},
		{"what is over says what was made", func(s *schedule) string {
			name := s.decided(&events.CreateWorkload{})
			s.ends(name, done)
			s.ends(name, done)
			return s.is(name)
		}, `over as 1, made "thing"`},
		{"one without a target is not launched", func(s *schedule) string {
			return s.is(s.decided(&events.DeletePod{Pod: "c"})) + fmt.Sprint(s.Busy())
		}, "false"},
		{"two targets have commands on their way at once, each its own", func(s *schedule) string {
			a, b := s.decided(deleteA), s.decided(deleteB)
			s.ends(a, done)
			return fmt.Sprint(s.is(a), "; ", s.children["a"].first == nil, s.children["b"].Flight(events.SlotDelete).Name() == b, s.counts[events.SlotDelete])
		}, "landed a; true true 1"},
		{"a withdrawal lands what was not refused", func(s *schedule) string {
			a := s.decided(deleteA)
			s.decided(&events.Withdraw{Command: a})
			return s.is(a)
		}, "landed a"},
		{"of what was refused it awaits the end", func(s *schedule) string {
			a := s.decided(deleteA)
			s.ends(a, server)
			s.decided(&events.Withdraw{Command: a})
			given := s.is(a)
			s.ends(a, server)
			return given + "; " + s.is(a)
		}, "in flight, given up; landed a"},
		{"a restart ends what is in flight, in order", func(s *schedule) string {
			s.decided(deleteB, deleteA)
			s.decided(&events.ReadJob{})
			s.Restart()
			return strings.Join(s.heard, ", ") + fmt.Sprint("; ", s.Busy(), s.Itself.first == nil, s.counts)
		}, "landed b, landed a; false true [0 0 0 0 0 0 0 0]"},
		{"the clock moves every backoff once", func(s *schedule) string {
			a, g := s.decided(deleteA), s.decided(&events.FindGroup{})
			s.ends(a, server)
			s.ends(g, server)
			s.Shift(time.Hour)
			s.now = s.now.Add(time.Hour)
			return s.is(a) + "; " + s.is(g)
		}, "in flight, retrying for the 1. time in 1s; in flight, retrying for the 1. time in 1s"},
		{"a second one in a slot displaces the first", func(s *schedule) string {
			first, second := s.decided(deleteA), s.decided(deleteA)
			s.ends(first, done)
			return fmt.Sprint(s.is(first), "; ", s.is(second), s.counts[events.SlotDelete])
		}, "; in flight1"},
	} {
		if got := row.of(newSchedule()); got != row.want {
			t.Errorf("%s: %s, want %s", row.sentence, got, row.want)
		}
	}
}
