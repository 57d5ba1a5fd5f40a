package joblist

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errMalformed is returned for bytes that are not a list, or a damaged one.
var errMalformed = errors.New("it is malformed")

// seal appends the CRC-32C of b.
func seal(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }

// unseal checks the CRC-32C at the end of b, and returns b without it.
func unseal(b []byte) ([]byte, error) {
	n := len(b) - crc32.Size
	if n < 0 || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, errMalformed
	}
	return b[:n], nil
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decoder takes numbers and texts off the front of rest. After malformed input, bad is true.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if !d.take(n) {
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if !d.take(n) {
		return 0
	}
	return v
}

// take takes off the n bytes of a number; it returns false if there is none.
func (d *decoder) take(n int) bool {
	d.bad = d.bad || n <= 0
	return d.bytes(uint64(n)) != nil
}

// bytes takes off n bytes. The result shares memory with rest.
func (d *decoder) bytes(n uint64) []byte {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) text() []byte { return d.bytes(d.uvarint()) }
