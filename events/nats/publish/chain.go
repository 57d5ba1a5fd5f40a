package publish

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/store"
)

// This file puts the log's chain value (the hash of all records up to this one) into each message. The encoder computes
// it from record to record, as the log does. The log supplies the value at the beginning of a session and after skipped
// records.

// chainTo sets the encoder to the log's chain value (hash) before record r.
func (s *session) chainTo(r *events.Record) (err error) {
	if s.encoder.Chain == nil || s.chained+1 != r.Sequence {
		s.chain, err = s.Log.Chain(r.Sequence - 1)
		if s.encoder.Chain = &s.chain; errors.Is(err, store.ErrPruned) { // the log may delete old files meanwhile
			s.encoder.Chain, err = nil, nil
		}
	}
	if err != nil {
		return fmt.Errorf("look for the chain value before record %d: %w", r.Sequence, err)
	}
	s.chained = r.Sequence
	return nil
}

// checkChain compares the chain value in the message with the log's own, if r is the newest record of the log. They
// differ when a newer version wrote fields that this one does not know. Then checkChain removes the wrong value from
// the message, and the value for the next message comes from the log.
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
