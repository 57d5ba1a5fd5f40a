package events

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
)

var deterministic = proto.MarshalOptions{Deterministic: true}

// The fields of Record, with their numbers in record.proto.
const (
	recordHeader       = 1
	recordFacts        = 2
	recordEvidence     = 3
	recordFactsSalt    = 4
	recordEvidenceSalt = 5

	recordFactsDigest    = 6
	recordEvidenceDigest = 7
)

// commonBytes is the space that AppendRecord reserves for a record. Nearly all records need less, so the buffer grows
// once.
const commonBytes = 256

// AppendRecord appends the stored form of r to buf. The same record always gives the same bytes. It returns an error
// for a record that could not be decoded again: a RangeError, or a text that is not UTF-8.
func AppendRecord(buf []byte, r *Record) ([]byte, error) {
	buf, begin := beginField(slices.Grow(buf, commonBytes), recordHeader)
	buf = endField(appendHeader(buf, &r.Header), begin)
	start := len(buf)
	buf, begin = beginField(buf, recordFacts)
	buf, texts, err := appendFacts(buf, r.Facts)
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", r.Sequence, err)
	}
	// Refuse to write a record that the decoder would refuse to read, because a field is out of range
	if err := checkFacts(r.Stream, r.Kind, buf[begin:]); err != nil {
		return nil, fmt.Errorf("encode record %d: %w", r.Sequence, err)
	}
	facts := len(buf) > begin
	if buf = endField(buf, begin); !facts {
		buf = buf[:start]
	}
	start = len(buf)
	buf, begin = beginField(buf, recordEvidence)
	if buf, err = appendEvidence(buf, &r.Evidence, texts); err != nil {
		return nil, fmt.Errorf("encode evidence of record %d: %w", r.Sequence, err)
	}
	evidence := len(buf) > begin && r.EvidenceDigest == nil
	if buf = endField(buf, begin); !evidence {
		buf = buf[:start]
	}
	if facts {
		buf = appendBytesField(buf, recordFactsSalt, r.FactsSalt[:])
	}
	if evidence {
		buf = appendBytesField(buf, recordEvidenceSalt, r.EvidenceSalt[:])
	}
	if erased, ok := r.Facts.(*Erased); ok && erased.Digest != (Hash{}) {
		buf = appendBytesField(buf, recordFactsDigest, erased.Digest[:])
	}
	if r.EvidenceDigest != nil {
		buf = appendBytesField(buf, recordEvidenceDigest, r.EvidenceDigest[:])
	}
	return buf, nil
}

// EncodeFacts returns the encoded facts. Two decisions are equal if these bytes are equal.
func EncodeFacts(f Facts) ([]byte, error) {
	encoded, _, err := appendFacts(nil, f)
	return encoded, err
}

// DecodeRecord decodes a stored record. The result is valid: code that uses it needs no further check. An error means
// that the bytes are no record, or that a field is out of range (RangeError).
func DecodeRecord(stored []byte) (Record, error) {
	p, err := partsOf(stored)
	if err != nil {
		return Record{}, err
	}
	return DecodeParts(p.exported(len(p.factsDigest) > 0))
}

// DecodeHeader decodes only the header of a stored record, for filters and indexes.
func DecodeHeader(stored []byte) (Header, error) {
	p, err := partsOf(stored)
	if err != nil {
		return Header{}, err
	}
	return decodeHeader(p.header)
}

// DecodeLabel decodes a few fields of the header of a stored record. It does not check the rest of the header.
func DecodeLabel(stored []byte) (Label, error) {
	p, err := partsOf(stored)
	if err != nil {
		return Label{}, err
	}
	return decodeLabel(p.header)
}

// EvidenceName decodes the namespace and the name in the evidence of a stored record; both are empty when it has none.
func EvidenceName(stored []byte) (namespace, name string, err error) {
	p, err := partsOf(stored)
	if err != nil {
		return "", "", err
	}
	e, _, err := decodeEvidence(p.evidence)
	return e.Namespace, e.Name, err
}
