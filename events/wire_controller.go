package events

import (
	"errors"
	"time"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func logCreatedToWire(f *LogCreated) *pb.LogCreated {
	return &pb.LogCreated{LogId: f.LogID, Epoch: f.Epoch, Format: f.Format}
}

func logCreatedFromWire(w *pb.LogCreated) *LogCreated {
	return &LogCreated{LogID: w.GetLogId(), Epoch: w.GetEpoch(), Format: w.GetFormat()}
}

func termToWire(f *TermStarted) *pb.TermStarted {
	return &pb.TermStarted{Term: f.Term, Previous: hashToWire(f.Previous)}
}

func termFromWire(w *pb.TermStarted) *TermStarted {
	return &TermStarted{Term: w.GetTerm(), Previous: hashFromWire(w.GetPrevious())}
}

func refilledToWire(f *StreamRefilled) *pb.StreamRefilled {
	return &pb.StreamRefilled{From: uint64(f.From), Through: uint64(f.Through), Place: f.Place}
}

func refilledFromWire(w *pb.StreamRefilled) *StreamRefilled {
	return &StreamRefilled{From: Sequence(w.GetFrom()), Through: Sequence(w.GetThrough()), Place: w.GetPlace()}
}

func epochToWire(f *EpochChanged) *pb.EpochChanged {
	w := &pb.EpochChanged{Epoch: f.Epoch, Reason: pb.EpochReason(f.Reason)}
	if r := f.Rewind; r != (Rewind{}) {
		w.Rewind = &pb.Rewind{Resource: pb.Resource(r.Resource), Known: r.Known, Found: r.Found, Object: uidToWire(r.Object)}
	}
	w.Lost = lossToWire(&f.Lost)
	return w
}

func lossToWire(l *Loss) *pb.Loss {
	if *l == (Loss{}) {
		return nil
	}
	return &pb.Loss{
		Witness: pb.Witness(l.Witness), Epoch: l.Epoch, Sequence: uint64(l.Sequence), Job: uidToWire(l.Job), Ordinal: l.Ordinal,
		Pod: uidToWire(l.Pod), Hash: hashToWire(l.Hash),
	}
}

func lossFoundToWire(f *LossFound) *pb.LossFound { return &pb.LossFound{Loss: lossToWire(&f.Loss)} }

func lossFoundFromWire(w *pb.LossFound) *LossFound { return &LossFound{lossFromWire(w.GetLoss())} }

func lossFromWire(w *pb.Loss) Loss {
	return Loss{
		Witness: Witness(w.GetWitness()), Epoch: w.GetEpoch(), Sequence: Sequence(w.GetSequence()), Job: uidFromWire(w.GetJob()),
		Ordinal: w.GetOrdinal(), Pod: uidFromWire(w.GetPod()), Hash: hashFromWire(w.GetHash()),
	}
}

func epochFromWire(w *pb.EpochChanged) *EpochChanged {
	f := &EpochChanged{Epoch: w.GetEpoch(), Reason: EpochReason(w.GetReason()), Lost: lossFromWire(w.GetLost())}
	if r := w.GetRewind(); r != nil {
		f.Rewind = Rewind{
			Resource: Resource(r.GetResource()), Known: r.GetKnown(), Found: r.GetFound(), Object: uidFromWire(r.GetObject()),
		}
	}
	return f
}

func startedToWire(f *ControllerStarted) *pb.ControllerStarted {
	return &pb.ControllerStarted{
		Version: f.Version, RulesVersion: f.RulesVersion, ZoneData: f.ZoneData, Settings: SettingsToWire(&f.Settings),
		Key: f.Key, KeyBefore: f.KeyBefore, FoldVersion: f.FoldVersion, Least: readerToWire(f.Least),
	}
}

func readerToWire(v ReaderVersion) *pb.ReaderVersion {
	if v == (ReaderVersion{}) {
		return nil
	}
	return &pb.ReaderVersion{Format: v.Format, Rules: v.Rules, Fold: v.Fold, Program: v.Program}
}

func readerFromWire(w *pb.ReaderVersion) ReaderVersion {
	return ReaderVersion{Format: w.GetFormat(), Rules: w.GetRules(), Fold: w.GetFold(), Program: w.GetProgram()}
}

func startedFromWire(w *pb.ControllerStarted) *ControllerStarted {
	return &ControllerStarted{
		Version: w.GetVersion(), RulesVersion: w.GetRulesVersion(), ZoneData: w.GetZoneData(),
		Settings: SettingsFromWire(w.GetSettings()), Key: w.GetKey(), KeyBefore: w.GetKeyBefore(), FoldVersion: w.GetFoldVersion(),
		Least: readerFromWire(w.GetLeast()),
	}
}

// SettingsToWire translates the operator's settings for a record or a stored state.
func SettingsToWire(s *Settings) *pb.Settings {
	return &pb.Settings{
		Mode:                 pb.Mode(s.Mode),
		Namespace:            s.Namespace,
		PodFailureBackoff:    int64(s.PodFailureBackoff),
		MaxPodFailureBackoff: int64(s.MaxPodFailureBackoff),
		ApiBackoff:           int64(s.APIBackoff),
		MaxApiBackoff:        int64(s.MaxAPIBackoff),
		ProgressDelay:        int64(s.ProgressDelay),
		RequestTimeout:       int64(s.RequestTimeout),
		MaxUncounted:         s.MaxUncounted,
		MaxPodsPerDecision:   s.MaxPodsPerDecision,
		SlowStart:            s.SlowStart,
		GangScheduling:       s.GangScheduling,
		NamespaceBudget:      s.NamespaceBudget,
		Draining:             s.Draining,
		DeleteExpired:        s.DeleteExpired,
		ObserveOthers:        s.ObserveOthers,
		CronJobs:             s.CronJobs,
		HeldAtEnd:            s.HeldAtEnd,
		DuePace:              int64(s.DuePace),
		EveryFromStart:       s.EveryFromStart,
		ListPace:             int64(s.ListPace),
		GangRule:             uint32(s.Gangs),
		DeletedPodWait:       int64(s.DeletedPodWait),
	}
}

// SettingsFromWire decodes what SettingsToWire made.
func SettingsFromWire(s *pb.Settings) Settings {
	return Settings{
		Mode:                 Mode(s.GetMode()),
		Namespace:            s.GetNamespace(),
		PodFailureBackoff:    time.Duration(s.GetPodFailureBackoff()),
		MaxPodFailureBackoff: time.Duration(s.GetMaxPodFailureBackoff()),
		APIBackoff:           time.Duration(s.GetApiBackoff()),
		MaxAPIBackoff:        time.Duration(s.GetMaxApiBackoff()),
		ProgressDelay:        time.Duration(s.GetProgressDelay()),
		RequestTimeout:       time.Duration(s.GetRequestTimeout()),
		MaxUncounted:         s.GetMaxUncounted(),
		MaxPodsPerDecision:   s.GetMaxPodsPerDecision(),
		SlowStart:            s.GetSlowStart(),
		GangScheduling:       s.GetGangScheduling(),
		NamespaceBudget:      s.GetNamespaceBudget(),
		Draining:             s.GetDraining(),
		DeleteExpired:        s.GetDeleteExpired(),
		ObserveOthers:        s.GetObserveOthers(),
		CronJobs:             s.GetCronJobs(),
		HeldAtEnd:            s.GetHeldAtEnd(),
		DuePace:              time.Duration(s.GetDuePace()),
		EveryFromStart:       s.GetEveryFromStart(),
		ListPace:             time.Duration(s.GetListPace()),
		Gangs:                GangRule(s.GetGangRule()),
		DeletedPodWait:       time.Duration(s.GetDeletedPodWait()),
	}
}

func leadershipToWire(f *LeadershipChanged) *pb.LeadershipChanged {
	return &pb.LeadershipChanged{Leading: f.Leading, Identity: f.Identity}
}

func leadershipFromWire(w *pb.LeadershipChanged) *LeadershipChanged {
	return &LeadershipChanged{Leading: w.GetLeading(), Identity: w.GetIdentity()}
}

func clockToWire(f *ClockStepped) *pb.ClockStepped { return &pb.ClockStepped{Step: int64(f.Step)} }

func clockFromWire(w *pb.ClockStepped) *ClockStepped {
	return &ClockStepped{Step: time.Duration(w.GetStep())}
}

func resourcesToWire(rs []Resource) []pb.Resource {
	out := make([]pb.Resource, len(rs))
	for i, r := range rs {
		out[i] = pb.Resource(r)
	}
	return out
}

func resourcesFromWire(rs []pb.Resource) []Resource {
	out := make([]Resource, len(rs))
	for i, r := range rs {
		out[i] = Resource(r)
	}
	return out
}

var errVersions = errors.New("a listing names another number of versions than of resources")

func listingToWire(f *ListingStarted) *pb.ListingStarted {
	return &pb.ListingStarted{
		Reason:       pb.ListingReason(f.Reason),
		Resources:    resourcesToWire(f.Resources),
		LastSeen:     int64(f.LastSeen),
		Orderly:      f.Orderly,
		LastVersions: f.LastVersions,
	}
}

func listingFromWire(w *pb.ListingStarted) (*ListingStarted, error) {
	if len(w.GetResources()) != len(w.GetLastVersions()) {
		return nil, errVersions
	}
	return &ListingStarted{
		Reason:       ListingReason(w.GetReason()),
		Resources:    resourcesFromWire(w.GetResources()),
		LastSeen:     Time(w.GetLastSeen()),
		Orderly:      w.GetOrderly(),
		LastVersions: w.GetLastVersions(),
	}, nil
}

func syncedToWire(f *Synced) *pb.Synced {
	return &pb.Synced{Resources: resourcesToWire(f.Resources), Versions: f.Versions}
}

func syncedFromWire(w *pb.Synced) (*Synced, error) {
	if len(w.GetResources()) != len(w.GetVersions()) {
		return nil, errVersions
	}
	return &Synced{Resources: resourcesFromWire(w.GetResources()), Versions: w.GetVersions()}, nil
}

func rivalToWire(f *RivalFound) *pb.RivalFound {
	return &pb.RivalFound{Acts: RivalActsToWire(f.Acts)}
}

// RivalActsToWire translates acts of another controller, for a record or a stored state.
func RivalActsToWire(acts []RivalAct) (ws []*pb.RivalAct) {
	for _, a := range acts {
		ws = append(ws, &pb.RivalAct{Job: uidToWire(a.Job), Pod: uidToWire(a.Pod), At: int64(a.At)})
	}
	return ws
}

// RivalActsFromWire decodes acts of another controller that RivalActsToWire made.
func RivalActsFromWire(ws []*pb.RivalAct) (acts []RivalAct) {
	for _, a := range ws {
		acts = append(acts, RivalAct{Job: uidFromWire(a.GetJob()), Pod: uidFromWire(a.GetPod()), At: Time(a.GetAt())})
	}
	return acts
}

func rivalFromWire(w *pb.RivalFound) *RivalFound {
	return &RivalFound{Acts: RivalActsFromWire(w.GetActs())}
}

func fileRestatedToWire(f *FileRestated) *pb.FileRestated {
	return &pb.FileRestated{
		File: uint64(f.File), Streams: f.Streams, Bytes: f.Bytes, RivalActs: RivalActsToWire(f.RivalActs), RivalQuiet: int64(f.RivalQuiet),
	}
}

func fileRestatedFromWire(w *pb.FileRestated) *FileRestated {
	return &FileRestated{
		File: Sequence(w.GetFile()), Streams: w.GetStreams(), Bytes: w.GetBytes(),
		RivalActs: RivalActsFromWire(w.GetRivalActs()), RivalQuiet: Time(w.GetRivalQuiet()),
	}
}
