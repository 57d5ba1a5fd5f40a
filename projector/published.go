package projector

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// published is the Job's status as stored at the API server, and the start time to write into it.
type published struct {
	Base      status.Status      // newest status known to be stored
	uncounted map[types.UID]bool // UIDs in uncountedTerminatedPods of Base; true: failed
	Start     events.Time        // when the Job started, in full precision; 0 if it has not
	finished  bool               // Base has Complete or Failed
	// failing and succeeding: Base has the interim condition FailureTarget, or SuccessCriteriaMet. These are final.
	failing, succeeding bool
	verdict             events.Time // time of FailureTarget in Base; 0 for none
	asked               events.Time // start time in our last write; a status with it does not change Start
}

func newPublished() published {
	return published{Base: status.New(), uncounted: map[types.UID]bool{}}
}

// Finished reports whether the published status has Complete or Failed.
func (b *published) Finished() bool { return b.finished }

// Ending reports whether the published status says how the Job ends: it is finished, or will be.
func (b *published) Ending() bool { return b.finished || b.failing || b.succeeding }

// seen takes over an observed status that we did not write. The caller rebuilds uncounted with relist.
func (b *published) seen(s *events.JobStatus, now events.Time, spec *events.JobSpec) {
	if t := s.StartTime; t != b.Base.StartTime && t != b.asked {
		// An unexpected start time means that another client suspended and resumed the Job: activeDeadlineSeconds
		// starts again (J-147)
		b.Start = 0
	}
	suspended := b.Base.True(status.Suspended)
	b.Base = status.Of(s)
	b.read()
	b.suspended(suspended, now, spec)
}

// confirmed adds to Base what a successful status write of ours changed. The caller updates uncounted.
func (b *published) confirmed(c *events.StatusChange, now events.Time, spec *events.JobSpec) {
	suspended := b.Base.True(status.Suspended)
	b.Base.Change(c)
	b.read()
	b.suspended(suspended, now, spec)
}

// read copies three conditions of Base into fields, because each change of a pod needs them.
func (b *published) read() {
	b.finished, b.failing, b.succeeding = b.Base.Finished(), b.Base.True(status.FailureTarget), b.Base.True(status.SuccessCriteriaMet)
	b.verdict = 0
	if b.failing {
		b.verdict = b.Base.Condition(status.FailureTarget).Since
	}
}

// suspended resets the Job's start time when the condition Suspended has become true, however short the suspension
// (J-147, J-151). before says whether it was true before.
func (b *published) suspended(before bool, now events.Time, spec *events.JobSpec) {
	if !before && b.Base.True(status.Suspended) {
		b.Start = 0
		b.begin(now, spec)
	}
}

// begin sets the start time to now if the Job runs and no start time is published, or only one from before a suspension
// (J-145, J-151). A suspended Job has no start time (J-147).
func (b *published) begin(now events.Time, spec *events.JobSpec) {
	switch {
	case spec == nil || b.finished:
	case spec.Suspend:
		b.Start = 0
	case b.Start != 0:
	case b.Base.StartTime == 0 || b.Base.True(status.Suspended):
		b.Start, b.asked = now, 0
	default:
		b.Start = b.Base.StartTime
	}
}

// StartTime returns the start time, published or to be published, in full precision if this log decided it. A suspended
// Job has none (J-147); one that was suspended after its end keeps it.
func (j *Job) StartTime() events.Time {
	if j.Spec != nil && j.Spec.Suspend && (!j.finished || j.lastSpec == nil || j.lastSpec.Suspend) {
		return 0
	}
	if j.Start != 0 {
		return j.Start
	}
	return j.Base.StartTime
}

// shift adds a clock step to Start. It leaves the API server's times: those of the status, and the start time in our
// last write.
func (b *published) shift(step time.Duration) { b.Start = b.Start.Add(step) }

func (b *published) toWire(s *pb.JobState, names *pb.StateNames) {
	s.Base = events.StatusToWire(b.Base.Record(), &names.Texts)
	s.Start, s.StartAsked = int64(b.Start), int64(b.asked)
}

func (b *published) fromWire(s *pb.JobState, r *stateReader) {
	base := events.StatusFromWire(s.GetBase(), r.texts)
	r.skip(len(base.Conditions))
	b.Base = status.Of(base)
	b.read()
	b.relist()
	b.Start, b.asked = events.Time(s.GetStart()), events.Time(s.GetStartAsked())
}
