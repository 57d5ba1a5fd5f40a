package events

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// encoding collects the stored form of facts, appended to the caller's buffer. texts are the messages and sentences in
// the facts that are stored with the evidence.
type encoding struct {
	stored []byte
	texts  []string
	err    error
}

// message appends the encoded message m.
func (e encoding) message(m proto.Message) encoding {
	e.stored, e.err = deterministic.MarshalAppend(e.stored, m)
	return e
}

// appendFacts appends the stored form of facts to buf. It returns their messages and sentences, which are stored with
// the evidence.
func appendFacts(buf []byte, f Facts) (_ []byte, texts []string, err error) {
	if f == nil {
		return buf, nil, nil
	}
	e := f.encode(encoding{stored: buf})
	return e.stored, e.texts, e.err
}

func (f *LogCreated) encode(e encoding) encoding        { return e.message(logCreatedToWire(f)) }
func (f *EpochChanged) encode(e encoding) encoding      { return e.message(epochToWire(f)) }
func (f *Pruned) encode(e encoding) encoding            { return e.message(prunedToWire(f)) }
func (f *FileRestated) encode(e encoding) encoding      { return e.message(fileRestatedToWire(f)) }
func (f *TermStarted) encode(e encoding) encoding       { return e.message(termToWire(f)) }
func (f *StreamRefilled) encode(e encoding) encoding    { return e.message(refilledToWire(f)) }
func (f *ControllerStarted) encode(e encoding) encoding { return e.message(startedToWire(f)) }
func (*ControllerStopped) encode(e encoding) encoding   { return e.message(&pb.ControllerStopped{}) }
func (f *LeadershipChanged) encode(e encoding) encoding { return e.message(leadershipToWire(f)) }
func (f *ClockStepped) encode(e encoding) encoding      { return e.message(clockToWire(f)) }
func (f *ListingStarted) encode(e encoding) encoding    { return e.message(listingToWire(f)) }
func (f *Synced) encode(e encoding) encoding            { return e.message(syncedToWire(f)) }
func (f *RivalFound) encode(e encoding) encoding        { return e.message(rivalToWire(f)) }
func (*RivalGone) encode(e encoding) encoding           { return e.message(&pb.RivalGone{}) }
func (f *LossFound) encode(e encoding) encoding         { return e.message(lossFoundToWire(f)) }
func (f *JobGone) encode(e encoding) encoding           { return e.message(jobGoneToWire(f)) }
func (f *PodSeen) encode(e encoding) encoding           { return e.message(PodToWire(f)) }
func (f *PodGone) encode(e encoding) encoding           { return e.message(podGoneToWire(f)) }
func (f *CronJobSeen) encode(e encoding) encoding       { return e.message(CronJobToWire(f)) }
func (f *CronJobGone) encode(e encoding) encoding       { return e.message(cronJobGoneToWire(f)) }
func (f *RunSeen) encode(e encoding) encoding           { return e.message(RunToWire(f)) }
func (f *RunGone) encode(e encoding) encoding           { return e.message(runGoneToWire(f)) }
func (f *JobSpec) encode(e encoding) encoding           { return e.message(SpecToWire(f)) }
func (*JobResumed) encode(e encoding) encoding          { return e.message(&pb.JobResumed{}) }
func (*TimerFired) encode(e encoding) encoding          { return e.message(&pb.TimerFired{}) }
func (f *JobRetired) encode(e encoding) encoding        { return e.message(retiredToWire(f)) }
func (f *JobTemplate) encode(e encoding) encoding       { return e.message(templateToWire(f)) }
func (f *JobPolicies) encode(e encoding) encoding       { return e.message(PoliciesToWire(f)) }
func (f *ZoneRules) encode(e encoding) encoding         { return e.message(ZoneToWire(f)) }
func (f *CommandEnded) encode(e encoding) encoding      { return e.message(endedToWire(f)) }
func (f *NodeSeen) encode(e encoding) encoding          { return e.message(NodeToWire(f)) }
func (f *NodeGone) encode(e encoding) encoding          { return e.message(nodeGoneToWire(f)) }
func (f *NamespaceSeen) encode(e encoding) encoding     { return e.message(NamespaceToWire(f)) }
func (f *ClusterWatched) encode(e encoding) encoding    { return e.message(WatchedToWire(f)) }
func (f *PassedOver) encode(e encoding) encoding        { return e.message(passedOverToWire(f)) }

func (*Erased) encode(e encoding) encoding { return e }

func (f *Unknown) encode(e encoding) encoding {
	e.stored = append(e.stored, f.Bytes...)
	return e
}

func (f *StoredState) encode(e encoding) encoding {
	e.stored = append(e.stored, f.Encoded...)
	return e
}

func (f *JobSeen) encode(e encoding) encoding {
	m := jobSeenToWire(f, &e.texts)
	return e.message(m)
}

func (f *GroupSeen) encode(e encoding) encoding {
	m := groupToWire(f, &e.texts)
	return e.message(m)
}

func (f *Decision) encode(e encoding) encoding {
	m := decisionToWire(f, &e.texts)
	return e.message(m)
}
