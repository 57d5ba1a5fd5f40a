package projector

import (
	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// life is what a log says of itself and of the process that works on it. The World has its fields as its own.
type life struct {
	Identity events.Identity
	Term     uint64 // of the process that works, or worked last; 0 before terms were recorded
	Settings events.Settings
	Program  string      // version of the program that works, or worked last
	Rules    uint32      // its rules version
	Fold     uint32      // its fold version
	Key      string      // ID of the key with which it hashes specs and templates
	Lost     events.Loss // records that the log is known to have lost; zero when there are none. Nothing is decided then
	// Rewound is the newest record by which all was forgotten that was learnt of the cluster before; 0 when a snapshot is
	// younger.
	Rewound events.Sequence

	previous events.Sequence // the controller stream's newest record
}

// apply folds a record of the controller's stream.
func (l *life) apply(rec *events.Record) {
	l.previous = rec.Sequence
	switch f := rec.Facts.(type) {
	case *events.LogCreated:
		l.Identity = events.Identity{LogID: f.LogID, Epoch: f.Epoch}
	case *events.EpochChanged:
		l.Identity.Epoch, l.Lost, l.Rewound = f.Epoch, events.Loss{}, rec.Sequence
		if f.Reason == events.EpochRestored { // terms of before may be lost
			l.Term = 0
		}
	case *events.TermStarted:
		l.Term = f.Term
	case *events.LossFound:
		l.Lost = f.Loss
	case *events.ControllerStarted:
		l.Settings, l.Program, l.Rules, l.Fold, l.Key = f.Settings, f.Version, f.RulesVersion, f.FoldVersion, f.Key
	}
}

func (l *life) toWire(s *pb.WorldState) {
	s.LogId, s.Epoch, s.Term, s.Settings = l.Identity.LogID, l.Identity.Epoch, l.Term, events.SettingsToWire(&l.Settings)
	s.Program, s.Rules, s.Fold, s.Key, s.Previous = l.Program, l.Rules, l.Fold, l.Key, uint64(l.previous)
}

func (l *life) fromWire(s *pb.WorldState) {
	l.Identity = events.Identity{LogID: s.GetLogId(), Epoch: s.GetEpoch()}
	l.Term, l.Settings = s.GetTerm(), events.SettingsFromWire(s.GetSettings())
	l.Program, l.Rules, l.Fold, l.Key = s.GetProgram(), s.GetRules(), s.GetFold(), s.GetKey()
	l.previous = events.Sequence(s.GetPrevious())
}
