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
	"github.com/jobledger/jobledger/store/regular"
)

// Verify reads a whole log and checks all that must hold: dense sequences, checksums, the chain from record to record
// and at the end of each commit group, batch marks and one time per batch, previous pointers, record 1, epochs, terms,
// the continuation from file to file, that a Pruned record admits what is missing, and that nothing beside the log
// tells of records that it does not have. It goes on behind damage, with the next file.
//
// It does not keep a controller from writing. Of a log that is being written it verifies the files that are sealed.
// Memory is that for the index of one file, and 4 bytes for each stream of the files before it.
//
// The heads in has were noted elsewhere: a log that went another way, or ends before them, is damaged.
//
// Its error is ErrCorrupt with the first bad sequence, or one of reading. Progress is called now and then, if not nil,
// with the bytes that are done and those there are.
func Verify(ctx context.Context, dir string, progress func(done, total int64), has ...store.Head) (store.Report, error) {
	if err := restored(dir); err != nil {
		return store.Report{}, fmt.Errorf("verify log: %w", err)
	}
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

	report   store.Report
	last     map[events.Stream]events.Sequence // of each stream in the file that is being read
	verified []verifiedFile                    // the files before it
	sound    store.Report                      // as of the end of the last commit group, whose chain value agreed
	batch    *events.Header                    // the last record, when its batch goes on
	found    events.Hash                       // the chain value before that batch
	term     uint64                            // the newest that started; 0 for none, and after a loss
	cut      events.Sequence                   // what the Pruned records admit
	begins   events.Hash                       // the chain value with which the oldest file begins
	pruned   *events.Pruned                    // the record that says what went before that file; nil when none does
	intact   *store.Report                     // what is intact before the first damage; nil while there is none
	damage   []error
	beside   beside // what told how far the log had come, before its files were read
	tail     bool   // the file that is read is the newest, which a process may begin to write
	broken   bool   // the file before could not be verified to its end
	notes    []string

	done, total int64
}

// verifiedFile is a file that is whole, and by hash which streams have records in it.
type verifiedFile struct {
	file    *logFile
	streams []uint32 // ascending
}

func (v *verifier) log() error {
	early, err := listFiles(v.dir, fileSuffix)
	if err != nil || len(early) == 0 {
		return err
	}
	// What tells how far the log had come is read before any file: a process may begin to write at any time.
	if v.beside, err = seenBeside(v.dir, early[len(early)-1]); err != nil {
		return v.oldest(early[0], err)
	}
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
		if info, err := os.Lstat(filepath.Join(v.dir, fileName(first, fileSuffix))); err == nil {
			v.total += info.Size()
		}
	}
	for i, first := range firsts {
		read := v.one
		if held == nil && i == len(firsts)-1 {
			read = v.unwritten
		}
		err := read(first, i == 0)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, store.ErrCorrupt):
			return err
		}
		v.harm(err)
		v.broken = true
	}
	if v.report.Written != 0 {
		v.writtenTail()
	}
	return v.conclude()
}

// oldest is the error of a log beside which stands what this program does not read: that of the log's own first file,
// if it is of before the first release, too.
func (v *verifier) oldest(first events.Sequence, beside error) error {
	if !errors.Is(beside, events.ErrBefore) {
		return beside
	}
	f, err := openSealed(v.dir, first)
	if err != nil {
		return beside
	}
	if _, err := f.begin(); errors.Is(err, events.ErrBefore) {
		beside = err
	}
	return errors.Join(beside, f.end(store.ErrClosed))
}

// mostTries is how often a tail is read that processes write meanwhile, each for a moment.
const mostTries = 3

// unwritten verifies the tail of a log that no process writes. When a process begins to write it meanwhile, what was
// read of the tail is no damage, and the report goes back to what stood before it: the tail counts as written while the
// process is there, and is read again when it has gone.
func (v *verifier) unwritten(first events.Sequence, begins bool) error {
	before := *v
	for range mostTries {
		*v = before
		v.tail = true
		if err := v.one(first, begins); !errors.Is(err, errDisturbed) {
			return err
		}
		if written(v.dir) != nil {
			break
		}
	}
	*v = before
	v.report.Written = first
	return nil //nolint:nilerr // that a process writes the tail is no damage
}

// errDisturbed: a process wrote a file while it was read.
var errDisturbed = errors.New("a process wrote the file meanwhile")

// one verifies the file that begins with a record, and keeps it for the files that follow.
func (v *verifier) one(first events.Sequence, begins bool) error {
	f, err := openSealed(v.dir, first)
	if err != nil {
		if v.tail && written(v.dir) != nil {
			return errDisturbed
		}
		return explainOpen(f, err)
	}
	v.tell(0)
	if err := v.file(f, begins); err != nil {
		if v.tail && f.sealed.disturbed(v.dir)() != nil {
			err = errDisturbed
		}
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

// writtenTail checks the seam to a tail that a process writes. It checks as far as the tail can be read; that part is
// right.
func (v *verifier) writtenTail() {
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
		if lost := v.beside.ahead(v.dir, v.report.Identity, v.report.Head, nil); len(lost) > 0 {
			v.harm(newestLoss(lost))
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
	v.odd()
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
	compared := events.Sequence(0)
	for _, at := range all {
		path := filepath.Join(v.dir, fileName(at, snapshotSuffix))
		s, err := readSnapshot(path, events.ReaderVersion{})
		if err == nil && s.Head.Sequence != at {
			err = fmt.Errorf("it says that it is of record %d", s.Head.Sequence)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // replaced since
		case events.OtherReader(err):
			v.note("%s: the snapshot is not checked: %v", path, err)
		case err != nil:
			v.note("%s: the snapshot is damaged and is not used: %v; remove it", path, err)
		default:
			compared = at
		}
	}
	v.report.Snapshot = compared
}

// odd looks at what has the name of a file beside the log, and is none: nothing is read there, and a controller does
// not always start.
func (v *verifier) odd() {
	for _, name := range []string{lockName, keyName} {
		if err := regular.Check(filepath.Join(v.dir, name)); errors.Is(err, regular.ErrOdd) {
			v.note("%v: remove it", err)
		}
	}
	for _, name := range []string{headName, closedName} {
		if _, err := regular.Read(filepath.Join(v.dir, name), mostWitness); errors.Is(err, regular.ErrOdd) {
			v.note("%v: remove it", err)
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

func (v *verifier) tell(within int64) {
	if v.progress != nil {
		v.progress(v.done+within, v.total)
	}
}

// isIndexOf reports whether a stored index is what is made of the records. The youngest object may be one of an earlier
// file.
func isIndexOf(f *logFile, x *index.Index, end store.Head) bool {
	stored, err := openStoredIndex(f.indexPath(), f.first, end)
	if err != nil || stored.close() != nil || stored.youngest < x.Youngest() {
		return false
	}
	want := encodeIndex(x, end, stored.youngest)
	content, err := regular.Read(f.indexPath(), int64(len(want)))
	return err == nil && bytes.Equal(content, want)
}

// derived looks at what can be made again or may be as it is. An index that is not that of the records is not used.
func (v *verifier) derived(f *logFile, x *index.Index, end store.Head) {
	if f.sealed.torn {
		v.note("%s: one of the two meta pages is not valid: a commit after record %d did not end, or the page is damaged", f.path, end.Sequence)
	}
	if v.tail && !f.hasStoredIndex() {
		return // it is stored at a stop in good order
	}
	err := regular.Check(f.indexPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.note("%s: there is no stored index; it is made when it is needed", f.path)
	case err != nil:
		v.note("%s: the stored index cannot be read: %v", f.path, err)
	case !isIndexOf(f, x, end):
		v.note("%s: the stored index is not that of the records; remove %s", f.path, f.indexPath())
	default:
		return
	}
	f.memory = x
}
