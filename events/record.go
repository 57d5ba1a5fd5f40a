package events

import "k8s.io/apimachinery/pkg/types"

// Header says where a record stands. The wire fixes it for ever.
type Header struct {
	Sequence Sequence
	Time     Time // of the whole batch
	Stream   Stream
	Previous Sequence   // the stream's record before this one; 0 when it is the first
	Causes   []Sequence // the records that led to this one, oldest first
	Kind     Kind
	Critical bool // skipping the record could change a decision
	Last     bool // the last record of its batch
}

// Record is one entry of the log. Facts and Evidence are treated as immutable once a record exists.
type Record struct {
	Header
	Facts    Facts    // nil when the kind has none; *Erased or *Unknown when they cannot be had
	Evidence Evidence // the zero Evidence when there is none, or it was erased

	FactsSalt, EvidenceSalt Salt  // that of a part which is not there is not stored
	EvidenceDigest          *Hash // stands in for evidence that was erased; nil when it was not
}

// Salt is mixed into the digest of a part. So an erased part cannot be guessed from its digest.
type Salt [16]byte

// Batch is the records of one turn of the loop. It is appended and read whole: consecutive sequences, one time, and
// the end mark on the last record only.
type Batch struct {
	Records []Record
}

// First is the sequence of the batch's first record; 0 for an empty batch.
func (b Batch) First() Sequence {
	if len(b.Records) == 0 {
		return 0
	}
	return b.Records[0].Sequence
}

// Last is the sequence of the batch's last record; 0 for an empty batch.
func (b Batch) Last() Sequence {
	if len(b.Records) == 0 {
		return 0
	}
	return b.Records[len(b.Records)-1].Sequence
}

// Facts is the part of a record that decisions may read. The types below are all that implement it.
type Facts interface {
	facts() factType
	encode(e encoding) encoding // it adds their stored form
}

// Erased stands in for facts that were erased; the chain still covers them.
type Erased struct {
	Digest Hash // of what was erased, as the chain takes it in; zero when it is not known
}

// Unknown holds the facts of a kind that this program does not know, as they were stored.
type Unknown struct{ Bytes []byte }

func (*Erased) facts() factType  { return factErased }
func (*Unknown) facts() factType { return factUnknown }

// Claim names the create that made a pod, by its annotation. No decision reads it, and it is not recorded.
type Claim struct {
	Epoch   uint64
	Job     types.UID
	Ordinal uint64
}

// Observation is one answer of a list or a watch, before it has a place in the log. Facts is one of *JobSeen, *JobGone,
// *CronJobSeen, *CronJobGone, *PodSeen, *PodGone, *ListingStarted and *Synced.
type Observation struct {
	Job      JobRef // the Job that the observation is about, or the pod's owner; zero when there is none
	Facts    Facts
	Evidence Evidence
	Spec     *JobSpec // content of the spec that a JobSeen names; nil otherwise
	Template []byte   // its redacted pod template, as JSON; nil when it is too large to be stored
	Claim    Claim    // of a pod, when the seal on its annotation is right; zero otherwise
	// Editors are who last changed which fields of a Job's spec; Evidence.Edit is to be one of them.
	Editors []Editor
	// TemplateSize is that of the redacted template in bytes, also when it is too large to be stored.
	TemplateSize int
	// Others: it is of a pod whose Job another controller runs, beside Jobs that are ours.
	Others bool
	// CronJob is the UID of the CronJob that controls the Job of a JobSeen, and Run what that CronJob is told of the Job;
	// empty and nil for a Job that has none.
	CronJob types.UID
	Run     *RunSeen
	// Zones are the rules that a CronJobSeen names.
	Zones []ZoneRules
}

// Editor is who last changed some fields of a Job's spec.
type Editor struct {
	Edit
	Fields []string // of the spec, by their names in JSON, such as parallelism
}
