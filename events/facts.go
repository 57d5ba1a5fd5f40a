package events

import (
	"fmt"
	"iter"
)

// FactTraits holds the properties that all facts of one Go type share. A property of a single fact, such as the version
// of the observed object, is a method of its type in observed.go.
type FactTraits struct {
	Kinds []KindTraits   // kinds of the records with such facts; none for Erased and Unknown
	About ObjectResource // the observed object; 0 when the facts are no observation of an object
}

// KindTraits holds the properties that all records of one kind share, such as its name.
type KindTraits struct {
	Kind     Kind
	Name     string
	Critical bool // skipping such a record could change a decision
	Source   Source
}

// critical and its opposite make the table below readable (KindTraits.Critical).
const (
	critical  = true
	skippable = false
)

// factType numbers the Go types of facts; it is an index into factTraits. It is not stored.
type factType uint8

const (
	factLogCreated factType = iota
	factEpochChanged
	factPruned
	factFileRestated
	factTermStarted
	factStreamRefilled
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

// factTraits has one row for each type of facts. The decoders are in another table, factParsers.
var factTraits = [...]FactTraits{
	factLogCreated: {
		Kinds: []KindTraits{{KindLogCreated, "LogCreated", critical, FromController}},
	},
	factEpochChanged: {
		Kinds: []KindTraits{{KindEpochChanged, "EpochChanged", critical, FromController}},
	},
	factPruned: {
		Kinds: []KindTraits{{KindPruned, "Pruned", skippable, FromController}},
	},
	factFileRestated: {
		Kinds: []KindTraits{{KindFileRestated, "FileRestated", skippable, FromController}},
	},
	factTermStarted: {
		Kinds: []KindTraits{{KindTermStarted, "TermStarted", critical, FromController}},
	},
	factStreamRefilled: {
		Kinds: []KindTraits{{KindStreamRefilled, "StreamRefilled", skippable, FromController}},
	},
	factControllerStarted: {
		Kinds: []KindTraits{{KindControllerStarted, "ControllerStarted", critical, FromController}},
	},
	factControllerStopped: {
		Kinds: []KindTraits{{KindControllerStopped, "ControllerStopped", critical, FromController}},
	},
	factLeadershipChanged: {
		Kinds: []KindTraits{{KindLeadershipChanged, "LeadershipChanged", skippable, FromController}},
	},
	factClockStepped: {
		Kinds: []KindTraits{{KindClockStepped, "ClockStepped", critical, FromController}},
	},
	factListingStarted: {
		Kinds: []KindTraits{{KindListingStarted, "ListingStarted", critical, FromController}},
	},
	factSynced: {
		Kinds: []KindTraits{{KindSynced, "Synced", critical, FromController}},
	},
	factRivalFound: {
		Kinds: []KindTraits{{KindRivalFound, "RivalFound", critical, FromController}},
	},
	factRivalGone: {
		Kinds: []KindTraits{{KindRivalGone, "RivalGone", critical, FromController}},
	},
	factLossFound: {
		Kinds: []KindTraits{{KindLossFound, "LossFound", critical, FromController}},
	},
	factJobSeen: {
		About: ObjectJob,
		Kinds: []KindTraits{
			{KindJobAdded, "JobAdded", critical, FromObject},
			{KindJobChanged, "JobChanged", critical, FromObject},
		},
	},
	factJobGone: {
		About: ObjectJob,
		Kinds: []KindTraits{{KindJobDeleted, "JobDeleted", critical, FromObject}},
	},
	factPodSeen: {
		About: ObjectPod,
		Kinds: []KindTraits{
			{KindPodAdded, "PodAdded", critical, FromObject},
			{KindPodChanged, "PodChanged", critical, FromObject},
		},
	},
	factPodGone: {
		About: ObjectPod,
		Kinds: []KindTraits{{KindPodDeleted, "PodDeleted", critical, FromObject}},
	},
	factGroupSeen: {
		Kinds: []KindTraits{{KindGroupSeen, "GroupSeen", critical, FromRecords}},
	},
	factCronJobSeen: {
		About: ObjectCronJob,
		Kinds: []KindTraits{
			{KindCronJobAdded, "CronJobAdded", critical, FromObject},
			{KindCronJobChanged, "CronJobChanged", critical, FromObject},
		},
	},
	factCronJobGone: {
		About: ObjectCronJob,
		Kinds: []KindTraits{{KindCronJobDeleted, "CronJobDeleted", critical, FromObject}},
	},
	factRunSeen: {
		About: ObjectJob,
		Kinds: []KindTraits{{KindRunSeen, "RunSeen", critical, FromObject}},
	},
	factRunGone: {
		About: ObjectJob,
		Kinds: []KindTraits{{KindRunGone, "RunGone", critical, FromObject}},
	},
	factJobSpec: {
		Kinds: []KindTraits{{KindSpecStored, "SpecStored", critical, WithObject}},
	},
	factStoredState: {
		Kinds: []KindTraits{{KindStateStored, "StateStored", critical, FromController}},
	},
	factJobResumed: {
		Kinds: []KindTraits{{KindJobResumed, "JobResumed", critical, FromRecords}},
	},
	factTimerFired: {
		Kinds: []KindTraits{{KindTimerFired, "TimerFired", critical, FromRecords}},
	},
	factJobRetired: {
		Kinds: []KindTraits{{KindJobRetired, "JobRetired", critical, FromRecords}},
	},
	factJobTemplate: {
		Kinds: []KindTraits{{KindTemplateStored, "TemplateStored", skippable, WithObject}},
	},
	factJobPolicies: {
		Kinds: []KindTraits{{KindPoliciesStored, "PoliciesStored", critical, WithObject}},
	},
	factZoneRules: {
		Kinds: []KindTraits{{KindZoneStored, "ZoneStored", critical, WithObject}},
	},
	factDecision: {
		Kinds: []KindTraits{
			{KindDecided, "Decided", critical, FromRecords},
			{KindWouldDecide, "WouldDecide", skippable, FromRecords},
			{KindTicksObserved, "TicksObserved", critical, FromRecords},
		},
	},
	factCommandEnded: {
		Kinds: []KindTraits{{KindCommandEnded, "CommandEnded", critical, FromRecords}},
	},
	factNodeSeen: {
		About: ObjectNode,
		Kinds: []KindTraits{{KindNodeChanged, "NodeChanged", skippable, FromObject}},
	},
	factNodeGone: {
		About: ObjectNode,
		Kinds: []KindTraits{{KindNodeGone, "NodeGone", skippable, FromObject}},
	},
	factNamespaceSeen: {
		About: ObjectNamespace,
		Kinds: []KindTraits{{KindNamespaceChanged, "NamespaceChanged", skippable, FromObject}},
	},
	factClusterWatched: {
		Kinds: []KindTraits{{KindClusterWatched, "ClusterWatched", skippable, FromController}},
	},
	factPassedOver: {
		Kinds: []KindTraits{{KindPassedOver, "PassedOver", skippable, FromRecords}},
	},
	factErased:  {},
	factUnknown: {},
}

// AllFactTraits yields the properties of all types of facts.
func AllFactTraits() iter.Seq[*FactTraits] {
	return func(yield func(*FactTraits) bool) {
		for i := range factTraits {
			if !yield(&factTraits[i]) {
				return
			}
		}
	}
}

// TraitsOf returns the properties that all facts of f's type share; nil for nil facts.
func TraitsOf(f Facts) *FactTraits {
	if f == nil {
		return nil
	}
	return &factTraits[f.facts()]
}

// maxKind is the highest kind number.
const maxKind = KindPassedOver

// kindRow holds the properties of a kind of records, and the type of their facts.
type kindRow struct {
	*KindTraits
	facts factType
}

// kinds is factTraits indexed by kind. A number without a kind has a zero row.
var kinds = func() (all [maxKind + 1]kindRow) {
	for i := range factTraits {
		for j := range factTraits[i].Kinds {
			k := &factTraits[i].Kinds[j]
			all[k.Kind] = kindRow{k, factType(i)}
		}
	}
	return all
}()

// row returns the properties of the kind and the type of its facts; zero for a kind that this program does not know.
func (k Kind) row() kindRow {
	if k > maxKind {
		return kindRow{}
	}
	return kinds[k]
}

// Known reports whether this program knows the kind.
func (k Kind) Known() bool { return k.row().KindTraits != nil }

// Facts returns the traits of the facts that records of this kind have. For an unknown kind these are the traits of
// Unknown.
func (k Kind) Facts() *FactTraits { return &factTraits[k.facts()] }

func (k Kind) facts() factType {
	if !k.Known() {
		return factUnknown
	}
	return k.row().facts
}

// Critical reports whether skipping a record of this kind could change a decision. It is false for an unknown kind;
// only the header of such a record can say (Header.Critical).
func (k Kind) Critical() bool { return k.Known() && k.row().KindTraits.Critical }

// Source returns the source of records of this kind; 0 for an unknown kind.
func (k Kind) Source() Source {
	if !k.Known() {
		return 0
	}
	return k.row().KindTraits.Source
}

// String returns the name of the kind, or its number if it is unknown.
func (k Kind) String() string {
	if k.Known() {
		return k.row().Name
	}
	return fmt.Sprintf("Kind(%d)", uint16(k))
}

// KindNamed returns the kind with the given name; false if there is none.
func KindNamed(name string) (Kind, bool) {
	for k := range kinds {
		if k := Kind(k); k.Known() && k.row().Name == name {
			return k, true
		}
	}
	return 0, false
}
