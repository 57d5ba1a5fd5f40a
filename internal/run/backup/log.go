package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// logFiles is the log as of one head: its sealed files, and the newest one.
type logFiles struct {
	dir    string
	live   Live
	firsts []events.Sequence
	id     events.Identity
	head   store.Head

	tail    *boltlog.Sealed // for a live log, the records are not read from here
	offsets map[string]events.Sequence
}

// openLog opens the log. It lists the files before and after it asks for the head, because a controller may begin
// another file meanwhile.
func openLog(ctx context.Context, dir string, live Live) (*logFiles, error) {
	for range mostTries {
		l := &logFiles{dir: dir, live: live}
		var err error
		if l.firsts, err = boltlog.Firsts(dir); err != nil {
			return nil, err
		}
		if len(l.firsts) == 0 {
			return nil, fmt.Errorf("there is no log in %s: %w", dir, fs.ErrNotExist)
		}
		if live != nil {
			if l.id, l.head, err = live.Head(ctx); err != nil {
				return nil, fmt.Errorf("ask the controller for the head of its log: %w", err)
			}
		}
		newest := l.last()
		// The newest file has no durable record yet
		for live != nil && len(l.firsts) > 1 && l.last() > l.head.Sequence {
			l.firsts = l.firsts[:len(l.firsts)-1]
		}
		if err = l.openTail(); err != nil {
			return nil, err
		}
		again, err := boltlog.Firsts(dir)
		if err == nil && again[len(again)-1] == newest {
			return l, nil
		}
		if err = errors.Join(err, l.close()); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the controller begins new files faster than they can be looked at: try again")
}

// last returns the first record of the newest file.
func (l *logFiles) last() events.Sequence { return l.firsts[len(l.firsts)-1] }

func (l *logFiles) openTail() (err error) {
	l.tail, l.offsets, err = boltlog.OpenWritten(l.dir, l.last())
	if err != nil || l.live != nil {
		return err
	}
	l.id, l.head = l.tail.Identity, l.tail.End
	return nil
}

func (l *logFiles) close() error {
	if l.tail == nil {
		return nil
	}
	return l.tail.Close()
}

// open opens a sealed file.
func (l *logFiles) open(first events.Sequence) (*boltlog.Sealed, error) {
	return boltlog.OpenSealed(filepath.Join(l.dir, boltlog.FileName(first)), first)
}

// record is a record of the tail as stored.
type record struct {
	label  events.Label
	time   events.Time
	epoch  uint64
	stored []byte
	after  events.Hash
}

// errStop ends a walk early.
var errStop = errors.New("enough")

// records yields the records from from through end. before is the chain value before the first. If the chain does not
// end with end's value, it yields a forkError: the log does not continue from before.
func (l *logFiles) records(ctx context.Context, from events.Sequence, before events.Hash, epoch uint64, end store.Head) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		at, hash := from-1, before
		next := func(stored []byte) (record, error) {
			r := record{stored: stored, epoch: epoch}
			h, err := events.DecodeHeader(stored)
			if err == nil {
				r.after, err = hash.Next(stored)
			}
			if err == nil && h.Sequence != at+1 {
				err = fmt.Errorf("record %d comes behind record %d", h.Sequence, at)
			}
			if err == nil && (h.Kind == events.KindEpochChanged || h.Kind == events.KindLogCreated) {
				r.epoch, err = epochOf(stored)
			}
			r.label = events.Label{Sequence: h.Sequence, Kind: h.Kind, Critical: h.Critical, Last: h.Last}
			r.time, at, hash, epoch = h.Time, h.Sequence, r.after, r.epoch
			return r, err
		}
		for stored, err := range l.stored(ctx, from, end.Sequence) {
			var r record
			if err == nil {
				r, err = next(stored)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if at != end.Sequence || hash != end.Hash {
			yield(record{}, &forkError{at: from - 1})
		}
	}
}

// forkError: the log does not continue the copy's records.
type forkError struct{ at events.Sequence }

func (e *forkError) Error() string {
	return fmt.Sprintf("the log does not go on from record %d as the copy has it", e.at)
}

func epochOf(stored []byte) (uint64, error) {
	r, err := events.DecodeRecord(stored)
	if err != nil {
		return 0, err
	}
	if epoch, ok := events.EpochIn(r.Facts); ok {
		return epoch, nil
	}
	return 0, fmt.Errorf("record %d says no epoch", r.Sequence)
}

// stored yields stored records of the tail, from from through through. A live controller also has those of sealed
// files.
func (l *logFiles) stored(ctx context.Context, from, through events.Sequence) iter.Seq2[[]byte, error] {
	if l.live == nil {
		return l.fromDisk(ctx, from, through)
	}
	return func(yield func([]byte, error) bool) {
		if from > through {
			return
		}
		for r, err := range l.live.Read(ctx, from) {
			if err == nil && r.Sequence > through {
				return
			}
			var stored []byte
			if err == nil {
				stored, err = events.AppendRecord(nil, &r)
			}
			if !yield(stored, err) || err != nil {
				return
			}
		}
	}
}

func (l *logFiles) fromDisk(ctx context.Context, from, through events.Sequence) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := l.tail.Walk(ctx, func(label events.Label, stored []byte, _ events.Hash) error {
			if label.Sequence > through || label.Sequence >= from && !yield(stored, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}
