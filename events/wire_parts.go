package events

import "fmt"

// Parts are the encoded messages that a record consists of, with all that the chain takes in beside them, for a form in
// which they stand beside other things than in the log.
type Parts struct {
	Header   []byte
	Facts    []byte // empty when the kind has none, or they were erased
	Evidence []byte // empty when there is none, or it was erased
	Erased   bool   // the facts were

	// The salt of a part that is there, and the digest of one that is not: who has no part must not guess it, which its
	// salt would help.
	FactsSalt, EvidenceSalt     []byte
	FactsDigest, EvidenceDigest []byte
}

// EncodeParts encodes r. The parts share memory with buf, which is overwritten and may grow; it is returned for the
// next call.
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
	return p.exported(erased), stored, nil
}

func (p *parts) exported(erased bool) Parts {
	return Parts{
		Header: p.header, Facts: p.facts, Evidence: p.evidence, Erased: erased,
		FactsSalt: p.factsSalt, EvidenceSalt: p.evidenceSalt, FactsDigest: p.factsDigest, EvidenceDigest: p.evidenceDigest,
	}
}

// Link gives the part of the record that the chain covers. It shares the memory of the header.
func (p *Parts) Link() Link {
	return Link{
		Header: p.Header, Facts: digest(p.FactsSalt, p.Facts, p.FactsDigest), Evidence: digest(p.EvidenceSalt, p.Evidence, p.EvidenceDigest),
	}
}

// DecodeParts is the inverse of EncodeParts. The record keeps nothing of the memory of p.
func DecodeParts(p Parts) (Record, error) {
	header, err := decodeHeader(p.Header)
	if err != nil {
		return Record{}, err
	}
	r := Record{Header: header}
	copy(r.FactsSalt[:], p.FactsSalt)
	copy(r.EvidenceSalt[:], p.EvidenceSalt)
	if len(p.EvidenceDigest) == len(Hash{}) {
		d := Hash(p.EvidenceDigest)
		r.EvidenceDigest = &d
	}
	var texts []string
	if r.Evidence, texts, err = decodeEvidence(p.Evidence); err != nil {
		return Record{}, fmt.Errorf("record %d: %w", header.Sequence, err)
	}
	if p.Erased {
		erased := &Erased{}
		copy(erased.Digest[:], p.FactsDigest)
		r.Facts = erased
		return r, nil
	}
	if err := checkParts(&r.Header, p.Facts, p.Evidence, &r.Evidence); err != nil {
		return Record{}, fmt.Errorf("decode record %d: %w", header.Sequence, err)
	}
	if r.Facts, err = unmarshalFacts(header.Kind, p.Facts, texts); err != nil {
		return Record{}, fmt.Errorf("decode record %d: %w", header.Sequence, err)
	}
	return r, nil
}
