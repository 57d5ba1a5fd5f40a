package cronjob

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Zones holds versions of time zone rules, by name and hash: of the zones that CronJobs name, and of those that the
// newest file of the log stores.
type Zones struct {
	known map[events.ZoneName]storedZone
	Keep  bool // keep all zones: during a recovery, later records may name any of them
}

type storedZone struct {
	rules *events.ZoneRules
	where *time.Location  // nil if the rules are unreadable
	at    events.Sequence // record of the newest file that has the rules, also as part of a state; else 0
}

// NewZones returns Zones without any rules.
func NewZones() *Zones { return &Zones{known: map[events.ZoneName]storedZone{}} }

// Store adds the rules of a time zone, which the record at stores.
func (z *Zones) Store(rules *events.ZoneRules, at events.Sequence) {
	name := events.ZoneName{Name: rules.Name, Hash: rules.Hash}
	known, ok := z.known[name]
	if !ok {
		known.rules = rules
		known.where, _ = schedule.Load(rules.Name, rules.TZif)
	}
	known.at = at
	z.known[name] = known
}

// Filed handles the beginning of a new file at record first. That record has the rules of the zones that are used.
func (z *Zones) Filed(first events.Sequence, used func(events.ZoneName) bool) {
	for name, known := range z.known {
		switch {
		case used(name):
			known.at = first
			z.known[name] = known
		case !z.Keep:
			delete(z.known, name)
		}
	}
}

// At returns the newest record that stores the rules of a zone; ok is false if none is known.
func (z *Zones) At(name events.ZoneName) (at events.Sequence, ok bool) {
	known, ok := z.known[name]
	return known.at, ok
}

// Prune drops the rules that are neither used nor stored in the newest file, which began with record since.
func (z *Zones) Prune(since events.Sequence, used func(events.ZoneName) bool) {
	for name, known := range z.known {
		if !used(name) && known.at < since {
			delete(z.known, name)
		}
	}
}

// ToWire encodes the zones for which which returns true, sorted by name.
func (z *Zones) ToWire(which func(events.ZoneName) bool) (out []*pb.ZoneState) {
	names := slices.SortedFunc(maps.Keys(z.known), func(a, b events.ZoneName) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	for _, name := range names {
		if known := z.known[name]; which(name) {
			out = append(out, &pb.ZoneState{Rules: events.ZoneToWire(known.rules), At: uint64(known.at)})
		}
	}
	return out
}

// UseZones adds to used the time zones of the CronJob's spec, of its recorded due times, and of its earlier schedules
// whose due times are not all recorded.
func (c *CronJob) UseZones(used map[events.ZoneName]bool) {
	for _, z := range c.Seen.Zones {
		used[z] = true
	}
	hashes := map[string]bool{c.Ledger.Zone: true}
	for i := range c.Sight.Past {
		hashes[c.Sight.Past[i].Zone] = true
	}
	for name := range c.zones.known {
		if hashes[name.Hash] {
			used[name] = true
		}
	}
}
