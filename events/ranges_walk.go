package events

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// bounds holds the allowed ranges of a message's fields, by field number. The encoded message is checked, before
// decoding. A check costs a few hundredths of the decoding (BenchmarkRecord), and allocates nothing.
type bounds []bound

// bound is the allowed range of one field. The fields that nearly every check reads come first.
type bound struct {
	small   uint64 // fast path: a varint up to this value is in range, whatever its sign
	span           // range of a number or form of bytes
	fixed   bool   // the number has 8 bytes
	free    bool   // any value is allowed
	list    bool
	kind    protoreflect.Kind
	message bounds // bounds of a message field; nil when nothing in it is bounded
	name    string // Message.field
}

// anything is the bound of a field without an entry in the table ranges: any value is allowed.
var anything = bound{small: math.MaxUint64, free: true}

// checks holds the allowed ranges of all messages in records and snapshots.
type checks struct {
	facts             []bounds // indexed by kind
	header, evidence  bounds
	job, world, names bounds
}

// checked returns the checks, which it builds at the first call.
var checked = sync.OnceValue(func() *checks {
	c := &checks{}
	made := map[protoreflect.FullName]bounds{}
	of := func(m protoreflect.Message) bounds { return boundsOf(m.Descriptor(), made) }
	c.header, c.evidence = of((&pb.Header{}).ProtoReflect()), of((&pb.Evidence{}).ProtoReflect())
	c.job, c.world, c.names = of((&pb.JobState{}).ProtoReflect()), of((&pb.WorldState{}).ProtoReflect()), of((&pb.StateNames{}).ProtoReflect())
	all := (&pb.PublishedRecord{}).ProtoReflect().Descriptor().Oneofs().ByName("facts").Fields()
	for i := range all.Len() {
		f := all.Get(i)
		kind := int(f.Number()) - publishedFacts
		for len(c.facts) <= kind {
			c.facts = append(c.facts, nil)
		}
		c.facts[kind] = boundsOf(f.Message(), made)
	}
	return c
})

// publishedFacts is the difference between the number of a kind and the number of its field in PublishedRecord.
const publishedFacts = 100

func boundsOf(m protoreflect.MessageDescriptor, made map[protoreflect.FullName]bounds) bounds {
	if b, ok := made[m.FullName()]; ok {
		return b
	}
	var all bounds
	rows := ranges[string(m.Name())]
	fields := m.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		b := bound{name: string(m.Name()) + "." + string(f.Name()), kind: f.Kind(), list: f.IsList(), fixed: f.Kind() == protoreflect.Sfixed64Kind}
		row, ok := rows[string(f.Name())]
		if b.span = row; row.form == formEnum {
			b.max = highest(f.Enum())
		}
		if f.Message() != nil {
			b.message = boundsOf(f.Message(), made)
			ok = b.message != nil
		}
		if !ok || row.form == formAny {
			continue
		}
		if b.kind != protoreflect.Sint32Kind && b.min <= 0 && b.max > 0 {
			b.small = uint64(b.max)
		}
		for len(all) <= int(f.Number()) {
			all = append(all, anything)
		}
		all[f.Number()] = b
	}
	made[m.FullName()] = all
	return all
}

func highest(e protoreflect.EnumDescriptor) (n int64) {
	for i := range e.Values().Len() {
		n = max(n, int64(e.Values().Get(i).Number()))
	}
	return n
}

// RangeError reports a field of a record or a stored state with a value out of range.
type RangeError struct {
	Field    string // Message.field
	Value    string
	Min, Max int64 // both 0 when the field is not a number
}

func (e *RangeError) Error() string {
	if e.Min == 0 && e.Max == 0 {
		return fmt.Sprintf("%s is %s", e.Field, e.Value)
	}
	return fmt.Sprintf("%s is %s; it can be %d to %d", e.Field, e.Value, e.Min, e.Max)
}

// checkFacts returns a RangeError for the first field of encoded facts that is out of range. It skips facts of unknown
// kinds.
func checkFacts(s Stream, kind Kind, facts []byte) error {
	c := checked()
	switch {
	case kind == KindStateStored && s == Controller:
		return c.world.check(facts)
	case int(kind) < len(c.facts):
		return c.facts[kind].check(facts)
	}
	return nil
}

// checkParts returns a RangeError for the first field of facts or evidence that is out of range. e is the decoded
// evidence.
func checkParts(h *Header, facts, evidence []byte, e *Evidence) error {
	if err := checkFacts(h.Stream, h.Kind, facts); err != nil {
		return err
	}
	if h.Kind == KindStateStored {
		if err := checked().names.check(e.State); err != nil {
			return err
		}
	}
	if e.Containers == nil && e.Waits == nil && e.Conditions == nil && e.Origin == nil && e.Edit == nil && e.Running == 0 && e.PassedOver == 0 {
		return nil // the usual case: the evidence has names only, and names have no range
	}
	return checked().evidence.check(evidence)
}

// CheckState returns a RangeError if a field of a stored state is out of range. facts and names are the two halves of
// the state; s says what it is about.
func CheckState(s Stream, facts, names []byte) error {
	if err := checkFacts(s, KindStateStored, facts); err != nil {
		return err
	}
	return checked().names.check(names)
}

// check walks an encoded message. It accepts a malformed message; the decoder reports that.
func (all bounds) check(b []byte) error {
	if all == nil {
		return nil
	}
	for len(b) > 0 {
		tag, n := consumeVarint(b)
		if n < 0 {
			return nil
		}
		b = b[n:]
		of := &anything
		if number := tag >> 3; number < uint64(len(all)) {
			of = &all[number]
		}
		var value uint64
		var content []byte
		wire := protowire.Type(tag & 7)
		switch wire {
		case protowire.VarintType:
			if value, n = consumeVarint(b); n < 0 {
				return nil
			}
			if b = b[n:]; value <= of.small {
				continue
			}
		case protowire.Fixed64Type:
			if len(b) < 8 {
				return nil
			}
			value = binary.LittleEndian.Uint64(b)
			if b = b[8:]; of.free || of.fixed && int64(value) >= of.min && int64(value) <= of.max {
				continue
			}
		case protowire.BytesType:
			size, n := consumeVarint(b)
			if n < 0 || size > uint64(len(b)-n) {
				return nil
			}
			content, b = b[n:][:size], b[n:][size:]
			if of.free || of.form == formUID && size == uuidBytes {
				continue
			}
		default:
			if n = protowire.ConsumeFieldValue(protowire.Number(tag>>3), wire, b); n < 0 {
				return nil
			}
			b = b[n:]
			continue
		}
		if err := of.check(wire, value, content); err != nil {
			return err
		}
	}
	return nil
}

// consumeVarint is protowire.ConsumeVarint with a fast path for one byte, the usual length here.
func consumeVarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// check checks one field of a message. It ignores a field with an unexpected wire type, as protobuf does.
func (b *bound) check(wire protowire.Type, value uint64, content []byte) error {
	switch {
	case b.message != nil:
		if wire == protowire.BytesType {
			return b.message.check(content)
		}
	case b.kind == protoreflect.BytesKind:
		if wire == protowire.BytesType && !b.form.holds(content) {
			return &RangeError{Field: b.name, Value: fmt.Sprintf("%d bytes that are no %s", len(content), b.form)}
		}
	case wire == protowire.BytesType:
		if b.list {
			return b.checkPacked(content)
		}
	case (wire == protowire.Fixed64Type) == (b.kind == protoreflect.Sfixed64Kind):
		return b.checkNumber(value)
	}
	return nil
}

func (b *bound) checkPacked(content []byte) error {
	for len(content) > 0 {
		var value uint64
		n := 0
		if b.kind == protoreflect.Sfixed64Kind {
			value, n = protowire.ConsumeFixed64(content)
		} else {
			value, n = protowire.ConsumeVarint(content)
		}
		if n < 0 {
			return nil
		}
		if err := b.checkNumber(value); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// checkNumber checks a number as protobuf decodes it. An unsigned 64-bit number above MaxInt64 becomes negative here,
// and is below every range.
func (b *bound) checkNumber(value uint64) error {
	n := int64(value)
	switch b.kind {
	case protoreflect.Int32Kind, protoreflect.EnumKind:
		n = int64(int32(value))
	case protoreflect.Uint32Kind:
		n = int64(uint32(value))
	case protoreflect.Sint32Kind:
		n = protowire.DecodeZigZag(value & (1<<32 - 1))
	default: // 64 bits
	}
	if n >= b.min && n <= b.max {
		return nil
	}
	text := fmt.Sprint(n)
	if b.kind == protoreflect.Uint64Kind {
		text = fmt.Sprint(value)
	}
	return &RangeError{Field: b.name, Value: text, Min: b.min, Max: b.max}
}

func (f form) holds(b []byte) bool {
	switch f {
	case formUID:
		return len(b) == 0 || len(b) == uuidBytes || b[0] == 0 && utf8.Valid(b)
	case formHash:
		return len(b) == 0 || len(b) == len(Hash{})
	default:
		return true
	}
}

func (f form) String() string {
	if f == formHash {
		return "hash"
	}
	return "UID"
}
