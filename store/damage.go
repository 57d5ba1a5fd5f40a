package store

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/jobledger/jobledger/events"
)

// Damage collects the damage that readers of a log find. So an answer that is made from the intact records can name the
// damage at its end. It holds each damaged place once. The zero value is ready to use; a nil *Damage ignores
// everything. It is safe for concurrent use.
type Damage struct {
	mu  sync.Mutex
	met []met
}

// met is one damaged place of the log that a read has met: its first bad record, its error, and whether the user has
// been told.
type met struct {
	at   events.Sequence
	err  error
	told bool
}

// Note adds err if it is ErrCorrupt, and ignores any other error.
func (d *Damage) Note(err error) { d.note(err, false) }

// Tell adds err if it is ErrCorrupt, as Note does, and marks the damage as already told to the user.
func (d *Damage) Tell(err error) { d.note(err, true) }

// Known adds damage that was found when the log was opened, marked as told to the user. Unlike Tell it accepts any
// error, because a file may fail to open for another reason than damage.
func (d *Damage) Known(err error) {
	if err == nil || errors.Is(err, ErrCorrupt) {
		d.note(err, true)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.met = append(d.met, met{err: err, told: true})
}

func (d *Damage) note(err error, told bool) {
	if d == nil || !errors.Is(err, ErrCorrupt) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range damageIn(err) {
		m := met{err: one, told: told}
		var bad *CorruptError
		if errors.As(one, &bad) {
			m.at = bad.At
		}
		i := slices.IndexFunc(d.met, func(o met) bool { return samePlace(o.err, one) })
		switch {
		case i < 0:
			d.met = append(d.met, m)
		case m.at < d.met[i].at:
			d.met[i].at, d.met[i].err = m.at, one
			fallthrough
		default:
			d.met[i].told = d.met[i].told || told
		}
	}
}

// Met returns all damage so far, in the order of the log.
func (d *Damage) Met() []error { return d.those(func(met) bool { return true }) }

// Untold returns the damage that was not yet told to the user, in the order of the log.
func (d *Damage) Untold() []error { return d.those(func(m met) bool { return !m.told }) }

func (d *Damage) those(wanted func(met) bool) (out []error) {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.met)
	slices.SortStableFunc(all, func(a, b met) int { return cmp.Compare(a.at, b.at) })
	for _, m := range all {
		if wanted(m) {
			out = append(out, m.err)
		}
	}
	return out
}

// damageIn returns every CorruptError within err. If err is ErrCorrupt but has no CorruptError, it returns err itself.
func damageIn(err error) (out []error) {
	switch e := err.(type) { //nolint:errorlint // its parts are looked at one by one
	case *CorruptError:
		return []error{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if errors.Is(part, ErrCorrupt) {
				out = append(out, damageIn(part)...)
			}
		}
	case interface{ Unwrap() error }:
		if part := e.Unwrap(); part != ErrCorrupt && errors.Is(part, ErrCorrupt) { //nolint:errorlint // which says nothing
			out = damageIn(part)
		}
	}
	if len(out) == 0 {
		out = []error{err}
	}
	return out
}

// samePlace reports whether two errors are about the same damage. All damage within one file counts as one, because a
// reader skips the rest of the file and continues with the next.
func samePlace(a, b error) bool {
	var x, y *CorruptError
	if !errors.As(a, &x) || !errors.As(b, &y) || x.Path == "" || y.Path == "" {
		return a.Error() == b.Error()
	}
	return x.Path == y.Path && x.Next == y.Next && errors.Is(a, ErrLost) == errors.Is(b, ErrLost)
}

// Noting returns a log with the records of `log`. It adds to d the damage that any read of it finds.
func Noting(log Reader, d *Damage) Reader { return noting{log, d} }

type noting struct {
	Reader
	damage *Damage
}

// Chain implements Reader: it returns the chain value (hash over all records so far) after record `at`, and notes
// damage.
func (n noting) Chain(at events.Sequence) (events.Hash, error) {
	hash, err := n.Reader.Chain(at)
	n.damage.Note(err)
	return hash, err
}

// Read implements Reader: it returns the records from record `from` on, and notes damage.
func (n noting) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return n.records(n.Reader.Read(ctx, from))
}

// ReadStream implements Reader: it returns the records of one stream (Job or CronJob), and notes damage.
func (n noting) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir Direction) iter.Seq2[events.Record, error] {
	return n.records(n.Reader.ReadStream(ctx, s, from, dir))
}

func (n noting) records(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			n.damage.Note(err)
			if !yield(r, err) {
				return
			}
		}
	}
}

// Newest implements Reader: it returns the stream's last record, and notes damage.
func (n noting) Newest(s events.Stream, born events.Time) (events.Sequence, error) {
	at, err := n.Reader.Newest(s, born)
	n.damage.Note(err)
	return at, err
}

// Find implements Reader: it returns the streams (Jobs, CronJobs) that had a name, and notes damage.
func (n noting) Find(namespace, name string) ([]events.Stream, error) {
	streams, err := n.Reader.Find(namespace, name)
	n.damage.Note(err)
	return streams, err
}
