package joblist

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// part reads the records of one log file into the states of Jobs and CronJobs. It reads only the records that the
// file's list (its .jobs index file) does not cover yet, or all records if there is no list. Each log file can be read
// alone. Of earlier files a part only needs the summaries of Jobs that are over.
type part struct {
	log  store.Reader
	file store.File
	base *list // the file's list, from whose states the fold continues; nil to fold the whole file
	// earlier returns the list of the log file that holds record at. It returns nil if that list does not cover its
	// file to the end, or cannot be used.
	earlier func(at events.Sequence) (*list, error)

	fold    *history.Fold
	through events.Sequence
	keys    map[events.Stream]events.Sequence
	whole   bool // all states in base were restored, because a record concerned every object (spread)
}

// newPart returns a part that continues after the last record of a file's list, base. If base is nil, or has no states
// that this program can read, the part begins at the start of the file.
func newPart(log store.Reader, file store.File, base *list, earlier func(events.Sequence) (*list, error)) *part {
	p := &part{
		log: log, file: file, earlier: earlier, fold: history.NewFold(), through: file.First - 1,
		keys: map[events.Stream]events.Sequence{},
	}
	if base.goesOn() {
		world, _, err := projector.Restore([]projector.StreamAt{
			{Stream: events.Controller, AsOf: base.through.Sequence, Facts: base.controller},
		})
		if err == nil {
			world.Recovered()
			p.base, p.fold, p.through = base, history.FoldOn(world), base.through.Sequence
		}
	}
	p.fold.Brief = true
	return p
}

// advance folds the records up to sequence through. It goes on to the end of the batch of that record (the records that
// were stored together), because in the middle of a batch the state of an object may be incomplete. If there is an
// error, the records before it are folded.
func (p *part) advance(ctx context.Context, through events.Sequence) error {
	if p.through >= through {
		return nil
	}
	for r, err := range p.log.Read(ctx, p.through+1) {
		if err != nil {
			return err
		}
		if err := p.take(ctx, &r); err != nil {
			return err
		}
		if p.through = r.Sequence; p.through >= through && (r.Last || p.through >= p.file.End.Sequence) {
			return nil
		}
	}
	return nil
}

func (p *part) take(ctx context.Context, r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return err
	}
	if r.Stream == events.Controller {
		if err := p.spread(r); err != nil {
			return err
		}
	}
	if r.Stream.Kind == events.StreamJob && p.fold.Account(r.Stream) == nil {
		if err := p.recall(ctx, r); err != nil {
			return err
		}
	}
	if r.Stream.Kind == events.StreamCronJob && p.fold.CronAccount(r.Stream) == nil {
		if err := p.recallCron(ctx, r); err != nil {
			return err
		}
	}
	return apply(ctx, p.log, p.fold, r)
}

// apply folds a record. The log stores equal specs once: if r refers to a spec that was stored before the fold began,
// apply reads that spec first.
func apply(ctx context.Context, log store.Reader, fold *history.Fold, r *events.Record) error {
	err := history.Learn(fold.World(), r, func(at events.Sequence) (events.Record, error) { return one(ctx, log, at) })
	fold.Apply(r)
	return err
}

// spread restores the states of all Jobs and CronJobs from the list, if record r concerns every object: a restart, a
// step of the clock, or a new epoch (a restored cluster). For other records it does nothing.
func (p *part) spread(r *events.Record) error {
	switch r.Facts.(type) {
	case *events.ControllerStarted, *events.ClockStepped, *events.EpochChanged:
		return p.restoreAll()
	}
	return nil
}

// restoreAll adds to the fold the states of all Jobs and CronJobs in the list that have no record in the fold yet.
func (p *part) restoreAll() error {
	if p.base == nil || p.whole {
		return nil
	}
	p.whole = true
	for it, err := range p.base.streams.all {
		if err != nil {
			return err
		}
		d := decoder{rest: it.content}
		d.bytes(8)
		state, names := d.text(), d.text()
		s := events.Stream{Kind: events.StreamJob, ID: string(it.key)}
		if d.bad {
			return errMalformed
		}
		if len(state) > 0 && p.fold.Account(s) == nil {
			if err := p.restore(s, state, names); err != nil {
				return err
			}
		}
	}
	return p.restoreCrons()
}

// recall adds to the fold what was known of a Job before record r. Record r is the first one of the Job in this fold.
func (p *part) recall(ctx context.Context, r *events.Record) error {
	p.keys[r.Stream] = cmp.Or(r.Previous, r.Sequence)
	if r.Previous == 0 {
		return nil
	}
	k, ok, err := p.before(r)
	if err != nil {
		return err
	}
	if !ok {
		if k.row, ok, err = p.history(ctx, r); err != nil {
			return err
		}
	}
	if !ok {
		return nil // the earlier records are pruned (deleted), so nothing is known of the Job before r
	}
	p.keys[r.Stream] = k.row.key
	p.fold.Recall(k.row.Summary)
	if len(k.state) > 0 && !p.whole {
		return p.restore(r.Stream, k.state, k.names)
	}
	return nil
}

// restore adds to the fold the state of one object: state and names are its encoded form in a list. If they cannot be
// decoded, it returns errMalformed, and the caller folds the file without the list.
func (p *part) restore(s events.Stream, state, names []byte) error {
	if err := p.fold.World().RestoreStream(s, state, names); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

// before returns what a list says about the Job of record r. It uses the list of the log file that holds the record
// before r of the same Job. It returns false if that list lacks the Job, or cannot be used.
func (p *part) before(r *events.Record) (known, bool, error) {
	if p.base != nil && r.Previous >= p.file.First {
		return p.base.job(r.Stream)
	}
	l, err := p.earlier(r.Previous)
	if l == nil || err != nil {
		return known{}, false, err
	}
	k, ok, damaged := l.job(r.Stream) // if that list is damaged, the Job's own records are read instead
	k.state, k.names = nil, nil       // this file has a checkpoint with the state, so do not restore an older one
	return k, ok && damaged == nil, nil
}

// history returns the row of a Job that is in no list. It folds the records of the Job and of the controller up to the
// one before r, so its cost grows with the records of the Job. It returns false if none of them can be read.
func (p *part) history(ctx context.Context, r *events.Record) (row, bool, error) {
	past, first, key := history.NewFold(), events.Sequence(0), events.Sequence(0)
	past.Brief = true
	for old, err := range p.log.ReadStream(ctx, r.Stream, 0, store.Forward) {
		if failed := failedRead(err); failed != nil {
			return row{}, false, failed
		}
		if err == nil { // if this read fails, the loop below meets the same error, and handles it
			first, key = old.Sequence, cmp.Or(old.Previous, old.Sequence)
		}
		break
	}
	local := history.Local{Log: p.log}
	for old, err := range history.OfJob(ctx, local, r.Stream, first) {
		if local.Beside(err) {
			break // if a later record is damaged, the row has what the records before it tell
		}
		if err != nil {
			return row{}, false, err
		}
		if old.Sequence > r.Previous {
			break
		}
		if err := projector.Readable(&old); err != nil {
			return row{}, false, err
		}
		if err := apply(ctx, p.log, past, &old); err != nil {
			return row{}, false, err
		}
	}
	a := past.Account(r.Stream)
	if a == nil {
		return row{}, false, nil
	}
	return row{key: key, Summary: history.SummaryOf(a)}, true, nil
}

// one returns the record with sequence at.
func one(ctx context.Context, log store.Reader, at events.Sequence) (events.Record, error) {
	for r, err := range log.Read(ctx, at) {
		return r, err
	}
	return events.Record{}, store.ErrPruned // the log has no record at
}

// rows returns a row for each Job with a record in the fold, ordered by key (the first record of the Job).
func (p *part) rows() []row {
	accounts := p.fold.Accounts()
	out := make([]row, len(accounts))
	for i, a := range accounts {
		out[i] = row{key: p.keys[a.Stream], Summary: history.SummaryOf(a)}
	}
	slices.SortFunc(out, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	return out
}
