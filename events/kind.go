package events

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
