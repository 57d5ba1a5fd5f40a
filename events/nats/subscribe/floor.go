package subscribe

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// floor is the position of a subscription in the order of record IDs: for each log, the first record that may still be
// delivered. Records before it were taken or not requested. Stream positions cannot replace it: a stream that is
// recreated, restored or refilled has old records at new positions.
type floor struct {
	next     []nats.ID       // one per log, that of the newest event last
	sequence events.Sequence // first requested sequence of a log that the stream has not revealed yet; 0 for none
}

// maxLogs bounds the logs in next. Beyond it, the log that was quiet longest is dropped.
const maxLogs = 8

// raise sets the first record that may be delivered to first, if it is higher than before, and marks its log as the
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

// took records that the record id was taken.
func (f *floor) took(id nats.ID) { f.raise(following(id)) }

// behind reports whether the record id must not be delivered.
func (f *floor) behind(id nats.ID) bool {
	i := f.find(id.Log.LogID)
	return i >= 0 && id.Compare(f.next[i]) < 0
}

// first returns the next record of the log with the newest event; zero when no log is known.
func (f *floor) first() nats.ID {
	if len(f.next) == 0 {
		return nats.ID{}
	}
	return f.next[len(f.next)-1]
}

// note returns what to store on the server: the ID of first, or only the sequence while the log is unknown.
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
