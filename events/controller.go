package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// LogCreated opens a log.
type LogCreated struct {
	LogID  string // random, 32 hexadecimal digits
	Epoch  uint64 // the life of the log, from 1
	Format uint32 // LeastFormat of the program that made the log
}

// Format is the newest version of the log format that this program reads. LeastFormat is the one that the files need
// which commits write; a file that needs a newer one says so in its beginning. Whoever adds to the format raises
// Format, and writes the new number into the least reader of the files that have it.
const (
	Format      = 1
	LeastFormat = 1
)

// EpochChanged begins another life of the log.
type EpochChanged struct {
	Epoch  uint64
	Reason EpochReason
	Rewind Rewind // the proof, when the cluster was rewound; zero for other reasons
	Lost   Loss   // the newest record that is known to be lost, when the log goes on after a loss; zero for other reasons
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

// Rewind is what proves that a cluster went back: a quorum read that was asked for when Known was known, and is older;
// or a Job or CronJob that had gone at Known and was seen again at Found, which may be newer.
type Rewind struct {
	Resource Resource
	Known    uint64    // the resourceVersion that was known
	Found    uint64    // the resourceVersion that was found
	Object   types.UID // both are versions of it; empty when they are those of the whole resource
}

// EpochReason says why an epoch ended.
type EpochReason uint8

// The reasons for another epoch.
const (
	EpochRestored       EpochReason = 1
	EpochClusterRewound EpochReason = 2
)

// FileRestated says that a file stands alone: through this record it holds the state of every stream that was known
// when it began. A reader that begins with the file needs no file before it.
type FileRestated struct {
	File    Sequence // with which the file begins
	Streams uint64   // that the process has stated for this purpose alone; others were stated before a record of their own
	Bytes   uint64   // that the states of these streams take in the file, about
	// RivalActs and RivalQuiet are what is known of another controller at work. A reader that begins with the file passes
	// over the records of a Job before the last part of its state, and they may say so.
	RivalActs  []RivalAct
	RivalQuiet Time
}

// TermStarted says that another process writes the log from here on: no record that follows is of an earlier term. It
// stands in the first batch that the process writes.
type TermStarted struct {
	// Term counts the opens of the log for writing. One in which nothing was written leaves a gap. It rises, except where
	// an epoch begins after a loss: the newest terms may be lost then, too.
	Term uint64
	// Previous is the chain value as the process found it, behind the record before the batch; zero for the term that made
	// the log.
	Previous Hash
}

// ControllerStarted is written by every process that opens the log to work.
type ControllerStarted struct {
	Version      string
	RulesVersion uint32
	Settings     Settings
	ZoneData     string
	Key          string `json:",omitempty"` // ID of the key with which specs and templates are hashed from here on
	KeyBefore    string `json:",omitempty"` // that of the run before, when it was another one
	FoldVersion  uint32 `json:",omitempty"` // counts the versions of the fold and of stored states
	// Least is what a reader of this run's records needs at least.
	Least ReaderVersion
}

// Mode says which Jobs the controller runs (design §9).
type Mode uint8

// The modes.
const (
	ModeDelegated Mode = 1 // Jobs whose spec.managedBy is ours
	ModeAll       Mode = 2 // in place of the built-in controllers
	ModeObserve   Mode = 3 // reads only
)

// String is the mode as the --manage flag spells it.
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

// ControllerStopped says that a run is ending in good order. Nothing is decided after it. The outcomes that follow
// belong to commands that were in flight.
type ControllerStopped struct{}

// LeadershipChanged says that the Lease was won or lost.
type LeadershipChanged struct {
	Leading  bool
	Identity string
}

// ClockStepped says by how much the clock jumped; negative when it was set back.
type ClockStepped struct{ Step time.Duration }

// Resource is a kind of object that is listed and watched.
type Resource uint8

// The resources.
const (
	Jobs     Resource = 1
	Pods     Resource = 2
	CronJobs Resource = 3
)

// String is the resource's plural name.
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

// ListingReason says why the view of the cluster is being built again.
type ListingReason uint8

// The reasons for a listing.
const (
	ListingStart    ListingReason = 1 // the controller started
	ListingGap      ListingReason = 2 // the log had no room for a while
	ListingRelisted ListingReason = 3 // the watch was lost beyond resuming
)

// String is the reason as people read it.
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

// ListingStarted opens a listing: until Synced, nothing is decided. It bounds what may have been missed.
type ListingStarted struct {
	Reason       ListingReason
	Resources    []Resource
	LastSeen     Time     // until when the cluster was watched before; 0 when it never was
	Orderly      bool     // the run before stopped in good order
	LastVersions []uint64 // newest resourceVersions seen, in the order of Resources; 0 for none
}

// Synced closes a listing: every list is folded.
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

// Manages reports whether a controller in this mode runs Jobs with that spec.managedBy; empty means unset (design §9).
func (m Mode) Manages(managedBy string) bool {
	switch managedBy {
	case ManagedBy:
		return true
	case "", BuiltinManagedBy:
		return m == ModeAll || m == ModeObserve
	}
	return false
}
