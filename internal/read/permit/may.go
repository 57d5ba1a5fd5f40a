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

// mostKept is the largest number of entries in each cache of a Source; a full cache is cleared. One request needs far
// fewer.
const mostKept = 100_000

// may reports whether the user may read the records of a stream (the records about one object).
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

// beginWithin limits look: it searches the first 16 records of an object for its creation time.
const beginWithin = 16

// look decides whether the user may read a stream, by the namespace and the creation time of its object. It reads these
// from the first records of the stream. If they were erased there, the user may not read it.
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

// madeAt returns when the object of record r was created, by the API server's clock; 0 if the record does not tell.
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

// row reports whether the user may see an object in a list, by its creation time made. The caller has already checked
// the namespace.
func (s *Source) row(ctx context.Context, made events.Time, kind events.StreamKind, uid string) (bool, error) {
	switch {
	case s.right.Since == 0:
		return true, nil
	case made != 0:
		return made >= s.right.Since, nil
	}
	return s.may(ctx, events.Stream{Kind: kind, ID: uid})
}

// lets reports whether the user may read record r. It also removes from r what is about other namespaces.
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
	// The rules of a time zone are stored once for all, in the stream of the first CronJob that uses the zone. That
	// CronJob may be in another namespace, so hide which one it is.
	r.Stream, r.Evidence, r.Causes, r.Previous = events.Controller, events.Evidence{}, nil, 0
	return true, nil
}

// refer remembers which records store the spec that r refers to. A spec is stored once for all Jobs with it, perhaps in
// a stream that the user may not read. The user may then read that record, but only by its number.
func (s *Source) refer(r *events.Record) {
	var to []events.Sequence
	if f, is := r.Facts.(*events.JobSeen); is {
		to = append(to, f.SpecAt)
	}
	if _, is := r.Facts.(*events.JobSpec); is {
		to = r.Causes
	}
	if len(to) == 0 || s.right.Since == 0 { // if Since is 0, the user may read all records of the namespace anyway
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

// ofController reports whether the user may read a record about the controller itself. It also removes from r what is
// about other namespaces.
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

// nameless returns loss (the proof that the log has lost records) without the Job and the pod that prove it: they may
// be of another namespace.
func nameless(loss events.Loss) events.Loss {
	loss.Job, loss.Ordinal, loss.Pod = "", 0, ""
	return loss
}

// acts returns, of what another controller did, only what concerns Jobs that the user may read.
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

// state returns a checkpoint (a record with the controller's whole state) without its parts about other namespaces. It
// also removes the specs, which a reader finds in other records.
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
