package subscribe

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// floor is where a subscription stands in the order of record IDs: of each log, the first record that may still be
// handed over. What is before it was taken, or was not asked for. Places in the stream do not say that: a stream that
// is made anew, restored, or filled again brings the past at places of its own.
type floor struct {
	next     []nats.ID       // one for each log, that of the newest event last
	sequence events.Sequence // the first that is asked for of a log that the stream has not named yet; 0 for none
}

// maxLogs bounds how many logs are remembered. Beyond it the one that has been quiet the longest is forgotten.
const maxLogs = 8

// raise says that nothing before that record is to be handed over. What is not higher than before changes nothing, but
// that the log counts as the newest. A record of no log says the sequence alone.
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

// took says that a record was taken.
func (f *floor) took(id nats.ID) { f.raise(following(id)) }

// behind reports whether a record is one that must not be handed over.
func (f *floor) behind(id nats.ID) bool {
	i := f.find(id.Log.LogID)
	return i >= 0 && id.Compare(f.next[i]) < 0
}

// first is the record with which to go on, of the log whose event was the newest; zero when no log is known.
func (f *floor) first() nats.ID {
	if len(f.next) == 0 {
		return nats.ID{}
	}
	return f.next[len(f.next)-1]
}

// note is what the server is to remember of it: first, or the sequence alone.
func (f *floor) note() nats.ID {
	if f.sequence > 0 {
		return nats.ID{Sequence: f.sequence}
	}
	return f.first()
}

func (f *floor) find(logID string) int {
	return slices.IndexFunc(f.next, func(id nats.ID) bool { return id.Log.LogID == logID })
}

// following and preceding are the records right after and right before one, in the same life of its log.
func following(id nats.ID) nats.ID { return nats.ID{Log: id.Log, Sequence: id.Sequence + 1} }

func preceding(id nats.ID) nats.ID { return nats.ID{Log: id.Log, Sequence: id.Sequence - 1} }
