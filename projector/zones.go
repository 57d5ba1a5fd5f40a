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

// zones are the rules of time zones by name and content: those that CronJobs name, and those that the log's newest file
// stores.
type zones struct {
	known map[events.ZoneName]storedZone
	keep  bool // all are kept: a recovery may yet come to a record that names one
}

type storedZone struct {
	rules *events.ZoneRules
	where *time.Location  // nil when the rules cannot be read
	at    events.Sequence // the record of the newest file that stores them, or states them with the controller; else 0
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

// filed begins a new file with the state of the controller, which has all zones that CronJobs name.
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

// zonesInUse says which CronJobs name, and by which their ledgers count.
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

// zonesToWire are the zones that which says, by name.
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

// recoverCrons reads schedules again: a CronJob of a snapshot may name a zone that a later record stored. Zones that
// none names and the newest file does not store are dropped, as a program drops them that did not begin with a
// snapshot.
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
