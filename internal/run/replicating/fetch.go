package replicating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/natslog/replica"
	"github.com/jobledger/jobledger/store/open"
)

// errTooOld is returned if all other processes with this log have deleted the records that follow its end.
var errTooOld = errors.New("the other replicas no longer keep what follows this log")

// tooOldAfter is how often each other process with this log must say that it has deleted those records, before
// errTooOld is returned.
const tooOldAfter = 5

// beginning returns the last record in front of the stream's first message; zero if the stream begins with the log's
// first record. found is false for a stream without messages.
func (m *Member) beginning(ctx context.Context) (head store.Head, found bool, err error) {
	err = m.until(ctx, "read where the stream begins", func(ctx context.Context) (bool, error) {
		first, err := m.stream.First(ctx)
		if err != nil {
			return false, err
		}
		data, there, err := m.stream.At(ctx, first)
		if err != nil || !there {
			return err == nil && first == 1, err
		}
		s, err := natslog.Decode(data)
		if events.OtherReader(err) {
			return true, err
		}
		if err == nil {
			head, found = s.Before, true
		}
		// If the message cannot be decoded, for example because it is from an earlier leader, it does not count: try
		// again. Not so for message 1, before which no message was removed.
		return err == nil || first == 1, nil
	})
	return head, found, err
}

// Fill creates the log at address from another replica (a process with a copy of the log). It does so if there is no
// log, and the stream does not have the log's first records any more. It fetches complete files, checks each file and
// that they follow each other, and then fetches records. It waits until there is a suitable replica, and logs that it
// waits.
func (m *Member) Fill(ctx context.Context, address string) error {
	there, err := open.Exists(address)
	if err != nil {
		return err
	}
	unfilled, err := open.Unfilled(address)
	if err != nil || there && !unfilled {
		return err
	}
	goal, found, err := m.beginning(ctx)
	if err != nil || !unfilled && (!found || goal.Sequence == 0) {
		return err
	}
	err = m.around(ctx, func(ctx context.Context, h exchange.Head) error { return m.fill(ctx, address, h, goal) })
	if err != nil {
		return fmt.Errorf("--%s: fetch the log of another replica: %w", Flag, err)
	}
	return nil
}

// fill creates the log at address from the replica h. goal is the last record in front of the stream's first message;
// the log must reach it.
func (m *Member) fill(ctx context.Context, address string, h exchange.Head, goal store.Head) (err error) {
	has, err := m.exchange.Files(ctx, h.Who, goal.Sequence)
	if err != nil {
		return err
	}
	if err := continues(has, goal); err != nil {
		return err
	}
	f, err := open.Fill(address, m.LogID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	began := time.Now()
	end, err := sourceOf(m.exchange, &h, has).Copy(ctx, f, func(s cloning.Step) {
		m.config.Logger.Info("fetched a file of the log", "from", h.Name, "first", uint64(s.First), "last", uint64(s.Last),
			"took", time.Since(began).Round(time.Millisecond).String())
		began = time.Now()
	})
	if err != nil {
		return err
	}
	m.config.Logger.Info("fetched the log", "from", h.Name, "files", len(has.Files), "head", uint64(end.Sequence))
	return f.End()
}

// continues returns an error unless the replica has record goal, and the same records through it.
func continues(has exchange.Has, goal store.Head) error {
	switch {
	case len(has.Files) == 0:
		return errors.New("it has no files")
	case has.Head.Sequence < goal.Sequence:
		return fmt.Errorf("it ends with record %d, and the stream goes on behind %d", has.Head.Sequence, goal.Sequence)
	case has.Chain == nil && has.Files[0].First <= goal.Sequence:
		return fmt.Errorf("it does not say its chain value behind record %d", goal.Sequence)
	case has.Chain != nil && *has.Chain != goal.Hash:
		return fmt.Errorf("%w: behind record %d its chain value is %s, the stream says %s",
			store.ErrDiverged, goal.Sequence, *has.Chain, goal.Hash)
	}
	return nil
}

// catchUp fetches the records between the end of this log and the beginning of the stream from another replica (a
// process with a copy of the log). That replica's records must fit both ends.
func (m *Member) catchUp(ctx context.Context, log replica.Log) error {
	goal, _, err := m.beginning(ctx)
	if err != nil {
		return err
	}
	return m.around(ctx, func(ctx context.Context, h exchange.Head) error {
		own := log.Head()
		if h.First > own.Sequence+1 {
			return fmt.Errorf("%w: it keeps record %d and later ones", errTooOld, h.First)
		}
		for _, head := range []store.Head{goal, own} {
			has, err := m.exchange.Files(ctx, h.Who, head.Sequence)
			if err == nil {
				err = continues(has, head)
			}
			if err != nil {
				return err
			}
		}
		err := appendGroups(log, m.exchange.Groups(ctx, h.Who, own.Sequence+1, own.Hash, goal.Sequence))
		if err == nil {
			m.config.Logger.Info("fetched records", "from", h.Name, "first", uint64(own.Sequence+1),
				"head", uint64(log.Head().Sequence))
		}
		return err
	})
}

// atOnce is how many groups of records appendGroups appends before it waits until they are on the disk.
const atOnce = 16

// appendGroups appends groups of records to the log, and waits until they are durable.
func appendGroups(log replica.Log, groups iter.Seq2[store.StoredBatches, error]) error {
	var newest store.Commit
	settle := func() error {
		if newest == nil {
			return nil
		}
		<-newest.Done()
		return newest.Err()
	}
	n := 0
	for g, err := range groups {
		if err != nil {
			return errors.Join(err, settle())
		}
		newest = log.AppendStored(g, true)
		if n++; n%atOnce == 0 {
			if err := settle(); err != nil {
				return err
			}
		}
	}
	return settle()
}

// Mend replaces the damaged file of the log that begins with record first by the same file of another replica (a
// process with a copy of the log). It returns an error if no other replica has this file undamaged.
func (m *Member) Mend(ctx context.Context, first events.Sequence) error {
	mender, ok := m.log.(store.Mender)
	if !ok {
		return errNoReplica
	}
	err := errors.New("no other replica was heard")
	for _, h := range m.others() {
		if err = mender.Mend(ctx, first, m.exchange.File(h.Who, first)); err == nil {
			m.config.Logger.Warn("a damaged file of the log was replaced by that of another replica", "first", uint64(first),
				"from", h.Name)
			return nil
		}
	}
	return fmt.Errorf("fetch the file of record %d from another replica: %w", first, err)
}

// others returns the other replicas that answered in the last seconds, with the leader last.
func (m *Member) others() []exchange.Head {
	all := m.exchange.Heads()
	slices.SortStableFunc(all, func(a, b exchange.Head) int {
		switch {
		case a.Leads == b.Leads:
			return 0
		case a.Leads:
			return 1
		}
		return -1
	})
	return all
}

// around calls try for one replica after the other, again and again. It ends when try succeeds or fails with an error
// that will not go away by itself. If try returns errTooOld for each replica in 5 rounds, around returns that. It logs
// why it waits.
func (m *Member) around(ctx context.Context, try func(context.Context, exchange.Head) error) error {
	var told time.Time
	for tries := 0; ; tries++ {
		all := m.others()
		tooOld := len(all) > 0
		var failed error
		for _, h := range all {
			err := try(ctx, h)
			for _, last := range []error{nil, fs.ErrExist, store.ErrHeld, store.ErrFailed, store.ErrClosed, events.ErrNewer} {
				if errors.Is(err, last) {
					return err
				}
			}
			tooOld = tooOld && errors.Is(err, errTooOld)
			failed = cmp.Or(failed, fmt.Errorf("replica %s: %w", h.Name, err))
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), failed)
		}
		if tooOld && tries >= tooOldAfter {
			return fmt.Errorf("%w. Move the directory %s away: the next start makes it again from theirs", failed, m.config.Dir)
		}
		if tries > 0 && time.Since(told) >= tellAfter {
			told = time.Now()
			m.config.Logger.Warn("waiting for another replica, since the stream no longer has what this log lacks",
				"heard", len(all), "error", failed)
		}
		dial.Wait(ctx, dial.Pause(tries, firstPause, mostPause))
	}
}

// Exchange tells the other replicas which records this log has, and answers their requests, until ctx ends. The log
// must stay open until then.
func (m *Member) Exchange(ctx context.Context) error {
	shared, ok := m.log.(store.Shared)
	if !ok {
		return errNoReplica
	}
	return m.exchange.Run(ctx, shared, func() exchange.Head {
		id, head := m.log.Durable()
		h := exchange.Head{
			Epoch: id.Epoch, Head: head, First: 1, Leads: m.leads.Load(), Incarnation: m.of().Incarnation,
		}
		if f := m.follower.Load(); f != nil {
			h.Place = f.Place()
			_, h.Term = f.Ends()
		}
		if files, err := shared.Files(); err == nil && len(files) > 0 {
			h.First = files[0].First
		}
		if h.Leads {
			state := m.line.State()
			h.Place, h.Term = state.Place, state.Term
		}
		return h
	})
}
