package following

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
)

// Saw notes the content of the Lease while another process holds it. It is called each time that the Lease is read.
func (s *Standby) Saw(said lease.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claim, s.lost = 0, events.Loss{}
	if said != s.said {
		s.said, s.since = said, time.Now()
	}
}

// Claims returns the epoch (a new life of the log) that the Lease is to name when this process takes it; 0 if the log
// continues its epoch.
func (s *Standby) Claims() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claim
}

// Takeover returns the epoch (a new life of the log) that this process must begin, and the last record that the Lease
// named before this process took it. The epoch is 0 if the log continues its own.
func (s *Standby) Takeover() (epoch uint64, lost events.Loss) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claim, s.lost
}

// Ready returns why this process may not take the Lease now; before is the Lease's content, and own the state of this
// log. If it may, Ready also decides whether the log continues its epoch (life of the log) or begins the next one,
// because records may be missing:
//
//	the Lease                                         this log            so
//	names no log                                      has no records      same epoch, at once
//	was released                                      ends like it says   same epoch, at once
//	was held by a process with this very directory    has its record      same epoch, at once
//	anything else                                     has its record      next epoch, at once
//	anything else                                     lacks its record    next epoch; at once if this process had all
//	                                                                      records shortly before, else after 5 minutes
//
// While another process that does not lead has more records, these are copied first.
func (s *Standby) Ready(before lease.Said, own lease.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claim, s.lost = 0, events.Loss{}
	now := time.Now()
	if s.free.IsZero() {
		s.free = now
	}
	if err := s.waitsLocked(before, own, now); err != nil {
		return err
	}
	s.free = time.Time{}
	if goesOn(before, own) {
		return nil
	}
	s.claim = max(before.Epoch, own.Epoch) + 1
	if before.LogID == own.LogID {
		s.lost = events.Loss{Witness: events.WitnessLease, Epoch: before.Epoch, Sequence: before.Head, Hash: before.Hash}
	}
	return nil
}

// waitsLocked returns why this process may not take the Lease yet; nil if it may. The caller holds the lock.
func (s *Standby) waitsLocked(before lease.Said, own lease.Log, now time.Time) error {
	mine := before.Lock != "" && before.Lock == own.Lock
	if s.more.client != nil && now.Sub(s.asked) <= heardWithin && !mine {
		return fmt.Errorf("%s has record %d, and this log ends with record %d: that is copied first", &s.more,
			s.more.head.Sequence, own.Head)
	}
	if mine || !lacks(before, own) {
		return nil
	}
	if !s.asOf.IsZero() && s.since.Sub(s.asOf) <= 2*s.config.Retry+time.Second {
		// If the Lease was last renewed soon after this log had all records of the leader, this process need not wait:
		// the leader has disappeared since.
		return nil
	}
	if left := aloneFor - now.Sub(s.free); left > 0 {
		return fmt.Errorf("the Lease %s says that the log had record %d of epoch %d, and this one ends with record %d of epoch "+
			"%d: in %s it leads without what is missing, unless a controller that has more is started before",
			before.Lease, before.Head, before.Epoch, own.Head, own.Epoch, left.Round(time.Second))
	}
	return nil
}

// goesOn reports whether this log may continue its epoch (life of the log): it must be certain that it lacks no record.
func goesOn(before lease.Said, own lease.Log) bool {
	mine := before.Lock != "" && before.Lock == own.Lock
	switch {
	case before.LogID == "":
		return own.Head == 0
	case before.Identity != own.Identity:
		return false
	case mine:
		return before.Head < own.Head || before.Head == own.Head && before.Hash == own.Hash
	}
	return before.Holder == "" && before.Head == own.Head && before.Hash == own.Hash
}

// lacks reports whether the Lease names a later record of this log than own, this process's copy, has.
func lacks(said lease.Said, own lease.Log) bool {
	return said.LogID == own.LogID && (said.Epoch > own.Epoch || said.Epoch == own.Epoch && said.Head > own.Head)
}
