package events

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Hash is a SHA-256 hash of the log up to some record: the "chain value" after that record. It covers the record and
// all earlier ones, in order:
//
//	next = SHA-256( this ‖ digest(facts) ‖ digest(evidence) ‖ header bytes )
//	digest(part) = SHA-256( salt ‖ part ), or 32 zero bytes when the record has no such part
//
// Facts are the part of a record that decisions read; evidence is the rest, such as messages.
type Hash [32]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Next returns the chain value (hash of the log) after the next record. stored is that record as the log has it. It
// fails when stored is not a record.
func (h Hash) Next(stored []byte) (Hash, error) {
	p, err := partsOf(stored)
	if err != nil {
		return Hash{}, err
	}
	return h.After(p.link()), nil
}

// Link holds what one record adds to the hash chain: the header bytes, and the digests of facts and evidence.
type Link struct {
	Header          []byte
	Facts, Evidence Hash // digests of the facts and of the evidence; zero for a part that the record does not have
}

// After returns the chain value (hash of the log) after the record with the link l.
func (h Hash) After(l Link) Hash {
	s := sha256.New()
	s.Write(h[:])
	s.Write(l.Facts[:])
	s.Write(l.Evidence[:])
	s.Write(l.Header)
	var next Hash
	s.Sum(next[:0])
	return next
}

func (p *parts) link() Link {
	return Link{
		Header: p.header, Facts: digest(p.factsSalt, p.facts, p.factsDigest), Evidence: digest(p.evidenceSalt, p.evidence, p.evidenceDigest),
	}
}

// EraseEvidence removes the evidence (names, messages) from a stored record, and keeps its digest, so that the hash
// chain over the log does not change. The erased content cannot be computed from the digest.
func EraseEvidence(stored []byte) ([]byte, error) {
	p, err := partsOf(stored)
	if err != nil {
		return nil, err
	}
	if len(p.evidence) == 0 {
		return stored, nil
	}
	d := digest(p.evidenceSalt, p.evidence, nil)
	p.evidence, p.evidenceSalt, p.evidenceDigest = nil, nil, d[:]
	return p.append(nil), nil
}

func digest(salt, part, kept []byte) Hash {
	var d Hash
	switch {
	case len(kept) == len(d):
		copy(d[:], kept)
	case len(part) > 0:
		s := sha256.New()
		s.Write(salt)
		s.Write(part)
		s.Sum(d[:0])
	}
	return d
}

// parts holds the fields of the Record message as slices of the stored bytes. The numbers in the comments are the field
// numbers in record.proto.
type parts struct {
	header, facts, evidence     []byte // 1, 2, 3
	factsSalt, evidenceSalt     []byte // 4, 5
	factsDigest, evidenceDigest []byte // 6, 7
}

func (p *parts) fields() [7]*[]byte {
	return [7]*[]byte{
		&p.header, &p.facts, &p.evidence, &p.factsSalt, &p.evidenceSalt, &p.factsDigest, &p.evidenceDigest,
	}
}

var errNoRecord = errors.New("decode record: there is no record here")

func partsOf(stored []byte) (parts, error) {
	var p parts
	fields := p.fields()
	for b := stored; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return parts{}, fmt.Errorf("decode record: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if kind != protowire.BytesType || number > protowire.Number(len(fields)) {
			return parts{}, fmt.Errorf("decode record: unexpected field %d", number)
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return parts{}, fmt.Errorf("decode record: %w", protowire.ParseError(n))
		}
		*fields[number-1] = value
		b = b[n:]
	}
	if len(p.header) == 0 {
		return parts{}, errNoRecord
	}
	return p, nil
}

func (p *parts) append(buf []byte) []byte {
	for i, field := range p.fields() {
		if len(*field) > 0 {
			buf = protowire.AppendTag(buf, protowire.Number(i+1), protowire.BytesType)
			buf = protowire.AppendBytes(buf, *field)
		}
	}
	return buf
}
