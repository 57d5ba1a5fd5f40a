package events

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Sequence is the place of a record in the log, from 1. 0 is before the first record.
type Sequence uint64

// Time is an instant in nanoseconds since 1970 UTC; 0 means unset. It has no zone. [At] clamps an instant outside
// FirstTime to LastTime to the nearer end, so a Time never wraps.
type Time int64

// FirstTime and LastTime bound what At returns and what a record may hold. The difference of any two Times in the range
// fits in a time.Duration (292 years), also with a wait added.
const (
	firstSecond = -1_262_304_000 // 1930-01-01T00:00:00Z
	lastSecond  = 6_942_585_600  // 2190-01-01T00:00:00Z
	FirstTime   = Time(firstSecond * int64(time.Second))
	LastTime    = Time(lastSecond * int64(time.Second))
)

// At converts t. The zero time.Time becomes 0. A time before 1930 becomes FirstTime, one after 2189 becomes LastTime:
// users write 9999-12-31 for "no end", and anyone who may write the status of an object may write any year.
func At(t time.Time) Time {
	switch s := t.Unix(); {
	case t.IsZero():
		return 0
	case s < firstSecond:
		return FirstTime
	case s >= lastSecond:
		return LastTime
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

// Add returns t+d, clamped to the range of int64. An unset t stays unset.
func (t Time) Add(d time.Duration) Time {
	switch sum := t + Time(d); {
	case t == 0:
		return 0
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	default:
		return sum
	}
}

// Sub returns the duration t-u, clamped to the range of a time.Duration, as time.Time.Sub does.
func (t Time) Sub(u Time) time.Duration {
	switch d := time.Duration(t - u); {
	case t > u && d < 0:
		return math.MaxInt64
	case t < u && d > 0:
		return math.MinInt64
	default:
		return d
	}
}

// Second returns t rounded down to whole seconds, the resolution of times in the API server (J-235).
func (t Time) Second() Time {
	if t < math.MinInt64+Time(time.Second) {
		return t
	}
	return t - ((t%Time(time.Second))+Time(time.Second))%Time(time.Second)
}

// StreamKind says what a stream (set of related records) is about.
type StreamKind uint8

// The kinds, with the numbers by which they are stored.
const (
	StreamController StreamKind = 1
	StreamJob        StreamKind = 2
	StreamCronJob    StreamKind = 3
	StreamNamespace  StreamKind = 4
)

// Stream names a set of related records: those of one Job or CronJob (ID is its UID), of one namespace (ID is its
// name), or of the controller (ID is empty).
type Stream struct {
	Kind StreamKind
	ID   string
}

// Controller names the records about the controller itself: starts, stops, listings and settings.
var Controller = Stream{Kind: StreamController}

// JobStream returns the name of the records about the Job with this UID.
func JobStream(uid types.UID) Stream { return Stream{Kind: StreamJob, ID: string(uid)} }

// CronJobStream returns the name of the records about the CronJob with this UID.
func CronJobStream(uid types.UID) Stream { return Stream{Kind: StreamCronJob, ID: string(uid)} }

// NamespaceStream names the records about a namespace's pods without an owner.
func NamespaceStream(namespace string) Stream {
	return Stream{Kind: StreamNamespace, ID: namespace}
}

// String returns the name for people: "controller", "job/<uid>", "cronjob/<uid>", "namespace/<name>".
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
