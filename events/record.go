package events

import "k8s.io/apimachinery/pkg/types"

// Header gives the place of a record in the log, its time and its kind. Its wire form never changes.
type Header struct {
	Sequence Sequence
	Time     Time // of the whole batch: all its records have the same time
	Stream   Stream
	Previous Sequence   // the record before this one in the same stream; 0 for the first
	Causes   []Sequence // the records that led to this one, oldest first
	Kind     Kind
	Critical bool // skipping the record could change a decision
	Last     bool // the last record of its batch
}

// Record is one entry of the log. Facts and Evidence must not be modified once the record exists.
type Record struct {
	Header
	Facts    Facts    // nil when the kind has none; *Erased or *Unknown when they cannot be decoded
	Evidence Evidence // zero when the record has none, or it was erased

	FactsSalt, EvidenceSalt Salt  // the salt of an absent part is not stored
	EvidenceDigest          *Hash // digest of evidence that was erased; nil when it was not
}

// Salt is random data that is hashed together with a part of a record, so that erased content cannot be guessed from
// its digest.
type Salt [16]byte

// Batch holds the records of one turn of the loop. It is stored and read whole. Its records have consecutive sequences
// and the same time; only the last one has the end mark.
type Batch struct {
	Records []Record
}

// First returns the sequence of the first record; 0 for an empty batch.
func (b Batch) First() Sequence {
	if len(b.Records) == 0 {
		return 0
	}
	return b.Records[0].Sequence
}

// Last returns the sequence of the last record; 0 for an empty batch.
func (b Batch) Last() Sequence {
	if len(b.Records) == 0 {
		return 0
	}
	return b.Records[len(b.Records)-1].Sequence
}

// Facts is the part of a record that decisions may read, such as a pod's phase. The set of implementations is closed.
type Facts interface {
	facts() factType
	encode(e encoding) encoding // encode appends the stored form
}

// Erased takes the place of erased facts. Their digest is kept, so the hash chain over the log stays valid.
type Erased struct {
	Digest Hash // digest of the erased facts, as the chain uses it; zero when unknown
}

// Unknown holds the stored bytes of facts of a kind that this program does not know.
type Unknown struct{ Bytes []byte }

func (*Erased) facts() factType  { return factErased }
func (*Unknown) facts() factType { return factUnknown }

// Claim says which create made a pod, according to the pod's annotation. No decision reads it, and it is not recorded.
type Claim struct {
	Epoch   uint64
	Job     types.UID
	Ordinal uint64
}

// Observation is one result of a list or a watch, before it is recorded. Facts is one of *JobSeen, *JobGone,
// *CronJobSeen, *CronJobGone, *PodSeen, *PodGone, *ListingStarted and *Synced.
type Observation struct {
	Job      JobRef // the observed Job, or the owner of the observed pod; zero for none
	Facts    Facts
	Evidence Evidence
	Spec     *JobSpec // content of the spec that a JobSeen names; nil for other facts
	Template []byte   // the redacted pod template of the spec, as JSON; nil when it is too large to store
	Claim    Claim    // for a pod whose annotation has a valid seal (Key.Seal); zero otherwise
	// Editors lists who edited each field of a Job's spec last. The newest editor of a changed field becomes
	// Evidence.Edit.
	Editors []Editor
	// TemplateSize is the size of the redacted template in bytes, even if it is too large to store.
	TemplateSize int
	// Others: the pod belongs to a Job that another controller runs beside ours.
	Others bool
	// CronJob is the UID of the CronJob that controls the observed Job, and Run is what to record in that CronJob's
	// stream. Both are empty for a Job without a CronJob.
	CronJob types.UID
	Run     *RunSeen
	// Zones holds the time zone rules that a CronJobSeen refers to.
	Zones []ZoneRules
}

// Editor is the last editor of some fields of a Job's spec.
type Editor struct {
	Edit
	Fields []string // JSON names of fields of the spec, such as parallelism
}
