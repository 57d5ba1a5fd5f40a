package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Subject is the state of one stream, and what decisions are made about: a Job, a retired Job, a CronJob, or the pods
// without an owner of a namespace. It is a function of the stream's records and of those controller records that
// concern all streams. A decision reads only its subject. If subject A depends on subject B, the intake writes records
// into A's stream when B changes (Intake.Follow). Example: a Job is seen for the first time, and its selector matches a
// pod without an owner. So in the same batch that pod moves to the Job's stream.
type Subject interface {
	// ID returns the subject's stream.
	ID() events.Stream
	// Reference names the subject for people, as far as known. For the pods of a namespace it has only the namespace.
	Reference() events.JobRef
	// Time is the subject's own clock: the time of the newest record that concerned it. Decisions use it.
	Time() events.Time
	// Last returns the sequence of the newest record of its stream.
	Last() events.Sequence
	// Apply folds a record. It cannot fail: records are validated when they are decoded.
	Apply(rec *events.Record)
	// Due returns when the subject must be evaluated for the first time after a start; 0 for never. Each decision then
	// gives the time of the next evaluation (Decision.Wake).
	Due(now events.Time) events.Time

	// Observed reports whether another controller acts on the subject. Decisions about it are not carried out.
	Observed() bool
	// InFlight returns the command called name; nil if it has ended.
	InFlight(name events.CommandID) events.Command

	over() bool // no work is left: the World drops the subject
	began() events.Sequence
	toWire() (*pb.JobState, *pb.StateNames)
}

// Holder is a subject with pods, whose commands are retried unchanged: a Job that is not retired, or the pods without
// an owner of a namespace.
type Holder interface {
	// Holder returns the Job that folds the pods and their commands: the subject itself, or for Strays a Job without an
	// object.
	Holder() *Job
}

// HolderOf returns the Job that folds the subject's pods; nil if s is nil or has no pods.
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
// controller that runs it. CronJobs of another controller that are recorded are not compared: only the fates of their
// due times are recorded.
func Compared(s Subject) bool {
	c, cronJob := s.(*CronJob)
	return s.Observed() && !(cronJob && c.Settings.CronJobs)
}

// Phase is a Job's stage of life. It only moves forward, with two exceptions. An object that is seen again is no longer
// gone. And a pod that names a retired Job as its owner starts that Job again as a placeholder (PhaseUnknown).
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

// Phase returns the Job's phase. PhaseRetired is returned only while the record JobRetired is being folded: after that
// a Retired takes the Job's place.
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

// ID returns the Job's stream.
func (j *Job) ID() events.Stream { return j.Stream }

// Reference names the Job.
func (j *Job) Reference() events.JobRef { return j.Ref }

// Time returns the time of the newest record that concerned the Job.
func (j *Job) Time() events.Time { return j.Now }

// Last returns the sequence of the newest record of the Job's stream.
func (j *Job) Last() events.Sequence { return j.Head }

// Due returns now: only a decision can tell what a Job waits for.
func (j *Job) Due(now events.Time) events.Time { return now }

// Holder returns j.
func (j *Job) Holder() *Job { return j }

func (j *Job) began() events.Sequence { return j.first }

// Subject returns the subject of a stream; nil if there is none. The controller's stream has none.
func (w *World) Subject(s events.Stream) Subject {
	if held, ok := w.subjects[s]; ok {
		return held
	}
	if r := w.Retired(s); r != nil {
		return r
	}
	return nil
}

// Subjects returns all subjects except retired Jobs, in the order in which their streams began.
func (w *World) Subjects() []Subject {
	out := make([]Subject, 0, len(w.subjects))
	for _, s := range w.subjects {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Subject) int { return cmp.Compare(a.began(), b.began()) })
	return out
}

// Jobs returns all Jobs that are not retired, seen or not, in the order in which their streams began.
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

// Holders returns all Jobs that fold pods, in the order in which their streams began: those that are not retired, and
// one for the pods without an owner of each namespace.
func (w *World) Holders() []*Job {
	var out []*Job
	for _, s := range w.Subjects() {
		if h := HolderOf(s); h != nil {
			out = append(out, h)
		}
	}
	return out
}

// Job returns the Job of a stream; nil if there is none or it is retired.
func (w *World) Job(s events.Stream) *Job {
	j, _ := w.subjects[s].(*Job)
	return j
}

// Retired returns the retired Job of a stream; nil if there is none.
func (w *World) Retired(s events.Stream) *Retired {
	if s.Kind != events.StreamJob {
		return nil
	}
	return w.retired[types.UID(s.ID)]
}
