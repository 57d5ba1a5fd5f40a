package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// AppendHead appends to v the last record of a log or file: sequence, time and chain value (hash over all records so
// far).
func AppendHead(v []byte, h store.Head) []byte {
	v = binary.AppendUvarint(v, uint64(h.Sequence))
	v = binary.AppendVarint(v, int64(h.Time))
	return append(v, h.Hash[:]...)
}

// Seal returns v with its CRC-32C at the end.
func Seal(v []byte) []byte {
	return binary.LittleEndian.AppendUint32(v, crc32.Checksum(v, Castagnoli))
}

// Decoder decodes the fields of a value one by one. If a field is malformed, End returns an error.
type Decoder struct {
	Rest []byte // the part that is not decoded yet
	Bad  bool   // a field was malformed; all further fields are empty
}

// Versioned verifies the checksum of a value, and that its version is `version`. It returns a decoder for the fields.
func Versioned(version byte, sealed []byte) (*Decoder, error) {
	d, has, err := Unseal(sealed)
	if err == nil && has != version {
		return nil, fmt.Errorf("its version is %d, this program knows %d", has, version)
	}
	return d, err
}

// Unseal verifies the checksum of a value. It returns the version, and a decoder for the fields.
func Unseal(sealed []byte) (d *Decoder, version byte, err error) {
	n := len(sealed) - crc32.Size
	switch {
	case n < 1:
		return nil, 0, ErrFields
	case crc32.Checksum(sealed[:n], Castagnoli) != binary.LittleEndian.Uint32(sealed[n:]):
		return nil, 0, ErrChecksum
	}
	return &Decoder{Rest: sealed[1:n]}, sealed[0], nil
}

// Uvarint decodes an unsigned number.
func (d *Decoder) Uvarint() uint64 {
	v, n := binary.Uvarint(d.Rest)
	return v * uint64(d.take(n))
}

// Varint decodes a signed number.
func (d *Decoder) Varint() int64 {
	v, n := binary.Varint(d.Rest)
	return v * int64(d.take(n))
}

// take skips a field of n bytes and returns 1. If fewer bytes are left, or n is not positive, it skips nothing,
// returns 0 and sets Bad.
func (d *Decoder) take(n int) int {
	if d.Bad || n <= 0 || n > len(d.Rest) {
		d.Bad = true
		return 0
	}
	d.Rest = d.Rest[n:]
	return 1
}

// Bytes returns the next n bytes, as a slice of the value.
func (d *Decoder) Bytes(n int) []byte {
	if d.Bad || n < 0 || n > len(d.Rest) {
		d.Bad = true
		return nil
	}
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

// Head decodes a head (last record of a log or file, with time and chain hash) encoded by AppendHead.
func (d *Decoder) Head() store.Head {
	h := store.Head{Sequence: events.Sequence(d.Uvarint()), Time: events.Time(d.Varint())}
	copy(h.Hash[:], d.Bytes(len(h.Hash)))
	return h
}

// End returns an error unless every field was well-formed, and no bytes are left. what says in the error's text what
// was decoded.
func (d *Decoder) End(what string) error {
	if d.Bad || len(d.Rest) > 0 {
		return fmt.Errorf("%s: %w", what, ErrFields)
	}
	return nil
}

// Castagnoli is the CRC table for all checksums in the files of a log.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors about a value.
var (
	ErrChecksum = errors.New("its checksum does not match")
	ErrFields   = errors.New("it is malformed")
)

// AppendText appends the length of s, and then s.
func AppendText(v []byte, s string) []byte {
	return append(binary.AppendUvarint(v, uint64(len(s))), s...)
}

// Text decodes a text encoded by AppendText.
func (d *Decoder) Text() string { return string(d.Bytes(int(d.Uvarint()))) }

// AppendStream appends a stream: its kind and its ID.
func AppendStream(v []byte, s events.Stream) []byte {
	return AppendText(append(v, byte(s.Kind)), s.ID)
}

// Stream decodes a stream encoded by AppendStream.
func (d *Decoder) Stream() events.Stream {
	kind := d.Bytes(1)
	if d.Bad {
		return events.Stream{}
	}
	return events.Stream{Kind: events.StreamKind(kind[0]), ID: d.Text()}
}
