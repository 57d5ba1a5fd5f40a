package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/retries"
)

const (
	turnInputs     = 256 << 10 // approximate bytes of inputs per turn
	turnRoom       = 8 << 20   // space that the log must have before a turn, for inputs and their decisions
	mostRoom       = 1024      // maximum capacity, in records, of the buffer that is reused by the next turn
	maxCauses      = 8         // maximum number of causes per record
	clockTolerance = 5 * time.Second
)

// batch is what a turn has produced so far: records, and the tasks that follow from them.
type batch struct {
	time    events.Time
	records []events.Record
	touched []events.Stream // Jobs and CronJobs with a new record, in order of their first one
	retired []events.Stream // Jobs that retired in this turn
	inputs  map[events.Stream][]events.Sequence
	tasks   []events.Task
	back    []events.Task
	hints   []retries.Hint
	states  checkpoint.Turn
}

func (l *Loop) begin(now events.Time) *batch {
	l.intake.FileStart = l.log.NextFile()
	return &batch{time: max(now, l.world.Now), inputs: map[events.Stream][]events.Sequence{}, records: l.room[:0]}
}

// Turn makes one turn at time now: it takes inputs in order, applies them, decides, and appends one batch to the log.
// It returns the number of inputs that it took. After store.ErrNoRoom (no space) none was taken, and Turn may be called
// again. Any other error ends the Loop, because its state may no longer match the log.
func (l *Loop) Turn(now events.Time, inputs []Input) (taken int, err error) {
	if n := l.passOver(inputs); n > 0 || l.back != nil {
		return n, nil
	}
	if err := l.log.Room(turnRoom); err != nil {
		return 0, err
	}
	b := l.begin(now)
	l.checkpoint(b, len(inputs) > 0)
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
		// Set the wake-ups only now, so that these Jobs are not evaluated in this turn: a replay retires them at its
		// end
		for _, s := range b.retired {
			l.wakes.Set(s, l.world.Retired(s).Due(b.time))
		}
		l.retries.AfterHints(b.hints, b.time)
		l.retries.Probe(b.time)
		l.retries.Ask(b.time)
	}
	if l.broken != nil {
		return 0, l.broken
	}
	if len(b.records) > 0 {
		l.commit(b, l.urgency.Needed(b.tasks, len(b.back) > 0, l.next-1))
	}
	// No snapshot goes on while the newest file still lacks states: both divide large states into parts, one at a time
	if !l.files.Open(l.log.NextFile()) {
		l.snapshots.Step(l.next - 1)
	}
	return taken, nil
}

// checkpoint adds stored states of Jobs and CronJobs to a turn, before its inputs, until the newest file is
// self-contained (readable without older files). inputs says that the turn has inputs, which leaves less space.
func (l *Loop) checkpoint(b *batch, inputs bool) {
	if at := l.files.Due(l.log.NextFile()); at == 0 || b.time < at {
		return
	}
	for d := range l.files.Drafts(&b.states, b.time, inputs) {
		l.append(b, d)
	}
}

// passOver returns the number of inputs to drop: all before the informer reports a new epoch, if it is proven that the
// cluster was restored to an earlier state; otherwise 0.
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

// commit completes the batch and appends it to the log. soon requests that it becomes durable without delay.
func (l *Loop) commit(b *batch, soon bool) {
	last := &b.records[len(b.records)-1]
	last.Last = true
	if len(b.tasks)+len(b.back) > 0 {
		l.waiting = append(l.waiting, promise{through: last.Sequence, tasks: b.tasks, back: b.back})
	}
	records := append(make([]events.Record, 0, len(b.records)), b.records...) // copied: readers keep them
	if clear(b.records); cap(b.records) <= mostRoom {
		l.room = b.records
	}
	l.log.Append(events.Batch{Records: records}, soon)
}
