package events

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Names that clients of the API server see. They never change.
const (
	// CommandAnnotation on a pod names the create that made the pod, or the Job that adopted it.
	CommandAnnotation = "jobledger.dev/command"
	// SealAnnotation on a created pod proves that the command annotation was written by a process that has the log's
	// secret key; see Key.Seal.
	SealAnnotation = "jobledger.dev/command-seal"
	// TermAnnotation on an object is the number (term) of the process that created it. It is not part of the command's
	// identity: a create that a later process retries is the same create.
	TermAnnotation = "jobledger.dev/term"
	// TemplateAnnotation on a pod is the hash of the pod template that it was created from.
	TemplateAnnotation = "jobledger.dev/template"
	// ManagedBy is the value of spec.managedBy that gives a Job to this controller.
	ManagedBy = "jobledger.dev/job-controller"
	// BuiltinManagedBy is the value of spec.managedBy that gives a Job to the built-in controller (J-005).
	BuiltinManagedBy = "kubernetes.io/job-controller"
	// TrackingFinalizer keeps a pod until it is counted, if its Job's spec.managedBy is ManagedBy.
	TrackingFinalizer = "jobledger.dev/job-tracking"
	// BuiltinTrackingFinalizer keeps the pods of all other Jobs until they are counted (O-061).
	BuiltinTrackingFinalizer = "batch.kubernetes.io/job-tracking"
)

// FinalizerFor returns the tracking finalizer of the pods of a Job with this spec.managedBy. It depends on the Job
// alone, not on the controller's mode (design §9).
func FinalizerFor(managedBy string) string {
	if managedBy == ManagedBy {
		return TrackingFinalizer
	}
	return BuiltinTrackingFinalizer
}

// Identity names one life of one log: a random ID, and an epoch that changes when the log or the cluster is restored.
type Identity struct {
	LogID string
	Epoch uint64
}

// String returns "<log ID>.<epoch>", where the epoch counts the lives of the log.
func (id Identity) String() string { return id.LogID + "." + strconv.FormatUint(id.Epoch, 10) }

// CommandOf returns the value of CommandAnnotation for the pod that a create of the Job makes. ordinal is the create's
// number within the Job, from 1; 0 stands for a pod that the Job adopts.
func (id Identity) CommandOf(job types.UID, ordinal uint64) string {
	return id.String() + "/" + string(job) + "/" + strconv.FormatUint(ordinal, 10)
}

// ParseCommand parses a value of CommandAnnotation. ok is false for any other text, and for an ordinal (number of a
// create within its Job) above the highest possible one: a user who may write pods could otherwise use up the ordinals
// of later creates.
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
	ordinalBits  = 62
	nameAlphabet = "bcdfghjklmnpqrstvwxz2456789" // the 27 characters that Kubernetes uses for generated names
	nameSuffix   = 5
	// The number of suffixes, a power of 3: multiplying modulo it by any number that 3 does not divide is a bijection
	nameSpace     = 27 * 27 * 27 * 27 * 27
	maxNamePrefix = 63 - nameSuffix
)

// PodName returns the name of the pod that a create makes; ordinal is the create's number within the Job. The name is
// prefix (J-064), cut to 58 bytes, and a suffix of five characters. The suffix is a one-to-one function of the ordinal
// that depends on the log and the Job. So two creates of a Job never have the same name, and a create that is retried
// finds its own pod.
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
