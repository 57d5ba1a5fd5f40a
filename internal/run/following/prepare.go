package following

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// Prepare makes the log in the directory a beginning of the leader's log, before it is opened. It sets aside the
// records that the leader's log does not have, and fills an empty directory with the first records of another
// controller's log. said is the content of the Lease. It returns the ID of the log; empty if no controller has a log
// yet. While there is no controller to copy from, it logs this and waits.
func (s *Standby) Prepare(ctx context.Context, said lease.Said) (logID string, err error) {
	through, folder, is, err := open.Aside(s.config.Log)
	if err == nil && is {
		err = open.SetAside(ctx, s.config.Log, through, folder)
	}
	if err != nil {
		return "", err
	}
	own, there, err := s.own()
	if err != nil {
		return "", fmt.Errorf("look for a log in %s: %w", s.config.Log, err)
	}
	if there {
		if there, err = s.compare(ctx, own); err != nil || there {
			return own.id.LogID, err
		}
		said.LogID = own.id.LogID
	}
	return s.fill(ctx, said)
}

// end describes the log in the directory, up to its last record.
type end struct {
	id    events.Identity
	head  store.Head
	chain func(at events.Sequence) (events.Hash, error)
	first events.Sequence // the oldest record that the log still has
	close func() error
}

// own opens the log in the directory for reading, and describes its end; there is false if there is no log.
func (s *Standby) own() (e end, there bool, err error) {
	there, err = open.Exists(s.config.Log)
	unfilled, err1 := open.Unfilled(s.config.Log)
	if err = errors.Join(err, err1); err != nil || !there || unfilled {
		return e, false, err
	}
	log, err := open.Archive(s.config.Log)
	if err != nil {
		return e, false, err
	}
	e = end{id: log.Identity(), head: log.Head(), chain: log.Chain, first: 1, close: log.Close}
	if files, err := store.FilesOf(log)(); err == nil && len(files) > 0 {
		e.first = files[0].First
	}
	return e, true, nil
}

// compare compares the log in the directory with the leader's, if a leader answers. It sets aside the records that the
// leader's log does not have, and closes the log. It returns false if no record of the log remains.
func (s *Standby) compare(ctx context.Context, own end) (there bool, err error) {
	defer func() {
		if own.close != nil {
			err = errors.Join(err, own.close())
		}
	}()
	all, err := s.ask(ctx, own.id.LogID)
	if err != nil || !all[0].head.Leads {
		return true, ctx.Err() // without an answer of a leader, Follow compares the logs later
	}
	leader := &all[0]
	common, err := s.common(ctx, leader, &own)
	if err != nil {
		return true, fmt.Errorf("compare the log in %s with that of %s: %w", s.config.Log, leader, err)
	}
	late := leader.head.First > own.head.Sequence+1
	if common >= min(own.head.Sequence, leader.head.Sequence) && !late {
		return true, nil
	}
	if late {
		common = 0
	}
	closed := own.close()
	own.close = nil
	if closed != nil {
		return true, closed
	}
	folder := open.BranchName(own.id.Epoch, common+1)
	s.logger.Warn("the leader's log goes on without the end of this one: that is kept as a branch in the log's directory",
		"leader", leader.String(), "common", uint64(common), "head", uint64(own.head.Sequence), "epoch", own.id.Epoch,
		"leaderEpoch", leader.head.Epoch, "folder", folder)
	return common > 0, open.SetAside(ctx, s.config.Log, common, folder)
}

// common returns the last record through which both logs have the same records; 0 for none. It searches by bisection,
// because after the first different record, the hashes of all records so far differ for ever.
func (s *Standby) common(ctx context.Context, leader *peer, own *end) (events.Sequence, error) {
	same := func(at events.Sequence) (bool, error) {
		mine, err := own.chain(at)
		if err != nil {
			return false, err
		}
		bound, cancel := context.WithTimeout(ctx, headWithin)
		defer cancel()
		theirs, err := leader.client.Chain(bound, leader.address, at)
		return mine == theirs, err
	}
	low, high := max(own.first, leader.head.First)-1, min(own.head.Sequence, leader.head.Sequence)
	if high < low {
		return 0, nil
	}
	if is, err := same(high); is || err != nil {
		return high, err
	}
	if is, err := same(low); !is || err != nil {
		return 0, err
	}
	for low+1 < high { // the hashes of all records so far are equal at low, and differ at high
		at := low + (high-low)/2
		is, err := same(at)
		if err != nil {
			return 0, err
		}
		if is {
			low = at
		} else {
			high = at
		}
	}
	return low, nil
}

// fill fills the empty directory with the beginning of another controller's log. It waits until a log can be copied,
// unless the Lease shows that no controller has written a record yet. said is the content of the Lease.
func (s *Standby) fill(ctx context.Context, said lease.Said) (logID string, err error) {
	began := said.Head > 0 || said.Epoch > 1
	var told time.Time
	for tries := 0; ; tries++ {
		all, err := s.ask(ctx, said.LogID)
		for i := range all {
			if all[i].head.Sequence == 0 || began && !all[i].head.Leads && all[i].head.Epoch < said.Epoch {
				continue
			}
			if err = s.begin(ctx, &all[i]); err == nil {
				return all[i].head.LogID, nil
			}
		}
		unfilled, err1 := open.Unfilled(s.config.Log)
		if err1 != nil || ctx.Err() != nil {
			return "", errors.Join(err1, ctx.Err())
		}
		if !began && !unfilled {
			return said.LogID, nil
		}
		if tries > 0 && time.Since(told) >= tellAfter {
			told = time.Now()
			s.logger.Warn("waiting for a controller to copy the log from; if none has it any more, one may begin another log "+
				"with --adopt", "logID", said.LogID, "at", s.config.Where, "error", err)
		}
		pause(ctx, tries)
	}
}

// begin creates the first file of this log, with the first records of a controller's log.
func (s *Standby) begin(ctx context.Context, p *peer) (err error) {
	bound, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	part, err := p.client.Records(bound, p.address, 0, events.Hash{})
	if err != nil {
		return err
	}
	if len(part.Runs) == 0 {
		return errors.New("it has no record yet")
	}
	f, err := open.Fill(s.config.Log, part.Head.LogID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first := part.Runs[0]
	head, err := f.Tail(ctx, &store.SharedFile{First: first.First, Begin: part.Begin}, func(yield func([]byte, error) bool) {
		for _, stored := range first.Records {
			if !yield(stored, nil) {
				return
			}
		}
	})
	if err == nil && head.Hash != first.After {
		err = fmt.Errorf("%w: the copy ends with record %d, hash %s, and not %s", store.ErrDiverged, head.Sequence, head.Hash,
			first.After)
	}
	if err != nil {
		return fmt.Errorf("begin the copy of the log of %s: %w", p, err)
	}
	s.logger.Info("a copy of the log is begun", "from", p.String(), "logID", part.Head.LogID,
		"first", uint64(first.First), "through", uint64(head.Sequence), "head", uint64(part.Head.Sequence))
	return f.End()
}
