package events

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"
)

// FactTraits are the properties that all facts of one type share. A property of a single fact, such as the version that
// was seen, is a method of its type in this file.
type FactTraits struct {
	Name  string         // of its type
	Kinds []Kind         // of the records that have such facts; none for facts that stand in for others
	About ObjectResource // the object that was observed; 0 when they are no observation of an object
}

// factType is the place of a type in factTraits. It is not stored.
type factType uint8

const (
	factLogCreated factType = iota
	factEpochChanged
	factPruned
	factFileRestated
	factTermStarted
	factControllerStarted
	factControllerStopped
	factLeadershipChanged
	factClockStepped
	factListingStarted
	factSynced
	factRivalFound
	factRivalGone
	factLossFound
	factJobSeen
	factJobGone
	factPodSeen
	factPodGone
	factGroupSeen
	factCronJobSeen
	factCronJobGone
	factRunSeen
	factRunGone
	factJobSpec
	factStoredState
	factJobResumed
	factTimerFired
	factJobRetired
	factJobTemplate
	factJobPolicies
	factZoneRules
	factDecision
	factCommandEnded
	factNodeSeen
	factNodeGone
	factNamespaceSeen
	factClusterWatched
	factPassedOver
	factErased
	factUnknown
)

// factTraits has one row for each type of facts.
var factTraits = [...]FactTraits{
	factLogCreated:        {Name: "LogCreated", Kinds: []Kind{KindLogCreated}},
	factEpochChanged:      {Name: "EpochChanged", Kinds: []Kind{KindEpochChanged}},
	factPruned:            {Name: "Pruned", Kinds: []Kind{KindPruned}},
	factFileRestated:      {Name: "FileRestated", Kinds: []Kind{KindFileRestated}},
	factTermStarted:       {Name: "TermStarted", Kinds: []Kind{KindTermStarted}},
	factControllerStarted: {Name: "ControllerStarted", Kinds: []Kind{KindControllerStarted}},
	factControllerStopped: {Name: "ControllerStopped", Kinds: []Kind{KindControllerStopped}},
	factLeadershipChanged: {Name: "LeadershipChanged", Kinds: []Kind{KindLeadershipChanged}},
	factClockStepped:      {Name: "ClockStepped", Kinds: []Kind{KindClockStepped}},
	factListingStarted:    {Name: "ListingStarted", Kinds: []Kind{KindListingStarted}},
	factSynced:            {Name: "Synced", Kinds: []Kind{KindSynced}},
	factRivalFound:        {Name: "RivalFound", Kinds: []Kind{KindRivalFound}},
	factRivalGone:         {Name: "RivalGone", Kinds: []Kind{KindRivalGone}},
	factLossFound:         {Name: "LossFound", Kinds: []Kind{KindLossFound}},
	factJobSeen:           {Name: "JobSeen", Kinds: []Kind{KindJobAdded, KindJobChanged}, About: ObjectJob},
	factJobGone:           {Name: "JobGone", Kinds: []Kind{KindJobDeleted}, About: ObjectJob},
	factPodSeen:           {Name: "PodSeen", Kinds: []Kind{KindPodAdded, KindPodChanged}, About: ObjectPod},
	factPodGone:           {Name: "PodGone", Kinds: []Kind{KindPodDeleted}, About: ObjectPod},
	factGroupSeen:         {Name: "GroupSeen", Kinds: []Kind{KindGroupSeen}},
	factCronJobSeen: {
		Name: "CronJobSeen", Kinds: []Kind{KindCronJobAdded, KindCronJobChanged}, About: ObjectCronJob,
	},
	factCronJobGone:    {Name: "CronJobGone", Kinds: []Kind{KindCronJobDeleted}, About: ObjectCronJob},
	factRunSeen:        {Name: "RunSeen", Kinds: []Kind{KindRunSeen}, About: ObjectJob},
	factRunGone:        {Name: "RunGone", Kinds: []Kind{KindRunGone}, About: ObjectJob},
	factJobSpec:        {Name: "JobSpec", Kinds: []Kind{KindSpecStored}},
	factStoredState:    {Name: "StoredState", Kinds: []Kind{KindStateStored}},
	factJobResumed:     {Name: "JobResumed", Kinds: []Kind{KindJobResumed}},
	factTimerFired:     {Name: "TimerFired", Kinds: []Kind{KindTimerFired}},
	factJobRetired:     {Name: "JobRetired", Kinds: []Kind{KindJobRetired}},
	factJobTemplate:    {Name: "JobTemplate", Kinds: []Kind{KindTemplateStored}},
	factJobPolicies:    {Name: "JobPolicies", Kinds: []Kind{KindPoliciesStored}},
	factZoneRules:      {Name: "ZoneRules", Kinds: []Kind{KindZoneStored}},
	factDecision:       {Name: "Decision", Kinds: []Kind{KindDecided, KindWouldDecide, KindTicksObserved}},
	factCommandEnded:   {Name: "CommandEnded", Kinds: []Kind{KindCommandEnded}},
	factNodeSeen:       {Name: "NodeSeen", Kinds: []Kind{KindNodeChanged}, About: ObjectNode},
	factNodeGone:       {Name: "NodeGone", Kinds: []Kind{KindNodeGone}, About: ObjectNode},
	factNamespaceSeen:  {Name: "NamespaceSeen", Kinds: []Kind{KindNamespaceChanged}, About: ObjectNamespace},
	factClusterWatched: {Name: "ClusterWatched", Kinds: []Kind{KindClusterWatched}},
	factPassedOver:     {Name: "PassedOver", Kinds: []Kind{KindPassedOver}},
	factErased:         {Name: "Erased"},
	factUnknown:        {Name: "Unknown"},
}

// AllFactTraits yields the row of each type of facts.
func AllFactTraits() iter.Seq[*FactTraits] {
	return func(yield func(*FactTraits) bool) {
		for i := range factTraits {
			if !yield(&factTraits[i]) {
				return
			}
		}
	}
}

// TraitsOf gives the row of the facts' type; nil when there are no facts.
func TraitsOf(f Facts) *FactTraits {
	if f == nil {
		return nil
	}
	return f.facts()
}

// aboutObject is a fact with About in its row. The UID is that of the Job or CronJob that the observation names, for
// facts that do not say one.
type aboutObject interface{ object(of types.UID) Object }

func (f *JobSeen) object(of types.UID) Object     { return Object{ObjectJob, of, f.Version, false} }
func (f *JobGone) object(of types.UID) Object     { return Object{ObjectJob, of, f.Version, true} }
func (f *RunSeen) object(types.UID) Object        { return Object{ObjectJob, f.Job, f.Version, false} }
func (f *RunGone) object(types.UID) Object        { return Object{ObjectJob, f.Job, f.Version, true} }
func (f *PodSeen) object(types.UID) Object        { return Object{ObjectPod, f.UID, f.Version, false} }
func (f *PodGone) object(types.UID) Object        { return Object{ObjectPod, f.UID, f.Version, true} }
func (f *CronJobSeen) object(of types.UID) Object { return Object{ObjectCronJob, of, f.Version, false} }
func (f *CronJobGone) object(of types.UID) Object { return Object{ObjectCronJob, of, f.Version, true} }
func (f *NodeSeen) object(types.UID) Object       { return Object{ObjectNode, f.UID, 0, false} }
func (f *NodeGone) object(types.UID) Object       { return Object{ObjectNode, f.UID, 0, true} }
func (f *NamespaceSeen) object(types.UID) Object  { return Object{ObjectNamespace, f.UID, 0, f.Gone} }

// PodIn is the pod that the facts observe, there or gone; false for all other facts.
func PodIn(f Facts) (types.UID, bool) {
	if t := TraitsOf(f); t == nil || t.About != ObjectPod {
		return "", false
	}
	return f.(aboutObject).object("").UID, true
}

func (f *LogCreated) epoch() uint64   { return f.Epoch }
func (f *EpochChanged) epoch() uint64 { return f.Epoch }

// EpochIn is the epoch that begins with the facts; false for facts that begin none.
func EpochIn(f Facts) (uint64, bool) {
	begins, ok := f.(interface{ epoch() uint64 })
	if !ok {
		return 0, false
	}
	return begins.epoch(), true
}
