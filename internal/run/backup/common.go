package backup

import (
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// common finds what the copy and the log have in common, when the log has gone on under a later epoch, and drops the rest from the copy.
// What is dropped stays where it is: an earlier manifest may name it.
func (r *run) common() error {
	keep := events.Sequence(0) // the last record that both have
	for i, f := range r.next.Files {
		same, err := r.has(f.First, f.End.Sequence, f.Before, f.End.Hash)
		if err != nil {
			return err
		}
		if !same {
			r.next.Files = r.next.Files[:i]
			break
		}
		keep = f.End.Sequence
	}
	if t := r.next.Tail; t != nil {
		n, err := r.commonSegments(t, keep)
		if err != nil {
			return err
		}
		if t.Segments = t.Segments[:n]; n == 0 {
			r.next.Tail = nil
		} else {
			keep = t.Segments[n-1].End.Sequence
		}
	}
	if keep < r.was.Head.Sequence {
		r.result.Dropped = r.was.Head.Sequence
	}
	return nil
}

func (r *run) commonSegments(t *copylog.Tail, keep events.Sequence) (n int, err error) {
	if t.First != keep+1 && len(r.next.Files) != len(r.was.Files) {
		return 0, nil
	}
	for _, s := range t.Segments {
		same, err := r.has(s.First, s.End.Sequence, s.Before, s.End.Hash)
		if err != nil || !same {
			return n, err
		}
		n++
	}
	return n, nil
}

// has reports whether the log has records first to last between these chain values. What is before the log's first file counts as what the
// file goes on from.
func (r *run) has(first, last events.Sequence, before, after events.Hash) (bool, error) {
	if last > r.log.head.Sequence {
		return false, nil
	}
	b, err := r.chain(first - 1)
	if errors.Is(err, errPruned) {
		b, err = before, nil
	}
	if err != nil || b != before {
		return false, err
	}
	a, err := r.chain(last)
	if errors.Is(err, errPruned) {
		return true, nil // it was the log's before it was pruned; what follows it is looked at, too
	}
	return a == after, err
}

var errPruned = errors.New("the log does not keep that record")

// chain is the chain value behind a record of the log.
func (r *run) chain(at events.Sequence) (hash events.Hash, err error) {
	firsts := r.log.firsts
	if at+1 < firsts[0] {
		return hash, errPruned
	}
	if at == r.log.head.Sequence {
		return r.log.head.Hash, nil
	}
	i := len(firsts) - 1
	for firsts[i] > at+1 {
		i--
	}
	if i == len(firsts)-1 {
		return r.chainInTail(at)
	}
	f, err := r.log.open(firsts[i])
	if err != nil {
		return hash, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return chainIn(r, f, at)
}

// chainInTail reads the tail once, and remembers the chain value behind each run of records of the copy.
func (r *run) chainInTail(at events.Sequence) (events.Hash, error) {
	if r.seen == nil {
		first := r.log.last()
		r.seen = map[events.Sequence]events.Hash{first - 1: r.log.tail.Before.Hash}
		ends := map[events.Sequence]bool{}
		for _, f := range slices.Concat(r.was.Files, r.was.Segments()) {
			ends[f.End.Sequence], ends[f.First-1] = true, true
		}
		for one, err := range r.log.records(r.ctx, first, r.log.tail.Before.Hash, r.log.id.Epoch) {
			if err != nil {
				return events.Hash{}, err
			}
			if ends[one.label.Sequence] {
				r.seen[one.label.Sequence] = one.after
			}
		}
	}
	return r.seen[at], nil
}

func chainIn(r *run, f *boltlog.Sealed, at events.Sequence) (hash events.Hash, err error) {
	switch at {
	case f.First() - 1:
		return f.Before.Hash, nil
	case f.End.Sequence:
		return f.End.Hash, nil
	}
	err = f.Walk(r.ctx, func(l events.Label, _ []byte, after events.Hash) error {
		if l.Sequence == at {
			hash = after
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return hash, err
}
