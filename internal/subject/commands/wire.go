package commands

import (
	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// FlightToWire encodes a command in flight; nil for none. It appends the texts in the command to names.Texts.
func FlightToWire(f *Flight, names *pb.StateNames) *pb.Flight {
	if f == nil {
		return nil
	}
	w := &pb.Flight{
		Name: events.CommandNameToWire(f.Name()), Command: events.CommandToWire(f.Command, &names.Texts), Since: int64(f.Since),
	}
	if f.InBackoff() && f.Command.Traits().Backoff == events.BackoffOwn {
		w.Refused, w.Cancelled = RetryToWire(f.Refused), f.Cancelled
	}
	return w
}

// RetryToWire encodes a backoff for a stored state; nil if it is empty.
func RetryToWire(r *Retry) *pb.Retry {
	if r == nil || *r == (Retry{}) {
		return nil
	}
	return &pb.Retry{
		Class: pb.RefusalClass(r.Class), Count: r.Count, Until: int64(r.Until), Since: int64(r.Since), Noted: int64(r.Noted),
	}
}

// RetryFromWire decodes a backoff from a stored state.
func RetryFromWire(w *pb.Retry) Retry {
	return Retry{
		Class: events.RefusalClass(w.GetClass()), Count: w.GetCount(), Until: events.Time(w.GetUntil()),
		Since: events.Time(w.GetSince()), Noted: events.Time(w.GetNoted()),
	}
}

// FlightFromWire decodes a command in flight; nil for none. texts are the texts that FlightToWire appended.
func FlightFromWire(w *pb.Flight, texts []string) (*Flight, error) {
	if w == nil {
		return nil, nil
	}
	c, err := events.CommandFromWire(w.GetCommand(), texts)
	if err != nil {
		return nil, err
	}
	f := NewFlight(events.CommandNameFromWire(w.GetName()), c, events.Time(w.GetSince()))
	if w.GetRefused() != nil {
		retry := RetryFromWire(w.GetRefused())
		f.Refused, f.Cancelled = &retry, w.GetCancelled()
	}
	return f, nil
}
