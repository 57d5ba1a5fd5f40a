package loop

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

const (
	turnInputs     = 256 << 10 // bytes of inputs that one turn drains, about
	turnRoom       = 8 << 20   // bytes that the log must have room for before a turn: inputs and what is decided on them
	mostRoom       = 1024      // records for which there is room from one turn to the next
	maxCauses      = 8         // of one record
	clockTolerance = 5 * time.Second
)

// batch is a turn in the making.
type batch struct {
	time    events.Time
	records []events.Record
	touched []events.Stream // in the order of their first input
	retired []events.Stream // Jobs that retired in this turn
	inputs  map[events.Stream][]events.Sequence
	tasks   []events.Task
	back    []events.Task
	hints   []hint
	states  int // bytes of states that it has
}

func (l *Loop) begin(now events.Time) *batch {
	l.intake.FileStart = l.log.NextFile()
	return &batch{time: max(now, l.world.Now), inputs: map[events.Stream][]events.Sequence{}, records: l.room[:0]}
}

// Turn makes one turn at time now: it drains inputs from the front, folds them, decides, and appends. It returns how
// many inputs it took. An error that is store.ErrNoRoom means that it took none: the log has no room. Any other is the
// end of the Loop: what it holds is no longer what the log says.
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
		for _, s := range b.retired { // in a later turn: a replay folds retirements after all else of their turn
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

// passOver is how many inputs are of the past that the cluster does not have, as far as an object that had gone has
// proven it.
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

// take folds one input, which gives records of that size. goesOn is false for an input that a later turn takes. An
// error is the end of the Loop.
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

// admit puts down what an observation says, and returns about how many bytes that is.
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

// place puts down the drafts that an observation gave, and returns about how many bytes they are.
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

// nextFor is the sequence that the first draft of an observation will have: the stream's state may come before it.
func (l *Loop) nextFor(b *batch, o *events.Observation) events.Sequence {
	next := l.next
	if l.beginsFile(b) {
		next++ // the controller's state
	}
	if o.Job.UID != "" && l.stateDue(events.JobStream(o.Job.UID)) {
		next++
	}
	return next
}

// late reports whether an object was read for a command that is over by now: what ended it was seen of the object, or
// is later still, and the object may be gone since. It would come back, and stay until the next listing.
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

// outcome puts down how a command ended.
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
		return 0 // it stands as before: only this try was not made
	}
	if r.Again && r.Ended.Ending == events.Withdrawn && j.InFlight(name) == nil {
		return 0 // it has ended, and a record says how: it was given back too late
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

// rehome brings pods without an owner to the Job that is to adopt them, when a record of a Job changed which that is.
func (l *Loop) rehome(b *batch, moves []projector.Draft) {
	for _, d := range moves {
		l.input(b, d)
	}
}

// input puts down a record that touches its stream: the stream is decided in this turn.
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

// resume makes every subject due that may want something: after a listing each is looked at, and those for which
// something is to be done are touched by a record. A retired Job says by itself when it is due.
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

// probe touches the subjects whose wait is over and for which something is to be done. Looking does not change them.
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
		d := reconciler.DecideAt(j, b.time)
		if projector.Compared(j) {
			l.compare(b, j, &d)
			continue
		}
		shows := l.progress.due(s, d.Progress, b.time, l.urgency.busy)
		if touched && !shows && !d.Judges {
			continue // it is decided in this turn
		}
		if shows && !d.Commands() {
			d = reconciler.DecideWoken(j, b.time)
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

// decide decides for one subject that the turn's inputs touched, and puts the decision down when it asks for anything.
func (l *Loop) decide(b *batch, s events.Stream) {
	j := l.world.Subject(s)
	if j == nil {
		l.wakes.set(s, 0)
		l.progress.forget(s)
		delete(l.resuming, s)
		if l.watcher != nil { // though it was not observed, it costs nothing
			l.watcher.Forget(s)
		}
		return
	}
	d := reconciler.Decide(j)
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

// retire closes the account of a Job that finished and that has nothing left to do.
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

// put gives a draft its place, folds it and returns its sequence. A stream's first record in a new file is preceded by
// its state, so that the file stands alone.
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

// stateDue reports whether the stream was born in an earlier file and has no record in the newest one.
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
		causes = append([]events.Sequence{l.terms}, causes...) // its own records suffice to replay it
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

// previous is the stream's record before the next one. A stream that the world holds nothing of may still have a past.
func (l *Loop) previous(s events.Stream) events.Sequence {
	if at := l.heads[s]; at != 0 {
		return at
	}
	if at := l.world.Previous(s); at != 0 {
		return at
	}
	return l.past(s)
}

// commit closes the batch and appends it.
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
