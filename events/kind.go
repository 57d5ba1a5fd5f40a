package events

import "fmt"

// Kind is the type of a record. Its numbers and names never change; record.proto describes each.
type Kind uint16

// The kinds, by their wire numbers.
const (
	KindLogCreated   Kind = 1
	KindEpochChanged Kind = 2
	KindPruned       Kind = 3
	KindFileRestated Kind = 4
	KindTermStarted  Kind = 5

	KindControllerStarted Kind = 10
	KindControllerStopped Kind = 11
	KindLeadershipChanged Kind = 12
	KindClockStepped      Kind = 13
	KindListingStarted    Kind = 14
	KindSynced            Kind = 15
	KindRivalFound        Kind = 16
	KindRivalGone         Kind = 17
	KindLossFound         Kind = 18

	KindJobAdded   Kind = 20
	KindJobChanged Kind = 21
	KindJobDeleted Kind = 22
	KindPodAdded   Kind = 23
	KindPodChanged Kind = 24
	KindPodDeleted Kind = 25
	KindGroupSeen  Kind = 29

	KindCronJobAdded   Kind = 26
	KindCronJobChanged Kind = 27
	KindCronJobDeleted Kind = 28

	KindSpecStored  Kind = 30
	KindStateStored Kind = 31
	KindJobResumed  Kind = 32
	KindTimerFired  Kind = 33
	KindJobRetired  Kind = 34

	KindTemplateStored Kind = 35
	KindPoliciesStored Kind = 36
	KindZoneStored     Kind = 37

	KindRunSeen Kind = 38
	KindRunGone Kind = 39

	KindDecided      Kind = 40
	KindWouldDecide  Kind = 41
	KindCommandEnded Kind = 42

	KindTicksObserved Kind = 43

	KindNodeChanged      Kind = 50
	KindNodeGone         Kind = 51
	KindNamespaceChanged Kind = 52
	KindClusterWatched   Kind = 53
	KindPassedOver       Kind = 54
)

type kindInfo struct {
	name     string
	critical bool
	source   Source
}

// Source says what leads to records of a kind: by it the budget of a namespace bounds them.
type Source uint8

// The sources.
const (
	// FromObject: an observation of an object (Observation.Object). The loop holds back what comes too often.
	FromObject Source = 1
	// WithObject: stored before the record of an object that names it, once per content and file.
	WithObject Source = 2
	// FromRecords: follows from records before it: a decision, the end of a command, a wait that is over.
	FromRecords Source = 3
	// FromController: of the controller's own life: starts, listings, files. No user causes one.
	FromController Source = 4
)

// kinds describes every kind this program knows. A kind is critical if skipping such a record could change a decision.
var kinds = map[Kind]kindInfo{
	KindLogCreated:        {"LogCreated", true, FromController},
	KindEpochChanged:      {"EpochChanged", true, FromController},
	KindPruned:            {"Pruned", false, FromController},
	KindFileRestated:      {"FileRestated", false, FromController},
	KindTermStarted:       {"TermStarted", true, FromController},
	KindControllerStarted: {"ControllerStarted", true, FromController},
	KindControllerStopped: {"ControllerStopped", true, FromController},
	KindLeadershipChanged: {"LeadershipChanged", false, FromController},
	KindClockStepped:      {"ClockStepped", true, FromController},
	KindListingStarted:    {"ListingStarted", true, FromController},
	KindSynced:            {"Synced", true, FromController},
	KindRivalFound:        {"RivalFound", true, FromController},
	KindRivalGone:         {"RivalGone", true, FromController},
	KindLossFound:         {"LossFound", true, FromController},
	KindJobAdded:          {"JobAdded", true, FromObject},
	KindJobChanged:        {"JobChanged", true, FromObject},
	KindJobDeleted:        {"JobDeleted", true, FromObject},
	KindPodAdded:          {"PodAdded", true, FromObject},
	KindPodChanged:        {"PodChanged", true, FromObject},
	KindPodDeleted:        {"PodDeleted", true, FromObject},
	KindGroupSeen:         {"GroupSeen", true, FromRecords},
	KindCronJobAdded:      {"CronJobAdded", true, FromObject},
	KindCronJobChanged:    {"CronJobChanged", true, FromObject},
	KindCronJobDeleted:    {"CronJobDeleted", true, FromObject},
	KindSpecStored:        {"SpecStored", true, WithObject},
	KindStateStored:       {"StateStored", true, FromController},
	KindJobResumed:        {"JobResumed", true, FromRecords},
	KindTimerFired:        {"TimerFired", true, FromRecords},
	KindJobRetired:        {"JobRetired", true, FromRecords},
	KindTemplateStored:    {"TemplateStored", false, WithObject},
	KindPoliciesStored:    {"PoliciesStored", true, WithObject},
	KindZoneStored:        {"ZoneStored", true, WithObject},
	KindRunSeen:           {"RunSeen", true, FromObject},
	KindRunGone:           {"RunGone", true, FromObject},
	KindDecided:           {"Decided", true, FromRecords},
	KindWouldDecide:       {"WouldDecide", false, FromRecords},
	KindCommandEnded:      {"CommandEnded", true, FromRecords},
	KindTicksObserved:     {"TicksObserved", true, FromRecords},
	KindNodeChanged:       {"NodeChanged", false, FromObject},
	KindNodeGone:          {"NodeGone", false, FromObject},
	KindNamespaceChanged:  {"NamespaceChanged", false, FromObject},
	KindClusterWatched:    {"ClusterWatched", false, FromController},
	KindPassedOver:        {"PassedOver", false, FromRecords},
}

// Known reports whether this program knows the kind.
func (k Kind) Known() bool { _, ok := kinds[k]; return ok }

// Critical reports whether skipping a record of this kind could change a decision. Of a kind that is not known, only
// the record's own header can say.
func (k Kind) Critical() bool { return kinds[k].critical }

// Source says what leads to records of the kind; 0 for a kind that is not known.
func (k Kind) Source() Source { return kinds[k].source }

// String is the kind's name, or its number when it is not known.
func (k Kind) String() string {
	if info, ok := kinds[k]; ok {
		return info.name
	}
	return fmt.Sprintf("Kind(%d)", uint16(k))
}

// KindNamed finds a kind by its name.
func KindNamed(name string) (Kind, bool) {
	for k, info := range kinds {
		if info.name == name {
			return k, true
		}
	}
	return 0, false
}
