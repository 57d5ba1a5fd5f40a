package projector

import (
	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// lastTerms is by which spec a Job has ended, or ends: its status says so, at least with the interim condition. Users may
// edit some fields after that, such as backoffLimit (J-212), and the new values say nothing of the end.
type lastTerms struct {
	spec    *events.JobSpec // the spec before the first edit after the end; nil if there was none
	unknown bool            // an edit may have come before or after the end, and nothing tells which
}

// LastSpec returns the spec by which a Job has ended, and its Terms; of a Job that goes on, the newest ones. known is
// false if the Job may have had another spec when it ended: it had ended, and had been edited, when it was first seen;
// or one observation showed an edit and the end.
func (j *Job) LastSpec() (spec *events.JobSpec, t Terms, known bool) {
	if spec = j.last.spec; spec != nil {
		return spec, termsOf(spec), true
	}
	return j.Spec, j.Terms, !j.last.unknown
}

func (l *lastTerms) toWire(s *pb.JobState) {
	s.LastSpecUnknown = l.unknown
	if l.spec != nil {
		s.LastSpec = events.SpecToWire(l.spec)
	}
}

func lastTermsFromWire(s *pb.JobState) (l lastTerms) {
	l.unknown = s.GetLastSpecUnknown()
	if s.GetLastSpec() != nil {
		l.spec = events.SpecFromWire(s.GetLastSpec())
	}
	return l
}
