package loop

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/retries"
	"github.com/jobledger/jobledger/reconciler/tasks"
)

// take processes one input of the turn: it records an observation, or the outcome of a command. It returns the
// approximate size of the records in bytes. goesOn is false if the input was not taken and the turn must end before it.
// An error ends the Loop.
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

// turnAway puts a Job into the admission queue, in which Jobs of a namespace over its log budget wait to be recorded.
// It does so if the Job was read because pods name it, and its namespace is over budget. The result of the read then
// counts as unknown, and the read is repeated after its backoff.
func (l *Loop) turnAway(b *batch, r *events.TaskResult) *events.TaskResult {
	for i := range r.Observations { // a read returns at most one Job
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

// deliver records the observations that wait in the admission gate (limits how much log a namespace writes) and are due
// now. It returns the approximate size of their records in bytes. It leaves half of the turn to other inputs.
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

// carryOut records what the admission gate (limits how much log a namespace writes) has decided about an observation.
// It returns the number of bytes that count towards the limit of the turn.
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

// sayWords records why pods wait (for example, that they cannot be scheduled), if the reason has lasted long enough. It
// returns the approximate size of the records in bytes.
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

// recordCounts records how many observations the admission gate has left out per namespace. stops says that the process
// stops.
func (l *Loop) recordCounts(b *batch, stops bool) {
	for _, d := range l.gate.AllCounts(b.time, stops) {
		l.put(b, d)
	}
}

// admit records an observation, and what follows from it for orphan pods. It returns the approximate size of the
// records in bytes.
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

// place adds the records of an observation to the batch. drafts are these records, without sequence and time. It
// returns their approximate size in bytes.
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

// nextFor returns the sequence that the first record of an observation would get. States that a new file of the log
// must begin with come before it.
func (l *Loop) nextFor(b *batch, o *events.Observation) events.Sequence {
	next := l.next
	if l.beginsFile(b) {
		next++ // the state of the controller is recorded first
	}
	if o.Job.UID != "" && l.stateDue(events.JobStream(o.Job.UID)) {
		next++
	}
	return next
}

// late reports whether an object was read for a command that has ended meanwhile. The outcome of the command is then
// newer than the read, and the object may be deleted by now. Recording the read would make the object exist again until
// the next listing.
func (l *Loop) late(r *events.TaskResult, o *events.Observation) bool {
	if read := o.Object(); read.Gone || read.Resource != events.ObjectJob && read.Resource != events.ObjectPod {
		return false
	}
	s := l.world.Subject(r.Stream)
	if c, ok := s.(*projector.CronJob); ok && slices.Contains(c.Went, o.Job.UID) {
		return true // the Job of the CronJob is gone, but the command that read it goes on
	}
	return s == nil || s.InFlight(r.Ended.Command) == nil
}

// outcome records how a command has ended. It returns the approximate size of the record in bytes; 0 if nothing is
// recorded, because the outcome is known, or the Job is gone.
func (l *Loop) outcome(b *batch, r *events.TaskResult) int {
	j := l.world.Subject(r.Stream)
	name := r.Ended.Command
	l.retries.Answered(name)
	if _, retired := j.(*projector.Retired); j == nil || retired && j.InFlight(name) == nil {
		l.retries.Forget(name)
		return 0 // the Job is gone, and its commands with it
	}
	if f, _ := retries.Stands(j, name); f != nil && r.Ended.Ending == events.Withdrawn {
		return 0 // only this attempt was not made; the command is still in backoff
	}
	if r.Again && r.Ended.Ending == events.Withdrawn && j.InFlight(name) == nil {
		return 0 // the withdrawal came too late: the outcome is already recorded
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

// rehome adds records that say which Job is to adopt an orphan pod, after another record has changed that.
func (l *Loop) rehome(b *batch, moves []projector.Draft) {
	for _, d := range moves {
		l.input(b, d)
	}
}

// input adds the record of an input to the batch, and marks its Job or CronJob for a decision in this turn. The draft d
// is the record without sequence and time.
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
