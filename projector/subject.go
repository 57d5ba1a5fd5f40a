package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Subject is what one stream tells of and what decisions are made about: a Job, a retired Job, the pods of a namespace
// that nobody owns. It is a function of the records of its stream, and of those of the controller that concern all. A
// decision reads nothing but its subject, so a subject that depends on another one is told of it by records in its own
// stream: the intake makes them when a record of the other one changes what is known (Intake.Follow). That is how a pod
// without an owner comes to the Job that is to adopt it. A CronJob will follow its Jobs in the same way: the end of a
// Job is an input in the Job's stream, and the intake adds one to the stream of the CronJob that owns it, in the same
// batch.
type Subject interface {
	// ID is the stream of the subject.
	ID() events.Stream
	// Reference names it for people, as far as it is known. Of pods that nobody owns it has the namespace alone.
	Reference() events.JobRef
	// Time is its own clock: the time of the newest record that concerned it, at which it is decided on.
	Time() events.Time
	// Last is the newest record of its stream.
	Last() events.Sequence
	// Apply folds a record. It cannot fail: records are validated when they are decoded.
	Apply(rec *events.Record)
	// Due is when it is to be looked at first after a start, as it knows by itself; 0 for never. After that Decision.Wake
	// says.
	Due(now events.Time) events.Time

	// Observed reports whether another controller acts on it, and this one only looks: nothing that is decided is carried
	// out.
	Observed() bool
	// InFlight is the command of that name; nil when it has ended.
	InFlight(name events.CommandID) events.Command

	over() bool // nothing is left of it: the World forgets it
	began() events.Sequence
	toWire() (*pb.JobState, *pb.StateNames)
}

// Holder is what a subject has that holds pods, and whose commands are asked again as they are: a Job that is not
// retired, and the pods of a namespace that nobody owns.
type Holder interface {
	// Holder folds the pods and the commands about them. It is the Job itself, or a Job without an object.
	Holder() *Job
}

// HolderOf is what the subject holds its pods with; nil for one that holds none, and for no subject.
func HolderOf(s Subject) *Job {
	if h, ok := s.(Holder); ok {
		return h.Holder()
	}
	return nil
}

// PodOf is the pod with that UID; nil when the subject holds none.
func PodOf(s Subject, uid types.UID) *Pod {
	if j := HolderOf(s); j != nil {
		return j.Pod(uid)
	}
	return nil
}

// Compared reports whether what would be decided about a subject is compared with what another controller does to it,
// and is not carried out. Of a CronJob nothing is decided that could be: what the other one made of its due times is
// told.
func Compared(s Subject) bool {
	c, cronJob := s.(*CronJob)
	return s.Observed() && !(cronJob && c.Settings.CronJobs)
}

// Phase is how far a Job has come. It goes forward, with two exceptions: an object that is seen again is no longer
// gone, and a pod that names a retired Job makes it one that is to be seen again.
type Phase uint8

// The phases of a Job.
const (
	PhaseUnknown  Phase = iota + 1 // pods name it, and its object has not been seen
	PhaseSeen                      // it goes on
	PhaseFinished                  // it is stored as Complete or Failed, and something is left to do
	PhaseRetired                   // it finished and nothing is left to do: a Retired is kept of it
	PhaseGone                      // its object does not exist, and pods or commands are left
)

// String is the name of the phase.
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

// Phase is how far the Job has come. It is never PhaseRetired but while the record of that is folded.
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

// ID is the Job's stream.
func (j *Job) ID() events.Stream { return j.Stream }

// Reference names the Job.
func (j *Job) Reference() events.JobRef { return j.Ref }

// Time is the time of the newest record that concerned the Job.
func (j *Job) Time() events.Time { return j.Now }

// Last is the newest record of the Job's stream.
func (j *Job) Last() events.Sequence { return j.Head }

// Due is now: what a Job waits for is found by deciding.
func (j *Job) Due(now events.Time) events.Time { return now }

// Holder is the Job itself.
func (j *Job) Holder() *Job { return j }

func (j *Job) began() events.Sequence { return j.first }

// Subject is what the world holds of a stream other than the controller's; nil for nothing.
func (w *World) Subject(s events.Stream) Subject {
	if held, ok := w.subjects[s]; ok {
		return held
	}
	if r := w.Retired(s); r != nil {
		return r
	}
	return nil
}

// Subjects are all of them but retired Jobs, in the order in which their streams began.
func (w *World) Subjects() []Subject {
	out := make([]Subject, 0, len(w.subjects))
	for _, s := range w.subjects {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Subject) int { return cmp.Compare(a.began(), b.began()) })
	return out
}

// Jobs are all Jobs that are not retired, also those not yet seen, in the order in which their streams began.
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

// Holders are what holds pods: all Jobs, and the pods of each namespace that nobody owns, in the order in which their
// streams began.
func (w *World) Holders() []*Job {
	var out []*Job
	for _, s := range w.Subjects() {
		if h := HolderOf(s); h != nil {
			out = append(out, h)
		}
	}
	return out
}

// Job is the Job of a stream that is not retired; nil when there is none.
func (w *World) Job(s events.Stream) *Job {
	j, _ := w.subjects[s].(*Job)
	return j
}

// Retired is the retired Job of a stream; nil when there is none.
func (w *World) Retired(s events.Stream) *Retired {
	if s.Kind != events.StreamJob {
		return nil
	}
	return w.retired[types.UID(s.ID)]
}

// whereIs finds the pod that the log knows under that UID, and the Job or the pods nobody owns among which it is; nil
// for none.
func (w *World) whereIs(uid types.UID) (Subject, *Pod) {
	s := w.subjects[w.homes[uid]]
	if s == nil {
		return nil, nil
	}
	return s, PodOf(s, uid)
}
