package backup

import (
	"errors"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// common removes from the manifest (the list of the copy's objects) the records that the log does not have, and keeps
// those that both have. It is used when the log continued in a later epoch (a new life of the log, begun after a loss),
// without some of the copy's records. The removed objects are not deleted, because an earlier manifest may name them.
func (r *run) common() error {
	next := &copylog.Manifest{Leaving: r.next.Leaving, Kept: r.next.Kept, Key: r.next.Key}
	keep := events.Sequence(0) // the last record that is both in the copy and in the log, as far as found
	for _, one := range r.was.Runs() {
		n, err := r.same(one)
		if err != nil {
			return err
		}
		if one.File != nil && n == 1 {
			next.Files = append(next.Files, *one.File)
		} else if one.Segments != nil && n > 0 {
			t := *one.Segments
			t.Segments = slices.Clone(t.Segments[:n])
			next.Partial = append(next.Partial, t)
		}
		if all := next.Runs(); len(all) > 0 {
			keep = all[len(all)-1].End().Sequence
		}
		if keep < one.End().Sequence {
			break
		}
	}
	for _, h := range r.was.Holes {
		if h.Through <= keep {
			next.Holes = append(next.Holes, h)
		}
	}
	if n := len(next.Partial); n > 0 && next.Partial[n-1].First == next.Runs()[len(next.Runs())-1].First() {
		next.Tail, next.Partial = &next.Partial[n-1], next.Partial[:n-1:n-1]
	}
	if keep < r.was.Head.Sequence {
		r.result.Dropped = r.was.Head.Sequence
	}
	r.next = next
	return nil
}

// same returns how many objects of one file of the copy have the same records as the log; it counts from the file's
// first object.
func (r *run) same(one copylog.Run) (n int, err error) {
	parts := []copylog.File{}
	if one.File != nil {
		parts = append(parts, *one.File)
	} else {
		parts = one.Segments.Segments
	}
	for _, f := range parts {
		same, err := r.has(f.First, f.End.Sequence, f.Before, f.End.Hash)
		if err != nil || !same {
			return n, err
		}
		n++
	}
	return n, nil
}

// has reports whether the log has the records first to last, with the hash chain (a hash over all records so far)
// before in front of them and after behind them. If the log has deleted (pruned) a record whose hash is needed, that
// hash is taken to match.
func (r *run) has(first, last events.Sequence, before, after events.Hash) (bool, error) {
	if last > r.log.Head.Sequence {
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
		// If the log has deleted record last, its hash counts as equal; the records after it are compared, too.
		return true, nil
	}
	return a == after, err
}

var errPruned = errors.New("the log does not keep that record")

// chain returns the hash of all records of the log through record at. It returns errPruned if that part of the log was
// deleted.
func (r *run) chain(at events.Sequence) (hash events.Hash, err error) {
	if known, is := r.Live.(Chained); is {
		hash, err = known.Chain(at)
		if errors.Is(err, store.ErrPruned) {
			err = errPruned
		}
		return hash, err
	}
	firsts := r.log.Firsts
	if at+1 < firsts[0] {
		return hash, errPruned
	}
	if at == r.log.Head.Sequence {
		return r.log.Head.Hash, nil
	}
	i := len(firsts) - 1
	for firsts[i] > at+1 {
		i--
	}
	if i == len(firsts)-1 {
		return r.chainInTail(at)
	}
	f, err := r.log.File(firsts[i])
	if err != nil {
		return hash, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return chainIn(r, f, at)
}

// chainInTail returns the hash of all records through record at, which is in the newest file. It reads the newest file
// once, and caches the hashes at which the copy's files and segments end.
func (r *run) chainInTail(at events.Sequence) (events.Hash, error) {
	if r.seen == nil {
		first := r.log.Last()
		r.seen = map[events.Sequence]events.Hash{first - 1: r.log.Tail.Before.Hash}
		ends := map[events.Sequence]bool{}
		for _, one := range r.was.Runs() {
			ends[one.End().Sequence], ends[one.First()-1] = true, true
			if one.Segments != nil {
				for _, f := range one.Segments.Segments {
					ends[f.End.Sequence] = true
				}
			}
		}
		for one, err := range recordsOf(r.ctx, r.log, first, r.log.Tail.Before.Hash, r.log.Identity.Epoch, r.log.Head) {
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
