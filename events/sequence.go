package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Sequence is a record's place in the log, from 1; 0 is before the first.
type Sequence uint64

// Time is an instant in nanoseconds since 1970 UTC; 0 means unset. It compares and subtracts exactly, and has no zone.
type Time int64

// At converts t. The zero time.Time becomes 0.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixNano())
}

// Go converts t to a UTC time.Time; 0 becomes the zero time.Time.
func (t Time) Go() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(t)).UTC()
}

// Add returns t moved by d; an unset time stays unset.
func (t Time) Add(d time.Duration) Time {
	if t == 0 {
		return 0
	}
	return t + Time(d)
}

// Sub returns the duration from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Second returns t cut to whole seconds, the resolution at which the API server stores times (J-235).
func (t Time) Second() Time {
	return t - ((t%Time(time.Second))+Time(time.Second))%Time(time.Second)
}

// StreamKind says what a stream is about.
type StreamKind uint8

// The kinds of streams; numbers are those of the wire.
const (
	StreamController StreamKind = 1
	StreamJob        StreamKind = 2
	StreamCronJob    StreamKind = 3
	StreamNamespace  StreamKind = 4
)

// Stream names the records that belong together: those of one Job or CronJob by UID, of one namespace, of the controller.
type Stream struct {
	Kind StreamKind
	ID   string
}

// Controller is the stream of what the controller itself went through.
var Controller = Stream{Kind: StreamController}

// JobStream is the stream of the Job with that UID.
func JobStream(uid types.UID) Stream { return Stream{Kind: StreamJob, ID: string(uid)} }

// CronJobStream is the stream of the CronJob with that UID.
func CronJobStream(uid types.UID) Stream { return Stream{Kind: StreamCronJob, ID: string(uid)} }

// NamespaceStream is the stream of the pods in that namespace that have no owner.
func NamespaceStream(namespace string) Stream {
	return Stream{Kind: StreamNamespace, ID: namespace}
}

// String writes the stream as people read it: "controller", "job/<uid>", "namespace/<name>".
func (s Stream) String() string {
	switch s.Kind {
	case StreamController:
		return "controller"
	case StreamJob:
		return "job/" + s.ID
	case StreamCronJob:
		return "cronjob/" + s.ID
	case StreamNamespace:
		return "namespace/" + s.ID
	}
	return "unknown/" + s.ID
}
