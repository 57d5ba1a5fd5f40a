package events

import "fmt"

// Parts are the encoded messages that a record consists of, for a form in which they stand beside other things than in
// the log. The salts are not among them: who has a part needs none, and who has not must not guess it.
type Parts struct {
	Header   []byte
	Facts    []byte // empty when the kind has none, or they were erased
	Evidence []byte // empty when there is none
	Erased   bool   // the facts were
}

// EncodeParts encodes r. The parts share memory with buf, which is overwritten and may grow; it is returned for the next
// call.
func EncodeParts(buf []byte, r *Record) (Parts, []byte, error) {
	stored, err := AppendRecord(buf[:0], r)
	if err != nil {
		return Parts{}, buf, err
	}
	p, err := partsOf(stored)
	if err != nil {
		return Parts{}, buf, err
	}
	_, erased := r.Facts.(*Erased)
	return Parts{Header: p.header, Facts: p.facts, Evidence: p.evidence, Erased: erased}, stored, nil
}

// DecodeParts is the inverse of EncodeParts. The record keeps nothing of the memory of p.
func DecodeParts(p Parts) (Record, error) {
	header, err := decodeHeader(p.Header)
	if err != nil {
		return Record{}, err
	}
	r := Record{Header: header}
	var texts []string
	if r.Evidence, texts, err = decodeEvidence(p.Evidence); err != nil {
		return Record{}, fmt.Errorf("record %d: %w", header.Sequence, err)
	}
	if p.Erased {
		r.Facts = &Erased{}
		return r, nil
	}
	if r.Facts, err = unmarshalFacts(header.Kind, p.Facts, texts); err != nil {
		return Record{}, fmt.Errorf("decode record %d: %w", header.Sequence, err)
	}
	return r, nil
}
