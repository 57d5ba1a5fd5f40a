package projector

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// published is the Job's status as the API server has it, and when the Job began to run, which it is to show.
type published struct {
	Base      status.Status      // newest confirmed stored status: the published base
	uncounted map[types.UID]bool // the uncounted pods of the base; true: failed
	Start     events.Time        // when the Job began to run, in full precision; 0 while it has not
	finished  bool               // the base says Complete or Failed
	// failing and succeeding: the base has the interim condition FailureTarget, or SuccessCriteriaMet, which are final.
	failing, succeeding bool
	verdict             events.Time // since when the base has FailureTarget; 0 while it has not
	asked               events.Time // the start time that a status write last asked to publish: seen, it is Start, though the clock was set since
}

func newPublished() published {
	return published{Base: status.New(), uncounted: map[types.UID]bool{}}
}

// Finished reports whether the published status says Complete or Failed.
func (b *published) Finished() bool { return b.finished }

// Ending reports whether the published status says how the Job ends: it is finished, or will be.
func (b *published) Ending() bool { return b.finished || b.failing || b.succeeding }

// seen folds another status than ours. Its uncounted pods are listed again by relist.
func (b *published) seen(s *events.JobStatus, now events.Time, spec *events.JobSpec) {
	if t := s.StartTime; t != b.Base.StartTime && t != b.asked {
		b.Start = 0 // another client suspended and resumed it: its time began again (J-147)
	}
	suspended := b.Base.True(status.Suspended)
	b.Base = status.Of(s)
	b.read()
	b.suspended(suspended, now, spec)
}

// confirmed folds that a write of ours is stored. Its uncounted pods are listed one by one.
func (b *published) confirmed(c *events.StatusChange, now events.Time, spec *events.JobSpec) {
	suspended := b.Base.True(status.Suspended)
	b.Base.Change(c)
	b.read()
	b.suspended(suspended, now, spec)
}

// read finds what the conditions of the base say, which is asked of each pod.
func (b *published) read() {
	b.finished, b.failing, b.succeeding = b.Base.Finished(), b.Base.True(status.FailureTarget), b.Base.True(status.SuccessCriteriaMet)
	b.verdict = 0
	if b.failing {
		b.verdict = b.Base.Condition(status.FailureTarget).Since
	}
}

// suspended follows a new status. A suspension that it shows, and the one before did not, was in force, however short,
// so the Job's time begins again when it is resumed (J-147, J-151).
func (b *published) suspended(before bool, now events.Time, spec *events.JobSpec) {
	if !before && b.Base.True(status.Suspended) {
		b.Start = 0
		b.begin(now, spec)
	}
}

// begin follows when the Job began to run: now, when it is not suspended and no start time is published, or one of
// before it was suspended (J-145, J-151). Suspended, it has none (J-147).
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

// StartTime is the start time that is published or will be, at full precision where this log decided it.
func (j *Job) StartTime() events.Time {
	if j.Spec != nil && j.Spec.Suspend {
		return 0
	}
	if j.Start != 0 {
		return j.Start
	}
	return j.Base.StartTime
}

// shift leaves the times that are the API server's: those of the status, and the one that it was asked to take.
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
