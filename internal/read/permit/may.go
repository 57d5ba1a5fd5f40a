package permit

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// mostKept is the largest size of each cache of a Source; a full cache is cleared. One request needs far less.
const mostKept = 100_000

// may reports whether the user may read the records of a stream.
func (s *Source) may(ctx context.Context, stream events.Stream) (bool, error) {
	switch stream.Kind {
	case events.StreamController:
		return true, nil
	case events.StreamNamespace:
		return stream.ID == s.right.Namespace, nil
	case events.StreamJob, events.StreamCronJob:
	}
	s.mu.Lock()
	verdict, known := s.verdicts[stream]
	s.mu.Unlock()
	if known {
		return verdict, nil
	}
	verdict, err := s.look(ctx, stream)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.verdicts) >= mostKept {
		clear(s.verdicts)
	}
	s.verdicts[stream] = verdict
	return verdict, nil
}

// beginWithin is how many records at the beginning of a stream are searched for the creation time of its object.
const beginWithin = 16

// look decides whether a stream may be read, by the namespace and the creation time of its object. It reads these from
// the first records of the stream. If they are not there, because they were erased, the stream may not be read.
func (s *Source) look(ctx context.Context, stream events.Stream) (bool, error) {
	names := history.NamesOf(ctx, s.all)
	if names.Job(stream).Namespace != s.right.Namespace {
		return false, nil
	}
	if s.right.Since == 0 {
		return true, nil
	}
	for r, err := range s.all.Records(ctx, history.Query{Stream: &stream, Limit: beginWithin}) {
		if err != nil {
			return false, err
		}
		if made := madeAt(&r); made != 0 {
			return made >= s.right.Since, nil
		}
	}
	return false, nil
}

// madeAt returns when the object of a stream was created, by the API server's clock; 0 if record r does not tell.
func madeAt(r *events.Record) events.Time {
	if f, is := r.Facts.(*events.JobSeen); is {
		return f.Created
	}
	if f, is := r.Facts.(*events.CronJobSeen); is {
		return f.Created
	}
	f, is := r.Facts.(*events.StoredState)
	var state pb.JobState
	if !is || proto.Unmarshal(f.Encoded, &state) != nil {
		return 0
	}
	if cron := state.GetCronJob(); cron != nil {
		return events.Time(cron.GetFacts().GetCreated())
	}
	return events.Time(state.GetCreated())
}

// row reports whether the user may see a row of a list. The caller has checked the namespace; row checks the creation
// time.
func (s *Source) row(ctx context.Context, made events.Time, kind events.StreamKind, uid string) (bool, error) {
	switch {
	case s.right.Since == 0:
		return true, nil
	case made != 0:
		return made >= s.right.Since, nil
	}
	return s.may(ctx, events.Stream{Kind: kind, ID: uid})
}

// lets reports whether the user may read record r. It removes from r what is about other namespaces.
func (s *Source) lets(ctx context.Context, r *events.Record) (bool, error) {
	switch r.Stream.Kind {
	case events.StreamController:
		return s.ofController(ctx, r)
	case events.StreamNamespace:
		return r.Stream.ID == s.right.Namespace && r.Time >= s.right.Since, nil
	case events.StreamJob, events.StreamCronJob:
	}
	mine := r.Evidence.Namespace == "" || r.Evidence.Namespace == s.right.Namespace
	if mine {
		may, err := s.may(ctx, r.Stream)
		if err != nil || may {
			s.refer(r)
			return may, err
		}
	}
	if r.Kind != events.KindZoneStored {
		return false, nil
	}
	// The rules of a time zone are stored once, in the stream of the first CronJob that uses the zone. Hide this
	// stream.
	r.Stream, r.Evidence, r.Causes, r.Previous = events.Controller, events.Evidence{}, nil, 0
	return true, nil
}

// refer remembers which records store the spec of r. They may be in a stream that the user may not read, but these
// records may then be read by their number.
func (s *Source) refer(r *events.Record) {
	var to []events.Sequence
	if f, is := r.Facts.(*events.JobSeen); is {
		to = append(to, f.SpecAt)
	}
	if _, is := r.Facts.(*events.JobSpec); is {
		to = r.Causes
	}
	if len(to) == 0 || s.right.Since == 0 { // without Since, all records of the namespace may be read
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.referred) >= mostKept {
		clear(s.referred)
	}
	for _, at := range to {
		s.referred[at] = true
	}
}

func (s *Source) wasReferred(at events.Sequence) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.referred[at]
}

// ofController reports whether the user may read a record of the controller. It removes from r what is about other
// namespaces.
func (s *Source) ofController(ctx context.Context, r *events.Record) (bool, error) {
	if r.Kind == events.KindPassedOver {
		of := r.Evidence.Namespace
		return of == "" || of == s.right.Namespace && r.Time >= s.right.Since, nil
	}
	if f, is := r.Facts.(*events.NamespaceSeen); is {
		return f.Name == s.right.Namespace && r.Time >= s.right.Since, nil
	}
	if f, is := r.Facts.(*events.RivalFound); is {
		kept, err := s.acts(ctx, f.Acts)
		r.Facts, r.Evidence = &events.RivalFound{Acts: kept}, events.Evidence{}
		return true, err
	}
	if f, is := r.Facts.(*events.LossFound); is {
		r.Facts = &events.LossFound{Loss: nameless(f.Loss)}
	}
	if f, is := r.Facts.(*events.EpochChanged); is {
		epoch := *f
		epoch.Lost, epoch.Rewind.Object = nameless(f.Lost), ""
		r.Facts = &epoch
	}
	f, is := r.Facts.(*events.StoredState)
	if !is {
		return true, nil
	}
	state, err := s.state(f)
	r.Facts, r.Evidence = state, events.Evidence{}
	return true, err
}

// nameless returns loss without the Job and the pod that prove it, which may be of another namespace.
func nameless(loss events.Loss) events.Loss {
	loss.Job, loss.Ordinal, loss.Pod = "", 0, ""
	return loss
}

// acts returns those acts of another controller that are on Jobs which the user may read.
func (s *Source) acts(ctx context.Context, all []events.RivalAct) (kept []events.RivalAct, err error) {
	for _, a := range all {
		may, err := s.may(ctx, events.JobStream(a.Job))
		if err != nil && !errors.Is(err, store.ErrPruned) {
			return nil, err
		}
		if may {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// state returns the controller's checkpoint without what it has of other namespaces. It also removes the specs: a
// reader finds them in the records that store them.
func (s *Source) state(f *events.StoredState) (*events.StoredState, error) {
	var world pb.WorldState
	if err := proto.Unmarshal(f.Encoded, &world); err != nil {
		return nil, err
	}
	world.Specs, world.Templates, world.Policies, world.Shares, world.RivalActs = nil, nil, nil, nil, nil
	var kept []*pb.NamespaceSeen
	for _, n := range world.GetNamespaces() {
		if n.GetName() == s.right.Namespace && events.Time(n.GetDeleted()) >= s.right.Since {
			kept = append(kept, n)
		}
	}
	world.Namespaces = kept
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(&world)
	return &events.StoredState{Encoded: encoded}, err
}
