package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// waits are the times for which decisions about the Job wait, other than for the backoff of one command.
type waits struct {
	// EndInDoubt is until when a status write of unknown end, on which the Job's end or a pod's count hangs, may yet take
	// effect; 0 when there is none, or a version was seen after which it cannot. Until then no pod is made: it could be
	// one of a finished Job (J-009), or the successor of one that is counted after all. The next status write ends the
	// wait, and so does a live read that finds no newer version, when the API server has answered each such write
	// (endOver).
	EndInDoubt events.Time
	endOver    bool
	// LatePod is until when a duplicate create may make its pod once more, as the one that was made is gone or going, or
	// an adoption of unknown end may turn out to have given the Job a pod. The Job does not finish before: that pod would
	// run for a finished Job, and would never be deleted (J-082). A create that is asked for once makes no duplicate, nor
	// does one whose pod a listing shows.
	LatePod events.Time
	Lagging events.Time // since when the published status has been behind
	ends    backoff
}

func (w *waits) shift(step time.Duration) {
	w.EndInDoubt, w.LatePod, w.Lagging = w.EndInDoubt.Add(step), w.LatePod.Add(step), w.Lagging.Add(step)
	w.ends.shift(step)
}

func (w *waits) toWire(s *pb.JobState, _ *pb.StateNames) {
	s.EndInDoubt, s.EndOver, s.LatePod = int64(w.EndInDoubt), w.endOver, int64(w.LatePod)
	s.Lagging, s.Ends = int64(w.Lagging), w.ends.toWire()
}

func (w *waits) fromWire(s *pb.JobState, _ *stateReader) {
	w.EndInDoubt, w.endOver, w.LatePod = events.Time(s.GetEndInDoubt()), s.GetEndOver(), events.Time(s.GetLatePod())
	w.Lagging, w.ends = events.Time(s.GetLagging()), backoffFromWire(s.GetEnds())
}
