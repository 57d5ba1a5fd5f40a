package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// LogCreated is the first record of a log, with its ID.
type LogCreated struct {
	LogID  string // identifies the log; random, 32 hexadecimal digits
	Epoch  uint64 // number of this life of the log, from 1
	Format uint32 // LeastFormat of the program that created the log
}

// Format is the newest version of the log format that this program reads. LeastFormat is the version that files written
// by ordinary commits need. To extend the format, raise Format, and write the new number as least reader version into
// each file that uses the extension.
const (
	Format      = 1
	LeastFormat = 1
)

// EpochChanged begins a new epoch (life of the log): the log goes on after the cluster or the log itself has gone back
// in time.
type EpochChanged struct {
	Epoch  uint64
	Reason EpochReason
	Rewind Rewind // the proof of a rewound cluster; zero for other reasons
	Lost   Loss   // the newest record known to be lost, when the log goes on after a loss; zero for other reasons
}

func (f *LogCreated) epoch() uint64   { return f.Epoch }
func (f *EpochChanged) epoch() uint64 { return f.Epoch }

// EpochIn returns the epoch (life of the log) that begins with a record with these facts: LogCreated or EpochChanged.
// It returns false for all other facts.
func EpochIn(f Facts) (uint64, bool) {
	begins, ok := f.(interface{ epoch() uint64 })
	if !ok {
		return 0, false
	}
	return begins.epoch(), true
}

// Rewind proves that a cluster went back in time. Either a quorum read that was sent when Known was known returned the
// older version Found; or a Job or CronJob that was deleted at Known was seen again at Found, which may be newer.
type Rewind struct {
	Resource Resource
	Known    uint64    // the resourceVersion that was known
	Found    uint64    // the resourceVersion that was found
	Object   types.UID // the object with these versions; empty when they are versions of the whole resource
}

// EpochReason says why a new epoch (life of the log) began.
type EpochReason uint8

// The reasons.
const (
	EpochRestored       EpochReason = 1
	EpochClusterRewound EpochReason = 2
)

// FileRestated says that this file of the log now has the whole state of every Job, CronJob and namespace that was
// known when the file began (a checkpoint). A reader can begin with this file and needs none before it.
type FileRestated struct {
	File Sequence // the first record of the file
	// Number of streams (such as Jobs) whose state was written only for this checkpoint. A stream that has a record in
	// the file is not counted: its state was written before that record anyway.
	Streams uint64
	Bytes   uint64 // approximate size of these states in the file
	// RivalActs and RivalQuiet are the known acts of another controller on our Jobs. They are repeated here for a
	// reader that begins with this file: the state of a large Job is stored in parts, and the reader skips the Job's
	// records before the last part. The reports of these acts may be among the skipped records.
	RivalActs  []RivalAct
	RivalQuiet Time
}

// TermStarted records that another process writes the log from here on, with a new term (its number). No later record
// belongs to an earlier term. It is in the first batch that the process writes.
type TermStarted struct {
	// Term counts the opens of the log for writing. An open that wrote nothing leaves a gap in the numbers. Term rises,
	// except when an epoch begins after a loss: the newest terms may be lost then, too.
	Term uint64
	// Previous is the hash of the log as the process found it: the chain value after the last record before its first
	// batch. It is zero for the term that created the log.
	Previous Hash
}

// ControllerStarted is written by every process that opens the log to run a controller.
type ControllerStarted struct {
	Version      string
	RulesVersion uint32
	Settings     Settings
	ZoneData     string
	Key          string `json:",omitempty"` // ID of the secret key that hashes specs and templates from here on
	KeyBefore    string `json:",omitempty"` // key ID of the run before, when it was another key
	FoldVersion  uint32 `json:",omitempty"` // version of the code that computes states from records
	// Least is the oldest reader version that can read the records of this run.
	Least ReaderVersion
}

// Mode selects the Jobs that the controller runs: creates pods for and writes the status of (design §9).
type Mode uint8

// The modes.
const (
	ModeDelegated Mode = 1 // Jobs whose spec.managedBy is ManagedBy
	ModeAll       Mode = 2 // all Jobs, in place of the built-in controllers
	ModeObserve   Mode = 3 // none: reads only
)

// String returns the mode as the --manage flag spells it.
func (m Mode) String() string {
	switch m {
	case ModeDelegated:
		return "delegated"
	case ModeAll:
		return "all"
	case ModeObserve:
		return "observe"
	}
	return "unknown"
}

// ControllerStopped records the orderly end of a run. Nothing is decided after it. Outcomes of commands that were in
// flight may follow.
type ControllerStopped struct{}

// LeadershipChanged records that this process acquired or lost the Lease: it may act, or may not act any more.
type LeadershipChanged struct {
	Leading  bool
	Identity string
}

// ClockStepped records a jump of the clock; Step is negative when it was set back.
type ClockStepped struct{ Step time.Duration }

// Resource is a kind of object that the controller lists and watches.
type Resource uint8

// The resources.
const (
	Jobs     Resource = 1
	Pods     Resource = 2
	CronJobs Resource = 3
)

// String returns the plural name of the resource.
func (r Resource) String() string {
	switch r {
	case Jobs:
		return "jobs"
	case Pods:
		return "pods"
	case CronJobs:
		return "cronjobs"
	}
	return "unknown"
}

// ListingReason says why all objects are listed again.
type ListingReason uint8

// The reasons for a listing.
const (
	ListingStart    ListingReason = 1 // the controller started
	ListingGap      ListingReason = 2 // the log had no room for a while, so observations were not read
	ListingRelisted ListingReason = 3 // the watch was lost and could not be resumed, as after 410 Gone
)

// String returns the reason in words for people.
func (r ListingReason) String() string {
	switch r {
	case ListingStart:
		return "start"
	case ListingGap:
		return "gap"
	case ListingRelisted:
		return "relist"
	}
	return "unknown"
}

// ListingStarted begins a listing. Nothing is decided until its Synced record. Its fields limit the changes that may
// have been missed before the listing.
type ListingStarted struct {
	Reason       ListingReason
	Resources    []Resource
	LastSeen     Time     // until when the cluster was watched before this listing; 0 when it never was
	Orderly      bool     // the run before ended with ControllerStopped
	LastVersions []uint64 // newest resourceVersions seen, in the order of Resources; 0 for none
}

// Synced records the end of a listing: every object of the lists has been recorded.
type Synced struct {
	Resources []Resource
	Versions  []uint64 // the lists' resourceVersions, in the order of Resources
}

func (*LogCreated) facts() factType        { return factLogCreated }
func (*EpochChanged) facts() factType      { return factEpochChanged }
func (*FileRestated) facts() factType      { return factFileRestated }
func (*TermStarted) facts() factType       { return factTermStarted }
func (*ControllerStarted) facts() factType { return factControllerStarted }
func (*ControllerStopped) facts() factType { return factControllerStopped }
func (*LeadershipChanged) facts() factType { return factLeadershipChanged }
func (*ClockStepped) facts() factType      { return factClockStepped }
func (*ListingStarted) facts() factType    { return factListingStarted }
func (*Synced) facts() factType            { return factSynced }

// Manages reports whether a controller in mode m runs Jobs with the given spec.managedBy; empty means unset (design
// §9).
func (m Mode) Manages(managedBy string) bool {
	switch managedBy {
	case ManagedBy:
		return true
	case "", BuiltinManagedBy:
		return m == ModeAll || m == ModeObserve
	}
	return false
}
