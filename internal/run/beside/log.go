package beside

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

// Live is the interface to the running controller that writes the log. serve.Client implements it.
type Live interface {
	Head(ctx context.Context) (events.Identity, store.Head, error)
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]
}

// Log describes a log at one moment: its sealed files, the newest file, and the last record (the head). Use Open, and
// Close it.
type Log struct {
	Dir      string
	Live     Live              // nil if no process writes the log
	Firsts   []events.Sequence // first record of each file, oldest first; all but the last are sealed
	Identity events.Identity
	Head     store.Head

	Tail    *boltlog.Sealed // the newest file; if a controller writes the log, the controller is asked for the records
	Offsets map[string]events.Sequence
}

// mostTries limits how often Open starts again because the controller began another file.
const mostTries = 5

// Open opens the log. It lists the files before and after it asks for the last record, because a controller may begin
// another file in between; then it starts again.
func Open(ctx context.Context, dir string, live Live) (*Log, error) {
	for range mostTries {
		l := &Log{Dir: dir, Live: live}
		var err error
		if l.Firsts, err = boltlog.Firsts(dir); err != nil {
			return nil, err
		}
		if len(l.Firsts) == 0 {
			return nil, fmt.Errorf("there is no log in %s: %w", dir, fs.ErrNotExist)
		}
		if live != nil {
			if l.Identity, l.Head, err = live.Head(ctx); err != nil {
				return nil, fmt.Errorf("ask the controller for the head of its log: %w", err)
			}
		}
		newest := l.Last()
		// If the controller has just begun the newest file, it has no durable record yet: use the file before it.
		for live != nil && len(l.Firsts) > 1 && l.Last() > l.Head.Sequence {
			l.Firsts = l.Firsts[:len(l.Firsts)-1]
		}
		if err = l.openTail(); err != nil {
			return nil, err
		}
		again, err := boltlog.Firsts(dir)
		if err == nil && again[len(again)-1] == newest {
			return l, nil
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the controller begins new files faster than they can be looked at: try again")
}

// Last returns the first record of the newest file.
func (l *Log) Last() events.Sequence { return l.Firsts[len(l.Firsts)-1] }

func (l *Log) openTail() (err error) {
	l.Tail, l.Offsets, err = boltlog.OpenWritten(l.Dir, l.Last())
	if err != nil || l.Live != nil {
		return err
	}
	l.Identity, l.Head = l.Tail.Identity, l.Tail.End
	return nil
}

// Close releases the newest file.
func (l *Log) Close() error {
	if l.Tail == nil {
		return nil
	}
	return l.Tail.Close()
}

// File opens the sealed (complete) file that begins with record first.
func (l *Log) File(first events.Sequence) (*boltlog.Sealed, error) {
	return boltlog.OpenSealed(filepath.Join(l.Dir, boltlog.FileName(first)), first)
}

// errStop ends the reading of records before their end; it never reaches a caller.
var errStop = errors.New("enough")

// Stored yields the records from record from through record through, as their stored bytes. Without a controller, it
// can read only records of the newest file; with one, it can also read older records.
func (l *Log) Stored(ctx context.Context, from, through events.Sequence) iter.Seq2[[]byte, error] {
	if l.Live == nil {
		return l.fromDisk(ctx, from, through)
	}
	return func(yield func([]byte, error) bool) {
		if from > through {
			return
		}
		for r, err := range l.Live.Read(ctx, from) {
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

func (l *Log) fromDisk(ctx context.Context, from, through events.Sequence) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := l.Tail.Walk(ctx, func(label events.Label, stored []byte, _ events.Hash) error {
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
