package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
)

// Session copies a log that this process writes, again and again; one such round is a pass. It keeps the manifest (the
// list of the copy's objects) in memory, so a pass with new records takes two requests, and a pass without any takes
// none. When a log file is complete (sealed), a pass first copies the rest of its records in pieces (segments). Upload
// then writes the whole file, while passes continue.
//
// One goroutine may call Pass, and another Upload. Use NewSession.
type Session struct {
	config Config
	r      *run // nil before the first pass (round of copying) and after a failed one

	mu     sync.Mutex
	was    *copylog.Manifest // the manifest after the last pass, for Upload
	wanted []copylog.Tail    // sealed files that the copy has as segments and the log still has
	done   []copylog.File    // files of wanted that Upload has written
}

// NewSession returns a Session for a log that this process writes; config.Live gives access to its records.
func NewSession(config *Config) *Session {
	s := &Session{config: *config}
	s.config.defaults()
	return s
}

// Pass copies all durable records that the copy lacks. It returns an AheadError, and writes nothing, if the log has
// diverged from the copy. After an error, the next pass reads the copy's manifest again.
func (s *Session) Pass(ctx context.Context) (result Result, err error) {
	r := s.r
	defer func() {
		if err != nil {
			s.r = nil
		}
		if r != nil && r.log != nil {
			err = errors.Join(err, r.log.Close())
		}
	}()
	if r == nil {
		r = &run{Config: &s.config, resident: true}
		r.ctx = ctx
		if err := r.found(); err != nil {
			return result, err
		}
	}
	fresh := s.r == nil
	r.ctx, r.result = ctx, Result{}
	if r.log, err = beside.Open(ctx, s.config.Dir, s.config.Live); err != nil {
		return result, err
	}
	if r.result.Identity = r.log.Identity; r.log.Head.Sequence == 0 {
		return r.result, nil
	}
	if fresh {
		err = r.begin()
	} else {
		err = r.fenced()
	}
	if err == nil {
		err = s.bring(r, fresh)
	}
	if err != nil {
		return r.result, err
	}
	s.r, r.result.Head = r, r.next.End()
	r.was, r.raw = r.next.Clone(), nil
	s.remember(r)
	return r.result, nil
}

// bring copies everything that the copy lacks: files, newest records, and the whole files that Upload wrote. If fresh
// is true, it also copies indexes and lists of Jobs, as it does after each whole file.
func (s *Session) bring(r *run, fresh bool) error {
	if err := r.files(); err != nil {
		return err
	}
	if err := r.tail(); err != nil {
		return err
	}
	took := s.takeDone(r)
	if fresh || took {
		if err := r.derived(); err != nil {
			return err
		}
	}
	if r.put || len(r.result.Holes) > 0 {
		if err := r.tidy(); err != nil {
			return err
		}
	}
	r.put = r.put || len(r.result.Holes) > 0
	return r.name(true)
}

// takeDone replaces segments in the manifest (the list of the copy's objects) by the whole files that Upload has
// written. It reports whether it replaced any.
func (s *Session) takeDone(r *run) (took bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.done {
		i := slices.IndexFunc(r.next.Partial, func(t copylog.Tail) bool { return t.First == f.First })
		if i < 0 || (copylog.Run{Segments: &r.next.Partial[i]}).End() != f.End || r.next.Partial[i].Segments[0].Before != f.Before {
			// If the copy's segments have changed since Upload read them, the file does not replace them.
			continue
		}
		r.take(f)
		r.put, took = true, true
	}
	s.done = nil
	return took
}

// remember notes for Upload which sealed files the copy has only in pieces (segments).
func (s *Session) remember(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.was, s.wanted = r.next.Clone(), nil
	for _, t := range r.next.Partial {
		if slices.Contains(r.log.Firsts, t.First) {
			s.wanted = append(s.wanted, t)
		}
	}
}

// Waiting reports whether Upload has written a file that is not in the manifest yet; the next pass adds it.
func (s *Session) Waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done) > 0
}

// Upload writes the oldest complete file of the log that the copy has only in pieces (segments), if it is compressed
// already. It returns the file's first record; 0 if there was nothing to write.
func (s *Session) Upload(ctx context.Context) (events.Sequence, error) {
	s.mu.Lock()
	was, wanted, done := s.was, s.wanted, slices.Clone(s.done)
	s.mu.Unlock()
	for _, t := range wanted {
		if slices.ContainsFunc(done, func(f copylog.File) bool { return f.First == t.First }) {
			continue
		}
		r := &run{Config: &s.config, ctx: ctx, was: was, next: &copylog.Manifest{Identity: was.Identity, Tail: &t}, resident: true}
		r.log = &beside.Log{Dir: s.config.Dir, Live: s.config.Live, Identity: was.Identity, Head: was.Head}
		f, err := r.upload(&t)
		if f == nil && err == nil || errors.Is(err, fs.ErrNotExist) {
			continue // the file is not compressed yet, or was just pruned
		}
		if err != nil {
			return t.First, err
		}
		s.mu.Lock()
		s.done = append(s.done, *f)
		s.mu.Unlock()
		return t.First, nil
	}
	return 0, nil
}

// upload writes the whole file of which the copy has the pieces t. It returns nil if the log has not compressed the
// file yet.
func (r *run) upload(t *copylog.Tail) (f *copylog.File, err error) {
	s, err := r.log.File(t.First)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if is, err := s.IsPacked(); err != nil || !is {
		return nil, err
	}
	if s.Before.Hash != t.Segments[0].Before || s.End != (copylog.Run{Segments: t}).End() {
		return nil, fmt.Errorf("the file of record %d is not the one that is copied", t.First)
	}
	f = &copylog.File{First: t.First, Before: s.Before.Hash, End: s.End, Epoch: s.Identity.Epoch}
	if err := r.putFile(f, s); err != nil {
		return nil, err
	}
	return f, r.derivedOf(f)
}

// rest copies, as segments (pieces), the records at the end of a sealed file that the copy lacks. It does so if the
// copy has segments of this file, or the file is not compressed yet. For any other file it returns done == false, and
// the caller copies the whole file.
func (r *run) rest(first events.Sequence) (done bool, err error) {
	has := slices.ContainsFunc(r.next.Files, func(f copylog.File) bool { return f.First == first })
	if has {
		return false, nil
	}
	s, err := r.log.File(first)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t := r.asSegments(first)
	if t == nil {
		is, err := s.IsPacked()
		if err != nil || is {
			return false, err
		}
		if err := r.gap(first); err != nil {
			return false, err
		}
		t = &copylog.Tail{First: first, Begin: s.Begin}
	}
	whole, err := r.completed(t, s)
	if err != nil {
		return false, err
	}
	if r.next.Tail != nil && r.next.Tail.First == first {
		r.next.Tail = nil
	}
	r.next.Partial = slices.DeleteFunc(slices.Clone(r.next.Partial), func(t copylog.Tail) bool { return t.First == first })
	r.next.Partial = append(r.next.Partial, *whole)
	slices.SortFunc(r.next.Partial, func(a, b copylog.Tail) int { return cmp.Compare(a.First, b.First) })
	r.isKnown(first)
	return true, nil
}

// asSegments returns the segments (pieces) that the copy has of the file that begins with record first; nil for none.
func (r *run) asSegments(first events.Sequence) *copylog.Tail {
	for _, one := range r.next.Runs() {
		if one.Segments != nil && one.First() == first {
			return one.Segments
		}
	}
	return nil
}

// completed returns t with further segments (pieces of a log file), up to the end of the sealed file s.
func (r *run) completed(t *copylog.Tail, s *boltlog.Sealed) (*copylog.Tail, error) {
	whole := *t
	whole.Segments = slices.Clone(t.Segments)
	end, epoch := s.Before, s.Began.Epoch
	if n := len(t.Segments); n > 0 {
		end, epoch = t.Segments[n-1].End, t.Segments[n-1].Epoch
		if s.Before.Hash != t.Segments[0].Before {
			return nil, r.ahead()
		}
	} else if before := r.runBefore(t.First); before != nil && before.End().Sequence+1 == t.First && before.End() != s.Before {
		return nil, r.ahead()
	}
	if end.Sequence > s.End.Sequence || end.Sequence == s.End.Sequence && end != s.End {
		return nil, r.ahead()
	}
	var err error
	if whole.Offsets, err = s.Offsets(); err != nil {
		return nil, err
	}
	whole.Term = s.Term
	if end == s.End {
		return &whole, nil
	}
	making := segment{before: end.Hash}
	return &whole, r.segments(&whole, &making, recordsOf(r.ctx, r.log, end.Sequence+1, end.Hash, epoch, s.End))
}
