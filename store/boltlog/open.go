package boltlog

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/commit"
	"github.com/jobledger/jobledger/store/internal/lockfile"
	"github.com/jobledger/jobledger/store/regular"
)

// Open opens the log in the directory for writing. It creates directory and log if they do not exist. The error is
// ErrHeld if another process writes the log, ErrForeign if it is not the log that options name, ErrCorrupt if it is
// damaged, and ErrNoRoom if the disk is too full to open it; then the caller may try again later.
func Open(dir string, options store.Options) (*Log, error) {
	log, err := open(dir, options, system)
	if disk.NoSpace(err) && !errors.Is(err, store.ErrNoRoom) {
		err = fmt.Errorf("%w: %w", store.ErrNoRoom, err)
	}
	return log, err
}

// Exists reports whether the directory contains a log. The directory need not exist.
func Exists(dir string) (bool, error) {
	firsts, err := listFiles(dir, fileSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(firsts) > 0, err
}

// listFiles returns the files in dir whose names end with suffix, as the sequences in their names, ascending.
func listFiles(dir, suffix string) ([]events.Sequence, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []events.Sequence
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), suffix)
		n, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || len(digits) != 20 {
			continue
		}
		out = append(out, events.Sequence(n))
	}
	slices.Sort(out)
	return out, nil
}

func open(dir string, options store.Options, effects effects) (*Log, error) {
	if err := restored(dir); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := complete(&options); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	held, err := lockfile.Take(dir)
	if err != nil {
		return nil, err
	}
	l := &Log{
		logReader: &logReader{dir: dir, reader: options.Reader, changed: make(chan struct{})}, options: options, effects: effects, lock: held,
		queue: commit.New(oneCommit), packed: map[events.Sequence]bool{}, committed: make(chan struct{}),
	}
	if err := l.load(); err != nil {
		l.release(err)
		return nil, fmt.Errorf("open log %s: %w", dir, errors.Join(err, lockfile.Release(held)))
	}
	go l.commits() // this goroutine ends when Close is called or a commit fails
	return l, nil
}

// restoringName is the name of the mark file in a directory that is the target of an unfinished restore. The log files
// in it may look like a complete log although later ones are still missing. So no function opens them.
const restoringName = "RESTORING"

// ErrRestoring is the error of an open when a restore into the directory has not ended, or not all files from another
// replica have arrived.
var ErrRestoring = errors.New("a restore into it has not ended: run 'jobledger restore' once more, with the same --from; " +
	"a clone by 'jobledger clone', a replica by the controller, with --replicate or --follow")

// restored returns ErrRestoring if the directory has the mark of an unfinished restore or clone.
func restored(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, restoringName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", dir, ErrRestoring)
}

// oneCommit reports whether two batches may be part of one commit. They must belong to one file, and both or neither
// must come from AppendStored, because Options.Before sees either all records of a commit or none.
func oneCommit(a, b *work) bool { return a.file == b.file && a.given == b.given }

// release closes all files, after a failed open. Readers of the files get the error reason.
func (l *Log) release(reason error) {
	for _, f := range l.files {
		_ = f.end(reason)
	}
	for _, t := range []*tail{l.tail, l.spare} {
		if t != nil {
			_ = t.close(false)
		}
	}
}

// load opens the log in three steps: it opens the files and reads the log's ID from them, looks for lost records, and
// prepares the newest file for appends.
func (l *Log) load() error {
	end, err := l.openAll()
	if err != nil {
		return err
	}
	if err := l.lookBack(end); err != nil {
		return err
	}
	return l.goFrom(end)
}

// openAll opens the files of the log, and returns its last record (with chain hash, epoch and term). For a new log it
// creates the first file.
func (l *Log) openAll() (end head, err error) {
	if err := tidy(l.dir); err != nil {
		return end, err
	}
	firsts, err := listFiles(l.dir, fileSuffix)
	if err != nil {
		return end, err
	}
	if len(firsts) == 0 {
		if err := l.create(); err != nil {
			return end, fmt.Errorf("create the log: %w", err)
		}
		firsts = []events.Sequence{1}
	}
	if err := l.forgetTail(firsts[len(firsts)-1]); err != nil {
		return end, err
	}
	var heads []head
	if l.files, heads, err = openFiles(l.dir, firsts); err != nil {
		return end, err
	}
	if err := l.readable(); err != nil {
		return end, err
	}
	end = heads[len(heads)-1]
	return end, l.identify(end)
}

// lookBack looks for lost records. It compares the log, which ends with head end, with the files beside it that tell
// how far it had got (HEAD, CLOSED, snapshots). If no records are lost, it removes snapshots and indexes that belong to
// no file.
func (l *Log) lookBack(end head) error {
	tail := l.files[len(l.files)-1]
	offsets, err := tail.offsets()
	if err != nil {
		return tail.corrupt(tail.first, err)
	}
	l.durableEpoch = end.epoch
	// If records were lost, the snapshots and indexes that are newer than the log must stay, because they prove the
	// loss. GoOn removes them.
	if err := l.lostRecords(tail.first, end.Head, offsets); err != nil || len(l.losses) > 0 {
		return err
	}
	return errors.Join(tidySnapshots(l.dir, l.identity, end.Head), tidyIndexes(l.dir))
}

// goFrom prepares the log for appends after its last record, end, and starts the background goroutines.
func (l *Log) goFrom(end head) error {
	if err := l.openTail(end); err != nil {
		return err
	}
	if len(l.losses) == 0 {
		if err := l.finishPruning(); err != nil {
			return err
		}
	}
	sealed := l.files[:len(l.files)-1] // a copy, because a commit may append a new file to l.files
	l.background.Go(func() { l.indexAll(sealed) })
	l.witness.Go(l.noteHeads) // the goroutine ends when the log is closed or a commit has failed
	return nil
}

// forgetTail drops the newest file from the page cache, so that later reads come from the disk. After a failed write,
// the previous process may have left pages in the cache that are not on the disk. If it closed the log, forgetTail does
// nothing.
func (l *Log) forgetTail(first events.Sequence) error {
	if _, err := os.Lstat(filepath.Join(l.dir, closedName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := regular.Open(filepath.Join(l.dir, fileName(first, fileSuffix)))
	if err != nil {
		return err
	}
	return errors.Join(disk.Forget(f), f.Close())
}

// lostRecords looks for proofs that the log once had records that it now lacks. tail is the first record of the newest
// file, end the log's last record, offsets the records up to which consumers have read. If there are proofs, it returns
// an error, or with Options.AcceptLoss stores the losses in l.
func (l *Log) lostRecords(tail events.Sequence, end store.Head, offsets map[string]events.Sequence) error {
	all, err := wentBack(l.dir, l.identity, tail, end, offsets)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		if err := l.noted(end); errors.Is(err, store.ErrLost) {
			all = append(all, err)
		} else if err != nil {
			return err
		}
	}
	if len(all) > 0 && !l.options.AcceptLoss {
		return newestLoss(all)
	}
	for _, err := range all {
		l.losses = append(l.losses, lossOf(err))
	}
	return nil
}

// noted checks that the log contains the record that the file HEAD names, with the same chain hash. It ignores a HEAD
// of another epoch, and a record that is no longer kept.
func (l *logReader) noted(end store.Head) error {
	w, err := readWitness(filepath.Join(l.dir, headName), l.identity)
	if err != nil || w.Epoch != l.identity.Epoch || w.Sequence < l.files[0].first || w.Sequence == 0 {
		return err
	}
	hash, err := view{files: l.files, durable: end}.hash(w.Sequence)
	if err == nil && hash != w.Hash {
		err = otherHistory(l.dir, w, hash)
	}
	return err
}

// tidy removes the temporary files that a process left in dir when it crashed while it wrote them.
func tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), disk.TempSuffix) {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// tidyIndexes removes indexes (files derived from log files) whose log file was deleted.
func tidyIndexes(dir string) error {
	indexes, err := listFiles(dir, indexSuffix)
	errs := []error{err}
	for _, first := range indexes {
		if _, err := os.Lstat(filepath.Join(dir, fileName(first, fileSuffix))); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, os.Remove(filepath.Join(dir, fileName(first, indexSuffix))))
		}
	}
	return errors.Join(errs...)
}

// newTail creates an empty file for later records, under a temporary name. It is not part of the log yet.
func newTail(dir string, rotateBytes int64, effects effects) (*tail, error) {
	path := filepath.Join(dir, "next"+fileSuffix+disk.TempSuffix)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return openTail(path, rotateBytes, effects)
}

// create creates the first file of a new log. When it returns, the log's ID and epoch are durable; there is no record
// yet.
func (l *Log) create() error {
	id := l.options.LogID
	if id == "" {
		var random [16]byte
		_, _ = rand.Read(random[:]) // it never returns an error
		id = hex.EncodeToString(random[:])
	}
	if err := disk.SyncAbove(l.dir); err != nil {
		return err
	}
	t, err := newTail(l.dir, l.options.RotateBytes, l.effects)
	if err != nil {
		return err
	}
	err = t.reserve(t.cost(0), l.step())
	if err == nil {
		err = t.begin(l.dir, begin{identity: events.Identity{LogID: id, Epoch: 1}, first: 1, least: leastOf(&l.options)}, 0, nil)
	}
	return errors.Join(err, t.close(false))
}

// openFiles opens the files that begin with the records firsts, for reading, and checks that each begins where the
// previous one ends. heads are the last records of the files.
func openFiles(dir string, firsts []events.Sequence) (files []*logFile, heads []head, err error) {
	for i, first := range firsts {
		f, err := openSealed(dir, first)
		if err != nil {
			return files, nil, explainOpen(f, err)
		}
		if i > 0 {
			files[i-1].follows.Store(uint64(first))
		}
		files = append(files, f)
		b, err := f.begin()
		if err != nil {
			return files, nil, f.corrupt(first, err)
		}
		if i > 0 && b.before != heads[i-1].Head {
			before := files[i-1]
			at := heads[i-1].Sequence + 1
			return files, nil, before.corrupt(min(at, first), fmt.Errorf(
				"the file ends with record %d, hash %s, but %s continues record %d, hash %s",
				heads[i-1].Sequence, heads[i-1].Hash, f.path, b.before.Sequence, b.before.Hash))
		}
		h, err := f.head()
		if err != nil {
			return files, nil, f.corrupt(first, err)
		}
		if h.Sequence+1 < first {
			return files, nil, f.corrupt(first, fmt.Errorf("the file says that it ends with record %d", h.Sequence))
		}
		heads = append(heads, h)
	}
	return files, heads, nil
}

func explainOpen(f *logFile, err error) error {
	if damaged(err) {
		return f.corrupt(f.first, err)
	}
	return err
}

// identify reads the log's ID and epoch from its files, and checks that record 1, if it is kept, agrees.
func (l *logReader) identify(end head) error {
	first, err := l.files[0].begin()
	if err != nil {
		return l.files[0].corrupt(l.files[0].first, err)
	}
	l.identity = events.Identity{LogID: first.identity.LogID, Epoch: end.epoch}
	l.durable = end.Head
	for _, f := range l.files[1:] {
		if b, err := f.begin(); err != nil || b.identity.LogID != first.identity.LogID {
			return f.corrupt(f.first, fmt.Errorf("the file belongs to log %s, the first one to %s: %w", b.identity.LogID, first.identity.LogID, store.ErrForeign))
		}
	}
	if end.Sequence == 0 || l.files[0].first > 1 {
		return nil
	}
	r, _, err := view{files: l.files, durable: end.Head}.one(1, nearChunk{})
	if err != nil {
		return err
	}
	if _, err := store.NextIdentity(first.identity, &r); err != nil {
		return l.files[0].corrupt(1, err)
	}
	return nil
}
