package events

import "fmt"

// Kind says what a record is. Numbers and names are for ever; record.proto describes each.
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
)

type kindInfo struct {
	name     string
	critical bool
}

// kinds describes every kind this program knows. A kind is critical if skipping such a record could change a decision.
var kinds = map[Kind]kindInfo{
	KindLogCreated:        {"LogCreated", true},
	KindEpochChanged:      {"EpochChanged", true},
	KindPruned:            {"Pruned", false},
	KindFileRestated:      {"FileRestated", false},
	KindTermStarted:       {"TermStarted", true},
	KindControllerStarted: {"ControllerStarted", true},
	KindControllerStopped: {"ControllerStopped", true},
	KindLeadershipChanged: {"LeadershipChanged", false},
	KindClockStepped:      {"ClockStepped", true},
	KindListingStarted:    {"ListingStarted", true},
	KindSynced:            {"Synced", true},
	KindRivalFound:        {"RivalFound", true},
	KindRivalGone:         {"RivalGone", true},
	KindLossFound:         {"LossFound", true},
	KindJobAdded:          {"JobAdded", true},
	KindJobChanged:        {"JobChanged", true},
	KindJobDeleted:        {"JobDeleted", true},
	KindPodAdded:          {"PodAdded", true},
	KindPodChanged:        {"PodChanged", true},
	KindPodDeleted:        {"PodDeleted", true},
	KindGroupSeen:         {"GroupSeen", true},
	KindCronJobAdded:      {"CronJobAdded", true},
	KindCronJobChanged:    {"CronJobChanged", true},
	KindCronJobDeleted:    {"CronJobDeleted", true},
	KindSpecStored:        {"SpecStored", true},
	KindStateStored:       {"StateStored", true},
	KindJobResumed:        {"JobResumed", true},
	KindTimerFired:        {"TimerFired", true},
	KindJobRetired:        {"JobRetired", true},
	KindTemplateStored:    {"TemplateStored", false},
	KindPoliciesStored:    {"PoliciesStored", true},
	KindZoneStored:        {"ZoneStored", true},
	KindRunSeen:           {"RunSeen", true},
	KindRunGone:           {"RunGone", true},
	KindDecided:           {"Decided", true},
	KindWouldDecide:       {"WouldDecide", false},
	KindCommandEnded:      {"CommandEnded", true},
	KindTicksObserved:     {"TicksObserved", true},
	KindNodeChanged:       {"NodeChanged", false},
	KindNodeGone:          {"NodeGone", false},
	KindNamespaceChanged:  {"NamespaceChanged", false},
	KindClusterWatched:    {"ClusterWatched", false},
}

// Known reports whether this program knows the kind.
func (k Kind) Known() bool { _, ok := kinds[k]; return ok }

// Critical reports whether skipping a record of this kind could change a decision. Of a kind that is not known, only
// the record's own header can say.
func (k Kind) Critical() bool { return kinds[k].critical }

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
