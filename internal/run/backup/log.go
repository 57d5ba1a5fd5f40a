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

// logFiles is the log that is copied, as of one head: its sealed files, and the one that is or was written.
type logFiles struct {
	dir    string
	live   Live
	firsts []events.Sequence
	id     events.Identity
	head   store.Head

	tail    *boltlog.Sealed // of a log that is written its records are not read there
	offsets map[string]events.Sequence
}

// openLog looks at the log. The files are listed before and after the head is asked for: a controller may begin another
// one meanwhile.
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
		for live != nil && len(l.firsts) > 1 && l.last() > l.head.Sequence { // it has no durable record yet
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

// last is the first record of the newest file.
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

// record is one record of the tail as it is stored.
type record struct {
	label  events.Label
	time   events.Time
	epoch  uint64
	stored []byte
	after  events.Hash
}

// errStop ends a walk that has given enough.
var errStop = errors.New("enough")

// records gives the records of a file from one on, whose chain value before is known, through an end. The last one has
// the chain value of that, or there is an error: then the log does not go on from the value before.
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

// forkError says that the records of the log do not go on from what the copy has.
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

// stored gives the records of the tail from one on through another, as they are stored. A controller that is asked has
// those of sealed files, too.
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
