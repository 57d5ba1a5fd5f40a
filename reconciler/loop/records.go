package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// beginsFile reports whether the batch's first record begins a file.
func (l *Loop) beginsFile(b *batch) bool {
	return len(b.records) == 0 && l.next > 1 && l.next == l.intake.FileStart
}

// put adds the draft (a record without sequence and time) to the batch, applies it to the state, and returns its
// sequence. In a new file, put first stores the state of the Job or CronJob that the record is about, because each file
// must become self-contained (readable without older files).
func (l *Loop) put(b *batch, d projector.Draft) events.Sequence {
	if l.beginsFile(b) {
		l.snapshots.GiveUp()
		l.append(b, controllerDraft(events.KindStateStored, &events.StoredState{Encoded: l.world.ControllerFacts()}))
	}
	if l.stateDue(d.Stream) {
		if state, ok := l.files.Before(&b.states, d.Stream); ok {
			l.append(b, state)
		}
	}
	return l.append(b, d)
}

// stateDue reports whether a Job or CronJob has records in earlier files of the log, but none in the newest one.
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
		causes = append([]events.Sequence{l.terms}, causes...) // so a replay of the stream needs no other records
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

// previous returns the sequence of the last record of the stream (Job or CronJob); 0 for none. The log may have one
// even if the state does not know the stream.
func (l *Loop) previous(s events.Stream) events.Sequence {
	if at := l.heads[s]; at != 0 {
		return at
	}
	if at := l.world.Previous(s); at != 0 {
		return at
	}
	return l.past(s)
}
