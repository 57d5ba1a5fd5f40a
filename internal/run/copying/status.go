package copying

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// Status says through which record the log is copied, and why the copy is behind.
type Status struct {
	Copied   events.Sequence // the last record that was copied, with all before it
	Lag      uint64          // number of durable records after Copied
	Behind   time.Duration   // age of the oldest record after Copied; 0 for none
	Problem  string          // why nothing is copied; empty if nothing is wrong
	Objects  uint64          // objects written since the start
	Bytes    uint64          // size of these objects
	Failures map[string]uint64
}

// Reasons are the labels by which the metric of failed copies is split; reason chooses one.
var Reasons = []string{"ahead", "busy", "changed", "denied", "full", "other", "timeout", "unfenced", "unreachable"}

// reason returns the label of the failure err, one of Reasons.
func reason(err error) string {
	var ahead *backup.AheadError
	var network net.Error
	switch {
	case errors.As(err, &ahead):
		return "ahead"
	case errors.Is(err, ErrUnfenced):
		return "unfenced"
	case errors.Is(err, copylog.ErrChanged), errors.Is(err, copylog.ErrExists):
		return "changed"
	case errors.Is(err, copylog.ErrDenied), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "denied"
	case errors.Is(err, copylog.ErrBusy):
		return "busy"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "full"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &network):
		return "unreachable"
	}
	return "other"
}

// state holds what Status returns, and what was last logged. It is safe for concurrent use.
type state struct {
	logger  *slog.Logger
	durable func() (events.Identity, store.Head)
	log     store.Reader
	place   string

	mu       sync.Mutex
	status   Status
	begun    bool // one pass (round of copying) has succeeded since the start
	over     bool // copying has ended, because the copy has records that the log lacks
	oldest   events.Sequence
	written  time.Time // when the first record after oldest was written; since sets both
	told     string
	toldAt   time.Time
	troubled bool
}

func (s *state) init(c *Config, through events.Sequence) {
	s.logger, s.durable, s.log, s.place = c.Logger, c.Durable, c.Log, c.Place.String()
	s.status.Copied = through
	s.status.Failures = map[string]uint64{}
	for _, name := range Reasons {
		s.status.Failures[name] = 0
	}
}

// Status says through which record the log is copied, and why the copy is behind.
func (k *Copier) Status() Status {
	_, head := k.Durable()
	s := &k.state
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Failures = maps.Clone(st.Failures)
	if head.Sequence > st.Copied {
		st.Lag = uint64(head.Sequence - st.Copied)
		st.Behind = max(0, time.Since(s.since(st.Copied)))
	}
	return st
}

// since returns when the oldest record that the copy lacks was written. If the log has deleted that record, it takes
// the oldest one that remains. copied is the last record in the copy. The caller holds mu.
func (s *state) since(copied events.Sequence) time.Time {
	if s.oldest == copied && !s.written.IsZero() {
		return s.written
	}
	s.oldest, s.written = copied, time.Now() // the time is now if the log is closed and yields no record
	for _, from := range []events.Sequence{copied + 1, 0} {
		for r, err := range s.log.Read(context.Background(), from) {
			if err == nil {
				s.written = r.Time.Go()
				return s.written
			}
			break
		}
	}
	return s.written
}

// through returns the last record that was copied; begun is false until the first pass (round of copying) has
// succeeded.
func (s *state) through() (copied events.Sequence, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Copied, s.begun
}

func (s *state) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// step counts an object that was written to the copy.
func (s *state) step(step backup.Step) {
	if step.Deleted || step.There {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Objects++
	s.status.Bytes += uint64(step.Bytes)
}

// copied stores the result of a successful pass (round of copying). It logs which records could not be copied, and
// which the copy dropped.
func (s *state) copied(r *backup.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Copied, s.status.Problem = r.Head.Sequence, ""
	if !s.begun || s.troubled {
		s.logger.Info("the log is copied", "to", s.place, "through", uint64(r.Head.Sequence))
	}
	s.begun, s.troubled = true, false
	for _, h := range r.Holes {
		s.logger.Error("the copy does not have these records: the log had no room to keep them for it", "from", uint64(h.From), "through", uint64(h.Through))
	}
	if r.Dropped != 0 {
		s.logger.Warn("the copy goes on under another epoch: the log went on without its records from there; their manifest stays under manifests/",
			"through", uint64(r.Dropped), "epoch", r.Identity.Epoch)
	}
}

// count counts a failure in the metric, under the label that reason returns.
func (s *state) count(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Failures[reason(err)]++
}

// again is the shortest time between two log messages about the same problem.
const again = time.Minute

// fail notes why a pass (round of copying) failed. It logs the failure if its label is new, or was last logged more
// than a minute ago.
func (s *state) fail(err error) {
	s.count(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = reason(err) == "ahead"
	s.status.Problem, s.troubled = err.Error(), true
	if class := reason(err); class != s.told || time.Since(s.toldAt) > again {
		s.told, s.toldAt = class, time.Now()
		s.logger.Warn("the log is not copied for now; Jobs do not wait for that", "to", s.place, "after", uint64(s.status.Copied), "problem", err)
	}
}
