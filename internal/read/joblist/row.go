package joblist

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// row is one Job in a list (the .jobs index file of one log file): its key and its summary.
type row struct {
	// key orders the rows: it is the first record of the Job. If that record was pruned (deleted) before the row was
	// written, key is the record before the oldest one that is left.
	key events.Sequence
	history.Summary
}

// encode returns the row as bytes, without its key. Texts are a uvarint length and bytes, numbers are varints.
func (r *row) encode() []byte {
	s, c := &r.Summary, &r.Counts
	gone := byte(0)
	if s.Gone {
		gone = 1
	}
	b := appendText(make([]byte, 0, 160), s.Namespace)
	b = appendText(b, s.State)
	b = binary.AppendUvarint(b, s.Last)
	b = appendText(appendText(appendText(b, s.Name), s.UID), s.Reason)
	b = append(b, gone)
	for _, n := range []int32{c.Active, c.Ready, c.Terminating, c.Succeeded, c.Failed, int32(c.Creating), c.Completions} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, t := range []recordjson.Instant{s.Created, s.Started, s.Finished} {
		b = binary.AppendVarint(b, int64(t))
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, s.First), s.Records)
	b = binary.AppendUvarint(b, uint64(len(s.Labels)))
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		b = appendText(appendText(b, name), s.Labels[name])
	}
	return b
}

// stored is a row of a list of which only some fields are decoded: those by which a query filters.
type stored struct {
	key              events.Sequence
	namespace, state []byte
	last             events.Sequence
	rest             decoder
	fresh            *history.Summary // the whole summary of a row that is made from records, without rest
}

func decodeRow(key events.Sequence, content []byte) (stored, error) {
	d := decoder{rest: content}
	r := stored{key: key, namespace: d.text(), state: d.text(), last: events.Sequence(d.uvarint())}
	if r.rest = d; d.bad {
		return r, errMalformed
	}
	return r, nil
}

// summary decodes the rest of the row, and returns all of it.
func (r *stored) summary() (history.Summary, error) {
	if r.fresh != nil {
		return *r.fresh, nil
	}
	d := r.rest
	s := history.Summary{Namespace: string(r.namespace), State: history.State(r.state), Last: uint64(r.last)}
	s.Name, s.UID, s.Reason = string(d.text()), string(d.text()), string(d.text())
	if gone := d.bytes(1); len(gone) == 1 {
		s.Gone = gone[0] != 0
	}
	c := &s.Counts
	for _, n := range []*int32{&c.Active, &c.Ready, &c.Terminating, &c.Succeeded, &c.Failed} {
		*n = int32(d.varint())
	}
	c.Creating, c.Completions = int(d.varint()), int32(d.varint())
	for _, t := range []*recordjson.Instant{&s.Created, &s.Started, &s.Finished} {
		*t = recordjson.Instant(d.varint())
	}
	s.First, s.Records = d.uvarint(), d.uvarint()
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		name := string(d.text())
		s.Labels[name] = string(d.text())
	}
	if d.bad || len(d.rest) > 0 {
		return s, errMalformed
	}
	return s, nil
}

// freshRow wraps a row that was made from records as a stored, the type of the rows of lists.
func freshRow(r *row) stored {
	return stored{
		key: r.key, namespace: []byte(r.Namespace), state: []byte(r.State), last: events.Sequence(r.Last), fresh: &r.Summary,
	}
}
