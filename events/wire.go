package events

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

var deterministic = proto.MarshalOptions{Deterministic: true}

// AppendRecord appends the stored form of r to buf. The same record always gives the same bytes.
func AppendRecord(buf []byte, r *Record) ([]byte, error) {
	header, err := deterministic.Marshal(headerToWire(&r.Header))
	if err != nil {
		return nil, fmt.Errorf("encode header of record %d: %w", r.Sequence, err)
	}
	var texts []string
	facts, err := marshalFacts(r.Facts, &texts)
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", r.Sequence, err)
	}
	evidence, err := deterministic.Marshal(evidenceToWire(&r.Evidence, texts))
	if err != nil {
		return nil, fmt.Errorf("encode evidence of record %d: %w", r.Sequence, err)
	}
	w := &pb.Record{Header: header, Facts: facts, Evidence: evidence}
	if len(facts) > 0 {
		w.FactsSalt = r.FactsSalt[:]
	}
	if len(evidence) > 0 {
		w.EvidenceSalt = r.EvidenceSalt[:]
	}
	return deterministic.MarshalAppend(buf, w)
}

// EncodeFacts gives the bytes that two decisions are compared by: the facts alone, without evidence.
func EncodeFacts(f Facts) ([]byte, error) {
	var texts []string
	return marshalFacts(f, &texts)
}

// DecodeRecord reads a stored record whole. What it returns is valid: Apply needs no further check. An error means that
// the bytes are not a record.
func DecodeRecord(stored []byte) (Record, error) {
	var w pb.Record
	if err := proto.Unmarshal(stored, &w); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	header, err := decodeHeader(w.GetHeader())
	if err != nil {
		return Record{}, err
	}
	r := Record{Header: header}
	copy(r.FactsSalt[:], w.GetFactsSalt())
	copy(r.EvidenceSalt[:], w.GetEvidenceSalt())
	var evidence pb.Evidence
	if err := proto.Unmarshal(w.GetEvidence(), &evidence); err != nil {
		return Record{}, fmt.Errorf("decode evidence of record %d: %w", header.Sequence, err)
	}
	r.Evidence = evidenceFromWire(&evidence)
	if len(w.GetFactsDigest()) > 0 {
		r.Facts = &Erased{}
		return r, nil
	}
	r.Facts, err = unmarshalFacts(header.Kind, w.GetFacts(), evidence.GetTexts())
	if err != nil {
		return Record{}, fmt.Errorf("decode record %d: %w", header.Sequence, err)
	}
	return r, nil
}

// DecodeHeader reads only the header of a stored record, for filters and indexes.
func DecodeHeader(stored []byte) (Header, error) {
	p, err := partsOf(stored)
	if err != nil {
		return Header{}, err
	}
	return decodeHeader(p.header)
}

// EvidenceName reads the namespace and the name in the evidence of a stored record; both are empty when it has none.
func EvidenceName(stored []byte) (namespace, name string, err error) {
	p, err := partsOf(stored)
	if err != nil {
		return "", "", err
	}
	var e pb.Evidence
	if err := proto.Unmarshal(p.evidence, &e); err != nil {
		return "", "", fmt.Errorf("decode evidence: %w", err)
	}
	return e.GetNamespace(), e.GetName(), nil
}

var errHeader = errors.New("decode record: the header is missing or incomplete")

func decodeHeader(b []byte) (Header, error) {
	var w pb.Header
	if err := proto.Unmarshal(b, &w); err != nil {
		return Header{}, fmt.Errorf("decode header: %w", err)
	}
	if w.GetSequence() == 0 || w.GetKind() == 0 || w.GetStream().GetKind() == 0 {
		return Header{}, errHeader
	}
	h := Header{
		Sequence: Sequence(w.GetSequence()),
		Time:     Time(w.GetTimeUnixNano()),
		Stream:   streamFromWire(w.GetStream()),
		Previous: Sequence(w.GetPrevious()),
		Kind:     Kind(w.GetKind()),
		Critical: w.GetCritical(),
		Last:     w.GetEndOfBatch(),
	}
	if h.Previous >= h.Sequence {
		return Header{}, fmt.Errorf("decode header: record %d points forward to %d", h.Sequence, h.Previous)
	}
	for _, c := range w.GetCauses() {
		h.Causes = append(h.Causes, Sequence(c))
	}
	return h, nil
}

func headerToWire(h *Header) *pb.Header {
	w := &pb.Header{
		Sequence:     uint64(h.Sequence),
		TimeUnixNano: int64(h.Time),
		Stream:       streamToWire(h.Stream),
		Previous:     uint64(h.Previous),
		Kind:         pb.Kind(h.Kind),
		Critical:     h.Critical,
		EndOfBatch:   h.Last,
	}
	for _, c := range h.Causes {
		w.Causes = append(w.Causes, uint64(c))
	}
	return w
}

func evidenceToWire(e *Evidence, texts []string) *pb.Evidence {
	w := &pb.Evidence{
		Namespace: e.Namespace, Name: e.Name, Node: e.Node, Reason: e.Reason, Message: e.Message,
		Sentence: e.Sentence, Template: e.Template, State: e.State, Owner: e.Owner,
	}
	for _, t := range texts {
		if t != "" {
			w.Texts = texts
			break
		}
	}
	for _, c := range e.Containers {
		w.Containers = append(w.Containers, &pb.ContainerEnd{
			Name: c.Name, ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message,
		})
	}
	return w
}

func evidenceFromWire(w *pb.Evidence) Evidence {
	e := Evidence{
		Namespace: w.GetNamespace(), Name: w.GetName(), Node: w.GetNode(), Reason: w.GetReason(),
		Message: w.GetMessage(), Sentence: w.GetSentence(), Template: w.GetTemplate(), State: w.GetState(),
		Owner: w.GetOwner(),
	}
	for _, c := range w.GetContainers() {
		e.Containers = append(e.Containers, ContainerEnd{
			Name: c.GetName(), ExitCode: c.GetExitCode(), Reason: c.GetReason(), Message: c.GetMessage(),
		})
	}
	return e
}
