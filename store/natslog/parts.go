package natslog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

const (
	// headroom is the part of max_payload that records do not use: 64 KiB for the headers of a segment and of NATS.
	headroom = 64 << 10
	// minPayload is the smallest max_payload (the server's limit for a message) with which a replicated log works: 128
	// KiB.
	minPayload = 2 * headroom
	// recordOverhead is an upper bound for what protobuf adds to each record: a tag and a length.
	recordOverhead = 8
	// maxParts limits the parts of a group that a reader must keep until the group is complete. Example: 4,096 parts of
	// 960 KiB are 3.75 GiB, more than any group.
	maxParts = 4096
)

// Encode returns a segment as messages for the stream. None is longer than maxPayload, the server's max_payload in
// bytes. Records that do not fit into one message are divided into parts. Example: with a max_payload of 1 MiB, parts
// have 960 KiB of records.
func Encode(s Segment, maxPayload int) (messages [][]byte, err error) {
	if maxPayload < minPayload {
		return nil, fmt.Errorf("max_payload is %d bytes: a replicated log needs %d", maxPayload, minPayload)
	}
	parts := divide(s, maxPayload-headroom)
	if len(parts) > maxParts {
		return nil, fmt.Errorf("records %d to %d need %d messages, more than %d",
			s.First, s.After.Sequence, len(parts), maxParts)
	}
	for i := range parts {
		p := &parts[i]
		p.Part, p.Parts = uint32(i+1), uint32(len(parts))
		if i < len(parts)-1 {
			p.Offsets = nil
		}
		message, err := encode(p)
		if err != nil {
			return nil, err
		}
		if len(message) > maxPayload {
			return nil, fmt.Errorf("a message has %d bytes, max_payload is %d: it has %d offsets of consumers",
				len(message), maxPayload, len(p.Offsets))
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// divide divides a segment into parts whose records take at most `limit` bytes each.
func divide(s Segment, limit int) []Segment {
	part, size := s, 0
	part.Stored = nil
	var parts []Segment
	end := func(goesOn bool) {
		part.GoesOn = goesOn
		parts = append(parts, part)
		part.Stored, size = nil, 0
	}
	add := func(at events.Sequence, piece []byte) {
		if len(part.Stored) == 0 {
			part.First = at
		}
		part.Stored, size = append(part.Stored, piece), size+len(piece)+recordOverhead
	}
	limit -= recordOverhead
	for i, stored := range s.Stored {
		at := s.First + events.Sequence(i)
		if size > 0 && size+len(stored) > limit {
			end(false)
		}
		for ; len(stored) > limit; stored = stored[limit:] {
			add(at, stored[:limit:limit])
			end(true)
		}
		add(at, stored)
	}
	end(false)
	return parts
}
