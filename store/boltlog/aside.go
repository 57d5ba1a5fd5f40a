package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/lockfile"
	"github.com/jobledger/jobledger/store/regular"
)

// If another process became the leader without the last records of a log, those records are kept as a branch: a folder
// in the log's directory with the files that contain the records, and with the files that prove them. The log itself
// then ends before the branch.
//
//	before: 1.log [1..800]  801.log [801..1240]            HEAD says 1240
//	after:  1.log [1..800]  801.log [801..1202]            branch-2-1203/801.log [801..1240], branch-2-1203/HEAD

// asideNote begins the text in the restore mark of a directory while SetAside works, so that it is not taken for a
// restore.
const asideNote = "the end of the log is set aside: "

// branchPrefix begins the name of each branch folder, which keeps records that are no longer part of the log.
const branchPrefix = "branch-"

// Aside returns the arguments `through` and `folder` of a SetAside that a crash interrupted in dir. is is false if
// there was none.
func Aside(dir string) (through events.Sequence, folder string, is bool, err error) {
	note, err := Restoring(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", false, nil
	}
	rest, is := strings.CutPrefix(note, asideNote)
	if err != nil || !is {
		return 0, "", false, err
	}
	if _, err := fmt.Sscan(rest, &through, &folder); err != nil || folder != filepath.Base(folder) {
		return 0, "", false, fmt.Errorf("%s in %s cannot be read: %q", restoringName, dir, note)
	}
	return through, folder, true, nil
}

// BranchName returns the name of the folder that keeps the records cut off from a log, for records of an epoch (one
// life of the log) from record first on.
func BranchName(epoch uint64, first events.Sequence) string {
	return fmt.Sprintf("%s%d-%d", branchPrefix, epoch, first)
}

// SetAside shortens the log in dir: it then ends with the last batch that ends at or before record through (0: no log
// remains). All files with later records are kept unchanged in the folder, a new branch within dir, together with the
// witnesses (files that prove how far the log had got) of these records. Nothing is deleted. After a crash, no function
// opens the log until SetAside is called again with the same arguments ([Aside] returns them). If another process has
// the log open, the error is ErrHeld.
func SetAside(ctx context.Context, dir string, through events.Sequence, folder string) (err error) {
	held, err := lockfile.Take(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lockfile.Release(held)) }()
	if _, _, is, err := Aside(dir); err != nil {
		return err
	} else if !is {
		if err := restored(dir); err != nil {
			return err
		}
	}
	if err := BeginRestore(dir, fmt.Sprintf("%s%d %s", asideNote, through, folder)); err != nil {
		return err
	}
	a := aside{dir: dir, branch: filepath.Join(dir, folder), through: through}
	for _, step := range []func() error{a.keep, a.leave, func() error { return a.write(ctx) }} {
		if err := step(); err != nil {
			return fmt.Errorf("set the end of the log behind record %d aside: %w", through, err)
		}
	}
	return EndRestore(dir)
}

// aside is one call of SetAside, which moves the end of a log into a branch folder. After a crash each step can be
// repeated.
type aside struct {
	dir, branch string
	through     events.Sequence
	first       events.Sequence   // first record of the file with record through; 0 if no file of the log remains
	all         []events.Sequence // first records of the files that go into the branch, oldest first
	names       []string          // names of all files that go into the branch
}

// keep links into the branch folder all files that contain records after `through`, or prove that such records existed.
// The log's key is linked, too.
func (a *aside) keep() error {
	if err := os.MkdirAll(a.branch, 0o700); err != nil {
		return err
	}
	if err := a.look(); err != nil {
		return err
	}
	for _, name := range append([]string{keyName}, a.names...) {
		if err := link(filepath.Join(a.dir, name), filepath.Join(a.branch, name)); err != nil {
			return err
		}
	}
	return errors.Join(disk.SyncDir(a.branch), disk.SyncDir(a.dir))
}

// look collects in all and names the files that go into the branch folder. It searches both the log's directory and the
// branch folder, because a crash may have left a file in only one of them.
func (a *aside) look() error {
	for _, dir := range []string{a.dir, a.branch} {
		firsts, err := Firsts(dir)
		if err != nil {
			return err
		}
		a.all = append(a.all, firsts...)
	}
	slices.Sort(a.all)
	a.all = slices.Compact(a.all)
	for _, first := range a.all {
		if first <= a.through {
			a.first = first
		}
	}
	a.all = slices.DeleteFunc(a.all, func(first events.Sequence) bool { return first < a.first })
	a.names = []string{headName, closedName}
	for _, first := range a.all {
		a.names = append(append(a.names, FileName(first)), Derived(first)...)
	}
	snapshots, err := listFiles(a.dir, snapshotSuffix)
	for _, at := range snapshots {
		if at > a.through {
			a.names = append(a.names, fileName(at, snapshotSuffix))
		}
	}
	return err
}

// leave removes from the log's directory the files that are in the branch folder. The file with record `through` stays,
// because write replaces it by a shorter version.
func (a *aside) leave() error {
	for _, name := range a.names {
		if a.first != 0 && name == FileName(a.first) {
			continue
		}
		if err := os.Remove(filepath.Join(a.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return disk.SyncDir(a.dir)
}

// write replaces the log's last file by a version that ends at record through.
func (a *aside) write(ctx context.Context) (err error) {
	if a.first == 0 {
		return nil
	}
	s, err := OpenSealed(filepath.Join(a.branch, FileName(a.first)), a.first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	offsets, err := s.Offsets()
	if err != nil {
		return err
	}
	spec := FileSpec{First: a.first, Begin: s.Begin, Offsets: offsets, Term: a.termBefore()}
	_, _, err = WriteFile(ctx, a.dir, spec, func(yield func([]byte, error) bool) {
		if err := s.batches(ctx, a.through, func(stored []byte) bool { return yield(stored, nil) }); err != nil {
			yield(nil, err)
		}
	})
	return err
}

// termBefore returns the newest term (number of one process's time as the writer) that began in the files before the
// one that write replaces; 0 if there is no such file.
func (a *aside) termBefore() uint64 {
	firsts, _ := Firsts(a.dir)
	before := events.Sequence(0)
	for _, first := range firsts {
		if first < a.first {
			before = first
		}
	}
	s, err := OpenSealed(filepath.Join(a.dir, FileName(before)), before)
	if err != nil {
		return 0 // the file is missing or cannot be read
	}
	defer func() { _ = s.Close() }() // the file was only read, so an error of Close loses nothing
	return s.Term
}

// errThrough ends a walk over records once the last wanted record has been read. It is no failure.
var errThrough = errors.New("far enough")

// batches calls fn for each record, in stored form, of all batches that end at or before record through. A batch is
// passed on only when its last record has been read. batches stops when fn returns false.
func (s *Sealed) batches(ctx context.Context, through events.Sequence, fn func(stored []byte) bool) error {
	var open [][]byte
	err := s.Walk(ctx, func(l events.Label, stored []byte, _ events.Hash) error {
		if l.Sequence > through {
			return errThrough
		}
		if open = append(open, slices.Clone(stored)); !l.Last {
			return nil
		}
		for _, one := range open {
			if !fn(one) {
				return errThrough
			}
		}
		open = nil
		return nil
	})
	if errors.Is(err, errThrough) {
		return nil
	}
	return err
}

// link gives a file a second name, or copies it if the file system has no hard links. It does nothing if the new name
// exists, or if the file does not.
func link(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	in, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // the file was only read, so an error of Close loses nothing
	out, err := os.OpenFile(to+disk.TempSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(to+disk.TempSuffix, to)
}

// Branch describes records at the end of a log that were set aside, because another process became the leader without
// them.
type Branch struct {
	Folder string // name of the folder in the log's directory
	First  events.Sequence
	Last   events.Sequence // 0 if the newest file of the branch cannot be read
	Epoch  uint64
}

// String says in words for the operator which records were set aside, and in which folder they are.
func (b Branch) String() string {
	return fmt.Sprintf("records %d to %d of epoch %d are in the folder %s: another controller led without them",
		b.First, b.Last, b.Epoch, b.Folder)
}

// Branches returns the branches of the log in dir, sorted by name.
func Branches(dir string) (all []Branch, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		b, is := branchOf(e)
		if !is {
			continue
		}
		b.Last = lastOf(filepath.Join(dir, b.Folder))
		all = append(all, b)
	}
	return all, err
}

// BranchUsage returns the number of branches of the log in dir, and the total size of their files.
func BranchUsage(dir string) (branches int, bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for _, e := range entries {
		if _, is := branchOf(e); !is {
			continue
		}
		branches++
		files, err1 := os.ReadDir(filepath.Join(dir, e.Name()))
		err = errors.Join(err, err1)
		for _, file := range files {
			info, err1 := file.Info()
			if err = errors.Join(err, err1); err1 == nil {
				bytes += info.Size()
			}
		}
	}
	return branches, bytes, err
}

// branchOf parses the name of a branch folder into epoch and first record; Last stays 0. The result is is false if e
// is no branch folder.
func branchOf(e fs.DirEntry) (b Branch, is bool) {
	b.Folder = e.Name()
	n, _ := fmt.Sscanf(e.Name(), branchPrefix+"%d-%d", &b.Epoch, &b.First)
	return b, n == 2 && e.IsDir()
}

func lastOf(branch string) events.Sequence {
	firsts, err := Firsts(branch)
	if err != nil || len(firsts) == 0 {
		return 0
	}
	newest := firsts[len(firsts)-1]
	s, err := OpenSealed(filepath.Join(branch, FileName(newest)), newest)
	if err != nil {
		return 0
	}
	defer func() { _ = s.Close() }() // the file was only read, so an error of Close loses nothing
	return s.End.Sequence
}
