package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// LastSpec returns the spec by which a Job has ended, or ends: its status says so, at least with the interim condition.
// Users may edit some fields after that, such as backoffLimit (J-212), and the new values say nothing of the end. Of a
// Job that goes on, it returns the newest spec. The Terms are those of that spec.
//
// known is false if the Job may have had another spec when it ended: it had ended, and had been edited, when it was
// first seen; or one observation showed an edit and the end.
func (j *Job) LastSpec() (spec *events.JobSpec, t Terms, known bool) {
	if spec = j.lastSpec; spec != nil {
		return spec, termsOf(spec), true
	}
	return j.Spec, j.Terms, !j.endedUnseen
}

// LastCompleted returns the indexes of a finished Job that had succeeded when it ended; of another Job, those that have
// succeeded. The caller must not change the set.
func (j *Job) LastCompleted() *indexset.Set {
	if !j.finished || j.lastSpec == nil {
		return j.Completed()
	}
	had := j.Base.Completed.Clone()
	had.Trim(termsOf(j.lastSpec).Completions)
	return &had
}

func (t *Tries) lastSpecToWire(s *pb.JobState) {
	s.EndedUnseen = t.endedUnseen
	if t.lastSpec != nil {
		s.LastSpec = events.SpecToWire(t.lastSpec)
	}
}

func (t *Tries) lastSpecFromWire(s *pb.JobState) {
	t.endedUnseen = s.GetEndedUnseen()
	if s.GetLastSpec() != nil {
		t.lastSpec = events.SpecFromWire(s.GetLastSpec())
	}
}
