package cronjob

import (
	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Told holds the records that are cited when a user asks about a CronJob. It is part of the stored state, so an answer
// from a stored state is the same as one from the first record on. No decision depends on it.
type Told struct {
	Due   events.Tick     // newest due time with a recorded fate (what became of it); not a run that a user asked for
	DueAt events.Sequence // the record that says so; 0 for none
	// Held is the record since which something keeps the open due time from starting; zero if nothing does.
	Held    Place
	Backoff Place           // record of the failure that began the newest backoff; zero for none
	Decided events.Sequence // record of the newest decision
	// Failed has the newest failure of each sort of command, if no command of the sort has succeeded since.
	Failed [events.MaxSort + 1]events.Sequence
}

// Place is a record, and its time.
type Place struct {
	At   events.Sequence
	Time events.Time
}

func (p Place) toWire() *pb.Told {
	if p == (Place{}) {
		return nil
	}
	return &pb.Told{Record: uint64(p.At), At: int64(p.Time)}
}

func placeFromWire(w *pb.Told) Place {
	return Place{events.Sequence(w.GetRecord()), events.Time(w.GetAt())}
}

func (t *Told) toWire() *pb.CronTold {
	if *t == (Told{}) {
		return nil
	}
	w := &pb.CronTold{
		DueAt: uint64(t.DueAt), Held: t.Held.toWire(), Backoff: t.Backoff.toWire(), Decided: uint64(t.Decided),
		CreateFailed: uint64(t.Failed[events.SortCreate]), ChangeFailed: uint64(t.Failed[events.SortChange]),
		WriteFailed: uint64(t.Failed[events.SortWrite]),
	}
	if t.DueAt != 0 {
		w.Due = events.TickToWire(&t.Due)
	}
	return w
}

func toldFromWire(w *pb.CronTold) (t Told) {
	if w.GetDue() != nil {
		t.Due = events.TickFromWire(w.GetDue())
	}
	t.DueAt, t.Decided = events.Sequence(w.GetDueAt()), events.Sequence(w.GetDecided())
	t.Held, t.Backoff = placeFromWire(w.GetHeld()), placeFromWire(w.GetBackoff())
	t.Failed[events.SortCreate] = events.Sequence(w.GetCreateFailed())
	t.Failed[events.SortChange] = events.Sequence(w.GetChangeFailed())
	t.Failed[events.SortWrite] = events.Sequence(w.GetWriteFailed())
	return t
}
