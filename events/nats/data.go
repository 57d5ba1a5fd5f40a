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

// Event is a record as a subscriber gets it.
type Event struct {
	Head
	Job    events.JobRef // what the record's stream is about; as far as there is something, and the log said it
	Record events.Record // without salts; its facts are *events.Unknown when the kind is not known here
	// EvidenceOmitted, FactsOmitted: the message would have been too large. With FactsOmitted Record.Facts is nil.
	EvidenceOmitted, FactsOmitted bool
}

// The fields of PublishedRecord, by their numbers in stream.proto. That of the facts is the record's kind plus a hundred,
// so a kind of tomorrow is read, as bytes, by a program of today.
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
	fieldFacts           protowire.Number = 100
)

// omit says what is left out of the data.
type omit struct{ evidence, facts bool }

// appendData appends the data in its protobuf form. The encoded parts are taken as they are in the log.
func appendData(b []byte, p *events.Parts, kind events.Kind, job events.JobRef, left omit) []byte {
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

// toJSON rewrites data from its protobuf to its JSON form: names as in the .proto files, no needless space.
func toJSON(data []byte) ([]byte, error) {
	var m pb.PublishedRecord
	if err := proto.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(&m)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer // protojson varies its spaces on purpose, and a message sent twice should be the same
	err = json.Compact(&line, text)
	return line.Bytes(), err
}

// fromJSON is the inverse of toJSON.
func fromJSON(data []byte) ([]byte, error) {
	var m pb.PublishedRecord
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m); err != nil {
		return nil, err
	}
	return proto.Marshal(&m)
}

// Decode reads a whole message. The event keeps nothing of the message's memory.
func Decode(m *Message) (Event, error) {
	head, err := ParseHead(m)
	if err != nil {
		return Event{}, err
	}
	e := Event{Head: head}
	data := m.Data
	switch head.ContentType {
	case Protobuf:
	case JSON:
		if data, err = fromJSON(data); err != nil {
			return Event{}, fmt.Errorf("decode message %s: %w", head.ID, err)
		}
	default:
		return Event{}, fmt.Errorf("decode message %s: data of type %q", head.ID, head.ContentType)
	}
	if err := e.decode(data); err != nil {
		return Event{}, fmt.Errorf("decode message %s: %w", head.ID, err)
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
	return nil
}

// field takes in one field of the data.
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
	default:
		if number > fieldFacts {
			p.Facts = value
		}
	}
}
