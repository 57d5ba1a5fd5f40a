package events

import "fmt"

// Parts holds a record's encoded header, facts and evidence, and what the hash chain needs of it. It is for a format
// that stores these apart, such as NATS messages.
type Parts struct {
	Header   []byte
	Facts    []byte // empty when the kind has none, or they were erased
	Evidence []byte // empty when there is none, or it was erased
	Erased   bool   // the facts were erased

	// A part has either its salt, if it is present, or its digest, if it is erased. A reader without the part gets no
	// salt: with salt and digest it could test guesses of the content.
	FactsSalt, EvidenceSalt     []byte
	FactsDigest, EvidenceDigest []byte
}

// EncodeParts encodes r. The parts share memory with buf, which is overwritten and may grow. The second result is the
// buffer for the next call.
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

// Link returns what the record adds to the hash chain over the log. Its header shares memory with p.
func (p *Parts) Link() Link {
	return Link{
		Header: p.Header, Facts: digest(p.FactsSalt, p.Facts, p.FactsDigest), Evidence: digest(p.EvidenceSalt, p.Evidence, p.EvidenceDigest),
	}
}

// DecodeParts returns the record whose parts EncodeParts made. The record shares no memory with p.
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
