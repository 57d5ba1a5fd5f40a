package events

// Kind is the type of a record. The numbers and names never change; record.proto describes each kind.
type Kind uint16

// The kinds, with the numbers by which they are stored.
const (
	KindLogCreated   Kind = 1
	KindEpochChanged Kind = 2
	KindPruned       Kind = 3
	KindFileRestated Kind = 4
	KindTermStarted  Kind = 5

	KindStreamRefilled Kind = 6

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

// Source says where records of a kind come from. That decides how the log budget of a namespace limits them.
type Source uint8

// The sources of records.
const (
	// FromObject: an observation of an object (Observation.Object). Versions that come too often are not recorded.
	FromObject Source = 1
	// WithObject: content that the record of an object refers to by hash, such as a spec. It is stored before that
	// record, once per file of the log.
	WithObject Source = 2
	// FromRecords: a consequence of earlier records: a decision, the end of a command, a wait that is over.
	FromRecords Source = 3
	// FromController: the life of the controller itself: starts, listings, files. No user causes such records.
	FromController Source = 4
)
