package replicating

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// streamChain collects the hashes of all records through certain records, while the stream is read.
type streamChain struct {
	own      events.ReaderVersion
	state    natslog.State
	base     store.Head // last record in front of the stream's first one
	messages uint64
	at       map[events.Sequence]*events.Hash // wanted hashes, by record; nil until found
}

// read reads the stream from its first message through the newest one at the time of the call.
func (c *streamChain) read(ctx context.Context, s *stream.Stream) error {
	newest, err := s.Newest(ctx)
	if err != nil {
		return err
	}
	first, err := s.First(ctx)
	if err != nil {
		return err
	}
	r := s.Read(first)
	defer r.Stop()
	for place := first; place <= newest; place++ {
		m, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if err := c.take(m, place == first && first > 1); err != nil {
			return fmt.Errorf("read place %d of the stream: %w", m.Place, err)
		}
	}
	if c.state.Term == 0 {
		return ErrNoMessages
	}
	return nil
}

// take processes the next message. cut is true for the first message of a stream whose beginning was removed.
func (c *streamChain) take(m stream.Message, cut bool) error {
	c.messages++
	if cut {
		s, err := natslog.Decode(m.Data)
		if err != nil {
			return fmt.Errorf("the stream begins with it, and was cut before it: %w", err)
		}
		c.state, c.base = natslog.From(m.Place, s), s.Before
	}
	state, v := natslog.Accept(c.state, m.Place, m.Data, c.own)
	switch {
	case v.Outcome == natslog.Newer:
		return v.Err
	case v.Outcome == natslog.Taken && c.state.Term == 0:
		c.base = v.Segment.Before
	case v.Outcome == natslog.Taken && v.Segment.Kind == natslog.Records:
		if err := c.note(&v.Segment); err != nil {
			return err
		}
	}
	c.state = state
	return nil
}

// note stores the wanted hashes that are found in a message.
func (c *streamChain) note(g *natslog.Segment) error {
	hash := g.Before.Hash
	for i, stored := range g.Stored {
		var err error
		if hash, err = hash.Next(stored); err != nil {
			return err
		}
		if _, wanted := c.at[g.First+events.Sequence(i)]; wanted {
			c.at[g.First+events.Sequence(i)] = new(hash)
		}
	}
	return nil
}

// chainAt returns the hash of all records through record at, which must be a wanted one. known is false if the stream
// does not have it.
func (c *streamChain) chainAt(at events.Sequence) (hash events.Hash, known bool) {
	if found := c.at[at]; found != nil {
		return *found, true
	}
	return c.base.Hash, at == c.base.Sequence
}

func (c *streamChain) said(f File) VerifiedStream {
	s := c.state
	return VerifiedStream{
		Name: f.Stream, Incarnation: f.Incarnation, LogID: f.Log, Epoch: s.Identity.Epoch, Term: s.Term,
		Messages: c.messages, Void: s.Voids, Released: s.Released, First: uint64(c.base.Sequence) + 1, Head: headOf(s.Head),
	}
}
