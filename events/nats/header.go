package nats

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
)

// The headers of a message. Those with the prefix "ce-" are the attributes of CloudEvents 1.0 in the binary mode of its
// NATS binding; from ce-sequence on they are extensions of ours, but that ce-sequence is the documented extension
// "sequence".
const (
	HeaderMsgID       = "Nats-Msg-Id" // what JetStream knows duplicates by; the same as ce-id
	HeaderSpecVersion = "ce-specversion"
	HeaderFormat      = "ce-format"          // "1": that of the message, see Head; messages of before the first release have none
	HeaderID          = "ce-id"              // <log ID>.<epoch>.<sequence>
	HeaderSource      = "ce-source"          // /jobledger/clusters/<cluster>
	HeaderType        = "ce-type"            // dev.jobledger.v1.<event>
	HeaderSubject     = "ce-subject"         // namespaces/<namespace>/jobs/<name>; absent for the controller's
	HeaderTime        = "ce-time"            // when the record was written
	HeaderContentType = "ce-datacontenttype" // application/protobuf or application/json
	HeaderSequence    = "ce-sequence"        // the record's place in the log, 20 digits
	HeaderStream      = "ce-stream"          // what the record belongs to: "job/<uid>", "controller", …
	HeaderPrevious    = "ce-previous"        // the stream's record before this one; 0 for its first
	HeaderFloor       = "ce-floor"           // every record from this one on was published before this message
	HeaderChain       = "ce-chain"           // the log's chain value after the record, 64 hexadecimal digits; may be absent
	HeaderCauses      = "ce-causes"          // the records that led to this one, oldest first, with commas; the newest 32; may be absent
	HeaderReasons     = "ce-reasons"         // of a decision, in the order of its steps, with commas; may be absent
	HeaderVerdict     = "ce-verdict"         // of JobRetired: how the Job ended and why, in one line; may be absent
)

// The types of data.
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

// Head is what the subject and the headers of a message say.
//
// A subscriber to everything of a cluster has missed nothing when each ID.Sequence is the one before it plus one. A
// subscriber to one Job (all its events) has missed nothing when each Previous is the sequence of the message before
// it, or 0 in the first. What is older than Floor may never have been published, because the log no longer kept it
// then; nothing from Floor on is ever left out. A message with the ID of an earlier one is that one again. After an ID
// with a higher epoch (the log was restored, or the cluster was) sequences go on from the first of that epoch, and
// records of the epoch before with that or a higher sequence did not happen in the life that goes on.
type Head struct {
	ID          ID
	Subject     Subject
	Time        events.Time
	Stream      events.Stream
	Previous    events.Sequence
	Floor       events.Sequence
	Chain       events.Hash // the log's chain value after the record; zero when the message does not say it
	Causes      []events.Sequence
	Reasons     []events.Reason
	Verdict     string // of JobRetired: how the Job ended and why, in one line; empty when the message does not say it
	ContentType string // Protobuf or JSON
}

// ParseHead reads the subject and the headers of a message, and not its data. Header names are matched as they stand
// above.
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

// RecordID is the ID of the record that a message with these headers is of, also when nothing else of it can be read.
// Without one it is of no log: whoever publishes one gives it to every message.
func RecordID(header map[string][]string) (id ID, ok bool) {
	p := headParser{header: header}
	id = p.id()
	return id, p.err == nil
}

// headParser keeps the first error.
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
