package events

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Names that the outside sees; they are for ever.
const (
	// CommandAnnotation on a pod names the create that made it, or the Job that adopted it.
	CommandAnnotation = "jobledger.dev/command"
	// SealAnnotation on a pod that a create made shows that the command annotation was written by who has the log's key:
	// see Key.Seal.
	SealAnnotation = "jobledger.dev/command-seal"
	// TermAnnotation on what a controller created is the term in which it did. It is no part of the command's identity: a
	// create that is tried again in a later term is the same one.
	TermAnnotation = "jobledger.dev/term"
	// TemplateAnnotation on a pod is the hash of the template it was made from.
	TemplateAnnotation = "jobledger.dev/template"
	// ManagedBy is the value of spec.managedBy that gives a Job to this controller.
	ManagedBy = "jobledger.dev/job-controller"
	// BuiltinManagedBy is the reserved value of the built-in controller (J-005).
	BuiltinManagedBy = "kubernetes.io/job-controller"
	// TrackingFinalizer keeps a pod of a Job with ManagedBy until it is counted.
	TrackingFinalizer = "jobledger.dev/job-tracking"
	// BuiltinTrackingFinalizer keeps a pod of any other Job (O-061).
	BuiltinTrackingFinalizer = "batch.kubernetes.io/job-tracking"
)

// FinalizerFor is the tracking finalizer of pods whose Job has that managedBy: it follows the Job, not the mode (design
// §9).
func FinalizerFor(managedBy string) string {
	if managedBy == ManagedBy {
		return TrackingFinalizer
	}
	return BuiltinTrackingFinalizer
}

// Identity names one life of one log: a random ID, and an epoch that changes when the log is restored.
type Identity struct {
	LogID string
	Epoch uint64
}

// String is "<log ID>.<epoch>".
func (id Identity) String() string { return id.LogID + "." + strconv.FormatUint(id.Epoch, 10) }

// CommandOf is the annotation of the pod that the Job's create with that ordinal makes; with 0, of a pod that it
// adopts.
func (id Identity) CommandOf(job types.UID, ordinal uint64) string {
	return id.String() + "/" + string(job) + "/" + strconv.FormatUint(ordinal, 10)
}

// ParseCommand parses a command annotation. ok is false for another shape, and for an ordinal higher than any create
// can have: otherwise a user who may write pods could use up the ordinals of the creates to come.
func ParseCommand(annotation string) (id Identity, job types.UID, ordinal uint64, ok bool) {
	life, rest, ok1 := strings.Cut(annotation, "/")
	uid, number, ok2 := strings.Cut(rest, "/")
	logID, epoch, ok3 := strings.Cut(life, ".")
	if !ok1 || !ok2 || !ok3 || logID == "" || uid == "" {
		return Identity{}, "", 0, false
	}
	e, err1 := strconv.ParseUint(epoch, 10, 64)
	n, err2 := strconv.ParseUint(number, 10, ordinalBits)
	if err1 != nil || err2 != nil {
		return Identity{}, "", 0, false
	}
	return Identity{LogID: logID, Epoch: e}, types.UID(uid), n, true
}

const (
	ordinalBits   = 62
	nameAlphabet  = "bcdfghjklmnpqrstvwxz2456789" // what Kubernetes uses for generated names: 27 characters
	nameSuffix    = 5
	nameSpace     = 27 * 27 * 27 * 27 * 27 // a power of 3, so every multiplier that 3 does not divide is a bijection
	maxNamePrefix = 63 - nameSuffix
)

// PodName gives the name of the pod that a create makes: prefix (J-064), cut to 58 bytes, and five characters, which
// are a bijection of the ordinal, keyed by the life of the log and the Job. So two creates of a Job never share a name,
// and a create that is tried twice finds its own pod.
func (id Identity) PodName(job types.UID, prefix string, ordinal uint64) string {
	if len(prefix) > maxNamePrefix {
		prefix = prefix[:maxNamePrefix]
	}
	key := sha256.Sum256([]byte(id.String() + "/" + string(job)))
	mul := binary.BigEndian.Uint64(key[:8])%nameSpace | 1
	if mul%3 == 0 {
		mul++
	}
	add := binary.BigEndian.Uint64(key[8:16]) % nameSpace
	n := (mul*(ordinal%nameSpace) + add) % nameSpace
	var suffix [nameSuffix]byte
	for i := range suffix {
		suffix[i] = nameAlphabet[n%27]
		n /= 27
	}
	return prefix + string(suffix[:])
}
