package events

import "fmt"

// Pruned records that the files with all records before First are deleted. It is durable before the first of them is
// deleted. It is not critical: the oldest file that is kept has all states (FileRestated), so no decision depends on
// the deleted records.
type Pruned struct {
	First       Sequence     // oldest record that is kept
	From        Sequence     // oldest record that is deleted; the deleted records are From to First-1
	FromTime    Time         // of record From
	ThroughTime Time         // of record First-1
	ChainBefore Hash         // hash of the log (chain value) before record From
	ChainAfter  Hash         // chain value after record First-1, with which the oldest kept file begins
	Files       []PrunedFile // the deleted files, oldest first
	Missed      []Missed     // the consumers that had not read all deleted records
	Reason      PruneReason
}

// PrunedFile describes a deleted file of the log.
type PrunedFile struct {
	First Sequence // first record of the file
	Bytes uint64
	// Hash is the SHA-256 of the stored records, with the chain value at both ends. It does not depend on how the file
	// lays them out, so a copy of the file can be compared. Zero when the file was damaged.
	Hash Hash
}

// Missed is the range of records that were pruned before a consumer had read them.
type Missed struct {
	Consumer      string
	From, Through Sequence
}

// String returns a sentence that says which records the consumer has missed.
func (m Missed) String() string {
	return fmt.Sprintf("the consumer %s missed records %d to %d", m.Consumer, m.From, m.Through)
}

// PruneReason is the reason for deleting old records.
type PruneReason uint8

// The reasons for deleting old records.
const (
	PruneSize     PruneReason = 1 // the log would exceed its maximum size
	PruneAge      PruneReason = 2 // the records exceed their maximum age
	PruneOperator PruneReason = 3 // an operator asked for it
)

// String returns the reason in one word.
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
