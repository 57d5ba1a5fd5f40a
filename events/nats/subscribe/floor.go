package subscribe

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// floor says which records may still be delivered: for each log, the first such record. Records before it were handled
// or not requested. Positions in the stream cannot replace it: a stream that is recreated, restored or refilled has old
// records at new positions.
type floor struct {
	next     []nats.ID       // the first such record of each log; the log of the newest event is last
	sequence events.Sequence // for a log whose ID is not known yet: the first record, as sequence only; else 0
}

// maxLogs bounds the number of logs in next. If there are more, the log that had no event for the longest time is
// dropped.
const maxLogs = 8

// raise makes first the first record that may be delivered, unless it is lower than before, and marks its log as the
// newest. With a zero first.Log only the sequence counts.
func (f *floor) raise(first nats.ID) {
	if first.Log == (events.Identity{}) {
		f.sequence = max(f.sequence, first.Sequence)
		return
	}
	f.sequence = 0
	if i := f.find(first.Log.LogID); i >= 0 {
		if first.Compare(f.next[i]) < 0 {
			first = f.next[i]
		}
		f.next = slices.Delete(f.next, i, i+1)
	}
	if f.next = append(f.next, first); len(f.next) > maxLogs {
		f.next = slices.Delete(f.next, 0, 1)
	}
}

// took notes that the record id was handled, so that it is not delivered again.
func (f *floor) took(id nats.ID) { f.raise(following(id)) }

// behind reports whether the record id must not be delivered: it was handled or not requested.
func (f *floor) behind(id nats.ID) bool {
	i := f.find(id.Log.LogID)
	return i >= 0 && id.Compare(f.next[i]) < 0
}

// first returns the first record of the newest log that may still be delivered; zero when no log is known.
func (f *floor) first() nats.ID {
	if len(f.next) == 0 {
		return nats.ID{}
	}
	return f.next[len(f.next)-1]
}

// note returns what the server is to store about the beginning: the ID of first, or only the sequence while the log is
// unknown.
func (f *floor) note() nats.ID {
	if f.sequence > 0 {
		return nats.ID{Sequence: f.sequence}
	}
	return f.first()
}

func (f *floor) find(logID string) int {
	return slices.IndexFunc(f.next, func(id nats.ID) bool { return id.Log.LogID == logID })
}

// following returns the record after id, and preceding the one before it, in the same epoch.
func following(id nats.ID) nats.ID { return nats.ID{Log: id.Log, Sequence: id.Sequence + 1} }

func preceding(id nats.ID) nats.ID { return nats.ID{Log: id.Log, Sequence: id.Sequence - 1} }
