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

// part is a fold of those records of a file that its list does not cover yet; of all records if there is no list. Each
// file can be read alone. From earlier files a part only needs the summaries of Jobs that are over.
type part struct {
	log  store.Reader
	file store.File
	base *list // the file's list, after which the fold continues; nil for none
	// earlier returns the list of the file that holds a record, if the list covers this file to its end; otherwise nil.
	earlier func(at events.Sequence) (*list, error)

	fold    *history.Fold
	through events.Sequence
	keys    map[events.Stream]events.Sequence
	whole   bool // all states of base were restored, because a record concerned every object
}

// newPart returns a part that continues after the list of a file. If a fold cannot continue from the list, the part
// begins at the start of the file.
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

// advance folds the records up to sequence through, and the rest of the batch with this record, since the state of an
// object may be incomplete in the middle of a batch. If there is an error, the records before it are folded.
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

// apply folds a record. If it refers to a spec that was stored before the fold began, apply adds the spec first.
func apply(ctx context.Context, log store.Reader, fold *history.Fold, r *events.Record) error {
	err := history.Learn(fold.World(), r, func(at events.Sequence) (events.Record, error) { return one(ctx, log, at) })
	fold.Apply(r)
	return err
}

// spread restores the states of all Jobs from the list, if record r concerns every Job (such as a restart).
func (p *part) spread(r *events.Record) error {
	switch r.Facts.(type) {
	case *events.ControllerStarted, *events.ClockStepped, *events.EpochChanged:
		return p.restoreAll()
	}
	return nil
}

// restoreAll gives the fold the states of the list's Jobs that have no record in the fold.
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

// recall gives the fold what is known of a Job from before r, the Job's first record in the fold.
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
		return nil // the earlier records are pruned
	}
	p.keys[r.Stream] = k.row.key
	p.fold.Recall(k.row.Summary)
	if len(k.state) > 0 && !p.whole {
		return p.restore(r.Stream, k.state, k.names)
	}
	return nil
}

// restore gives the fold a state from the list. If the state cannot be decoded, it returns errMalformed, and the caller
// folds the file without the list.
func (p *part) restore(s events.Stream, state, names []byte) error {
	if err := p.fold.World().RestoreStream(s, state, names); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

// before returns what the list of the file that holds a Job's record before r says about the Job.
func (p *part) before(r *events.Record) (known, bool, error) {
	if p.base != nil && r.Previous >= p.file.First {
		return p.base.job(r.Stream)
	}
	l, err := p.earlier(r.Previous)
	if l == nil || err != nil {
		return known{}, false, err
	}
	k, ok, damaged := l.job(r.Stream) // if that list is damaged, the Job's own records are read
	k.state, k.names = nil, nil       // this file has a checkpoint of its own
	return k, ok && damaged == nil, nil
}

// history returns the row of a Job that is in no list, by a fold of the records of the Job and of the controller before
// r. Its cost grows with the records of the Job.
func (p *part) history(ctx context.Context, r *events.Record) (row, bool, error) {
	past, first, key := history.NewFold(), events.Sequence(0), events.Sequence(0)
	past.Brief = true
	for old, err := range p.log.ReadStream(ctx, r.Stream, 0, store.Forward) {
		if failed := failedRead(err); failed != nil {
			return row{}, false, failed
		}
		if err == nil { // the loop below meets the error again
			first, key = old.Sequence, cmp.Or(old.Previous, old.Sequence)
		}
		break
	}
	local := history.Local{Log: p.log}
	for old, err := range history.OfJob(ctx, local, r.Stream, first) {
		if local.Beside(err) {
			break // show what can be read
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
	return events.Record{}, store.ErrPruned // the log has no such record
}

// rows returns the rows of the Jobs in the fold, in key order.
func (p *part) rows() []row {
	accounts := p.fold.Accounts()
	out := make([]row, len(accounts))
	for i, a := range accounts {
		out[i] = row{key: p.keys[a.Stream], Summary: history.SummaryOf(a)}
	}
	slices.SortFunc(out, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	return out
}
