package subscribe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Order checks events, as they arrive, against the sequences in their headers. The subscription decides how much it can
// detect:
//
//   - All events of a cluster: their sequences are dense, so each missing event is detected at the next one.
//   - All events of some Jobs, namespaces or kinds of objects: each event names the previous one of its stream. So a
//     missing event is detected at the next event of that stream, and a missing last event never.
//   - Only some kinds of events: missing events are not detected, only duplicates.
//
// It is not safe for concurrent use. Use NewOrder to create one.
type Order struct {
	dense, chained bool
	lives          []life // the newest last
	known          events.Sequence
	streams        map[events.Stream]events.Sequence // newest record of each stream; only if chained
}

// life is what Order knows of one epoch (life) of a log.
type life struct {
	log     events.Identity
	from    events.Sequence // first requested record: all from it on must come; 0: the first one that comes
	last    events.Sequence // the newest record that came
	missing []span          // ranges reported missing, which may still come late
}

type span struct{ from, to events.Sequence }

// Bounds on the state of Order. Beyond them it detects fewer missing events, and never reports a wrong one.
const (
	maxLives   = 8
	maxMissing = 1024
	maxStreams = 1 << 16
)

// NewOrder returns an Order for a subscription with these filters. Without filters it is for all events of a cluster.
func NewOrder(filters ...nats.Filter) *Order {
	o := &Order{dense: len(filters) == 0, chained: true, streams: map[events.Stream]events.Sequence{}}
	for _, f := range filters {
		f.Cluster = ""
		o.dense = o.dense || f == nats.Filter{}
		o.chained = o.chained && f.Event == ""
	}
	return o
}

// Expect sets the first record that must come. If it is not called before the first Check, or with an ID without log,
// the first event counts as the beginning.
func (o *Order) Expect(first nats.ID) {
	if first.Log == (events.Identity{}) {
		return
	}
	from := max(first.Sequence, 1)
	o.lives = []life{{log: first.Log, from: from, last: from - 1}}
	o.known = from
	clear(o.streams)
}

// Finding is what Check found out about an event.
type Finding struct {
	Duplicate bool    // the event came before
	Late      bool    // the event comes after later ones; it was reported missing, or is older than the first expected
	Gap       Gap     // what is missing just before the event; zero for nothing
	Before    nats.ID // for the first event of another epoch or log: the newest record before; else zero
}

// Check compares the sequences in an event's headers with those of the events before it. It returns what is missing
// before the event, and whether the event is a duplicate or late.
func (o *Order) Check(h *nats.Head) Finding {
	var f Finding
	i := slices.IndexFunc(o.lives, func(l life) bool { return l.log == h.ID.Log })
	switch {
	case i < 0 && o.older(h.ID.Log):
		return Finding{Late: true}
	case i < 0:
		f.Before = o.begin(h)
	case o.lives[i].came(h.ID.Sequence):
		return Finding{Duplicate: true}
	case i < len(o.lives)-1 || h.ID.Sequence <= o.lives[i].last:
		o.lives[i].fill(h.ID.Sequence)
		return Finding{Late: true}
	}
	l := &o.lives[len(o.lives)-1]
	f.Gap = o.gap(h, l, f.Before)
	if f.Gap != (Gap{}) {
		l.missing = append(l.missing, span{max(f.Gap.From, l.from), f.Gap.To})
		if len(l.missing) > maxMissing {
			l.missing = l.missing[1:]
		}
	}
	l.last = h.ID.Sequence
	o.remember(h)
	return f
}

// suspects reports whether an event may be missing before the one with head h. It does not change o.
func (o *Order) suspects(h *nats.Head) bool {
	if len(o.lives) == 0 {
		return false
	}
	l := &o.lives[len(o.lives)-1]
	if h.ID.Log != l.log {
		return !o.older(h.ID.Log)
	}
	return h.ID.Sequence > l.last && o.gap(h, l, nats.ID{}) != Gap{}
}

// older reports whether log is an earlier epoch (life) of the log of the newest event.
func (o *Order) older(log events.Identity) bool {
	if len(o.lives) == 0 {
		return false
	}
	now := o.lives[len(o.lives)-1].log
	return log.LogID == now.LogID && log.Epoch < now.Epoch
}

// begin adds the state of an epoch (life of a log) whose first event has head h. It returns the newest record before
// that event.
func (o *Order) begin(h *nats.Head) (before nats.ID) {
	l := life{log: h.ID.Log, from: 1}
	if len(o.lives) == 0 {
		l.from, l.last, o.known = h.ID.Sequence, h.ID.Sequence-1, h.ID.Sequence
	} else {
		old := o.lives[len(o.lives)-1]
		before = nats.ID{Log: old.log, Sequence: old.last}
		if old.log.LogID == l.log.LogID {
			l.from = min(old.from, h.ID.Sequence)
			l.last = old.last // as far as the old epoch is valid: the previous record of a stream may be in it
		} else {
			o.known = 1
			clear(o.streams)
		}
	}
	if o.lives = append(o.lives, l); len(o.lives) > maxLives {
		o.lives = o.lives[1:]
	}
	return before
}

// gap returns what is missing between the record before and an event that is newer than all earlier ones.
func (o *Order) gap(h *nats.Head, l *life, before nats.ID) Gap {
	g := Gap{Log: h.ID.Log, Floor: h.Floor}
	switch {
	case o.dense:
		g.From, g.To = l.last+1, h.ID.Sequence-1
		if before.Log.LogID == h.ID.Log.LogID && g.From > g.To && h.Subject.Event != events.KindEpochChanged.String() {
			g.From = 0 // an epoch's first record is EpochChanged; this is another one, so earlier ones are missing
		}
	case o.chained:
		last, ok := o.streams[h.Stream]
		if !ok {
			last = o.known - 1
		}
		g.Stream, g.From, g.To = h.Stream, last+1, h.Previous
	default:
		return Gap{}
	}
	if g.From > g.To {
		return Gap{}
	}
	return g
}

// remember stores the newest record of each stream. With too many streams it drops those that had no event for the
// longest time; of a dropped stream it detects only what is missing from then on.
func (o *Order) remember(h *nats.Head) {
	if o.dense || !o.chained {
		return
	}
	o.streams[h.Stream] = h.ID.Sequence
	if len(o.streams) <= maxStreams {
		return
	}
	newest := slices.Sorted(maps.Values(o.streams))
	bound := newest[len(newest)/2]
	maps.DeleteFunc(o.streams, func(_ events.Stream, last events.Sequence) bool { return last < bound })
	o.known = max(o.known, bound)
}

// came reports whether record s has come.
func (l *life) came(s events.Sequence) bool {
	return s >= l.from && s <= l.last && !slices.ContainsFunc(l.missing, func(m span) bool { return m.from <= s && s <= m.to })
}

// fill removes a record that came late from the missing ones.
func (l *life) fill(s events.Sequence) {
	for i, m := range l.missing {
		if m.from <= s && s <= m.to {
			parts := slices.DeleteFunc([]span{{m.from, s - 1}, {s + 1, m.to}}, func(p span) bool { return p.from > p.to })
			l.missing = slices.Replace(l.missing, i, i+1, parts...)
			return
		}
	}
}

// Gap is a range of missing records. Without Stream, all subscribed records from From to To are missing. With Stream,
// record To is missing, and so may be any earlier record of the range that belongs to that stream.
type Gap struct {
	Log      events.Identity
	Stream   events.Stream   // the stream of the records; zero for all subscribed ones
	From, To events.Sequence // first and last record of the range; From is 0 when the beginning is unknown
	Floor    events.Sequence // records before it were perhaps never published, because the log no longer had them
}

// Published reports whether some of the missing records were published, and later lost or deleted from the stream.
func (g Gap) Published() bool { return g.To >= g.Floor }

// String returns a sentence that says which records are missing.
func (g Gap) String() string {
	what, is, was := fmt.Sprintf("records %d to %d", g.From, g.To), "are", "were"
	switch {
	case g.From == 0:
		what = fmt.Sprintf("records up to %d", g.To)
	case g.From == g.To:
		what, is, was = fmt.Sprintf("record %d", g.To), "is", "was"
	}
	if g.Stream != (events.Stream{}) {
		what += " of " + g.Stream.String()
	}
	switch {
	case !g.Published():
		return fmt.Sprintf("%s %s never published: the log did not keep them until then", what, was)
	case g.From < g.Floor:
		return fmt.Sprintf("%s %s missing; what is older than %d was perhaps never published", what, is, g.Floor)
	}
	return fmt.Sprintf("%s %s missing", what, is)
}
