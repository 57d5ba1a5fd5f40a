package projector

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

var deterministic = proto.MarshalOptions{Deterministic: true}

// StreamState encodes the state of one stream (a Job, a CronJob, or the orphan pods of a namespace) for a snapshot:
// facts are what decisions read, names are texts for people. ok is false if the world has no state of the stream.
func (w *World) StreamState(s events.Stream) (facts, names []byte, ok bool) {
	subject := w.Subject(s)
	if subject == nil {
		return nil, nil, false
	}
	facts, names = encode(subject.toWire())
	return facts, names, true
}

// RefOf returns the namespace and name of the Job or CronJob s, as far as known.
func (w *World) RefOf(s events.Stream) events.JobRef {
	if subject := w.Subject(s); subject != nil {
		return subject.Reference()
	}
	if p := w.stated.parts[s]; p != nil {
		return p.ref
	}
	return events.JobRef{}
}

// namespaceOf returns the namespace that a record concerns. s is the state of the Job, CronJob or namespace that the
// record is about, or nil.
func (w *World) namespaceOf(rec *events.Record, s Subject) string {
	switch {
	case rec.Evidence.Namespace != "":
		return rec.Evidence.Namespace
	case s != nil:
		return s.Reference().Namespace
	default:
		return w.RefOf(rec.Stream).Namespace
	}
}

func encode(facts *pb.JobState, names *pb.StateNames) (f, n []byte) {
	return marshal(facts), marshal(names)
}

// ControllerState encodes the controller's own state for a snapshot, including the Job specs that later records may
// refer to.
func (w *World) ControllerState() []byte {
	s := w.controllerToWire()
	w.specs.ToWire(s)
	s.Zones = w.zones.ToWire(func(events.ZoneName) bool { return true })
	return marshal(s)
}

// ControllerFacts encodes the controller's own state without Job specs, for the StateStored record at the start of a
// file. The specs are not needed there: each file stores those that its records refer to.
func (w *World) ControllerFacts() []byte {
	s := w.controllerToWire()
	s.Zones = w.zones.ToWire(w.zonesInUse())
	return marshal(s)
}

// ControllerInPart encodes the controller's own state without Job specs, for a world that may hold only some CronJobs.
// It has the rules of all known time zones, because CronJobs that the world does not hold yet may name them.
func (w *World) ControllerInPart() []byte {
	s := w.controllerToWire()
	s.Zones = w.zones.ToWire(func(events.ZoneName) bool { return true })
	return marshal(s)
}

// worldValue is a part of the controller's state with its own encoding.
type worldValue interface {
	ToWire(s *pb.WorldState)
	FromWire(s *pb.WorldState)
}

// values returns the parts of the controller's own state that encode themselves.
func (w *World) values() []worldValue {
	return []worldValue{&w.life, &w.view, &w.Rival, &w.stated, &w.watch, &w.Around}
}

func (w *World) controllerToWire() *pb.WorldState {
	s := &pb.WorldState{Now: int64(w.Now), Filed: uint64(w.specs.Since())}
	for _, v := range w.values() {
		v.ToWire(s)
	}
	w.budgets.ToWire(s, w.Now, w.Settings.NamespaceBudget)
	return s
}

func marshal(m proto.Message) []byte {
	b, err := deterministic.Marshal(m)
	if err != nil {
		// Only a text that is not UTF-8 fails, and a state has none
		panic(fmt.Sprintf("projector: encode state: %v", err))
	}
	return b
}

// StreamAt is the state of one Job, CronJob or namespace in a snapshot, encoded by StreamState. It includes the records
// through AsOf. Facts is empty if there was no state then.
type StreamAt struct {
	Stream       events.Stream
	AsOf         events.Sequence
	Facts, Names []byte
}

// Streams returns the names of all known Jobs, CronJobs and namespaces with orphan pods, in the order in which they
// began; Jobs without work left come last.
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

// Restore returns a world from a snapshot. The state of each Job and CronJob in a snapshot includes the records through
// a sequence of its own (StreamAt.AsOf), so the world is not yet the state at any one record. The caller must apply all
// records after from, and then call Recovered. Apply skips records that a state already includes. Restore returns an
// error if a state cannot be decoded or has a number that no record can have.
func Restore(streams []StreamAt) (w *World, from events.Sequence, err error) {
	for _, s := range streams {
		if err := events.CheckState(s.Stream, s.Facts, s.Names); err != nil {
			return nil, 0, fmt.Errorf("decode state of %s: %w", s.Stream, err)
		}
	}
	w = NewWorld()
	w.floors = make(map[events.Stream]events.Sequence, len(streams))
	w.specs.Keep, w.zones.Keep = true, true
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

// Recovered ends a recovery that Restore began. Call it after every record of the log was applied. It rebuilds the
// index from each pod to its Job: states in a snapshot may disagree about a pod that moved, because each is of another
// moment.
func (w *World) Recovered() {
	w.floors = nil
	w.sortStated()
	w.specs.Keep, w.zones.Keep = false, false
	w.specs.PruneAll()
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

// restoreController restores the controller's own state, encoded by ControllerState, which includes the records through
// the sequence through.
func (w *World) restoreController(b []byte, through events.Sequence) error {
	var s pb.WorldState
	if err := proto.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("decode the controller's state: %w", err)
	}
	w.Head, w.Now = through, events.Time(s.GetNow())
	for _, v := range w.values() {
		v.FromWire(&s)
	}
	w.budgets.FromWire(&s)
	for _, z := range s.GetZones() {
		w.zones.Store(events.ZoneFromWire(z.GetRules()), events.Sequence(z.GetAt()))
	}
	w.specs.FromWire(&s)
	return nil
}

// beginFile handles the StateStored record with the controller's own state, with which each file of the log begins. A
// reader that starts at this file knows nothing yet, and restores that state.
func (w *World) beginFile(rec *events.Record, f *events.StoredState) {
	// For a reader that starts at this file, all zones count as used: the file has exactly the zones that CronJobs name
	used := func(events.ZoneName) bool { return true }
	if w.Identity == (events.Identity{}) {
		_ = w.restoreController(f.Encoded, rec.Sequence) // CheckState has checked it in DecodeRecord
		w.previous, w.Now = rec.Sequence, rec.Time
	} else {
		used = w.zonesInUse()
	}
	w.specs.Filed(rec.Sequence)
	w.zones.Filed(rec.Sequence, used)
	w.unpart()
}
