package loop

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/rules"
)

const (
	turnInputs     = 256 << 10 // approximate bytes of inputs per turn
	turnRoom       = 8 << 20   // room that the log needs before a turn: inputs and their decisions
	mostRoom       = 1024      // capacity of the record buffer kept between turns
	maxCauses      = 8         // limit of causes per record
	clockTolerance = 5 * time.Second
)

// batch is a turn under construction.
type batch struct {
	time    events.Time
	records []events.Record
	touched []events.Stream // in order of their first input
	retired []events.Stream // Jobs that retired in this turn
	inputs  map[events.Stream][]events.Sequence
	tasks   []events.Task
	back    []events.Task
	hints   []hint
	states  int // bytes of states in it
}

func (l *Loop) begin(now events.Time) *batch {
	l.intake.FileStart = l.log.NextFile()
	return &batch{time: max(now, l.world.Now), inputs: map[events.Stream][]events.Sequence{}, records: l.room[:0]}
}

// Turn makes one turn at time now: it takes inputs from the front, folds them, decides, and appends one batch. It
// returns the number of inputs taken. With store.ErrNoRoom nothing was taken, and Turn may be called again. Any other
// error ends the Loop, because its state may no longer match the log.
func (l *Loop) Turn(now events.Time, inputs []Input) (taken int, err error) {
	if n := l.passOver(inputs); n > 0 || l.back != nil {
		return n, nil
	}
	if err := l.log.Room(turnRoom); err != nil {
		return 0, err
	}
	b := l.begin(now)
	l.restate(b, len(inputs) > 0)
	for size := l.deliver(b) + l.sayWords(b); taken < len(inputs) && size < turnInputs; taken++ {
		n, goesOn, err := l.take(b, &inputs[taken])
		if err != nil {
			return taken, err
		}
		if !goesOn {
			break
		}
		size += n
	}
	clear(l.pasts)
	l.meetRival(b)
	if l.world.Decides() {
		l.probe(b)
		for _, s := range b.touched {
			l.decide(b, s)
		}
		for _, s := range b.retired { // in a later turn: a replay folds retirements last in their turn
			l.wakes.set(s, l.world.Retired(s).Due(b.time))
		}
		l.heed(b)
		l.sound(b.time)
		l.ask(b.time)
	}
	if l.broken != nil {
		return 0, l.broken
	}
	if len(b.records) > 0 {
		l.commit(b, l.urgency.needed(b))
	}
	l.snapshotStep()
	return taken, nil
}

// passOver returns the number of inputs to drop after a deleted object has proven a rewind.
func (l *Loop) passOver(inputs []Input) (n int) {
	if l.back == nil {
		return 0
	}
	for _, in := range inputs {
		if in.Observation != nil {
			if _, ok := in.Observation.Facts.(*events.EpochChanged); ok {
				l.back = nil
				break
			}
		}
		n++
	}
	return n
}

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
		size, goesOn = l.observe(b, in.Observation)
		return size, goesOn, nil
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

// admit records an observation, and returns the approximate size of its records in bytes.
func (l *Loop) admit(b *batch, o *events.Observation) int {
	drafts := l.intake.Admit(o, l.nextFor(b, o))
	passed := l.words.hear(o, len(drafts) > 0, len(drafts) == 0 && l.intake.Words(o), b.time)
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
	l.sparingly(b, o, drafts)
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
	switch o.Facts.(type) {
	case *events.PodSeen, *events.JobSeen, *events.RunSeen:
	default:
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
	if k := l.retrying.known[name]; k != nil {
		k.out = false
	}
	if _, retired := j.(*projector.Retired); j == nil || retired && j.InFlight(name) == nil {
		l.retrying.forget(name)
		return 0 // the Job is over, and the command with it
	}
	if f, _ := stands(j, name); f != nil && r.Ended.Ending == events.Withdrawn {
		return 0 // as before: only this try was not made
	}
	if r.Again && r.Ended.Ending == events.Withdrawn && j.InFlight(name) == nil {
		return 0 // withdrawn too late: a record has its outcome
	}
	if l.repeated(j, &r.Ended, b.time) {
		return 0
	}
	ended, about := r.Ended, events.PodOf(j.InFlight(name))
	l.input(b, projector.Draft{
		Stream: r.Stream, Kind: events.KindCommandEnded, Facts: &ended, Evidence: r.Evidence,
		Causes: []events.Sequence{ended.Command.Decided},
	})
	l.follow(j, name, b.time)
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
	l.hear(b, s, &d)
	before := jobPriority(s)
	at := l.put(b, d)
	l.press(d.Stream, before, d.Facts)
	if d.Stream == events.Controller {
		return
	}
	if _, ok := b.inputs[d.Stream]; !ok {
		b.touched = append(b.touched, d.Stream)
	}
	b.inputs[d.Stream] = append(b.inputs[d.Stream], at)
}

// resume schedules every subject after a listing; those that need a decision get a record. A retired Job knows when it
// is due.
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
		l.wakes.set(s.ID(), due)
		l.resuming[s.ID()] = due <= b.time
	}
	l.followAll(s, b.time)
}

// probe finds the subjects whose wait is over and that need a decision. It does not change them.
func (l *Loop) probe(b *batch) {
	for n := 0; n < reconciler.MostWoken; {
		s, ok := l.wakes.due(b.time)
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
		shows := l.progress.due(s, d.Progress, b.time, l.urgency.busy)
		if touched && !shows && !d.Judges {
			continue // decided in this turn
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

// decide decides about a subject touched in this turn, and records the decision if it has commands.
func (l *Loop) decide(b *batch, s events.Stream) {
	j := l.world.Subject(s)
	if j == nil {
		l.wakes.set(s, 0)
		l.progress.forget(s)
		delete(l.resuming, s)
		if l.watcher != nil { // free even if it was not observed
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
	l.followCreate(j, b.time)
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

// retire closes the account of a finished Job without work left.
func (l *Loop) retire(b *batch, s projector.Subject) {
	j, ok := s.(*projector.Job)
	if !ok || j.Phase() != projector.PhaseFinished || !j.Managed || !j.Quiet() {
		return
	}
	if l.stateDue(j.Stream) && l.world.StateBytes(j.Stream) > l.restateBytes-b.states || l.world.Parted(j.Stream) {
		l.wakes.set(j.Stream, b.time.Add(restatePause)) // once its state is stored
		return
	}
	l.put(b, retirement(j))
	b.retired = append(b.retired, j.Stream)
}

// beginsFile reports whether the batch's first record begins a file.
func (l *Loop) beginsFile(b *batch) bool {
	return len(b.records) == 0 && l.next > 1 && l.next == l.intake.FileStart
}

// put appends a draft to the batch, folds it, and returns its sequence. Before a stream's first record in a new file
// it stores the stream's state, so that the file becomes self-contained.
func (l *Loop) put(b *batch, d projector.Draft) events.Sequence {
	if l.beginsFile(b) {
		l.saver.giveUp()
		l.append(b, controllerDraft(events.KindStateStored, &events.StoredState{Encoded: l.world.ControllerFacts()}))
	}
	if l.stateDue(d.Stream) {
		l.preface(b, d.Stream)
	}
	return l.append(b, d)
}

// stateDue reports whether the stream began in an earlier file and has no record in the newest one.
func (l *Loop) stateDue(s events.Stream) bool {
	if s == events.Controller {
		return false
	}
	head := l.world.Previous(s)
	return head != 0 && head < l.intake.FileStart
}

func (l *Loop) append(b *batch, d projector.Draft) events.Sequence {
	previous := l.previous(d.Stream)
	causes := d.Causes
	if l.terms > previous && previous != 0 && d.Stream != events.Controller {
		causes = append([]events.Sequence{l.terms}, causes...) // the stream's records then suffice for a replay
	}
	rec := events.Record{
		Header: events.Header{
			Sequence: l.next, Time: b.time, Stream: d.Stream, Previous: previous, Causes: causes,
			Kind: d.Kind, Critical: d.Kind.Critical(),
		},
		Facts: d.Facts, Evidence: d.Evidence, FactsSalt: l.salt(), EvidenceSalt: l.salt(),
	}
	l.next++
	switch d.Kind {
	case events.KindControllerStarted, events.KindClockStepped, events.KindEpochChanged:
		l.terms = rec.Sequence
	default:
	}
	l.world.Apply(&rec)
	l.heads[d.Stream] = rec.Sequence
	b.records = append(b.records, rec)
	return rec.Sequence
}

// previous returns the stream's last record. It may exist even if the world does not know the stream.
func (l *Loop) previous(s events.Stream) events.Sequence {
	if at := l.heads[s]; at != 0 {
		return at
	}
	if at := l.world.Previous(s); at != 0 {
		return at
	}
	return l.past(s)
}

// commit closes the batch and appends it. soon asks the log to make it durable at once.
func (l *Loop) commit(b *batch, soon bool) {
	last := &b.records[len(b.records)-1]
	last.Last = true
	if len(b.tasks)+len(b.back) > 0 {
		l.waiting = append(l.waiting, promise{through: last.Sequence, tasks: b.tasks, back: b.back})
	}
	records := append(make([]events.Record, 0, len(b.records)), b.records...) // readers keep it for a while
	if clear(b.records); cap(b.records) <= mostRoom {
		l.room = b.records
	}
	l.log.Append(events.Batch{Records: records}, soon)
}
