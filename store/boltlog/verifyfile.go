package boltlog

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// pointer checks that a record names the right previous record of its stream. After damage it tolerates pointers to
// records that were not read.
func (v *verifier) pointer(f *logFile, h *events.Header) error {
	previous, seen := v.last[h.Stream]
	if !seen && (h.Previous == 0 && v.intact == nil || h.Previous >= v.report.First && v.report.First > 0) {
		var err error
		if previous, err = v.before(h.Stream); err != nil {
			return err
		}
		if v.intact != nil && previous < h.Previous && h.Previous < f.first {
			return nil
		}
	} else if !seen && (h.Previous != 0 || v.intact != nil) {
		// The previous record was pruned; or, after damage, the writer did not know the one in the damaged file.
		return nil
	}
	if h.Previous != previous {
		return f.corrupt(h.Sequence, fmt.Errorf("its previous pointer says %d, the last record of %s is %d", h.Previous, h.Stream, previous))
	}
	return nil
}

// seam checks that a file, with description b at its beginning, continues the previous file.
func (v *verifier) seam(f *logFile, b begin) error {
	end := v.report.Head
	switch {
	case b.before.Sequence > end.Sequence:
		return missing(f, end.Sequence+1, b.before.Sequence)
	case b.before != end:
		return f.corrupt(min(f.first, end.Sequence+1), fmt.Errorf("the file continues record %d, hash %s, but the one before it ends with record %d, hash %s",
			b.before.Sequence, b.before.Hash, end.Sequence, end.Hash))
	case b.identity != v.report.Identity:
		return f.corrupt(f.first, fmt.Errorf("the file belongs to log %s, the one before it to %s", b.identity, v.report.Identity))
	}
	return nil
}

// file verifies one file and adds its records to the report. begins says that it is the oldest file.
func (v *verifier) file(f *logFile, begins bool) error {
	b, err := f.begin()
	if err != nil {
		return f.corrupt(f.first, err)
	}
	r := &v.report
	if begins {
		r.First, v.begins = f.first, b.before.Hash
		if v.own, err = readWitness(filepath.Join(v.dir, headName), b.identity); err != nil {
			return fmt.Errorf("read %s: %w", headName, err)
		}
	}
	end, err := f.head()
	switch {
	case err != nil:
		return f.corrupt(f.first, err)
	case b.first != b.before.Sequence+1:
		return f.corrupt(f.first, fmt.Errorf("the file begins with record %d after record %d", b.first, b.before.Sequence))
	}
	if !begins && !v.broken {
		if err := v.seam(f, b); err != nil {
			v.harm(err)
		}
	}
	r.Head, r.Identity, v.broken = b.before, b.identity, false
	if err := f.sealed.CheckBuckets(bucketCount); err != nil {
		return f.explain(f.first, err)
	}
	x := index.New(f.first)
	v.batch, v.sound, v.last = nil, *r, map[events.Stream]events.Sequence{}
	err = f.scan(end.Sequence, func(l events.Label, stored []byte) error { return v.record(f, x, end.Sequence, l, stored) },
		func(h events.Hash) error { return v.group(f, h) })
	if err == nil {
		err = v.compareHead(f, &end)
	}
	if err != nil {
		return err
	}
	if err := v.offsets(f, &end); err != nil {
		return err
	}
	r.Files++
	v.done += f.sealed.Size
	v.tell(0)
	v.derived(f, x, end.Head)
	return nil
}

// offsets returns an error if a consumer has read beyond end, the last record of the file, because records are then
// lost.
func (v *verifier) offsets(f *logFile, end *head) error {
	offsets, err := f.offsets()
	if err != nil {
		return f.corrupt(end.Sequence, err)
	}
	for consumer, through := range offsets {
		if through > end.Sequence {
			had := events.Loss{Witness: events.WitnessFiles, Epoch: end.epoch, Sequence: through}
			return lost(v.dir, end.Sequence, had, fmt.Sprintf("the consumer %q had got through record %d", consumer, through))
		}
	}
	return nil
}

// compareHead compares end, the last record as the file stores it (with chain hash, epoch and term), with the records
// that were read.
func (v *verifier) compareHead(f *logFile, end *head) error {
	if err := f.checkEnd(end.Head); err != nil {
		return err
	}
	r := &v.report
	differs := func(format string, args ...any) error { return f.corrupt(end.Sequence, fmt.Errorf(format, args...)) }
	switch {
	case r.Head != end.Head:
		return differs("the head of the file says time %d, hash %s, the records say %d, %s",
			end.Time, end.Hash, r.Head.Time, r.Head.Hash)
	case end.epoch != r.Identity.Epoch:
		return differs("the head of the file says epoch %d, the records say %d", end.epoch, r.Identity.Epoch)
	case end.term < v.term:
		return differs("the head of the file says term %d, the records say %d", end.term, v.term)
	}
	return nil
}

// record checks one record, and that it continues the records before it. x is the index of the file so far, last the
// file's last record.
func (v *verifier) record(f *logFile, x *index.Index, last events.Sequence, l events.Label, stored []byte) error {
	bad := func(format string, args ...any) error { return f.corrupt(l.Sequence, fmt.Errorf(format, args...)) }
	rec, err := events.DecodeRecord(stored)
	if err != nil {
		return f.corrupt(l.Sequence, err)
	}
	h := &rec.Header
	if before := v.batch; before != nil && before.Time != h.Time {
		return bad("its time is %d, that of its batch %d", h.Time, before.Time)
	}
	if err := v.pointer(f, h); err != nil {
		return err
	}
	r := &v.report
	if v.batch == nil {
		v.found = r.Head.Hash
	}
	if rec.Sequence > 1 || r.First == 1 {
		if r.Identity, err = store.NextIdentity(r.Identity, &rec); err != nil {
			return f.corrupt(h.Sequence, err)
		}
	}
	hash, err := r.Head.Hash.Next(stored)
	if err != nil {
		return f.corrupt(h.Sequence, err)
	}
	if err := v.ofTheLog(rec.Facts); err != nil {
		return f.corrupt(h.Sequence, err)
	}
	x.AddRecord(&rec)
	v.last[h.Stream] = h.Sequence
	if v.batch = h; h.Last {
		v.batch = nil
	}
	r.Head = store.Head{Sequence: h.Sequence, Time: h.Time, Hash: hash}
	if err := v.noted(f); err != nil {
		return err
	}
	if r.Records++; r.Records%(1<<16) == 0 {
		v.tell(int64(float64(f.sealed.Size) * float64(h.Sequence-f.first) / float64(last-f.first+1)))
		return v.ctx.Err()
	}
	return nil
}

// ofTheLog handles records about the log itself: deleted files (Pruned), a new epoch (life of the log), a new term (a
// writer's time).
func (v *verifier) ofTheLog(facts events.Facts) error {
	switch f := facts.(type) {
	case *events.Pruned:
		v.cut = max(v.cut, f.First)
		if f.First == v.report.First {
			v.pruned = f
		}
	case *events.EpochChanged:
		if f.Reason == events.EpochRestored {
			v.term = 0
		}
	case *events.TermStarted:
		return v.startTerm(f)
	}
	return nil
}

// startTerm checks a TermStarted record, which begins a writer's time. Its term must be greater than all earlier terms,
// and its Previous must be the chain value (hash over all records so far) before its batch.
func (v *verifier) startTerm(t *events.TermStarted) error {
	switch {
	case t.Term <= v.term:
		return fmt.Errorf("it starts term %d after term %d", t.Term, v.term)
	case t.Previous != v.found:
		return fmt.Errorf("it starts term %d behind the chain value %s, the one before its batch is %s", t.Term, t.Previous, v.found)
	}
	v.term = t.Term
	return nil
}

// noted compares the chain value (hash over all records so far) after the current record with the values that are known
// from elsewhere: the file HEAD, and the caller of Verify.
func (v *verifier) noted(f *logFile) error {
	if v.own.Sequence == v.report.Head.Sequence && v.own.Epoch == v.report.Identity.Epoch && v.own.Hash != v.report.Head.Hash {
		return otherHistory(f.path, v.own, v.report.Head.Hash)
	}
	for i, h := range v.has {
		if h.Sequence != v.report.Head.Sequence {
			continue
		}
		v.has = slices.Delete(slices.Clone(v.has), i, i+1)
		if h.Hash != v.report.Head.Hash {
			had := events.Loss{Epoch: v.report.Identity.Epoch, Sequence: h.Sequence, Hash: h.Hash}
			return otherHistory(f.path, had, v.report.Head.Hash)
		}
		return v.noted(f)
	}
	return nil
}

// otherHistory returns the error for a log whose chain value (hash over all records so far) after a record is `has`,
// although had was noted earlier: a record before it was replaced.
func otherHistory(path string, had events.Loss, has events.Hash) error {
	return &store.CorruptError{
		Path: path, At: had.Sequence,
		Cause: &store.LossError{Loss: had, Says: fmt.Sprintf("the chain value behind record %d is %s, and it was %s", had.Sequence, has, had.Hash)},
		Hint:  "this is another history: a record before it differs from what was written",
	}
}

// group checks the chain value at the end of a commit group (the records of one commit), which must also end a batch.
// If the value is wrong, no record of the group counts as intact, because any of them may be the wrong one.
func (v *verifier) group(f *logFile, stored events.Hash) error {
	r := v.report
	switch {
	case stored != r.Head.Hash:
		v.report = v.sound
		return f.corrupt(v.sound.Head.Sequence+1, fmt.Errorf("the chain value behind record %d is %s, the records give %s", r.Head.Sequence, stored, r.Head.Hash))
	case v.batch != nil:
		return f.corrupt(r.Head.Sequence, errors.New("its batch goes on behind the end of its commit"))
	}
	v.report.Commits++
	v.sound = v.report
	return nil
}
