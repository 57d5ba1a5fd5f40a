package projector

import (
	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// life is what the log's records say about the log itself and about the process that writes it. World embeds it.
type life struct {
	Identity events.Identity
	Term     uint64 // number of the newest process that wrote the log; 0 before terms were recorded
	Settings events.Settings
	Program  string      // version of the newest process
	Rules    uint32      // version of that process's decision rules
	Fold     uint32      // FoldVersion of that process
	Key      string      // ID of the key with which that process hashes specs and templates
	Lost     events.Loss // records known to be missing, zero for none; if any are, nothing is decided
	// Rewound is the newest record at which all state of the cluster was forgotten, because the cluster or the log went
	// back in time; 0 if the world began with a later snapshot.
	Rewound events.Sequence

	previous events.Sequence // newest record of the controller's own stream
}

// apply updates l by a record of the controller's own stream.
func (l *life) apply(rec *events.Record) {
	l.previous = rec.Sequence
	switch f := rec.Facts.(type) {
	case *events.LogCreated:
		l.Identity = events.Identity{LogID: f.LogID, Epoch: f.Epoch}
	case *events.EpochChanged:
		l.Identity.Epoch, l.Lost, l.Rewound = f.Epoch, events.Loss{}, rec.Sequence
		// If the log lost records, these may have begun terms, too: the newest term is not known any more
		if f.Reason == events.EpochRestored {
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

// ToWire adds the fields of l to the encoded state of the controller.
func (l *life) ToWire(s *pb.WorldState) {
	s.LogId, s.Epoch, s.Term, s.Settings = l.Identity.LogID, l.Identity.Epoch, l.Term, events.SettingsToWire(&l.Settings)
	s.Program, s.Rules, s.Fold, s.Key, s.Previous = l.Program, l.Rules, l.Fold, l.Key, uint64(l.previous)
}

// FromWire takes the fields of l from the encoded state of the controller.
func (l *life) FromWire(s *pb.WorldState) {
	l.Identity = events.Identity{LogID: s.GetLogId(), Epoch: s.GetEpoch()}
	l.Term, l.Settings = s.GetTerm(), events.SettingsFromWire(s.GetSettings())
	l.Program, l.Rules, l.Fold, l.Key = s.GetProgram(), s.GetRules(), s.GetFold(), s.GetKey()
	l.previous = events.Sequence(s.GetPrevious())
}
