package events

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// LossFound says that the log had records that it no longer has: a witness knows of them. The run ends with it, and
// nothing is decided until an EpochChanged begins another life of the log.
type LossFound struct{ Loss }

// Loss proves that a log had records that it lacks now, or that others stand in their place. A field is zero if the
// witness does not know it.
type Loss struct {
	Witness  Witness
	Epoch    uint64    // in which the record was written
	Sequence Sequence  // the newest record that the witness knows of
	Hash     Hash      // the chain value behind it
	Job      types.UID // of a pod: the Job, and which create of it made the pod
	Ordinal  uint64
	Pod      types.UID
}

// Witness is what tells of lost records.
type Witness uint8

// The witnesses.
const (
	WitnessFiles  Witness = 1 // what stands beside the log: HEAD, CLOSED, a snapshot, an index, the offset of a consumer
	WitnessLease  Witness = 2
	WitnessPod    Witness = 3 // the annotation of a pod that this log made
	WitnessStream Witness = 4 // the NATS stream
	WitnessCopy   Witness = 5 // the copy of the log (--copy-to)
)

// String is the witness as people read it.
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

// String says it in a sentence.
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
