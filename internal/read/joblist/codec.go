package joblist

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errMalformed is returned if a file is damaged, or is not a list (the .jobs index file of one log file).
var errMalformed = errors.New("it is malformed")

// seal appends the CRC-32C checksum of b to b.
func seal(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }

// unseal checks the checksum at the end of b, and returns b without it. It returns errMalformed if the checksum is
// wrong.
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

// decoder reads numbers and texts one after the other from the bytes in rest, and removes from rest what it has read.
// If the bytes are malformed, it sets bad, and all later reads return nothing.
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

// take removes from rest the n bytes of a number that was just decoded. It returns false if n <= 0, which means that
// there was no valid number.
func (d *decoder) take(n int) bool {
	d.bad = d.bad || n <= 0
	return d.bytes(uint64(n)) != nil
}

// bytes removes the first n bytes and returns them. The result shares memory with rest.
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
