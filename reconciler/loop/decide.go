package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/rules"
	"github.com/jobledger/jobledger/reconciler/tasks"
)

// resume schedules, after a listing, an evaluation of each Job and CronJob that has something due. If one then needs a
// decision, it gets a JobResumed record. A retired Job (nothing left to do) is scheduled for the end of its TTL.
func (l *Loop) resume(b *batch) {
	for _, s := range l.world.Subjects() {
		l.resumeOne(b, s)
	}
	for s := range l.world.RetiredJobs() {
		l.resumeOne(b, s)
	}
}

func (l *Loop) resumeOne(b *batch, s projector.Subject) {
	if due := s.Due(b.time); due != 0 {
		l.wakes.Set(s.ID(), due)
		l.resuming[s.ID()] = due <= b.time
	}
	l.retries.FollowAll(s, b.time)
}

// probe evaluates the Jobs and CronJobs whose wait is over, without changing their state. If one needs a decision, it
// gets a record (TimerFired or JobResumed), and decide then makes the decision in the same turn. At most
// reconciler.MostWoken get a record in a turn.
func (l *Loop) probe(b *batch) {
	for n := 0; n < reconciler.MostWoken; {
		s, ok := l.wakes.Next(b.time)
		if !ok {
			return
		}
		j := l.world.Subject(s)
		if j == nil {
			delete(l.resuming, s)
			continue
		}
		_, touched := b.inputs[s]
		if touched && projector.Compared(j) {
			continue
		}
		d := rules.DecideAt(j, b.time)
		if projector.Compared(j) {
			l.compare(b, j, &d)
			continue
		}
		shows := l.progress.Due(s, d.Progress, b.time, l.urgency.Busy)
		if touched && !shows && !d.Judges {
			continue // this turn decides about the Job anyway
		}
		if shows && !d.Commands() {
			d = rules.DecideWoken(j, b.time)
		}
		if !touched && !d.Commands() && !d.Judges {
			l.wakeAgain(s, &d)
			delete(l.resuming, s)
			l.retire(b, j)
			continue
		}
		n++
		kind, facts := events.KindTimerFired, events.Facts(&events.TimerFired{})
		if l.resuming[s] {
			kind, facts = events.KindJobResumed, &events.JobResumed{}
		}
		l.input(b, projector.Draft{Stream: s, Kind: kind, Facts: facts})
	}
}

// decide makes the decision about a Job or CronJob that has a new record in this turn. If the decision has commands, it
// is recorded, and the commands wait until the record is durable.
func (l *Loop) decide(b *batch, s events.Stream) {
	j := l.world.Subject(s)
	if j == nil {
		l.wakes.Set(s, 0)
		l.progress.Forget(s)
		delete(l.resuming, s)
		if l.watcher != nil { // Forget does nothing for a Job that was not observed
			l.watcher.Forget(s)
		}
		return
	}
	d := rules.Decide(j)
	if projector.Compared(j) {
		l.compare(b, j, &d)
		return
	}
	l.wakeAgain(s, &d)
	delete(l.resuming, s)
	l.retries.FollowCreate(j, b.time)
	if !d.Commands() {
		l.retire(b, j)
		return
	}
	causes := b.inputs[s]
	if len(causes) > maxCauses {
		causes = causes[len(causes)-maxCauses:]
	}
	kind := events.KindDecided
	if j.Observed() {
		kind = events.KindTicksObserved
	}
	at := l.put(b, projector.Draft{
		Stream: s, Kind: kind, Facts: &d.Decision, Causes: causes, Evidence: events.Evidence{Sentence: verdictOf(j, &d.Decision)},
	})
	l.promise(b, j, at, &d.Decision)
}

// wakeAgain schedules the next evaluation of a Job or CronJob: when the decision d asks for it, or when a progress
// update of its status is due.
func (l *Loop) wakeAgain(s events.Stream, d *reconciler.Decision) {
	wake := d.Wake
	if at := l.progress.Turn(s, d.Progress); at != 0 && (wake == 0 || at < wake) {
		wake = at
	}
	l.wakes.Set(s, wake)
}

// promise turns the commands of decision d, record `at`, into tasks for the executor. The batch keeps them until the
// record is durable.
func (l *Loop) promise(b *batch, s projector.Subject, at events.Sequence, d *events.Decision) {
	for place, c := range d.Commands() {
		if w, ok := c.(*events.Withdraw); ok {
			b.back = append(b.back, tasks.Of(l.world.Identity, s, w.Command, s.InFlight(w.Command)))
			l.retries.Withdrawn(w.Command, b.time)
			continue
		}
		b.tasks = append(b.tasks, tasks.Of(l.world.Identity, s, events.CommandID{Decided: at, Place: uint32(place)}, c))
	}
}

// retire records that nothing is left to do for a finished Job. From then on only a small rest of its state is kept. If
// the newest file of the log must first store the Job's state, retire tries again later.
func (l *Loop) retire(b *batch, s projector.Subject) {
	j, ok := s.(*projector.Job)
	if !ok || j.Phase() != projector.PhaseFinished || !j.Managed || !j.Quiet() {
		return
	}
	if l.files.Waits(&b.states, j.Stream, l.stateDue(j.Stream)) {
		l.wakes.Set(j.Stream, b.time.Add(checkpoint.Pause)) // try again once the newest file has its state
		return
	}
	l.put(b, retirement(j))
	b.retired = append(b.retired, j.Stream)
}
