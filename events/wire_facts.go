package events

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// texts collects the free texts that stand inside facts in memory but are evidence on the wire: sentences and condition
// messages. Encoding puts them in; decoding takes them out in the same order, or finds none when they were erased.
type texts struct{ all []string }

func (t *texts) take() string {
	if len(t.all) == 0 {
		return ""
	}
	s := t.all[0]
	t.all = t.all[1:]
	return s
}

func appendFacts(buf []byte, f Facts, free *[]string) ([]byte, error) {
	switch f := f.(type) {
	case nil, *Erased:
		return buf, nil
	case *Unknown:
		return append(buf, f.Bytes...), nil
	case *StoredState:
		return append(buf, f.Encoded...), nil
	}
	m, err := factsToWire(f, free)
	if err != nil {
		return nil, err
	}
	return deterministic.MarshalAppend(buf, m)
}

func factsToWire(f Facts, free *[]string) (proto.Message, error) {
	switch f := f.(type) {
	case *LogCreated:
		return &pb.LogCreated{LogId: f.LogID, Epoch: f.Epoch, Format: f.Format}, nil
	case *EpochChanged:
		return epochToWire(f), nil
	case *Pruned:
		return prunedToWire(f), nil
	case *FileRestated:
		return fileRestatedToWire(f), nil
	case *TermStarted:
		return &pb.TermStarted{Term: f.Term, Previous: hashToWire(f.Previous)}, nil
	case *ControllerStarted:
		return startedToWire(f), nil
	case *ControllerStopped:
		return &pb.ControllerStopped{}, nil
	case *LeadershipChanged:
		return &pb.LeadershipChanged{Leading: f.Leading, Identity: f.Identity}, nil
	case *ClockStepped:
		return &pb.ClockStepped{Step: int64(f.Step)}, nil
	case *ListingStarted:
		return listingToWire(f), nil
	case *Synced:
		return &pb.Synced{Resources: resourcesToWire(f.Resources), Versions: f.Versions}, nil
	case *RivalFound:
		return rivalToWire(f), nil
	case *RivalGone:
		return &pb.RivalGone{}, nil
	case *LossFound:
		return &pb.LossFound{Loss: lossToWire(&f.Loss)}, nil
	case *JobSeen:
		return jobSeenToWire(f, free), nil
	case *JobGone:
		return &pb.JobGone{Version: f.Version, Missed: f.Missed}, nil
	case *JobSpec:
		return SpecToWire(f), nil
	case *JobTemplate:
		return &pb.JobTemplate{Hash: f.Hash, Size: f.Size}, nil
	case *JobPolicies:
		return PoliciesToWire(f), nil
	case *PodSeen:
		return PodToWire(f), nil
	case *PodGone:
		return &pb.PodGone{Uid: uidToWire(f.UID), Version: f.Version, Missed: f.Missed, Moved: f.Moved}, nil
	case *GroupSeen:
		return groupToWire(f, free), nil
	case *CronJobSeen:
		return CronJobToWire(f), nil
	case *CronJobGone:
		return &pb.CronJobGone{Version: f.Version, Missed: f.Missed}, nil
	case *ZoneRules:
		return ZoneToWire(f), nil
	case *RunSeen:
		return RunToWire(f), nil
	case *RunGone:
		return &pb.RunGone{Job: uidToWire(f.Job), Version: f.Version, Missed: f.Missed, Left: f.Left}, nil
	case *JobResumed:
		return &pb.JobResumed{}, nil
	case *TimerFired:
		return &pb.TimerFired{}, nil
	case *JobRetired:
		return retiredToWire(f), nil
	case *Decision:
		return decisionToWire(f, free), nil
	case *CommandEnded:
		return endedToWire(f), nil
	case *NodeSeen:
		return NodeToWire(f), nil
	case *NodeGone:
		return &pb.NodeGone{Name: f.Name, Uid: uidToWire(f.UID), Missed: f.Missed, Replaced: f.Replaced}, nil
	case *NamespaceSeen:
		return NamespaceToWire(f), nil
	case *ClusterWatched:
		return WatchedToWire(f), nil
	case *PassedOver:
		return passedOverToWire(f), nil
	}
	return nil, fmt.Errorf("facts of type %T have no wire form", f)
}

func unmarshalFacts(kind Kind, b []byte, free []string) (Facts, error) {
	t := &texts{all: free}
	switch kind {
	case KindLogCreated:
		return parse(b, func(w *pb.LogCreated) (Facts, error) {
			return &LogCreated{LogID: w.GetLogId(), Epoch: w.GetEpoch(), Format: w.GetFormat()}, nil
		})
	case KindEpochChanged:
		return parse(b, epochFromWire)
	case KindPruned:
		return parse(b, prunedFromWire)
	case KindFileRestated:
		return parse(b, fileRestatedFromWire)
	case KindTermStarted:
		return parse(b, func(w *pb.TermStarted) (Facts, error) {
			return &TermStarted{Term: w.GetTerm(), Previous: hashFromWire(w.GetPrevious())}, nil
		})
	case KindControllerStarted:
		return parse(b, startedFromWire)
	case KindControllerStopped:
		return parse(b, func(*pb.ControllerStopped) (Facts, error) { return &ControllerStopped{}, nil })
	case KindLeadershipChanged:
		return parse(b, func(w *pb.LeadershipChanged) (Facts, error) {
			return &LeadershipChanged{Leading: w.GetLeading(), Identity: w.GetIdentity()}, nil
		})
	case KindClockStepped:
		return parse(b, clockFromWire)
	case KindListingStarted:
		return parse(b, listingFromWire)
	case KindSynced:
		return parse(b, syncedFromWire)
	case KindRivalFound:
		return parse(b, rivalFromWire)
	case KindRivalGone:
		return parse(b, func(*pb.RivalGone) (Facts, error) { return &RivalGone{}, nil })
	case KindLossFound:
		return parse(b, func(w *pb.LossFound) (Facts, error) { return &LossFound{lossFromWire(w.GetLoss())}, nil })
	case KindJobAdded, KindJobChanged:
		return parse(b, func(w *pb.JobSeen) (Facts, error) { return jobSeenFromWire(w, t), nil })
	case KindJobDeleted:
		return parse(b, func(w *pb.JobGone) (Facts, error) {
			return &JobGone{Version: w.GetVersion(), Missed: w.GetMissed()}, nil
		})
	case KindSpecStored:
		return parse(b, func(w *pb.JobSpec) (Facts, error) { return SpecFromWire(w), nil })
	case KindTemplateStored:
		return parse(b, func(w *pb.JobTemplate) (Facts, error) { return &JobTemplate{Hash: w.GetHash(), Size: w.GetSize()}, nil })
	case KindPoliciesStored:
		return parse(b, func(w *pb.JobPolicies) (Facts, error) { return PoliciesFromWire(w), nil })
	case KindPodAdded, KindPodChanged:
		return parse(b, podSeenFromWire)
	case KindPodDeleted:
		return parse(b, func(w *pb.PodGone) (Facts, error) {
			return &PodGone{
				UID: uidFromWire(w.GetUid()), Version: w.GetVersion(), Missed: w.GetMissed(), Moved: w.GetMoved(),
			}, nil
		})
	case KindStateStored:
		return &StoredState{Encoded: append([]byte(nil), b...)}, nil
	case KindGroupSeen:
		return parse(b, func(w *pb.GroupSeen) (Facts, error) { return groupFromWire(w, t), nil })
	case KindCronJobAdded, KindCronJobChanged:
		return parse(b, func(w *pb.CronJobSeen) (Facts, error) { return CronJobFromWire(w), nil })
	case KindCronJobDeleted:
		return parse(b, func(w *pb.CronJobGone) (Facts, error) {
			return &CronJobGone{Version: w.GetVersion(), Missed: w.GetMissed()}, nil
		})
	case KindZoneStored:
		return parse(b, func(w *pb.ZoneRules) (Facts, error) { return ZoneFromWire(w), nil })
	case KindRunSeen:
		return parse(b, func(w *pb.RunSeen) (Facts, error) { return RunFromWire(w), nil })
	case KindRunGone:
		return parse(b, func(w *pb.RunGone) (Facts, error) {
			return &RunGone{Job: uidFromWire(w.GetJob()), Version: w.GetVersion(), Missed: w.GetMissed(), Left: w.GetLeft()}, nil
		})
	case KindJobResumed:
		return parse(b, func(*pb.JobResumed) (Facts, error) { return &JobResumed{}, nil })
	case KindTimerFired:
		return parse(b, func(*pb.TimerFired) (Facts, error) { return &TimerFired{}, nil })
	case KindJobRetired:
		return parse(b, retiredFromWire)
	case KindDecided, KindWouldDecide, KindTicksObserved:
		return parse(b, func(w *pb.Decision) (Facts, error) { return decisionFromWire(w, t) })
	case KindCommandEnded:
		return parse(b, endedFromWire)
	case KindNodeChanged:
		return parse(b, func(w *pb.NodeSeen) (Facts, error) { return NodeFromWire(w), nil })
	case KindNodeGone:
		return parse(b, func(w *pb.NodeGone) (Facts, error) {
			return &NodeGone{Name: w.GetName(), UID: uidFromWire(w.GetUid()), Missed: w.GetMissed(), Replaced: w.GetReplaced()}, nil
		})
	case KindNamespaceChanged:
		return parse(b, func(w *pb.NamespaceSeen) (Facts, error) { return NamespaceFromWire(w), nil })
	case KindClusterWatched:
		return parse(b, func(w *pb.ClusterWatched) (Facts, error) { return WatchedFromWire(w), nil })
	case KindPassedOver:
		return parse(b, func(w *pb.PassedOver) (Facts, error) { return passedOverFromWire(w), nil })
	}
	return &Unknown{Bytes: append([]byte(nil), b...)}, nil
}

// parse decodes b as the message M and hands it to translate.
func parse[M any, P interface {
	*M
	proto.Message
}](b []byte, translate func(P) (Facts, error)) (Facts, error) {
	m := P(new(M))
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("decode facts: %w", err)
	}
	return translate(m)
}
