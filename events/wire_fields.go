package events

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// wireFields walks the fields of an encoded message:
//
//	for f := (wireFields{rest: b}); f.next(&err); {
//		switch f.field { … }
//	}
//
// A switch ignores a field with an unexpected number or wire type, as protobuf does.
type wireFields struct {
	rest  []byte
	field wireField // the field that next moved to
	value uint64    // value of a varint or fixed field
	bytes []byte    // content of a bytes field, as a slice of the message
}

// wireField is a protobuf field's number and wire type.
type wireField struct {
	number protowire.Number
	kind   protowire.Type
}

func varintField(n protowire.Number) wireField  { return wireField{n, protowire.VarintType} }
func fixed64Field(n protowire.Number) wireField { return wireField{n, protowire.Fixed64Type} }
func bytesField(n protowire.Number) wireField   { return wireField{n, protowire.BytesType} }

// next moves to the next field. It returns false at the end, or with *err set when the message is malformed.
func (f *wireFields) next(err *error) bool {
	if len(f.rest) == 0 || *err != nil {
		return false
	}
	var n int
	f.field.number, f.field.kind, n = protowire.ConsumeTag(f.rest)
	if f.field.number > protowire.MaxValidNumber {
		*err = fmt.Errorf("there is no field %d", f.field.number)
		return false
	}
	if n >= 0 {
		f.rest = f.rest[n:]
		switch f.field.kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(f.rest)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(f.rest)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(f.rest)
		default:
			n = protowire.ConsumeFieldValue(f.field.number, f.field.kind, f.rest)
		}
	}
	if n < 0 {
		*err = protowire.ParseError(n)
		return false
	}
	f.rest = f.rest[n:]
	return true
}

var errUTF8 = errors.New("a text is not UTF-8")

// text returns the field's bytes as a string. It sets *err when they are not UTF-8.
func (f *wireFields) text(err *error) string {
	if !utf8.Valid(f.bytes) {
		*err = fmt.Errorf("field %d: %w", f.field.number, errUTF8)
		return ""
	}
	return string(f.bytes)
}

func appendVarintField(buf []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return buf
	}
	return protowire.AppendVarint(protowire.AppendTag(buf, n, protowire.VarintType), v)
}

func appendBytesField(buf []byte, n protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return buf
	}
	return protowire.AppendBytes(protowire.AppendTag(buf, n, protowire.BytesType), v)
}

func appendTextField(buf []byte, n protowire.Number, v string, err *error) []byte {
	if v == "" {
		return buf
	}
	return appendText(buf, n, v, err)
}

// appendText appends an element of a repeated text field with number n, even if v is empty. It sets *err if v is not
// UTF-8.
func appendText(buf []byte, n protowire.Number, v string, err *error) []byte {
	if !utf8.ValidString(v) {
		*err = fmt.Errorf("field %d: %w", n, errUTF8)
	}
	return protowire.AppendString(protowire.AppendTag(buf, n, protowire.BytesType), v)
}

// beginField reserves two bytes for the length of a bytes field. The caller appends the content, then endField writes
// the length and moves the content when the length takes another number of bytes.
func beginField(buf []byte, n protowire.Number) (_ []byte, begin int) {
	buf = append(protowire.AppendTag(buf, n, protowire.BytesType), 0, 0)
	return buf, len(buf)
}

func endField(buf []byte, begin int) []byte {
	size := len(buf) - begin
	wanted := protowire.SizeVarint(uint64(size))
	var more [8]byte
	if wanted > 2 {
		buf = append(buf, more[:wanted-2]...)
	}
	copy(buf[begin-2+wanted:], buf[begin:begin+size])
	protowire.AppendVarint(buf[:begin-2], uint64(size))
	return buf[:begin-2+wanted+size]
}
