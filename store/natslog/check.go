package natslog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// check returns an error unless the records of a complete group fit the segment's fields: sequences without gaps, whole
// batches, the log's ID and epoch after them, and the chain (hash over all records). id is the log's ID and epoch
// before them. The error is events.ErrNewer if this program does not know the kind of a critical record (one that it
// may not skip). The log that appends the records checks the rest.
func (s *Segment) check(id events.Identity) error {
	hash, ended := s.Before.Hash, false
	var now events.Time
	for i, stored := range s.Stored {
		at := s.First + events.Sequence(i)
		h, err := events.DecodeHeader(stored)
		if err == nil && h.Sequence != at {
			err = fmt.Errorf("it says that it is record %d", h.Sequence)
		}
		if err == nil && h.Critical && !h.Kind.Known() {
			return newer("record %d is of %s", at, h.Kind)
		}
		if err == nil && (h.Kind == events.KindLogCreated || h.Kind == events.KindEpochChanged) {
			id, err = identityBehind(id, stored)
		}
		if err == nil {
			hash, err = hash.Next(stored)
		}
		if err != nil {
			return fmt.Errorf("record %d of a segment: %w", at, err)
		}
		now, ended = h.Time, h.Last
	}
	after := store.Head{Sequence: s.First + events.Sequence(len(s.Stored)) - 1, Hash: hash, Time: now}
	switch {
	case !ended:
		return fmt.Errorf("record %d ends no batch", after.Sequence)
	case after != s.After:
		return fmt.Errorf("the records end with %d, chain value %s; the segment says %d, %s",
			after.Sequence, hash, s.After.Sequence, s.After.Hash)
	case id != s.Identity:
		return fmt.Errorf("behind the records the log is %s, the segment says %s", id, s.Identity)
	}
	return nil
}

func identityBehind(id events.Identity, stored []byte) (events.Identity, error) {
	r, err := events.DecodeRecord(stored)
	if err != nil {
		return id, err
	}
	return store.NextIdentity(id, &r)
}
