package publish

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/store"
)

// Each message says the log's chain value after its record. It is computed from record to record, as the log does it,
// and asked of the log where a session begins and where records were passed over.

// chainTo makes the encoder go on from the chain value before a record.
func (s *session) chainTo(r *events.Record) (err error) {
	if s.encoder.Chain == nil || s.chained+1 != r.Sequence {
		s.chain, err = s.Log.Chain(r.Sequence - 1)
		if s.encoder.Chain = &s.chain; errors.Is(err, store.ErrPruned) { // the log prunes while it is read
			s.encoder.Chain, err = nil, nil
		}
	}
	if err != nil {
		return fmt.Errorf("look for the chain value before record %d: %w", r.Sequence, err)
	}
	s.chained = r.Sequence
	return nil
}

// checkChain compares the chain value with the log's where that is at hand. They differ when a newer version wrote what
// this one does not know: then the message says nothing rather than what is wrong, and the log is asked again.
func (s *session) checkChain(r *events.Record, header map[string][]string) {
	head := s.Log.Head()
	if head.Sequence != r.Sequence || s.encoder.Chain == nil || s.chain == head.Hash {
		return
	}
	delete(header, nats.HeaderChain)
	s.encoder.Chain = nil
	if !s.strayed {
		s.strayed = true
		s.Logger.Warn("published chain values are not those of the log: is it of a newer version?", "sequence", uint64(r.Sequence))
	}
}
