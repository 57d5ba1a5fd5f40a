package nats

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Message is a NATS message: the part of the client's type that this package uses.
type Message struct {
	Subject string
	Header  map[string][]string
	Data    []byte
}

// Encoder encodes records as messages. The zero value encodes protobuf for a cluster without a name.
type Encoder struct {
	Cluster     string // in unescaped form
	ContentType string // Protobuf or JSON; empty means Protobuf
	// MaxBytes bounds a message, headers and data together; 0 for no limit. Encode omits the evidence (texts) of a
	// larger message, and if that is not enough also the facts.
	MaxBytes int
	// Chain is the log's chain value (hash of all records) before the next record. Encode updates it and writes it to
	// the header. With nil, messages have no chain header.
	Chain *events.Hash

	headers map[string][]string // its values are the arrays below and constants, and are reused

	id, kind, stamp, sequence, stream, previous, floor, chain [1]string

	at     events.Time // the time in stamp
	stored []byte
	data   []byte
}

// Encode returns the message for record r. log is the identity of the log with the epoch in which r was written. job is
// the Job or CronJob that r is about, zero for none. floor is a record from which on every record was published before
// r. The caller may use header and data until the next call of Encode.
func (e *Encoder) Encode(r *events.Record, log events.Identity, job events.JobRef, floor events.Sequence) (Message, error) {
	parts, stored, err := events.EncodeParts(e.stored, r)
	if err != nil {
		return Message{}, err
	}
	e.stored = stored
	switch r.Stream.Kind {
	case events.StreamController:
		job = events.JobRef{}
	case events.StreamNamespace:
		job = events.JobRef{Namespace: r.Stream.ID}
	default:
		job.UID = types.UID(r.Stream.ID)
	}
	subject := SubjectOf(e.Cluster, job, &r.Header)
	link := parts.Link()
	m := Message{Subject: subject.String(), Header: e.header(r, &subject, log, floor)}
	if e.Chain != nil {
		*e.Chain = e.Chain.After(link)
		e.chain[0] = e.Chain.String()
		m.Header[HeaderChain] = e.chain[:]
	} else {
		delete(m.Header, HeaderChain)
	}
	size := headerBytes(m.Header)
	for _, left := range []omit{{}, {evidence: true}, {evidence: true, facts: true}} {
		e.data = appendData(e.data[:0], &parts, &link, r.Kind, job, left)
		m.Data = e.data
		if e.ContentType == JSON {
			if m.Data, err = toJSON(e.data); err != nil {
				return Message{}, fmt.Errorf("encode record %d as JSON: %w", r.Sequence, err)
			}
		}
		if e.MaxBytes == 0 || size+len(m.Data) <= e.MaxBytes {
			return m, nil
		}
	}
	return Message{}, fmt.Errorf("encode record %d: a bound of %d bytes is too small for its headers", r.Sequence, e.MaxBytes)
}

// header returns the headers. It reuses the map and the values for each message: allocating them took longer than the
// rest of Encode.
func (e *Encoder) header(r *events.Record, s *Subject, log events.Identity, floor events.Sequence) map[string][]string {
	if e.headers == nil {
		e.headers = map[string][]string{
			HeaderSpecVersion: {specVersion},
			HeaderFormat:      {format},
			HeaderSource:      {escape(sourcePrefix + url.PathEscape(e.Cluster))},
			HeaderContentType: {cmp.Or(e.ContentType, Protobuf)},
			HeaderMsgID:       e.id[:],
			HeaderID:          e.id[:],
			HeaderType:        e.kind[:],
			HeaderTime:        e.stamp[:],
			HeaderSequence:    e.sequence[:],
			HeaderStream:      e.stream[:],
			HeaderPrevious:    e.previous[:],
			HeaderFloor:       e.floor[:],
		}
	}
	if e.at != r.Time || e.stamp[0] == "" { // all records of a batch have the same time
		e.at, e.stamp[0] = r.Time, stamp(r.Time)
	}
	e.id[0] = escape(ID{Log: log, Sequence: r.Sequence}.String())
	e.kind[0] = typePrefix + escape(s.Event)
	e.sequence[0] = padded(r.Sequence)
	e.stream[0] = escape(r.Stream.String())
	e.previous[0] = strconv.FormatUint(uint64(r.Previous), 10)
	e.floor[0] = strconv.FormatUint(uint64(floor), 10)
	e.set(HeaderSubject, escape(s.path()))
	e.set(HeaderCauses, causes(r.Causes))
	e.set(HeaderReasons, reasons(r.Facts))
	e.set(HeaderVerdict, verdict(r))
	return e.headers
}

// set sets an optional header, or removes it if value is empty.
func (e *Encoder) set(name, value string) {
	switch have := e.headers[name]; {
	case value == "":
		delete(e.headers, name)
	case have != nil:
		have[0] = value
	default:
		e.headers[name] = []string{value}
	}
}

// path returns the path of the object in the Kubernetes API; empty for the controller.
func (s *Subject) path() string {
	path := "namespaces/" + s.Namespace
	switch s.Kind {
	case KindJob:
		return path + "/jobs/" + s.Name
	case KindCronJob:
		return path + "/cronjobs/" + s.Name
	case KindNamespace:
		return path
	}
	return ""
}

func stamp(t events.Time) string {
	if t == 0 {
		return time.Unix(0, 0).UTC().Format(time.RFC3339Nano)
	}
	return t.Go().Format(time.RFC3339Nano)
}

// padded returns the sequence with 20 digits, so that texts sort like numbers.
func padded(s events.Sequence) string {
	const digits = 20
	var b [digits]byte
	for i := digits - 1; i >= 0; i-- {
		b[i] = byte('0' + s%10)
		s /= 10
	}
	return string(b[:])
}

// maxCauses is the largest number of causes in the header; the data has all causes.
const maxCauses = 32

func causes(all []events.Sequence) string {
	if len(all) > maxCauses {
		all = all[len(all)-maxCauses:]
	}
	var b []byte
	for i, c := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(c), 10)
	}
	return string(b)
}

func reasons(f events.Facts) string {
	d, ok := f.(*events.Decision)
	if !ok {
		return ""
	}
	var text string
	for i := range d.Steps {
		if i > 0 {
			text += ","
		}
		text += escape(string(d.Steps[i].Reason))
	}
	return text
}

// verdict returns, for a JobRetired, the line that says how the Job ended; empty for other records.
func verdict(r *events.Record) string {
	if r.Kind != events.KindJobRetired {
		return ""
	}
	if len(r.Evidence.Sentence) > maxVerdict {
		return "" // too long for a header; the data has it
	}
	return escape(r.Evidence.Sentence)
}

// maxVerdict is the largest length of a verdict (line that says how a Job ended) in the header, in bytes. A controller
// writes verdicts of at most 100 bytes.
const maxVerdict = 200

// headerBytes returns the length of the headers on the wire.
func headerBytes(h map[string][]string) int {
	n := len("NATS/1.0\r\n\r\n")
	for name, values := range h {
		n += len(name) + len(": ") + len(values[0]) + len("\r\n")
	}
	return n
}

func uid(b []byte) types.UID { return types.UID(b) }
