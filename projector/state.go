package projector

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

var deterministic = proto.MarshalOptions{Deterministic: true}

// StreamState encodes what the world says about a stream other than the controller's: facts, and the names that belong
// to them. ok is false when it holds nothing of the stream.
func (w *World) StreamState(s events.Stream) (facts, names []byte, ok bool) {
	subject := w.Subject(s)
	if subject == nil {
		return nil, nil, false
	}
	facts, names = encode(subject.toWire())
	return facts, names, true
}

// RefOf names the Job of a stream, as far as the world knows it.
func (w *World) RefOf(s events.Stream) events.JobRef {
	if subject := w.Subject(s); subject != nil {
		return subject.Reference()
	}
	if p := w.stated.parts[s]; p != nil {
		return p.ref
	}
	return events.JobRef{}
}

func encode(facts *pb.JobState, names *pb.StateNames) (f, n []byte) {
	return marshal(facts), marshal(names)
}

// ControllerState encodes what the world says about the controller itself, for a snapshot: with the specs that later
// records may refer to.
func (w *World) ControllerState() []byte {
	s := w.controllerToWire()
	for _, k := range w.specs.sorted() {
		s.Specs = append(s.Specs, &pb.SpecState{Spec: events.SpecToWire(k.spec.Apart()), At: uint64(k.at)})
	}
	for _, k := range w.specs.sortedPolicies() {
		s.Policies = append(s.Policies, &pb.PoliciesState{Policies: events.PoliciesToWire(k.policies), At: uint64(k.at)})
	}
	for _, hash := range slices.Sorted(maps.Keys(w.specs.templates)) {
		s.Templates = append(s.Templates, &pb.TemplateState{Hash: hash, At: uint64(w.specs.templates[hash])})
	}
	s.Zones = w.zonesToWire(func(events.ZoneName) bool { return true })
	return marshal(s)
}

// ControllerFacts encodes the same without specs, for the state record with which a file begins: a file stores specs of
// its own.
func (w *World) ControllerFacts() []byte {
	s := w.controllerToWire()
	s.Zones = w.zonesToWire(w.zonesInUse())
	return marshal(s)
}

// worldValue is a part of what the log says of the controller, and is stored by itself.
type worldValue interface {
	toWire(s *pb.WorldState)
	fromWire(s *pb.WorldState)
}

// values are those parts.
func (w *World) values() []worldValue {
	return []worldValue{&w.life, &w.view, &w.Rival, &w.stated, &w.watch, &w.around}
}

func (w *World) controllerToWire() *pb.WorldState {
	s := &pb.WorldState{Now: int64(w.Now), Filed: uint64(w.specs.since)}
	for _, v := range w.values() {
		v.toWire(s)
	}
	w.budgets.toWire(s, w.Now, w.Settings.NamespaceBudget)
	return s
}

func marshal(m proto.Message) []byte {
	b, err := deterministic.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("projector: encode state: %v", err)) // only text that is not UTF-8 could fail; facts hold none
	}
	return b
}

// StreamAt is the state of one stream in a snapshot, as of a record. Without facts the stream held nothing then.
type StreamAt struct {
	Stream       events.Stream
	AsOf         events.Sequence
	Facts, Names []byte
}

// Streams are all streams that the world knows, in the order in which they began; retired Jobs last.
func (w *World) Streams() []events.Stream {
	var out []events.Stream
	for _, s := range w.Subjects() {
		out = append(out, s.ID())
	}
	for r := range w.RetiredJobs() {
		out = append(out, r.ID())
	}
	return out
}

// Restore makes a world from a snapshot. What it returns is not yet the world of any prefix, since each stream has its
// own as-of record: the records after from are to be applied, and those that a stream has already are passed over. A
// state with a number that no record can have is an error: nothing behind it expects such a number.
func Restore(streams []StreamAt) (w *World, from events.Sequence, err error) {
	for _, s := range streams {
		if err := events.CheckState(s.Stream, s.Facts, s.Names); err != nil {
			return nil, 0, fmt.Errorf("decode state of %s: %w", s.Stream, err)
		}
	}
	w = NewWorld()
	w.floors = make(map[events.Stream]events.Sequence, len(streams))
	w.specs.keep, w.zones.keep = true, true
	for _, s := range streams {
		if s.Stream == events.Controller {
			if err := w.restoreController(s.Facts, s.AsOf); err != nil {
				return nil, 0, err
			}
		}
	}
	from = w.Head
	for _, s := range streams {
		w.floors[s.Stream] = s.AsOf
		from = min(from, s.AsOf)
		if s.Stream != events.Controller && len(s.Facts) > 0 {
			if err := w.RestoreStream(s.Stream, s.Facts, s.Names); err != nil {
				return nil, 0, err
			}
		}
	}
	return w, from, nil
}

// Recovered ends a recovery: every record of the log has been applied. Streams of a snapshot are as of different
// records, so one that a pod left may have told of it last: where each pod is is found again.
func (w *World) Recovered() {
	w.floors = nil
	w.sortStated()
	w.specs.keep, w.zones.keep = false, false
	w.specs.pruneAll()
	w.recoverCrons()
	clear(w.homes)
	for _, j := range w.Holders() {
		for _, p := range j.byUID {
			if !p.Gone {
				w.homes[p.UID] = j.Stream
			}
		}
	}
}

// restoreController takes over what ControllerState gave; through is the record that it is as of.
func (w *World) restoreController(b []byte, through events.Sequence) error {
	var s pb.WorldState
	if err := proto.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("decode the controller's state: %w", err)
	}
	w.Head, w.Now = through, events.Time(s.GetNow())
	for _, v := range w.values() {
		v.fromWire(&s)
	}
	w.budgets.fromWire(&s)
	w.specs.since = events.Sequence(s.GetFiled())
	for _, z := range s.GetZones() {
		w.zones.store(events.ZoneFromWire(z.GetRules()), events.Sequence(z.GetAt()))
	}
	for _, k := range s.GetTemplates() {
		w.specs.templates[k.GetHash()] = events.Sequence(k.GetAt())
	}
	for _, k := range s.GetPolicies() { // before the specs that have them
		w.specs.storePolicies(events.PoliciesFromWire(k.GetPolicies()), events.Sequence(k.GetAt()))
	}
	for _, k := range s.GetSpecs() {
		w.specs.store(events.SpecFromWire(k.GetSpec()), events.Sequence(k.GetAt()))
	}
	return nil
}

// beginFile folds the state of the controller, with which a file of the log begins. For a reader that begins with this
// file it is all there is.
func (w *World) beginFile(rec *events.Record, f *events.StoredState) {
	used := func(events.ZoneName) bool { return true } // what the file has of zones is all that CronJobs name
	if w.Identity == (events.Identity{}) {
		_ = w.restoreController(f.Encoded, rec.Sequence) // DecodeRecord has checked it
		w.previous, w.Now = rec.Sequence, rec.Time
	} else {
		used = w.zonesInUse()
	}
	w.specs.filed(rec.Sequence)
	w.zones.filed(rec.Sequence, used)
	w.unpart()
}
