package cutlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/storetest"
)

// Check opens the log in dir, as a power cut left it, and returns an error if it breaks a rule listed in the package
// comment. Check changes the log: it starts it twice and appends to it.
func Check(ctx context.Context, dir string, h Heard, options store.Options) error {
	exists, err := open.Exists(dir)
	if err != nil {
		return err
	}
	if !exists && h.Durable > 0 {
		return fmt.Errorf("record %d was acknowledged, and there is no log", h.Durable)
	}
	if exists {
		if err := verified(ctx, dir, h); err != nil {
			return fmt.Errorf("as the power cut left it: %w", err)
		}
	}
	head, err := opened(ctx, dir, h, options)
	if err != nil {
		return fmt.Errorf("the first start: %w", err)
	}
	if err := quiet(ctx, dir, head); err != nil {
		return fmt.Errorf("after the first start: %w", err)
	}
	before, err := names(dir)
	if err != nil {
		return err
	}
	again, err := opened(ctx, dir, h, options)
	if err != nil {
		return fmt.Errorf("the second start: %w", err)
	}
	after, err := names(dir)
	if err != nil {
		return err
	}
	if again != head || !slices.Equal(before, after) {
		return fmt.Errorf("the second start repaired something again: head %d, then %d; files %q, then %q", head.Sequence, again.Sequence, before, after)
	}
	if err := goOn(ctx, dir, options); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	return nil
}

// names returns the names of the log's files.
func names(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, err
}

// verified checks the log through the functions that only read, before any controller has opened it.
func verified(ctx context.Context, dir string, h Heard) error {
	report, err := open.Verify(ctx, dir, nil)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if report.Head.Sequence < h.Durable {
		return fmt.Errorf("record %d was acknowledged, and verify finds records through %d", h.Durable, report.Head.Sequence)
	}
	log, err := open.Archive(dir)
	if err != nil {
		return err
	}
	return errors.Join(records(ctx, log, h), log.Close())
}

// records checks that each record in the log was appended by the process, with exactly these bytes.
func records(ctx context.Context, log store.Reader, h Heard) error {
	var stored []byte
	last := events.Sequence(0)
	for r, err := range log.Read(ctx, 0) {
		if err != nil {
			return err
		}
		last = r.Sequence
		if stored, err = events.AppendRecord(stored[:0], &r); err != nil {
			return err
		}
		if !slices.ContainsFunc(h.Written[r.Sequence], func(w []byte) bool { return bytes.Equal(w, stored) }) {
			return fmt.Errorf("record %d is read, and was never written so", r.Sequence)
		}
	}
	if last < h.Durable {
		return fmt.Errorf("record %d was acknowledged, and records through %d are read", h.Durable, last)
	}
	return nil
}

// opened opens the log for writing, as a controller does after the power cut, checks what it finds, and closes the
// log.
func opened(ctx context.Context, dir string, h Heard, options store.Options) (head store.Head, err error) {
	log, err := open.Log(dir, options)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	head = log.Head()
	if err := records(ctx, log, h); err != nil {
		return head, err
	}
	for name, had := range h.Offsets {
		at, err := log.Offset(name)
		if err != nil {
			return head, err
		}
		if at < had || at > head.Sequence {
			return head, fmt.Errorf("the offset of %q is %d, it was %d and the head is %d", name, at, had, head.Sequence)
		}
	}
	s, _, err := log.LoadSnapshot(ctx)
	if err != nil {
		return head, err
	}
	files, err := store.FilesOf(log)()
	if err != nil {
		return head, err
	}
	// An older snapshot is no error if the record after the newer one was pruned: pruning then deletes the newer one,
	// too.
	older := s.Head.Sequence < h.Snapshot && len(files) > 0 && h.Snapshot+1 >= files[0].First
	if older || s.Head.Sequence > head.Sequence {
		return head, fmt.Errorf("the newest snapshot is of record %d, one of record %d was saved", s.Head.Sequence, h.Snapshot)
	}
	key, made, err := log.Key()
	switch {
	case err != nil:
		return head, err
	case key == events.Key{}:
		return head, errors.New("the key is not random: it has zeros")
	case h.Key != nil && !bytes.Equal(key[:], h.Key):
		return head, fmt.Errorf("the key is not the one that there was (another was made: %t)", made)
	}
	return head, nil
}

// quiet checks that the log needs no further repair, once a writer has opened and closed it.
func quiet(ctx context.Context, dir string, head store.Head) error {
	report, err := open.Verify(ctx, dir, nil)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if report.Head != head || len(report.Notes) > 0 {
		return fmt.Errorf("verify: head %d, and the log had %d; notes %q", report.Head.Sequence, head.Sequence, report.Notes)
	}
	return nil
}

// goOn appends records to the log, and checks that they are durable.
func goOn(ctx context.Context, dir string, options store.Options) (err error) {
	log, err := open.Log(dir, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var last events.Sequence
	if err := attempt(func(t testing.TB) {
		w := storetest.NewWriter(t, log)
		if w.Next() == 1 {
			w.Create()
		}
		last = w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-b", 2)).Last()
	}); err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return err
	}
	report, err := open.Verify(ctx, dir, nil)
	if err == nil && report.Head.Sequence != last {
		err = fmt.Errorf("verify: head %d, and record %d was appended", report.Head.Sequence, last)
	}
	return err
}

// attempt calls fn with a testing.TB, and returns its failure as an error.
func attempt(fn func(t testing.TB)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(attemptError)
			if !ok {
				panic(r)
			}
			err = failed
		}
	}()
	fn(attempting{})
	return nil
}

type attempting struct{ testing.TB }

type attemptError struct{ error }

func (attempting) Helper() {}
func (attempting) Fatalf(format string, args ...any) {
	panic(attemptError{fmt.Errorf(format, args...)})
}
