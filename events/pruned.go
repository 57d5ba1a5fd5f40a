package events

import "fmt"

// Pruned says that records before First are no longer kept. It is durable before the first of their files is deleted.
// It is not critical: no decision depends on which records are kept, because a log only ever begins with a file that
// stands alone.
type Pruned struct {
	First       Sequence     // the oldest record that is kept
	From        Sequence     // the oldest record that goes; those that go are From to First-1
	FromTime    Time         // of record From
	ThroughTime Time         // of record First-1
	ChainBefore Hash         // the chain value before record From
	ChainAfter  Hash         // the chain value behind record First-1: the oldest file that is kept begins with it
	Files       []PrunedFile // those that go, oldest first
	Missed      []Missed     // of each consumer that had not got through all records that go
	Reason      PruneReason
}

// PrunedFile is a file of the log that goes.
type PrunedFile struct {
	First Sequence // with which it begins
	Bytes uint64
	// Hash is the SHA-256 of its records as they are stored, with the chain value at both ends, so that a copy can be
	// compared whatever its pages are. None when the file was damaged.
	Hash Hash
}

// Missed counts the records that were pruned before a consumer had read them.
type Missed struct {
	Consumer      string
	From, Through Sequence
}

// String says it in words.
func (m Missed) String() string {
	return fmt.Sprintf("the consumer %s missed records %d to %d", m.Consumer, m.From, m.Through)
}

// PruneReason says why records are no longer kept.
type PruneReason uint8

// The reasons for deleting old records.
const (
	PruneSize     PruneReason = 1 // the log would be larger than it may be
	PruneAge      PruneReason = 2 // the records are older than they are to be kept
	PruneOperator PruneReason = 3 // an operator asked for it
)

// String says it in a word.
func (r PruneReason) String() string {
	switch r {
	case PruneSize:
		return "size"
	case PruneAge:
		return "age"
	case PruneOperator:
		return "operator"
	}
	return "unknown"
}

func (*Pruned) facts() factType { return factPruned }
