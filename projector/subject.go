package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Subject is the state of one stream, and what one decision is about: a Job, a retired Job, a CronJob, or the pods
// without an owner of a namespace. It is a function of the stream's records and of those controller records that
// concern all streams. A decision reads only its subject. If a change of one subject concerns another, package intake
// adds a record to the stream of the other (Intake.Follow). Example: a Job is seen for the first time, and its selector
// matches a pod without an owner. So in the same batch of records that pod moves to the Job's stream.
type Subject interface {
	// ID returns the name of the subject's stream (its part of the log).
	ID() events.Stream
	// Reference names the subject for people, as far as known. For the pods of a namespace it has only the namespace.
	Reference() events.JobRef
	// Time is the subject's own clock: the time of the newest record that concerned it. Decisions use it.
	Time() events.Time
	// Last returns the sequence (place in the log) of the newest record of its stream.
	Last() events.Sequence
	// Apply updates the subject by one record. It cannot fail: records are validated when they are decoded.
	Apply(rec *events.Record)
	// Due returns when a decision about the subject is needed for the first time after a start; 0 for never. now is the
	// time of the start. Each decision then gives the time of the next one (Decision.Wake).
	Due(now events.Time) events.Time

	// Observed reports whether another controller acts on the subject. Decisions about it are not carried out.
	Observed() bool
	// InFlight returns the command with the ID name if it is in flight (decided, and not ended); else nil.
	InFlight(name events.CommandID) events.Command

	over() bool // no work is left: the World drops the subject
	began() events.Sequence
	toWire() (*pb.JobState, *pb.StateNames)
}

// Holder is a subject that has pods: a Job, unless it is retired (finished, without work left), or the pods without an
// owner of a namespace. Refused commands about them are retried unchanged.
type Holder interface {
	// Holder returns the Job that keeps the state of the pods and their commands: the subject itself, or for Strays a
	// Job without an object.
	Holder() *Job
}

// HolderOf returns the Job that keeps the state of the subject's pods; nil if s is nil or has no pods.
func HolderOf(s Subject) *Job {
	if h, ok := s.(Holder); ok {
		return h.Holder()
	}
	return nil
}

// PodOf returns the subject's pod with that UID; nil for none.
func PodOf(s Subject, uid types.UID) *Pod {
	if j := HolderOf(s); j != nil {
		return j.Pod(uid)
	}
	return nil
}

// Compared reports whether decisions about the subject are not carried out, but compared with the acts of the
// controller that runs it. It is false for a CronJob that another controller runs: only what became of its due times is
// recorded.
func Compared(s Subject) bool {
	c, cronJob := s.(*CronJob)
	return s.Observed() && !(cronJob && c.Settings.CronJobs)
}

// Phase is how far a Job's life has got. It only moves forward, with two exceptions. An object that is seen again is no
// longer gone. And a pod that names a retired Job as its owner starts that Job again as a placeholder (PhaseUnknown).
type Phase uint8

// The phases of a Job.
const (
	PhaseUnknown  Phase = iota + 1 // pods name it as their owner, but its object has not been seen
	PhaseSeen                      // seen, and goes on
	PhaseFinished                  // stored as Complete or Failed, with work left
	PhaseRetired                   // finished without work left: replaced by a Retired
	PhaseGone                      // its object is deleted, with pods or commands left
)

// String returns the name of the phase.
func (p Phase) String() string {
	switch p {
	case PhaseUnknown:
		return "unknown"
	case PhaseSeen:
		return "seen"
	case PhaseFinished:
		return "finished"
	case PhaseRetired:
		return "retired"
	case PhaseGone:
		return "gone"
	}
	return "invalid"
}

// Phase returns the Job's phase. It returns PhaseRetired only while the record JobRetired is being applied: after that
// a Retired takes the Job's place in the World.
func (j *Job) Phase() Phase {
	switch {
	case j.Retired:
		return PhaseRetired
	case j.Gone:
		return PhaseGone
	case !j.Known():
		return PhaseUnknown
	case j.finished:
		return PhaseFinished
	}
	return PhaseSeen
}

// ID returns the name of the Job's stream (its part of the log).
func (j *Job) ID() events.Stream { return j.Stream }

// Reference names the Job.
func (j *Job) Reference() events.JobRef { return j.Ref }

// Time returns the time of the newest record that concerned the Job.
func (j *Job) Time() events.Time { return j.Now }

// Last returns the sequence of the newest record of the Job's stream.
func (j *Job) Last() events.Sequence { return j.Head }

// Due returns now: only a decision can tell what a Job waits for.
func (j *Job) Due(now events.Time) events.Time { return now }

// Holder returns j itself: a Job keeps the state of its own pods.
func (j *Job) Holder() *Job { return j }

func (j *Job) began() events.Sequence { return j.first }

// Subject returns the state of stream s: of a Job, a CronJob or the orphan pods of a namespace; nil if there is none.
// The controller's own stream has none.
func (w *World) Subject(s events.Stream) Subject {
	if held, ok := w.subjects[s]; ok {
		return held
	}
	if r := w.Retired(s); r != nil {
		return r
	}
	return nil
}

// Subjects returns the states of all Jobs, CronJobs and namespaces with orphan pods, in the order in which they began.
// Jobs that are retired (finished, without work left) are not among them.
func (w *World) Subjects() []Subject {
	out := make([]Subject, 0, len(w.subjects))
	for _, s := range w.subjects {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Subject) int { return cmp.Compare(a.began(), b.began()) })
	return out
}

// Jobs returns all Jobs, even if their object was not seen, in the order in which they began. Jobs that are retired
// (finished, without work left) are not among them.
func (w *World) Jobs() []*Job {
	out := make([]*Job, 0, len(w.subjects))
	for _, s := range w.subjects {
		if j, ok := s.(*Job); ok {
			out = append(out, j)
		}
	}
	slices.SortFunc(out, func(a, b *Job) int { return cmp.Compare(a.first, b.first) })
	return out
}

// Holders returns all Jobs that hold pods, in the order in which they began. There is one also for the orphan pods of
// each namespace. Jobs that are retired (finished, without work left) are not among them.
func (w *World) Holders() []*Job {
	var out []*Job
	for _, s := range w.Subjects() {
		if h := HolderOf(s); h != nil {
			out = append(out, h)
		}
	}
	return out
}

// Job returns the Job with stream s; nil if there is none, or it is retired (finished, without work left).
func (w *World) Job(s events.Stream) *Job {
	j, _ := w.subjects[s].(*Job)
	return j
}

// Retired returns the Job with stream s if it is retired (finished, without work left); else nil.
func (w *World) Retired(s events.Stream) *Retired {
	if s.Kind != events.StreamJob {
		return nil
	}
	return w.retired[types.UID(s.ID)]
}
