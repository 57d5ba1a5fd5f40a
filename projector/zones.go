package projector

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// zones holds the rules of time zones by name and hash: those that CronJobs name, and those that the newest file
// stores.
type zones struct {
	known map[events.ZoneName]storedZone
	keep  bool // keep all: during a recovery, later records may name any
}

type storedZone struct {
	rules *events.ZoneRules
	where *time.Location  // nil if the rules are unreadable
	at    events.Sequence // record of the newest file that stores them, or the controller's state with them; else 0
}

func newZones() *zones { return &zones{known: map[events.ZoneName]storedZone{}} }

func (z *zones) store(rules *events.ZoneRules, at events.Sequence) {
	name := events.ZoneName{Name: rules.Name, Hash: rules.Hash}
	known, ok := z.known[name]
	if !ok {
		known.rules = rules
		known.where, _ = schedule.Load(rules.Name, rules.TZif)
	}
	known.at = at
	z.known[name] = known
}

// filed begins a new file with the controller's state, which has all zones that CronJobs name.
func (z *zones) filed(first events.Sequence, used func(events.ZoneName) bool) {
	for name, known := range z.known {
		switch {
		case used(name):
			known.at = first
			z.known[name] = known
		case !z.keep:
			delete(z.known, name)
		}
	}
}

// zonesInUse returns a function that reports whether a CronJob or its ledger uses a zone.
func (w *World) zonesInUse() func(events.ZoneName) bool {
	used := map[events.ZoneName]bool{}
	for _, s := range w.subjects {
		c, ok := s.(*CronJob)
		if !ok {
			continue
		}
		for _, z := range c.Seen.Zones {
			used[z] = true
		}
		hashes := map[string]bool{c.Ledger.Zone: true}
		for i := range c.Sight.Past {
			hashes[c.Sight.Past[i].Zone] = true
		}
		for name := range w.zones.known {
			if hashes[name.Hash] {
				used[name] = true
			}
		}
	}
	return func(z events.ZoneName) bool { return used[z] }
}

// zonesToWire encodes the zones that which selects, by name.
func (w *World) zonesToWire(which func(events.ZoneName) bool) (out []*pb.ZoneState) {
	names := slices.SortedFunc(maps.Keys(w.zones.known), func(a, b events.ZoneName) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	for _, name := range names {
		if known := w.zones.known[name]; which(name) {
			out = append(out, &pb.ZoneState{Rules: events.ZoneToWire(known.rules), At: uint64(known.at)})
		}
	}
	return out
}

// recoverCrons parses schedules again, because a snapshot's CronJob may name a zone that a later record stored. It
// drops zones that are neither used nor in the newest file, as a program without a snapshot would.
func (w *World) recoverCrons() {
	clear(w.runs)
	for _, s := range w.subjects {
		c, ok := s.(*CronJob)
		if !ok {
			continue
		}
		c.replan()
		for uid := range c.Runs {
			w.runs[uid] = c.Stream
		}
	}
	used := w.zonesInUse()
	for name, known := range w.zones.known {
		if !used(name) && known.at < w.specs.since {
			delete(w.zones.known, name)
		}
	}
}
