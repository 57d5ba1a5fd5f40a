package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/disk"
)

// Result is the result of a restore.
type Result struct {
	Identity events.Identity
	First    events.Sequence
	Head     store.Head
	Short    bool     // the copy has later records than the restored log
	Notes    []string // objects that could not be restored; they are made again when needed
}

// DamageError is returned if an object of the copy is missing, or differs from what was written.
type DamageError struct {
	Place   string
	Name    string
	Cause   error
	Through events.Sequence // the copy is complete through this record, in front of the object; 0 for none
}

// Error names the object, and through which record the log can be restored without it.
func (e *DamageError) Error() string {
	text := fmt.Sprintf("%s at %s: %v", e.Name, e.Place, e.Cause)
	if errors.Is(e.Cause, fs.ErrNotExist) {
		text = fmt.Sprintf("%s is missing at %s", e.Name, e.Place)
	}
	switch {
	case e.Name == copylog.KeyName:
		return text + "; --without-key leaves it out: the log is whole, and the next start makes a new key"
	case e.Through == 0:
		return text + "; without it there is no record before it: an earlier manifest (--manifest) may name another object"
	}
	return fmt.Sprintf("%s; --through %d gives the log without it, up to that record", text, e.Through)
}

// Unwrap returns what is wrong with the object.
func (e *DamageError) Unwrap() error { return e.Cause }

// damaged returns the DamageError for the object of this name.
func (p *Plan) damaged(name string, cause error) error {
	through := events.Sequence(0)
	for _, f := range p.parts() {
		if f.Object.Name == name {
			break
		}
		through = f.End.Sequence
	}
	return &DamageError{Place: p.Place.String(), Name: name, Cause: cause, Through: through}
}

// working is the state of one run of a plan: how many bytes are fetched (done), and notes for the operator.
type working struct {
	*Plan
	mu    sync.Mutex
	done  int64
	notes []string
}

// atOnce is how many files are fetched at a time: one can be checked while another one arrives.
const atOnce = 2

// Run restores the log. It returns a DamageError if an object of the copy is missing or damaged.
func (p *Plan) Run(ctx context.Context) (Result, error) {
	if err := p.empty(); err != nil {
		return Result{}, err
	}
	if err := boltlog.BeginRestore(p.Dir, p.note()); err != nil {
		return Result{}, err
	}
	w := &working{Plan: p}
	if err := w.clear(); err != nil {
		return Result{}, err
	}
	if err := w.room(disk.FreeBytes); err != nil {
		return Result{}, err
	}
	if err := w.files(ctx); err != nil {
		return Result{}, err
	}
	if err := w.sealed(ctx); err != nil {
		return Result{}, err
	}
	head, id, err := w.last(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := w.key(ctx); err != nil {
		return Result{}, err
	}
	if p.Short() {
		had := events.Identity{LogID: p.Copy.Identity.LogID, Epoch: p.Copy.Identity.Epoch}
		if err := boltlog.NoteLost(p.Dir, had, p.Copy.Head); err != nil {
			return Result{}, err
		}
	}
	if err := boltlog.EndRestore(p.Dir); err != nil {
		return Result{}, err
	}
	result := Result{Identity: id, First: p.first(), Head: head, Short: p.Short(), Notes: w.notes}
	return result, w.look(head)
}

// room returns an error, before the restore begins, if the disk has less free space than the objects need. A file that
// is rebuilt from segments then takes more space than its objects; this is not counted.
func (w *working) room(free func(dir string) (int64, error)) error {
	has, err := free(w.Dir)
	if err != nil {
		return nil //nolint:nilerr // this system does not tell the free space
	}
	need := w.Bytes
	for _, f := range w.Files { // files of an unfinished restore exist already
		if info, err := os.Lstat(filepath.Join(w.Dir, boltlog.FileName(f.First))); err == nil {
			need -= info.Size()
		}
	}
	if has < need {
		return fmt.Errorf("the disk of %s has %d bytes left, and %d are to come: give it more room, or restore into another directory", w.Dir, has, need)
	}
	return nil
}

// look opens the restored log, and checks that its last record is head and that its files follow each other.
func (w *working) look(head store.Head) error {
	log, err := boltlog.OpenReadOnly(w.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // opened only for reading
	if has := log.Head(); has != head {
		return fmt.Errorf("the log in %s ends with record %d, hash %s, and not with record %d, hash %s", w.Dir, has.Sequence, has.Hash, head.Sequence, head.Hash)
	}
	for _, damage := range log.Damage() {
		if !w.Short() || !errors.Is(damage, store.ErrLost) {
			return damage
		}
	}
	return nil
}

// clear deletes the files of an unfinished restore, except the complete files that this restore would fetch again.
func (w *working) clear() error {
	entries, err := os.ReadDir(w.Dir)
	if err != nil {
		return err
	}
	keep := map[string]bool{"RESTORING": true, "lost+found": true}
	for _, f := range w.Files {
		keep[boltlog.FileName(f.First)] = true
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			if err := os.Remove(filepath.Join(w.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// files fetches the complete files, two at a time. After a failure it begins no later file, but finishes the earlier
// ones; so it returns the error of the first damaged file of the log.
func (w *working) files(ctx context.Context) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	var mu sync.Mutex
	failed := len(w.Files)
	var first error
	for i, f := range w.Files {
		group.Go(func() error { // ends when the file is fetched
			mu.Lock()
			skip := failed < i
			mu.Unlock()
			if skip {
				return nil
			}
			err := w.file(ctx, f)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && i < failed {
				failed, first = i, err
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	return first
}

// file fetches one complete file, and the objects that were derived from it: its index and its list of Jobs.
func (w *working) file(ctx context.Context, f copylog.File) error {
	path := filepath.Join(w.Dir, boltlog.FileName(f.First))
	if !sameBytes(path, f.Object) {
		temp := path + ".tmp"
		if err := w.fetch(ctx, f.Object, temp); err != nil {
			return err
		}
		if err := w.checked(ctx, f, temp); err != nil {
			return err
		}
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	w.came(f.Object)
	for _, o := range f.Derived {
		to := strings.TrimSuffix(path, copylog.FileSuffix) + filepath.Ext(o.Name)
		if err := w.fetch(ctx, o, to); err != nil {
			if ctx.Err() != nil {
				return err
			}
			w.note(fmt.Sprintf("%v: it is made again when it is needed", causeOf(err)))
			if err := os.RemoveAll(to); err != nil {
				return err
			}
		}
		w.came(o)
	}
	return nil
}

func causeOf(err error) error {
	var bad *DamageError
	if errors.As(err, &bad) {
		if errors.Is(bad.Cause, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing", bad.Name)
		}
		return fmt.Errorf("%s: %w", bad.Name, bad.Cause)
	}
	return err
}

func (w *working) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, text)
}

func (w *working) came(o copylog.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += o.Bytes
	w.Tell(o.Name, w.done, w.Bytes)
}

// checked reads a fetched file, and checks its hash chain (the hash over all records) against the manifest.
func (w *working) checked(ctx context.Context, f copylog.File, path string) (err error) {
	s, err := boltlog.OpenSealed(path, f.First)
	if err != nil {
		return w.damaged(f.Object.Name, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := s.Records(ctx, nil)
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return w.damaged(f.Object.Name, err)
	case err != nil:
		return err
	case s.Identity.LogID != w.Copy.Identity.LogID:
		return w.damaged(f.Object.Name, fmt.Errorf("it is of log %s", s.Identity.LogID))
	case s.Before.Hash != f.Before || s.End != f.End || records != f.Records || s.Identity.Epoch != f.Epoch:
		return w.damaged(f.Object.Name, errors.New("it has other records than the manifest says"))
	}
	return nil
}
