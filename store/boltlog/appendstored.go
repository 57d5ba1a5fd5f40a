package boltlog

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/commit"
)

var _ store.Follower = (*Log)(nil)

// AppendStored implements store.Follower: it appends batches that another replica of the log has stored, without
// changing a byte. The commit fails with ErrDiverged if they do not continue this log. soon starts the commit without
// delay.
func (l *Log) AppendStored(b store.StoredBatches, soon bool) store.Commit {
	p := commit.NewBatch[work]()
	all, err := readStored(l.appended, b)
	if err == nil {
		err = l.fileOf(b)
	}
	p.Work = work{first: b.First, file: l.nextFile, index: l.nextIndex, given: true, hash: b.After}
	identity, bytes := l.Identity(), int64(0)
	for i := range all.Records {
		if err != nil {
			break
		}
		identity, err = l.admit(p, &all.Records[i], b.Records[i], identity)
		bytes += int64(len(b.Records[i]))
	}
	p.Size(len(b.Records), bytes)
	return l.push(p, all, identity, soon, err)
}

// readStored decodes stored batches into `all`. It returns an error unless their first record follows the record
// `after` and their last one ends a batch.
func readStored(after events.Sequence, b store.StoredBatches) (all events.Batch, err error) {
	if len(b.Records) == 0 || b.First != after+1 {
		return all, fmt.Errorf("append %d stored records from %d: %w: the next one is %d",
			len(b.Records), b.First, store.ErrDiverged, after+1)
	}
	begin := 0
	for i, stored := range b.Records {
		r, err := decode(stored, b.First+events.Sequence(i))
		if err != nil {
			return all, fmt.Errorf("append stored record %d: %w", b.First+events.Sequence(i), err)
		}
		if r.Critical && !r.Kind.Known() {
			return all, unknownKind(events.Label{Sequence: r.Sequence, Kind: r.Kind})
		}
		if all.Records = append(all.Records, r); !r.Last {
			continue
		}
		if err := store.CheckBatch(b.First-1+events.Sequence(begin), events.Batch{Records: all.Records[begin:]}); err != nil {
			return all, err
		}
		begin = i + 1
	}
	if begin < len(b.Records) {
		return all, fmt.Errorf("append stored records through %d: the last one ends no batch", all.Last())
	}
	return all, nil
}

// fileOf decides in which file the next batch is stored, as b says: in a new one if BeginsFile is set, otherwise in
// the current one. It returns an error if this log has begun another file and can no longer go back to the one
// before.
func (l *Log) fileOf(b store.StoredBatches) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch begun := l.nextFile == b.First; {
	case b.BeginsFile && !begun:
		l.beginFile(b.First)
	case b.BeginsFile, !begun, b.First == 1: // the batch already goes into the right file
	case l.filled.nextIndex == nil:
		return fmt.Errorf("append stored record %d: its file has begun here, and the record does not begin one", b.First)
	default: // this log has begun another file because of size or age, but b continues the old one: undo that
		l.filled, l.filling = filling{}, l.filled
	}
	return nil
}

var errTerm = errors.New("the term is not later than the one that the records say")

// SetTerm implements store.Follower: it sets the term (number of this process's time as the writer) of the next
// batches. The term must be later than all terms in records that were appended since the open.
func (l *Log) SetTerm(term uint64) error {
	if term <= l.said {
		return fmt.Errorf("write the log in term %d, after %d: %w", term, l.said, errTerm)
	}
	l.term = term
	return nil
}
