package boltlog

import (
	"context"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// readBytes is how much of a file is copied at a time for one reader: the largest commit group twice. The first time it
// is less: many want one record.
const (
	readBytes  = 1 << 20
	firstBytes = 32 << 10
)

// stretch is what a reader gets of a file at a time.
type stretch struct {
	file   *logFile
	next   events.Sequence // the first record that is wanted of it
	last   events.Sequence // the last one of the file
	chunks []chunk         // whole groups, whose chain values agree, unless it failed
	after  events.Sequence // the record that follows
	failed error           // why nothing does
}

// stretchReader reads one after the other. It belongs to one reader.
type stretchReader struct {
	view  view
	from  events.Sequence // where the first one begins
	size  int
	chain chainCheck
}

// read gives the stretch that begins with a record.
func (r *stretchReader) read(next events.Sequence) stretch {
	p := stretch{next: next}
	if p.file, p.last = r.view.file(next); p.file == nil {
		p.failed = pruned(next)
		return p
	}
	seam := r.view.gap(next)
	if seam == nil && next == p.file.first && next != r.from {
		seam = p.file.seam
	}
	if seam != nil {
		p.failed = fmt.Errorf("read record %d: %w", next, seam)
		return p
	}
	for ; ; r.size *= 2 { // until there is room for a group with a very large record
		p.chunks, p.after, p.failed = p.file.chunks(next, p.last, r.size)
		whole, broken := r.chain.whole(p.file, next, p.chunks)
		switch {
		case p.failed != nil:
			return p
		case broken == nil && whole == 0 && p.after <= p.last:
			continue
		case whole < len(p.chunks):
			p.after = p.chunks[whole].first
		}
		p.chunks, p.failed, r.size = p.chunks[:whole], broken, readBytes
		return p
	}
}

// ahead reads the stretch behind another one while the records of that one are given. It returns nil when there is
// none.
func (r *stretchReader) ahead(p *stretch) <-chan stretch {
	if p.failed != nil || p.after > r.view.durable.Sequence {
		return nil
	}
	next := make(chan stretch, 1)
	go func() { next <- r.read(p.after) }() // ends by itself, also when the reader has stopped
	return next
}

// pages reads from that sequence to the durable head; it yields at most one error.
func (s view) pages(ctx context.Context, from events.Sequence, give func(events.Record) bool) iter.Seq[error] {
	return s.chunksFrom(from, func(p *stretch, c chunk, next *events.Sequence) (goOn bool, err error) {
		for rec, err := range p.file.records(c, next, p.last) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return false, err
			}
			if !give(rec) {
				return false, nil
			}
		}
		return true, nil
	})
}

// chunksFrom gives the chunks that have the records from one to the durable head; it yields at most one error. each
// takes records of a chunk from *next on, moves *next behind them, and says whether it wants more.
func (s view) chunksFrom(
	from events.Sequence, each func(p *stretch, c chunk, next *events.Sequence) (goOn bool, err error),
) iter.Seq[error] {
	return func(yield func(error) bool) {
		r := &stretchReader{view: s, from: from, size: firstBytes}
		var ahead <-chan stretch
		for next := from; next <= s.durable.Sequence; {
			var p stretch
			if ahead != nil {
				p = <-ahead
			}
			if p.next != next {
				p = r.read(next)
			}
			if ahead = nil; next != from { // who goes on behind the first one will want more
				ahead = r.ahead(&p)
			}
			for _, c := range p.chunks {
				if goOn, err := each(&p, c, &next); err != nil {
					yield(err)
					return
				} else if !goOn {
					return
				}
			}
			if p.failed == nil && next == p.next { // there may be a chunk, of records before it
				p.failed = fmt.Errorf("%w: the record is missing", errPage)
			}
			if p.failed != nil {
				yield(p.file.explain(next, p.failed))
				return
			}
		}
		if s.beyond != nil {
			yield(s.beyond)
		}
	}
}
