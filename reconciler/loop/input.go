package loop

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/retries"
	"github.com/jobledger/jobledger/reconciler/tasks"
)

// take folds one input. size is the approximate size of its records. goesOn is false if the input must wait for a
// later turn. An error ends the Loop.
func (l *Loop) take(b *batch, in *Input) (size int, goesOn bool, err error) {
	if in.past != nil {
		l.pasts[events.JobStream(in.Observation.Job.UID)] = in.past
	}
	if in.Observation != nil {
		if loss, is := l.loses(in.Observation); is {
			return 0, false, l.lose(b, loss)
		}
		if l.returned(in.Observation) {
			return 0, false, nil
		}
		step, ok := l.gate.Observe(b.time, in.Observation, l.pasts[events.JobStream(in.Observation.Job.UID)])
		if !ok {
			return 0, false, nil
		}
		return l.carryOut(b, &step), true, nil
	}
	if l.outdated(in.Result) {
		return 0, true, nil
	}
	result := l.turnAway(b, in.Result)
	for i := range result.Observations {
		o := &result.Observations[i]
		if loss, is := l.loses(o); is {
			return size, false, l.lose(b, loss)
		}
		if !l.late(result, o) {
			size += l.admit(b, o)
		}
	}
	return size + l.outcome(b, result), true, nil
}

// turnAway queues a Job that was read live because pods name it. The read counts as unanswered, and is repeated after
// its backoff.
func (l *Loop) turnAway(b *batch, r *events.TaskResult) *events.TaskResult {
	for i := range r.Observations { // a read returns one Job
		o := &r.Observations[i]
		if !l.gate.TurnsAway(b.time, o) || l.late(r, o) {
			continue
		}
		step := l.gate.Arrive(b.time, o, l.pasts[events.JobStream(o.Job.UID)])
		l.carryOut(b, &step)
		turned := *r
		turned.Observations = slices.Delete(slices.Clone(r.Observations), i, i+1)
		if l.gate.Holds(o.Job.UID) {
			turned.Ended.Ending, turned.Ended.UID, turned.Ended.Version, turned.Ended.Written = events.OutcomeUnknown, "", 0, 0
			turned.Evidence.Message = "the Job waits to be recorded: its namespace is over its budget of log"
		}
		return &turned
	}
	return r
}

// deliver carries out what the gate held back and what is due now, and returns the approximate size of its records in
// bytes. It leaves half of the turn to other inputs.
func (l *Loop) deliver(b *batch) (size int) {
	most := l.gate.Delivers(turnInputs)
	for _, next := range [...]func(events.Time) (admission.Step, bool){l.gate.NextHeld, l.gate.NextQueued} {
		for size < most {
			step, ok := next(b.time)
			if !ok {
				break
			}
			size += l.carryOut(b, &step)
		}
	}
	for {
		d, ok := l.gate.NextCount(b.time)
		if !ok {
			break
		}
		l.put(b, d)
	}
	l.gate.Delivered()
	return size
}

// carryOut carries out a step of the gate, and returns the bytes that it counts towards the turn's inputs.
func (l *Loop) carryOut(b *batch, s *admission.Step) (size int) {
	if s.Record != nil {
		l.put(b, *s.Record)
	}
	if s.Past != nil {
		l.pasts[events.JobStream(s.First.Job.UID)] = s.Past
	}
	before := len(b.records)
	size = s.Size
	for _, o := range [...]*events.Observation{s.First, s.Then} {
		if o != nil {
			size += l.admit(b, o)
		}
	}
	l.gate.Admitted(b.time, s, b.records[before:])
	return size
}

// sayWords records the words that have held for long enough.
func (l *Loop) sayWords(b *batch) (size int) {
	for !l.world.Listing && size < turnInputs/2 {
		o, ok := l.words.Next(b.time)
		if !ok {
			break
		}
		drafts := l.intake.AdmitWords(o)
		if len(drafts) > 0 {
			l.words.Recorded(o.Object().UID)
		}
		size += l.place(b, o, drafts)
	}
	return size
}

// recordCounts records what the gate has counted; stops says that the process stops.
func (l *Loop) recordCounts(b *batch, stops bool) {
	for _, d := range l.gate.AllCounts(b.time, stops) {
		l.put(b, d)
	}
}

// admit records an observation, and returns the approximate size of its records in bytes.
func (l *Loop) admit(b *batch, o *events.Observation) int {
	drafts := l.intake.Admit(o, l.nextFor(b, o))
	passed := l.words.Note(o, len(drafts) > 0, len(drafts) == 0 && l.intake.Words(o), b.time)
	if len(drafts) > 0 {
		drafts[len(drafts)-1].Evidence.PassedOver += passed
	}
	size := l.place(b, o, drafts)
	switch o.Facts.(type) {
	case *events.EpochChanged:
		l.rewound(b)
	case *events.JobSeen, *events.JobGone:
		l.rehome(b, l.intake.Follow(events.JobStream(o.Job.UID)))
		l.rehome(b, l.intake.FollowRun(o))
	case *events.Synced:
		if l.world.Decides() {
			l.resume(b)
		}
	}
	return size
}

// place records the drafts of an observation, and returns their approximate size in bytes.
func (l *Loop) place(b *batch, o *events.Observation, drafts []projector.Draft) (size int) {
	l.gate.Cut(b.time, o, drafts)
	for _, d := range drafts {
		l.input(b, d)
		size += 300 + len(d.Evidence.Message) + len(d.Evidence.Template)
		if p, ok := d.Facts.(*events.JobPolicies); ok {
			size += len(p.Selector) + len(p.PodFailurePolicy) + len(p.SuccessPolicy)
		}
	}
	return size
}

// nextFor returns the sequence of an observation's first draft. States may come before it.
func (l *Loop) nextFor(b *batch, o *events.Observation) events.Sequence {
	next := l.next
	if l.beginsFile(b) {
		next++ // the controller's state comes first
	}
	if o.Job.UID != "" && l.stateDue(events.JobStream(o.Job.UID)) {
		next++
	}
	return next
}

// late reports whether an object was read for a command that has ended since. What ended it was seen later than this
// read, and the object may be gone. Recording the read would bring the object back until the next listing.
func (l *Loop) late(r *events.TaskResult, o *events.Observation) bool {
	if read := o.Object(); read.Gone || read.Resource != events.ObjectJob && read.Resource != events.ObjectPod {
		return false
	}
	s := l.world.Subject(r.Stream)
	if c, ok := s.(*projector.CronJob); ok && slices.Contains(c.Went, o.Job.UID) {
		return true // its end does not end the command
	}
	return s == nil || s.InFlight(r.Ended.Command) == nil
}

// outcome records how a command ended.
func (l *Loop) outcome(b *batch, r *events.TaskResult) int {
	j := l.world.Subject(r.Stream)
	name := r.Ended.Command
	l.retries.Answered(name)
	if _, retired := j.(*projector.Retired); j == nil || retired && j.InFlight(name) == nil {
		l.retries.Forget(name)
		return 0 // the Job is over, and the command with it
	}
	if f, _ := retries.Stands(j, name); f != nil && r.Ended.Ending == events.Withdrawn {
		return 0 // as before: only this try was not made
	}
	if r.Again && r.Ended.Ending == events.Withdrawn && j.InFlight(name) == nil {
		return 0 // withdrawn too late: a record has its outcome
	}
	if l.retries.Repeated(j, &r.Ended, b.time) {
		return 0
	}
	ended, about := r.Ended, events.PodOf(j.InFlight(name))
	l.input(b, projector.Draft{
		Stream: r.Stream, Kind: events.KindCommandEnded, Facts: &ended, Evidence: r.Evidence,
		Causes: []events.Sequence{ended.Command.Decided},
	})
	l.retries.Follow(j, name, b.time)
	if about != "" {
		l.rehome(b, l.intake.FollowPod(r.Stream, about))
	} else {
		l.rehome(b, l.intake.Follow(r.Stream))
	}
	return 100 + len(r.Evidence.Message)
}

// rehome moves orphan pods to the Job that is to adopt them, after a record has changed which Job that is.
func (l *Loop) rehome(b *batch, moves []projector.Draft) {
	for _, d := range moves {
		l.input(b, d)
	}
}

// input records a draft and marks its stream for a decision in this turn.
func (l *Loop) input(b *batch, d projector.Draft) {
	s := l.world.Subject(d.Stream)
	if hint, ok := l.retries.HintOf(s, d.Facts); ok {
		b.hints = append(b.hints, hint)
	}
	before := tasks.OfRemovals(s)
	at := l.put(b, d)
	l.hastened = append(l.hastened, tasks.Hastened(l.world.Identity, l.world.Subject(d.Stream), before, d.Facts)...)
	if d.Stream == events.Controller {
		return
	}
	if _, ok := b.inputs[d.Stream]; !ok {
		b.touched = append(b.touched, d.Stream)
	}
	b.inputs[d.Stream] = append(b.inputs[d.Stream], at)
}
