package nats

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// The headers of a message. Headers with the prefix "ce-" are attributes of CloudEvents 1.0 in the binary mode of its
// NATS binding. From ce-sequence on they are extensions: ce-sequence is the documented extension "sequence", the others
// are ours.
const (
	HeaderMsgID       = "Nats-Msg-Id" // the key by which JetStream drops duplicates; equal to ce-id
	HeaderSpecVersion = "ce-specversion"
	// "1": version of the message format; absent in messages from before the first release
	HeaderFormat      = "ce-format"
	HeaderID          = "ce-id"              // <log ID>.<epoch>.<sequence>
	HeaderSource      = "ce-source"          // /jobledger/clusters/<cluster>
	HeaderType        = "ce-type"            // dev.jobledger.v1.<event>
	HeaderSubject     = "ce-subject"         // namespaces/<namespace>/jobs/<name>; absent for the controller
	HeaderTime        = "ce-time"            // when the record was written
	HeaderContentType = "ce-datacontenttype" // application/protobuf or application/json
	HeaderSequence    = "ce-sequence"        // the record's place in the log, 20 digits
	HeaderStream      = "ce-stream"          // stream of the record: "job/<uid>", "controller", …
	HeaderPrevious    = "ce-previous"        // the previous record of the stream; 0 for its first
	HeaderFloor       = "ce-floor"           // every record from this sequence on was published before this message
	HeaderChain       = "ce-chain"           // the log's chain value after the record, 64 hexadecimal digits; optional
	// The records that led to this one, oldest first, comma-separated; the newest 32; optional
	HeaderCauses  = "ce-causes"
	HeaderReasons = "ce-reasons" // for a decision: reasons in the order of its steps, comma-separated; optional
	HeaderVerdict = "ce-verdict" // for JobRetired: result and reason in one line; optional
)

// The content types of the data of a message.
const (
	Protobuf = "application/protobuf"
	JSON     = "application/json"
)

const (
	specVersion  = "1.0"
	format       = "1"
	typePrefix   = "dev.jobledger.v1."
	sourcePrefix = "/jobledger/clusters/"
)

// Head is the content of the subject and the headers of a message.
//
// A subscriber can detect missing messages:
//
//   - Of a whole cluster: each ID.Sequence is the previous one plus 1.
//   - Of one Job, with all its events: each Previous is the sequence of the message before, or 0 in the first message.
//
// Records before Floor may never have been published, because the log no longer had them. Records from Floor on are
// never left out. A message with an earlier ID is a duplicate.
//
// The epoch of the ID rises when the log or the cluster was restored. Sequences then continue from the first record of
// the new epoch. Records of an earlier epoch with that sequence or a higher one did not happen in the new epoch.
type Head struct {
	ID          ID
	Subject     Subject
	Time        events.Time
	Stream      events.Stream
	Previous    events.Sequence
	Floor       events.Sequence
	Chain       events.Hash // the log's hash after the record; zero when the message has none
	Causes      []events.Sequence
	Reasons     []events.Reason
	Verdict     string // for JobRetired: how the Job ended and why, in one line; empty when missing
	ContentType string // Protobuf or JSON
}

// ParseHead parses the subject and the headers of a message, not its data. Header names are case-sensitive.
func ParseHead(m *Message) (Head, error) {
	p := headParser{header: m.Header}
	h := Head{
		ID:       p.id(),
		Time:     p.time(HeaderTime),
		Stream:   p.stream(HeaderStream),
		Previous: events.Sequence(p.number(HeaderPrevious)),
		Floor:    events.Sequence(p.number(HeaderFloor)),
	}
	if text := p.text(HeaderChain); text != "" {
		h.Chain = p.hash(HeaderChain, text)
	}
	for _, cause := range p.list(HeaderCauses) {
		h.Causes = append(h.Causes, events.Sequence(p.parseNumber(HeaderCauses, cause)))
	}
	for _, reason := range p.list(HeaderReasons) {
		h.Reasons = append(h.Reasons, events.Reason(reason))
	}
	h.Verdict = p.text(HeaderVerdict)
	h.ContentType = p.text(HeaderContentType)
	if sequence := p.number(HeaderSequence); events.Sequence(sequence) != h.ID.Sequence {
		p.fail(HeaderSequence, fmt.Errorf("%d is not that of the ID", sequence))
	}
	if version := p.text(HeaderSpecVersion); version != specVersion {
		p.fail(HeaderSpecVersion, fmt.Errorf("%q: want %s", version, specVersion))
	}
	switch version := p.text(HeaderFormat); {
	case p.err != nil || version == format:
	case version == "":
		return Head{}, &events.BeforeError{What: "this message", Do: "begin at a message behind it, or delete the stream, and it is made again"}
	default:
		p.fail(HeaderFormat, fmt.Errorf("%q: want %s", version, format))
	}
	if p.err != nil {
		return Head{}, p.err
	}
	var err error
	h.Subject, err = ParseSubject(m.Subject)
	return h, err
}

// RecordID returns the record ID in the headers, even if the rest of the message cannot be parsed. ok is false for a
// message without an ID: another client published it, because every Jobledger publisher sets the ID.
func RecordID(header map[string][]string) (id ID, ok bool) {
	p := headParser{header: header}
	id = p.id()
	return id, p.err == nil
}

// headParser parses headers and keeps the first error.
type headParser struct {
	header map[string][]string
	err    error
}

func (p *headParser) fail(name string, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("header %s: %w", name, err)
	}
}

func (p *headParser) text(name string) string {
	values := p.header[name]
	if len(values) == 0 {
		return ""
	}
	text, err := unescape(values[0])
	if err != nil {
		p.fail(name, err)
	}
	return text
}

func (p *headParser) id() ID {
	id, err := ParseID(p.text(HeaderID))
	if err != nil {
		p.fail(HeaderID, err)
	}
	return id
}

func (p *headParser) list(name string) []string {
	text := p.text(name)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func (p *headParser) number(name string) uint64 { return p.parseNumber(name, p.text(name)) }

func (p *headParser) parseNumber(name, text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		p.fail(name, err)
	}
	return n
}

func (p *headParser) hash(name, text string) (h events.Hash) {
	b, err := hex.DecodeString(text)
	if err == nil && len(b) != len(h) {
		err = fmt.Errorf("%q: want %d hexadecimal digits", text, 2*len(h))
	}
	if err != nil {
		p.fail(name, err)
	}
	copy(h[:], b)
	return h
}

func (p *headParser) time(name string) events.Time {
	t, err := time.Parse(time.RFC3339Nano, p.text(name))
	if err != nil {
		p.fail(name, err)
	}
	return events.At(t)
}

func (p *headParser) stream(name string) events.Stream {
	text := p.text(name)
	for _, kind := range []events.StreamKind{events.StreamController, events.StreamJob, events.StreamCronJob, events.StreamNamespace} {
		if rest, ok := strings.CutPrefix(text, kindOf(kind)); ok && (rest == "") == (kind == events.StreamController) {
			if rest == "" || rest[0] == '/' {
				return events.Stream{Kind: kind, ID: strings.TrimPrefix(rest, "/")}
			}
		}
	}
	p.fail(name, fmt.Errorf("%q is no stream", text))
	return events.Stream{}
}
