package events

import (
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// PodToWire translates a pod's facts for a record or a stored state.
func PodToWire(f *PodSeen) *pb.PodSeen {
	w := &pb.PodSeen{
		Uid: uidToWire(f.UID), Version: f.Version, Phase: pb.PodPhase(f.Phase),
		Created: int64(f.Created), Deleted: int64(f.Deleted), Tracked: f.Tracked,
		Owner: uidToWire(f.Owner), Foreign: f.Foreign, Selected: f.Selected, Candidates: uidsToWire(f.Candidates),
		Maker:        uidToWire(f.Maker),
		IndexPlusOne: uint32(f.Index + 1), Ordinal: f.Ordinal,
		Scheduled: f.Scheduled, Ready: f.Ready, ReadySince: int64(f.ReadySince), Finished: int64(f.Finished), EndedFirst: f.EndedFirst, Unmarked: f.Unmarked,
		Restarts: f.Restarts, MaxRestarts: f.MaxRestarts, MaxSidecarRestarts: f.MaxSidecarRestarts,
		IndexFailures: f.IndexFailures, IndexIgnoredFailures: f.IndexIgnoredFailures,
		DeletionGracePeriodSeconds: f.DeletionGracePeriodSeconds, Waiting: f.Waiting, Sandbox: pb.PodSandbox(f.Sandbox),
	}
	for _, e := range f.Exits {
		w.Exits = append(w.Exits, &pb.ContainerExit{Name: e.Name, Init: e.Init, Code: e.Code})
	}
	for _, c := range f.Conditions {
		w.Conditions = append(w.Conditions, &pb.PodCondition{Type: c.Type, Status: c.Status})
	}
	return w
}

// PodFromWire decodes a pod's facts that PodToWire made.
func PodFromWire(w *pb.PodSeen) *PodSeen {
	f := &PodSeen{
		UID: uidFromWire(w.GetUid()), Version: w.GetVersion(), Phase: PodPhase(w.GetPhase()),
		Created: Time(w.GetCreated()), Deleted: Time(w.GetDeleted()), Tracked: w.GetTracked(),
		Owner: uidFromWire(w.GetOwner()), Foreign: w.GetForeign(), Selected: w.GetSelected(),
		Candidates: uidsFromWire(w.GetCandidates()), Maker: uidFromWire(w.GetMaker()),
		Index: int32(w.GetIndexPlusOne()) - 1, Ordinal: w.GetOrdinal(),
		Scheduled: w.GetScheduled(), Ready: w.GetReady(), ReadySince: Time(w.GetReadySince()), Finished: Time(w.GetFinished()), EndedFirst: w.GetEndedFirst(), Unmarked: w.GetUnmarked(),
		Restarts: w.GetRestarts(), MaxRestarts: w.GetMaxRestarts(), MaxSidecarRestarts: w.GetMaxSidecarRestarts(),
		IndexFailures: w.GetIndexFailures(), IndexIgnoredFailures: w.GetIndexIgnoredFailures(),
		DeletionGracePeriodSeconds: w.DeletionGracePeriodSeconds, Waiting: w.GetWaiting(), Sandbox: Sandbox(w.GetSandbox()),
	}
	for _, e := range w.GetExits() {
		f.Exits = append(f.Exits, ContainerExit{Name: e.GetName(), Init: e.GetInit(), Code: e.GetCode()})
	}
	for _, c := range w.GetConditions() {
		f.Conditions = append(f.Conditions, PodCondition{Type: c.GetType(), Status: c.GetStatus()})
	}
	return f
}

func podGoneToWire(f *PodGone) *pb.PodGone {
	return &pb.PodGone{Uid: uidToWire(f.UID), Version: f.Version, Missed: f.Missed, Moved: f.Moved}
}

func podGoneFromWire(w *pb.PodGone) *PodGone {
	return &PodGone{
		UID: uidFromWire(w.GetUid()), Version: w.GetVersion(), Missed: w.GetMissed(), Moved: w.GetMoved(),
	}
}
