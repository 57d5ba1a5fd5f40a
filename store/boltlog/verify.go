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
	"github.com/jobledger/jobledger/store/internal/lockfile"
	"github.com/jobledger/jobledger/store/internal/streamindex"
	"github.com/jobledger/jobledger/store/regular"
)

// Verify reads a whole log and checks everything that must hold: sequences without gaps, checksums, the chain from
// record to record and at the end of each commit group, end marks and times of batches, previous pointers, record 1,
// epochs, terms, that each file continues the previous one, and that a Pruned record explains missing first records. It
// also checks that no file beside the log proves a record that the log lacks. After damage it continues with the next
// file.
//
// If a controller writes the log meanwhile, Verify checks the sealed files only. It needs memory for the index of one
// file, and 4 bytes for each stream of each earlier file.
//
// has lists heads of the log that were recorded elsewhere. The log is damaged if its chain value at one of them is
// another one, or if it ends before one of them.
//
// Verify returns ErrCorrupt with the first bad sequence, or a read error. It calls progress from time to time with the
// number of bytes read and the total, unless progress is nil.
func Verify(ctx context.Context, dir string, progress func(done, total int64), has ...store.Head) (store.Report, error) {
	if err := restored(dir); err != nil {
		return store.Report{}, fmt.Errorf("verify log: %w", err)
	}
	return verify(&verifier{ctx: ctx, dir: dir, progress: progress, has: has})
}

// verify does the work of Verify, with the arguments in the fields of want. It begins again if a controller deletes the
// oldest files before they are read.
func verify(want *verifier) (store.Report, error) {
	dir := want.dir
	firsts, err := listFiles(dir, fileSuffix)
	if err == nil && len(firsts) == 0 {
		err = fmt.Errorf("there is no log in it: %w", fs.ErrNotExist)
	}
	if err != nil {
		return store.Report{}, fmt.Errorf("verify log %s: %w", dir, err)
	}
	for {
		v := *want
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
		}
		// The oldest file has changed, so a controller has pruned (deleted) files before they were read: verify the
		// remaining ones.
	}
}

// verifier reads a log from its first record to its last and collects what is wrong. It serves one call of Verify.
type verifier struct {
	ctx      context.Context
	dir      string
	progress func(done, total int64)
	own      events.Loss  // the record that the file HEAD names, which the log must have
	has      []store.Head // heads recorded elsewhere that the log must have; each is removed when it is checked
	locked   bool         // the caller holds the LOCK, so no other process writes

	report   store.Report
	last     map[events.Stream]events.Sequence // last record of each stream in the current file
	verified []verifiedFile                    // earlier files of the log that are intact
	sound    store.Report                      // report at the end of the last intact commit
	batch    *events.Header                    // header of the last record, if its batch is not complete
	found    events.Hash                       // chain value (a hash over all records) before the last record's batch
	term     uint64                            // newest term (number of a writer); 0 for none, and after damage
	cut      events.Sequence                   // highest First (first record that pruning keeps) of the Pruned records
	begins   events.Hash                       // chain value (hash over all records so far) before the oldest file
	pruned   *events.Pruned                    // the Pruned record about the files before the oldest one; nil for none
	intact   *store.Report                     // the report up to the first damage; nil if there is none so far
	damage   []error
	beside   beside // content of the files that tell how far the log had got, read before the log itself
	tail     bool   // the current file is the newest one, and another process may begin to write it
	broken   bool   // the previous file could not be verified to its end
	notes    []string

	done, total int64
}

// verifiedFile is an intact file, with the streams (Jobs, CronJobs) that have records in it. streams has a hash of
// each.
type verifiedFile struct {
	file    *logFile
	streams []uint32 // ascending
}

func (v *verifier) log() error {
	early, err := listFiles(v.dir, fileSuffix)
	if err != nil || len(early) == 0 {
		return err
	}
	// The files that prove how far the log had got are read before the log itself. In the other order, a process that
	// begins to write meanwhile would look like a loss.
	if v.beside, err = seenBeside(v.dir, early[len(early)-1]); err != nil {
		return v.oldest(early[0], err)
	}
	held := v.written()
	if held != nil && !errors.Is(held, store.ErrHeld) {
		return held
	}
	firsts, err := listFiles(v.dir, fileSuffix) // list again: the first list may lack a file that was begun meanwhile
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

// written returns ErrHeld if another process writes the log now; nil otherwise, and if the caller holds the log's lock.
func (v *verifier) written() error {
	if v.locked {
		return nil
	}
	return lockfile.Held(v.dir)
}

// oldest returns the error for a log whose directory has the error beside in a file next to the log. If that error says
// that the file is from before the first release, and the log's own first file is too, it returns the error about the
// log file.
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

// mostTries limits how often the newest file is read again because a process wrote it meanwhile. After that the file
// counts as being written, and is not verified.
const mostTries = 3

// unwritten verifies the newest file (first record `first`) of a log that no process writes. If a process begins to
// write it meanwhile, the result is discarded. While that process runs, the file counts as one with a writer, and is
// not verified; once the process has ended, the file is read again. begins says that it is the only file.
func (v *verifier) unwritten(first events.Sequence, begins bool) error {
	before := *v
	for range mostTries {
		*v = before
		v.tail = true
		if err := v.one(first, begins); !errors.Is(err, errDisturbed) {
			return err
		}
		if v.written() != nil {
			break
		}
	}
	*v = before
	v.report.Written = first
	return nil //nolint:nilerr // a tail with a writer is no damage
}

// errDisturbed is the error when another process wrote to a file while it was read.
var errDisturbed = errors.New("a process wrote the file meanwhile")

// one verifies the file that begins with record first, and keeps it open, because checks of later files need its index.
// begins says that it is the oldest file.
func (v *verifier) one(first events.Sequence, begins bool) error {
	f, err := openSealed(v.dir, first)
	if err != nil {
		if v.tail && v.written() != nil {
			return errDisturbed
		}
		return explainOpen(f, err)
	}
	v.tell(0)
	if err := v.file(f, begins); err != nil {
		if v.tail && !v.locked && disturbed(f.sealed, v.dir)() != nil {
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

// harm adds damage to the report. At the first damage it keeps the report so far, which is about the intact records
// before it.
func (v *verifier) harm(err error) {
	if v.intact == nil {
		intact := v.report
		v.intact = &intact
	}
	v.damage = append(v.damage, err)
}

// writtenTail checks that the newest file, which another process writes, continues the file before it. It does nothing
// if the file cannot be read.
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
	_ = f.end(store.ErrClosed) // the file was only read, so an error of end loses nothing
}

// conclude makes the checks that need the whole log (lost records, snapshots, records known from elsewhere), and
// completes the report.
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
	v.branches()
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

// snapshots checks the snapshot files. A damaged one is reported as a note, no error, because it costs time at a start
// but loses no record.
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
		case errors.Is(err, fs.ErrNotExist): // the snapshot was replaced after the directory was listed: skip it
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

// odd reports as notes the entries of the directory that have the name of one of the log's files, but are not regular
// files. They are not read, and may prevent a controller from starting.
func (v *verifier) odd() {
	for _, name := range []string{lockfile.Name, keyName} {
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

// branches reports as notes the branches. A branch is a folder with records that were cut off from the log, because
// another process had become the writer and continued without them.
func (v *verifier) branches() {
	all, err := Branches(v.dir)
	if err != nil {
		v.note("the branches of the log cannot be listed: %v", err)
	}
	for _, b := range all {
		v.note("%s", b)
	}
}

func (v *verifier) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func hashStream(s events.Stream) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(s.Kind)}) // a hash never returns an error
	_, _ = io.WriteString(h, s.ID)
	return h.Sum32()
}

// before returns the last record of stream s in the files before the current one; 0 when there is none.
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

// isIndexOf reports whether the index of the file on disk equals x, the index of its records. Only the creation time of
// the youngest object may differ, because it may come from an earlier file.
func isIndexOf(f *logFile, x *index.Index, end store.Head) bool {
	stored, err := streamindex.Open(f.indexPath(), f.first, end)
	if err != nil || stored.Close() != nil || stored.Youngest < x.Youngest() {
		return false
	}
	want := streamindex.Encode(x, end, stored.Youngest)
	content, err := regular.Read(f.indexPath(), int64(len(want)))
	return err == nil && bytes.Equal(content, want)
}

// derived checks the files that are made from log file f, such as its index, and other defects that lose no record. It
// reports them as notes. x is the index of f's records. An index on disk that does not match x is not used.
func (v *verifier) derived(f *logFile, x *index.Index, end store.Head) {
	if f.sealed.Torn {
		v.note("%s: one of the two meta pages is not valid: a commit after record %d did not end, or the page is damaged", f.path, end.Sequence)
	}
	if v.tail && !f.hasStoredIndex() {
		return // no complaint: the newest file has a complete index only after an orderly stop
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
