package nats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Event is one record as a subscriber receives it from NATS.
type Event struct {
	Head
	Job    events.JobRef // the Job or CronJob of the record's stream, if the stream has one and its name was known
	Record events.Record // the record; its facts are *events.Unknown for an unknown kind
	// True if a part of the record was left out, because the message would have been too large. With FactsOmitted,
	// Record.Facts is nil.
	EvidenceOmitted, FactsOmitted bool

	link *events.Link // what the message adds to the hash chain; nil when it lacks a part of that
}

// ChainAfter returns the chain value (hash of the log) after the event's record, given the value before it. known is
// false when the message lacks what is needed: the publisher did not send it, or sent as JSON a field that this program
// does not know.
func (e *Event) ChainAfter(before events.Hash) (after events.Hash, known bool) {
	if e.link == nil {
		return events.Hash{}, false
	}
	return before.After(*e.link), true
}

// The fields of PublishedRecord, with their numbers in stream.proto. The number of the facts is the record's kind plus
// 100, so this program reads the facts of an unknown kind as bytes.
const (
	fieldHeader          protowire.Number = 1
	fieldEvidence        protowire.Number = 2
	fieldNamespace       protowire.Number = 3
	fieldName            protowire.Number = 4
	fieldUID             protowire.Number = 5
	fieldErased          protowire.Number = 6
	fieldUnknownFacts    protowire.Number = 7
	fieldEvidenceOmitted protowire.Number = 8
	fieldFactsOmitted    protowire.Number = 9
	fieldFactsSalt       protowire.Number = 10
	fieldEvidenceSalt    protowire.Number = 11
	fieldFactsDigest     protowire.Number = 12
	fieldEvidenceDigest  protowire.Number = 13
	fieldFacts           protowire.Number = 100
)

// omit selects the parts of a record that are left out of a message.
type omit struct{ evidence, facts bool }

// appendData appends the data of a message in protobuf form. It copies the encoded parts of the record unchanged from
// the log.
func appendData(b []byte, p *events.Parts, link *events.Link, kind events.Kind, job events.JobRef, left omit) []byte {
	b = appendBytes(b, fieldHeader, p.Header)
	if len(p.Evidence) > 0 && !left.evidence {
		b = appendBytes(b, fieldEvidence, p.Evidence)
	}
	b = appendText(b, fieldNamespace, job.Namespace)
	b = appendText(b, fieldName, job.Name)
	b = appendText(b, fieldUID, string(job.UID))
	switch {
	case p.Erased:
		b = appendTrue(b, fieldErased)
	case left.facts:
	case kind.Known():
		b = appendBytes(b, fieldFacts+protowire.Number(kind), p.Facts)
	case len(p.Facts) > 0:
		b = appendBytes(b, fieldUnknownFacts, p.Facts)
	}
	if left.evidence {
		b = appendTrue(b, fieldEvidenceOmitted)
	}
	if left.facts {
		b = appendTrue(b, fieldFactsOmitted)
	}
	b = appendProof(b, fieldFactsSalt, p.FactsSalt, fieldFactsDigest, link.Facts, left.facts || len(p.FactsDigest) > 0)
	return appendProof(b, fieldEvidenceSalt, p.EvidenceSalt, fieldEvidenceDigest, link.Evidence, left.evidence || len(p.EvidenceDigest) > 0)
}

// appendProof appends what the hash chain needs of one part of a record: the salt of a present part, or the digest of
// an absent one. It omits the salt of an absent part, which would help to guess the content.
func appendProof(b []byte, salted protowire.Number, salt []byte, digested protowire.Number, digest events.Hash, absent bool) []byte {
	switch {
	case absent:
		return appendBytes(b, digested, digest[:])
	case !absent && len(salt) > 0:
		return appendBytes(b, salted, salt)
	}
	return b
}

func appendBytes(b []byte, n protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), value)
}

func appendText(b []byte, n protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), value)
}

func appendTrue(b []byte, n protowire.Number) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), 1)
}

// toJSON converts data from protobuf to JSON: names as in the .proto files, without optional spaces.
func toJSON(data []byte) ([]byte, error) {
	var m pb.PublishedRecord
	if err := proto.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(&m)
	if err != nil {
		return nil, err
	}
	// Compact the text: protojson varies its spaces on purpose, but a message that is sent twice must be identical
	var line bytes.Buffer
	err = json.Compact(&line, text)
	return line.Bytes(), err
}

// fromJSON converts data from JSON to protobuf. It drops unknown fields; whole is false then.
func fromJSON(data []byte) (b []byte, whole bool, err error) {
	var m pb.PublishedRecord
	whole = true
	if protojson.Unmarshal(data, &m) != nil {
		whole = false
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m); err != nil {
			return nil, false, err
		}
	}
	b, err = proto.MarshalOptions{Deterministic: true}.Marshal(&m)
	return b, whole, err
}

// Decode decodes a message. The event shares no memory with the message.
func Decode(m *Message) (Event, error) {
	head, err := ParseHead(m)
	if err != nil {
		return Event{}, err
	}
	e := Event{Head: head}
	data, whole := m.Data, true
	switch head.ContentType {
	case Protobuf:
	case JSON:
		if data, whole, err = fromJSON(data); err != nil {
			return Event{}, fmt.Errorf("decode message %s: %w", head.ID, err)
		}
	default:
		return Event{}, fmt.Errorf("decode message %s: data of type %q", head.ID, head.ContentType)
	}
	if err := e.decode(data); err != nil {
		return Event{}, fmt.Errorf("decode message %s: %w", head.ID, err)
	}
	if !whole {
		e.link = nil
	}
	if e.Record.Sequence != e.ID.Sequence {
		return Event{}, fmt.Errorf("decode message %s: its data is record %d", head.ID, e.Record.Sequence)
	}
	return e, nil
}

var errData = errors.New("the data is no PublishedRecord")

func (e *Event) decode(data []byte) error {
	var p events.Parts
	for b := data; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errData
		}
		b = b[n:]
		value := []byte(nil)
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return errData
		}
		b = b[n:]
		e.field(&p, number, value)
	}
	r, err := events.DecodeParts(p)
	if err != nil {
		return err
	}
	if e.FactsOmitted {
		r.Facts = nil
	}
	e.Record = r
	if proven(p.Facts, p.FactsSalt, p.FactsDigest, p.Erased || e.FactsOmitted) && proven(p.Evidence, p.EvidenceSalt, p.EvidenceDigest, e.EvidenceOmitted) {
		link := p.Link()
		link.Header = bytes.Clone(link.Header)
		e.link = &link
	}
	return nil
}

// proven reports whether a message has what the hash chain needs of one part: its digest, or the whole part and its
// salt.
func proven(part, salt, digest []byte, absent bool) bool {
	return len(digest) > 0 || len(part) == 0 && !absent || len(part) > 0 && len(salt) > 0
}

// field stores the content of the field with this number in e, or in p for a part of the record.
func (e *Event) field(p *events.Parts, number protowire.Number, value []byte) {
	switch number {
	case fieldHeader:
		p.Header = value
	case fieldEvidence:
		p.Evidence = value
	case fieldNamespace:
		e.Job.Namespace = string(value)
	case fieldName:
		e.Job.Name = string(value)
	case fieldUID:
		e.Job.UID = uid(value)
	case fieldErased:
		p.Erased = true
	case fieldEvidenceOmitted:
		e.EvidenceOmitted = true
	case fieldFactsOmitted:
		e.FactsOmitted = true
	case fieldUnknownFacts:
		p.Facts = value
	case fieldFactsSalt:
		p.FactsSalt = value
	case fieldEvidenceSalt:
		p.EvidenceSalt = value
	case fieldFactsDigest:
		p.FactsDigest = value
	case fieldEvidenceDigest:
		p.EvidenceDigest = value
	default:
		if number > fieldFacts {
			p.Facts = value
		}
	}
}
