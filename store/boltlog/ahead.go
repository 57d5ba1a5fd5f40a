package boltlog

import (
	"context"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// readBytes is how much of a log file a reader copies into memory at once: twice the largest commit group (the records
// of one commit). The first copy has only firstBytes, because many readers want a single record.
const (
	readBytes  = 1 << 20
	firstBytes = 32 << 10
)

// stretch is a part of a log file, of consecutive records, that a reader has copied into memory.
type stretch struct {
	file   *logFile
	next   events.Sequence // first record that the reader wants; it may lie within the first chunk
	last   events.Sequence // last record of the file
	chunks []chunk.Chunk   // whole commit groups (the records of one commit each), verified unless failed is set
	after  events.Sequence // first record after chunks
	failed error           // why the records after chunks cannot be read; nil if they may follow
}

// stretchReader copies a log into memory for one reader, one stretch (consecutive part of a file) after the other.
type stretchReader struct {
	view  view
	from  events.Sequence // first record of the first stretch
	size  int
	chain chainCheck
}

// read copies the stretch (part of a log file) that contains record next into memory.
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
	// If a commit group (the records of one commit) does not fit into size bytes, read again with twice the size.
	for ; ; r.size *= 2 {
		p.chunks, p.after, p.failed = p.file.chunks(next, p.last, r.size)
		whole, broken := r.chain.whole(p.file, next, p.chunks)
		switch {
		case p.failed != nil:
			return p
		case broken == nil && whole == 0 && p.after <= p.last:
			continue
		case whole < len(p.chunks):
			p.after = p.chunks[whole].First
		}
		p.chunks, p.failed, r.size = p.chunks[:whole], broken, readBytes
		return p
	}
}

// ahead starts to read the part of the log after p in a goroutine, while the caller processes the records of p. The
// result comes through the channel. ahead returns nil if p is the last part.
func (r *stretchReader) ahead(p *stretch) <-chan stretch {
	if p.failed != nil || p.after > r.view.durable.Sequence {
		return nil
	}
	next := make(chan stretch, 1)
	go func() { next <- r.read(p.after) }() // this goroutine ends after one read, even if nobody receives the result
	return next
}

// pages calls give for each record from sequence `from` to the durable head (the last record on disk), until give
// returns false. The iterator yields the error that ended the read, or nothing.
func (s view) pages(ctx context.Context, from events.Sequence, give func(events.Record) bool) iter.Seq[error] {
	return s.chunksFrom(from, func(p *stretch, c chunk.Chunk, next *events.Sequence) (goOn bool, err error) {
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

// chunksFrom calls each for the chunks (stored groups of records) from record `from` to the durable head (the last
// record on disk). each processes the records of a chunk from *next on, sets *next to the sequence after them, and
// reports whether it wants more. The iterator yields the error that ended the read, or nothing.
func (s view) chunksFrom(
	from events.Sequence, each func(p *stretch, c chunk.Chunk, next *events.Sequence) (goOn bool, err error),
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
			// If the reader goes on after its first stretch, read the next one in advance. Most readers need only one
			// stretch.
			if ahead = nil; next != from {
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
			// No chunk of this stretch has the record next, although the file should have it.
			if p.failed == nil && next == p.next {
				p.failed = fmt.Errorf("%w: the record is missing", boltfile.ErrPage)
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
