package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// waits are the times until which decisions about the Job wait, apart from the backoffs of single commands.
type waits struct {
	// EndInDoubt is the time until which a status write of unknown outcome may still be stored; 0 if there is none, or
	// a newer version of the Job was seen. It is set only for a write that decides the Job's end or a pod's count.
	// Until then no pod is created: it could be a pod of a finished Job (J-009), or the replacement of a pod that
	// counts after all. The next status write ends the wait. A live read that finds no newer version also ends it, if
	// the API server has answered each such write (endOver).
	EndInDoubt events.Time
	endOver    bool
	// LatePod is the time until which a duplicate create, or an adoption with unknown outcome, may still add a pod. A
	// duplicate is possible only if the create was sent twice, and its first pod is gone or terminating. The Job does
	// not finish before LatePod: such a pod would run for a finished Job and never be deleted (J-082).
	LatePod events.Time
	Lagging events.Time // since when the published status has been out of date
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
