package events

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// LossFound records that the log has lost records: a witness, such as the Lease, names a record that the log does not
// have. It ends the run. Nothing is decided until an EpochChanged begins a new epoch.
type LossFound struct{ Loss }

// Loss proves that the log lacks records that it once had, or that other records took their place. A field is zero if
// the witness (the place outside the log that has the proof) does not know it.
type Loss struct {
	Witness  Witness
	Epoch    uint64    // epoch in which the record was written
	Sequence Sequence  // newest record that the witness knows
	Hash     Hash      // chain value after that record
	Job      types.UID // for a pod: its Job, and the ordinal of the create that made it
	Ordinal  uint64
	Pod      types.UID
}

// Witness is a place outside the records that notes how far the log had got, such as the Lease.
type Witness uint8

// The places outside the log that note how far it had got.
const (
	WitnessFiles  Witness = 1 // a file beside the log: HEAD, CLOSED, a snapshot, an index, a consumer's offset
	WitnessLease  Witness = 2
	WitnessPod    Witness = 3 // the annotation of a pod that this log created
	WitnessStream Witness = 4 // the NATS stream
	WitnessCopy   Witness = 5 // the copy of the log (--copy-to)
)

// String returns the place in words for people.
func (w Witness) String() string {
	switch w {
	case WitnessFiles:
		return "what lies beside the log"
	case WitnessLease:
		return "the Lease"
	case WitnessPod:
		return "a pod"
	case WitnessStream:
		return "the NATS stream"
	case WitnessCopy:
		return "the copy of the log"
	}
	return "unknown"
}

// String returns a sentence that says what was lost, and by what evidence.
func (l Loss) String() string {
	switch {
	case l.Witness == WitnessPod:
		return fmt.Sprintf("pod %s was made by create #%d of Job %s in epoch %d, and the log does not know that create",
			l.Pod, l.Ordinal, l.Job, l.Epoch)
	case l.Sequence == 0:
		return fmt.Sprintf("%s says that the log was in epoch %d", l.Witness, l.Epoch)
	case l.Hash == Hash{}:
		return fmt.Sprintf("%s says that the log had record %d of epoch %d", l.Witness, l.Sequence, l.Epoch)
	}
	return fmt.Sprintf("%s says that the log had record %d of epoch %d, with the hash %s", l.Witness, l.Sequence, l.Epoch, l.Hash)
}

func (*LossFound) facts() factType { return factLossFound }
