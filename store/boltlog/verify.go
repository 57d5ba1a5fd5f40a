package boltlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// Verify reads a whole log and checks all that must hold: dense sequences, checksums, the chain from record to record and at the
// end of each commit group, batch marks and one time per batch, previous pointers, record 1, epochs, terms, the continuation from file to
// file, that a Pruned record admits what is missing, and that nothing beside the log tells of records that it does not have. It goes
// on behind damage, with the next file.
//
// It does not keep a controller from writing. Of a log that is being written it verifies the files that are sealed. Memory is that for the index of
// one file, and 4 bytes for each stream of the files before it.
//
// The heads in has were noted elsewhere: a log that went another way, or ends before them, is damaged.
//
// Its error is ErrCorrupt with the first bad sequence, or one of reading. Progress is called now and then, if not nil, with the bytes
// that are done and those there are.
func Verify(ctx context.Context, dir string, progress func(done, total int64), has ...store.Head) (store.Report, error) {
	firsts, err := listFiles(dir, fileSuffix)
	if err == nil && len(firsts) == 0 {
		err = fmt.Errorf("there is no log in it: %w", fs.ErrNotExist)
	}
	if err != nil {
		return store.Report{}, fmt.Errorf("verify log %s: %w", dir, err)
	}
	for {
		v := &verifier{ctx: ctx, dir: dir, progress: progress, has: has}
		err = v.log()
		for _, done := range v.verified {
			err = errors.Join(err, done.file.end(store.ErrClosed))
		}
		before := firsts[0]
		if !errors.Is(err, fs.ErrNotExist) {
			return v.report, err
		}
		if firsts, _ = listFiles(dir, fileSuffix); len(firsts) == 0 || firsts[0] == before {
			return v.report, err
		} // else a controller pruned files that were to be read
	}
}

// verifier walks a log from its first record to its last. It belongs to one call of Verify.
type verifier struct {
	ctx      context.Context
	dir      string
	progress func(done, total int64)
	own      events.Loss  // the head that was noted beside the log
	has      []store.Head // that the log must have; those it was found to have are taken off

	report    store.Report
	last      map[events.Stream]events.Sequence // of each stream in the file that is being read
	verified  []verifiedFile                    // the files before it
	sound     store.Report                      // as of the end of the last commit group, whose chain value agreed
	batch     *events.Header                    // the last record, when its batch goes on
	found     events.Hash                       // the chain value before that batch
	term      uint64                            // the newest that started; 0 for none, and after a loss
	cut       events.Sequence                   // what the Pruned records admit
	begins    events.Hash                       // the chain value with which the oldest file begins
	pruned    *events.Pruned                    // the record that says what went before that file; nil when none does
	intact    *store.Report                     // what is intact before the first damage; nil while there is none
	damage    []error
	tailFirst events.Sequence // the newest file
	broken    bool            // the file before could not be verified to its end
	notes     []string

	done, total int64
}

// verifiedFile is a file that is whole, and by hash which streams have records in it.
type verifiedFile struct {
	file    *logFile
	streams []uint32 // ascending
}

func (v *verifier) log() error {
	held := written(v.dir)
	if held != nil && !errors.Is(held, store.ErrHeld) {
		return held
	}
	firsts, err := listFiles(v.dir, fileSuffix) // again: a file that was sealed meanwhile counts
	if err != nil {
		return err
	}
	if held != nil {
		v.report.Written = firsts[len(firsts)-1]
		firsts = firsts[:len(firsts)-1]
	}
	for _, first := range firsts {
		if info, err := os.Stat(filepath.Join(v.dir, fileName(first, fileSuffix))); err == nil {
			v.total += info.Size()
		}
	}
	for i, first := range firsts {
		tail := held == nil && i == len(firsts)-1
		err := v.one(first, i == 0, tail)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, store.ErrCorrupt):
			return err
		case tail:
			if now := written(v.dir); now != nil { // not damage: a process began to write it
				v.report.Written = first
				continue
			}
		}
		v.harm(err)
		v.broken = true
	}
	if v.report.Written != 0 {
		v.tail()
	}
	return v.conclude()
}

// one verifies the file that begins with a record, and keeps it for the files that follow.
func (v *verifier) one(first events.Sequence, begins, tail bool) error {
	f, err := openSealed(v.dir, first)
	if err != nil {
		return explainOpen(f, err)
	}
	if err := v.file(f, begins, tail); err != nil {
		return errors.Join(err, f.end(store.ErrClosed))
	}
	done := verifiedFile{file: f}
	for s := range v.last {
		done.streams = append(done.streams, hashStream(s))
	}
	slices.Sort(done.streams)
	v.verified = append(v.verified, done)
	return nil
}

// harm notes damage. The report of what is intact ends with the first.
func (v *verifier) harm(err error) {
	if v.intact == nil {
		intact := v.report
		v.intact = &intact
	}
	v.damage = append(v.damage, err)
}

// tail checks the seam to a tail that a process writes. It checks as far as the tail can be read; that part is right.
func (v *verifier) tail() {
	f, err := openSealed(v.dir, v.report.Written)
	if err != nil {
		return
	}
	b, err := f.begin()
	if err == nil && len(v.verified) > 0 && !v.broken {
		if err := v.seam(f, b); err != nil {
			v.harm(err)
		}
	}
	if err == nil && len(v.verified) == 0 && v.intact == nil {
		v.report.Identity, v.report.First = b.identity, f.first
	}
	_ = f.end(store.ErrClosed) // it was only read
}

// conclude looks at what can be said only when all files are read, and makes the report.
func (v *verifier) conclude() error {
	if first := v.report.First; first > 1 && v.cut < first && v.report.Written == 0 {
		if v.intact == nil {
			v.harm(missingFirst(v.dir, first))
		} else {
			v.damage = append([]error{missingFirst(v.dir, first)}, v.damage...)
		}
	}
	if p := v.pruned; p != nil && p.ChainAfter != (events.Hash{}) && p.ChainAfter != v.begins {
		v.harm(&store.CorruptError{Path: v.dir, At: p.First, Cause: fmt.Errorf(
			"the chain value behind record %d, which is pruned, was %s, and the oldest file goes on from %s", p.First-1, p.ChainAfter, v.begins)})
	}
	if v.intact == nil && v.report.Written == 0 {
		lost, err := wentBack(v.dir, v.report.Identity, v.tailFirst, v.report.Head, nil)
		if len(lost) > 0 {
			err = newestLoss(lost)
		}
		if err != nil {
			v.harm(err)
		}
	}
	for _, h := range v.has {
		switch {
		case v.report.Written != 0 && h.Sequence >= v.report.Written:
			v.note("record %d is in the tail, which a controller writes: whether the log has its hash is not checked", h.Sequence)
		case h.Sequence > v.report.Head.Sequence && v.intact == nil:
			had := events.Loss{Epoch: v.report.Identity.Epoch, Sequence: h.Sequence, Hash: h.Hash}
			v.harm(lost(v.dir, v.report.Head.Sequence, had, fmt.Sprintf("record %d of the log was noted elsewhere", h.Sequence)))
		default:
			v.note("record %d cannot be read: whether the log has its hash is not checked", h.Sequence)
		}
	}
	v.snapshots()
	if v.intact != nil {
		behind, written := v.report.Records-v.intact.Records, v.report.Written
		v.report = *v.intact
		v.report.Behind, v.report.Written = behind, written
	}
	v.report.Notes, v.report.Damage = v.notes, v.damage
	if len(v.damage) > 0 {
		return v.damage[0]
	}
	return nil
}

// snapshots looks at the snapshots: one that is damaged costs time, never correctness.
func (v *verifier) snapshots() {
	all, err := listFiles(v.dir, snapshotSuffix)
	if err != nil {
		v.note("the snapshots cannot be listed: %v", err)
	}
	for _, at := range all {
		path := filepath.Join(v.dir, fileName(at, snapshotSuffix))
		s, err := readSnapshot(path, events.ReaderVersion{})
		if err == nil && s.Head.Sequence != at {
			err = fmt.Errorf("it says that it is of record %d", s.Head.Sequence)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // replaced since
		case errors.Is(err, events.ErrNewer):
			v.note("%s: the snapshot is not checked: %v", path, err)
		case err != nil:
			v.note("%s: the snapshot is damaged and is not used: %v; remove it", path, err)
		}
	}
}

func (v *verifier) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func hashStream(s events.Stream) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(s.Kind)}) // never fails
	_, _ = io.WriteString(h, s.ID)
	return h.Sum32()
}

// before is the stream's last record in the files before; 0 when there is none.
func (v *verifier) before(s events.Stream) (events.Sequence, error) {
	h := hashStream(s)
	for _, done := range slices.Backward(v.verified) {
		if _, is := slices.BinarySearch(done.streams, h); !is {
			continue
		}
		run, err := done.file.run(s, 0, v.report.Head.Sequence)
		if err != nil {
			return 0, err
		}
		if run.Len() > 0 {
			return run.At(run.Len() - 1), nil
		}
	}
	return 0, nil
}

// pointer checks the previous pointer of a record. Behind damage the previous records of the streams are unknown.
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
		return nil // it is pruned, or could not be found when the record was written
	}
	if h.Previous != previous {
		return f.corrupt(h.Sequence, fmt.Errorf("its previous pointer says %d, the last record of %s is %d", h.Previous, h.Stream, previous))
	}
	return nil
}

// seam checks that a file continues the one before it.
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

// file verifies one file. Its records continue the report.
func (v *verifier) file(f *logFile, begins, tail bool) error {
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
	v.tailFirst = f.first
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
	if err := f.sealed.checkBuckets(); err != nil {
		return f.explain(f.first, err)
	}
	x := index.New(f.first)
	v.batch, v.sound, v.last = nil, *r, map[events.Stream]events.Sequence{}
	err = f.scan(end.Sequence, func(l events.Label, stored []byte) error { return v.record(f, x, end.Sequence, l, stored) },
		func(h events.Hash) error { return v.group(f, h) })
	if err == nil {
		err = f.checkEnd(end.Head)
	}
	if err == nil && r.Head != end.Head {
		err = f.corrupt(end.Sequence, fmt.Errorf("the head of the file says time %d, hash %s, the records say %d, %s", end.Time, end.Hash, r.Head.Time, r.Head.Hash))
	}
	if err == nil && end.epoch != r.Identity.Epoch {
		err = f.corrupt(end.Sequence, fmt.Errorf("the head of the file says epoch %d, the records say %d", end.epoch, r.Identity.Epoch))
	}
	if err == nil && end.term < v.term {
		err = f.corrupt(end.Sequence, fmt.Errorf("the head of the file says term %d, the records say %d", end.term, v.term))
	}
	if err != nil {
		return err
	}
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
	r.Files++
	v.done += f.sealed.size
	v.tell(0)
	v.beside(f, x, end.Head, tail)
	return nil
}

// record checks one record, and that it continues what came before.
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
	switch p := rec.Facts.(type) {
	case *events.Pruned:
		v.cut = max(v.cut, p.First)
		if p.First == r.First {
			v.pruned = p
		}
	case *events.EpochChanged:
		if p.Reason == events.EpochRestored {
			v.term = 0
		}
	case *events.TermStarted:
		if err := v.startTerm(p); err != nil {
			return f.corrupt(h.Sequence, err)
		}
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
		v.tell(int64(float64(f.sealed.size) * float64(h.Sequence-f.first) / float64(last-f.first+1)))
		return v.ctx.Err()
	}
	return nil
}

// startTerm checks that a term follows those before it, and that it began with the log as it was.
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

// noted checks the chain value at the head against those that were noted elsewhere.
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

// otherHistory is for a log that has another chain value behind a record than it had.
func otherHistory(path string, had events.Loss, has events.Hash) error {
	return &store.CorruptError{
		Path: path, At: had.Sequence,
		Cause: &store.LossError{Loss: had, Says: fmt.Sprintf("the chain value behind record %d is %s, and it was %s", had.Sequence, has, had.Hash)},
		Hint:  "this is another history: a record before it differs from what was written",
	}
}

// group checks the chain value at the end of a commit group, which also ends a batch. When it does not agree, nothing
// tells which of the group's records is wrong, so none of them is intact.
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

func (v *verifier) tell(within int64) {
	if v.progress != nil {
		v.progress(v.done+within, v.total)
	}
}

// isIndexOf reports whether a stored index is what is made of the records. The youngest object may be one of an earlier file.
func isIndexOf(content []byte, f *logFile, x *index.Index, end store.Head) bool {
	stored, err := openStoredIndex(f.indexPath(), f.first, end)
	if err != nil {
		return false
	}
	return stored.close() == nil && stored.youngest >= x.Youngest() && bytes.Equal(content, encodeIndex(x, end, stored.youngest))
}

// beside looks at what can be made again or may be as it is. An index that is not that of the records is not used.
func (v *verifier) beside(f *logFile, x *index.Index, end store.Head, tail bool) {
	if f.sealed.torn {
		v.note("%s: one of the two meta pages is not valid: a commit after record %d did not end, or the page is damaged", f.path, end.Sequence)
	}
	if tail && !f.hasStoredIndex() {
		return // it is stored at a stop in good order
	}
	content, err := os.ReadFile(f.indexPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.note("%s: there is no stored index; it is made when it is needed", f.path)
	case err != nil:
		v.note("%s: the stored index cannot be read: %v", f.path, err)
	case !isIndexOf(content, f, x, end):
		v.note("%s: the stored index is not that of the records; remove %s", f.path, f.indexPath())
	default:
		return
	}
	f.memory = x
}
