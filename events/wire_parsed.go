package events

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// texts holds the sentences and messages of conditions that are in the facts in memory, but in the evidence of a stored
// record. Encoding appends them in order. Decoding takes them in the same order, or finds none when they were erased.
type texts struct{ all []string }

func (t *texts) take() string {
	if len(t.all) == 0 {
		return ""
	}
	s := t.all[0]
	t.all = t.all[1:]
	return s
}

// unmarshalFacts decodes the facts of a record of this kind. texts come from the record's evidence; there are none when
// the evidence was erased.
func unmarshalFacts(kind Kind, stored []byte, texts []string) (Facts, error) {
	return factParsers[kind.facts()](stored, texts)
}

// factParsers holds the decoder of each type of facts. It is not a part of the table factTraits, so that code that
// reads only the names of kinds does not depend on the decoding code.
var factParsers = [...]func(stored []byte, free []string) (Facts, error){
	factControllerStopped: parsed(func(*pb.ControllerStopped) *ControllerStopped { return &ControllerStopped{} }),
	factRivalGone:         parsed(func(*pb.RivalGone) *RivalGone { return &RivalGone{} }),
	factJobResumed:        parsed(func(*pb.JobResumed) *JobResumed { return &JobResumed{} }),
	factTimerFired:        parsed(func(*pb.TimerFired) *TimerFired { return &TimerFired{} }),
	factUnknown:           parseUnknown,
	factStoredState:       parseState,
	factJobSeen:           parseJobSeen,
	factJobGone:           parsed(jobGoneFromWire),
	factJobSpec:           parsed(SpecFromWire),
	factJobRetired:        parsed(retiredFromWire),
	factJobTemplate:       parsed(templateFromWire),
	factJobPolicies:       parsed(PoliciesFromWire),
	factGroupSeen:         parseGroup,
	factPodSeen:           parsed(PodFromWire),
	factPodGone:           parsed(podGoneFromWire),
	factNodeSeen:          parsed(NodeFromWire),
	factNodeGone:          parsed(nodeGoneFromWire),
	factNamespaceSeen:     parsed(NamespaceFromWire),
	factClusterWatched:    parsed(WatchedFromWire),
	factDecision:          parseDecision,
	factCommandEnded:      parsed(endedFromWire),
	factCronJobGone:       parsed(cronJobGoneFromWire),
	factCronJobSeen:       parsed(CronJobFromWire),
	factRunSeen:           parsed(RunFromWire),
	factRunGone:           parsed(runGoneFromWire),
	factZoneRules:         parsed(ZoneFromWire),
	factPassedOver:        parsed(passedOverFromWire),
	factPruned:            parsed(prunedFromWire),
	factLogCreated:        parsed(logCreatedFromWire),
	factEpochChanged:      parsed(epochFromWire),
	factFileRestated:      parsed(fileRestatedFromWire),
	factTermStarted:       parsed(termFromWire),
	factStreamRefilled:    parsed(refilledFromWire),
	factControllerStarted: parsed(startedFromWire),
	factLeadershipChanged: parsed(leadershipFromWire),
	factClockStepped:      parsed(clockFromWire),
	factListingStarted:    parsedChecked(listingFromWire),
	factSynced:            parsedChecked(syncedFromWire),
	factRivalFound:        parsed(rivalFromWire),
	factLossFound:         parsed(lossFoundFromWire),
}

// message is the constraint for a pointer to the message M.
type message[M any] interface {
	*M
	proto.Message
}

// parsed returns a decoder for facts that have no texts in the evidence; from converts the decoded message to them.
func parsed[M any, P message[M], F Facts](from func(P) F) func([]byte, []string) (Facts, error) {
	return parsedChecked(func(m P) (F, error) { return from(m), nil })
}

// parsedChecked does the same as parsed, for a message that may be invalid: from then returns an error.
func parsedChecked[M any, P message[M], F Facts](from func(P) (F, error)) func([]byte, []string) (Facts, error) {
	return func(stored []byte, _ []string) (Facts, error) {
		m := P(new(M))
		if err := parse(stored, m); err != nil {
			return nil, err
		}
		f, err := from(m)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func parse(stored []byte, m proto.Message) error {
	if err := proto.Unmarshal(stored, m); err != nil {
		return fmt.Errorf("decode facts: %w", err)
	}
	return nil
}

func parseUnknown(stored []byte, _ []string) (Facts, error) {
	return &Unknown{Bytes: append([]byte(nil), stored...)}, nil
}

func parseState(stored []byte, _ []string) (Facts, error) {
	return &StoredState{Encoded: append([]byte(nil), stored...)}, nil
}
