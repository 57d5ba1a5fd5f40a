package subscribe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Order checks events, as they arrive, against what their headers say came before them. How much it can prove is a
// matter of what is subscribed to:
//
//   - All events of a cluster: their sequences are dense, so any that is missing shows at the next event.
//   - All events of some Jobs, namespaces or kinds of objects: each names the one before it of its stream, so a missing one
//     shows at the next event of that stream; the newest of a stream never shows.
//   - Only some kinds of events: a missing one does not show. Only duplicates do.
//
// It is not safe for concurrent use. Make one with NewOrder.
type Order struct {
	dense, chained bool
	lives          []life // the newest last
	known          events.Sequence
	streams        map[events.Stream]events.Sequence // the newest of each; when chained
}

// life is what is known of one life of a log.
type life struct {
	log     events.Identity
	from    events.Sequence // all that was asked for is expected from here on; 0 for from the first that comes
	last    events.Sequence // the newest that came
	missing []span          // what was reported so, and may come late
}

type span struct{ from, to events.Sequence }

// What Order remembers at most. Beyond it, it notices less and is never wrong.
const (
	maxLives   = 8
	maxMissing = 1024
	maxStreams = 1 << 16
)

// NewOrder checks a subscription with those filters; without any, one to all events of a cluster.
func NewOrder(filters ...nats.Filter) *Order {
	o := &Order{dense: len(filters) == 0, chained: true, streams: map[events.Stream]events.Sequence{}}
	for _, f := range filters {
		f.Cluster = ""
		o.dense = o.dense || f == nats.Filter{}
		o.chained = o.chained && f.Event == ""
	}
	return o
}

// Expect says that all from that record on should come. Unless it is called before the first Check, the first event is
// taken as the beginning; so it is with an ID of no log.
func (o *Order) Expect(first nats.ID) {
	if first.Log == (events.Identity{}) {
		return
	}
	from := max(first.Sequence, 1)
	o.lives = []life{{log: first.Log, from: from, last: from - 1}}
	o.known = from
	clear(o.streams)
}

// Finding is what Order has to say about an event.
type Finding struct {
	Duplicate bool    // it came before
	Late      bool    // it comes after later ones; it was reported missing, or is older than what was expected
	Gap       Gap     // what is missing right before it; zero when nothing is
	Before    nats.ID // of the first event of another life of the log, or of another log: the newest before that; else zero
}

// Check takes in the next event.
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

// suspects reports whether something may be missing before that event, by what is known now. It takes nothing in.
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

// older reports whether that is an earlier life of the log that goes on.
func (o *Order) older(log events.Identity) bool {
	if len(o.lives) == 0 {
		return false
	}
	now := o.lives[len(o.lives)-1].log
	return log.LogID == now.LogID && log.Epoch < now.Epoch
}

// begin begins a life with its first event, and gives the newest before it.
func (o *Order) begin(h *nats.Head) (before nats.ID) {
	l := life{log: h.ID.Log, from: 1}
	if len(o.lives) == 0 {
		l.from, l.last, o.known = h.ID.Sequence, h.ID.Sequence-1, h.ID.Sequence
	} else {
		old := o.lives[len(o.lives)-1]
		before = nats.ID{Log: old.log, Sequence: old.last}
		if old.log.LogID == l.log.LogID {
			l.from = min(old.from, h.ID.Sequence)
			l.last = old.last // as far as it holds; the records of streams go on from it
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

// gap is what is missing before an event that is newer than all before it.
func (o *Order) gap(h *nats.Head, l *life, before nats.ID) Gap {
	g := Gap{Log: h.ID.Log, Floor: h.Floor}
	switch {
	case o.dense:
		g.From, g.To = l.last+1, h.ID.Sequence-1
		if before.Log.LogID == h.ID.Log.LogID && g.From > g.To && h.Subject.Event != events.KindEpochChanged.String() {
			g.From = 0 // an epoch begins with the record that says so, and this is not it
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

// remember keeps the newest of each stream. When there are too many, those that have been quiet the longest are
// forgotten: of them only what was published since then is noticed to be missing.
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

// came reports whether that record came.
func (l *life) came(s events.Sequence) bool {
	return s >= l.from && s <= l.last && !slices.ContainsFunc(l.missing, func(m span) bool { return m.from <= s && s <= m.to })
}

// fill takes a record out of what is missing.
func (l *life) fill(s events.Sequence) {
	for i, m := range l.missing {
		if m.from <= s && s <= m.to {
			parts := slices.DeleteFunc([]span{{m.from, s - 1}, {s + 1, m.to}}, func(p span) bool { return p.from > p.to })
			l.missing = slices.Replace(l.missing, i, i+1, parts...)
			return
		}
	}
}

// Gap is a range of records; some of them did not come. Of a whole cluster's they are all between the bounds; of one
// stream's the last of them, and any before it that belong to that stream.
type Gap struct {
	Log      events.Identity
	Stream   events.Stream   // the records' stream; zero for all that was subscribed to
	From, To events.Sequence // both are missing; From is 0 when it is not known where the gap begins
	Floor    events.Sequence // what is older was perhaps never published, because the log no longer kept it
}

// Published reports whether something of the gap was published, and so lost on the way or deleted from the stream
// since.
func (g Gap) Published() bool { return g.To >= g.Floor }

// String says it for people.
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
