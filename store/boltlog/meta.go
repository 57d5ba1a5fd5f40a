package boltlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// The buckets of a file, and the keys in metaBucket.
var (
	logBucket     = []byte("log")     // sequence → chunk
	metaBucket    = []byte("meta")    // beginKey and headKey
	offsetsBucket = []byte("offsets") // consumer → sequence, sealed

	beginKey = []byte("begin") // written when the file is created
	headKey  = []byte("head")  // rewritten by every commit
)

const bucketCount = 3 // of every file

const metaVersion = 1 // 0 is invalid

// beginVersion is the version of the beginning of a file and of a snapshot. Both begin with the least reader version,
// in a form that never changes. So a program that does not know the rest can still name the version that is needed.
// Versions 1 and 2 are from before the first release, with another numbering of reader versions.
//
//	1 byte  version, then uvarint length and that many bytes:
//	        uvarint format, rules, fold; text program, text writer; newer programs may append fields
//	…       the rest, in the form of the version; CRC-32C of all bytes
const beginVersion = 3

// least is the least version of a reader of a file, and the program that wrote it.
type least struct {
	events.ReaderVersion
	writer string
}

// begin is the beginning of a file: what a reader needs that has only this file.
type begin struct {
	identity events.Identity // identity when the file was created
	first    events.Sequence // first record of the file
	before   store.Head      // head of the log before the file
	least    least           // raised by each writer that needs more
}

// head is the end of a file. It is also the fence: a commit that finds another value than it wrote has met another
// writer.
type head struct {
	store.Head
	term  uint64 // number of opens for writing
	epoch uint64
}

func (b begin) encode() []byte {
	v := appendLeast([]byte{beginVersion}, b.least)
	v = binary.AppendUvarint(v, uint64(len(b.identity.LogID)))
	v = append(v, b.identity.LogID...)
	v = binary.AppendUvarint(v, b.identity.Epoch)
	v = binary.AppendUvarint(v, uint64(b.first))
	v = appendHead(v, b.before)
	return seal(v)
}

func decodeBegin(sealed []byte) (begin, error) {
	d, needs, err := newBeginning(sealed)
	if errors.Is(err, events.ErrBefore) {
		err = &events.BeforeError{What: "this log", Do: "keep that program to read it, and begin a new log: give --log an empty directory, and --adopt"}
	}
	if err != nil {
		return begin{}, fmt.Errorf("decode the beginning of the file: %w", err)
	}
	b := begin{least: needs, identity: events.Identity{LogID: string(d.bytes(int(d.uvarint()))), Epoch: d.uvarint()}}
	b.first = events.Sequence(d.uvarint())
	b.before = d.head()
	return b, d.end("decode the beginning of the file")
}

func (h head) encode() []byte {
	v := []byte{metaVersion}
	v = binary.AppendUvarint(v, h.term)
	v = binary.AppendUvarint(v, h.epoch)
	return seal(appendHead(v, h.Head))
}

func decodeHead(sealed []byte) (head, error) {
	d, err := newFields(sealed)
	if err != nil {
		return head{}, fmt.Errorf("decode the head of the file: %w", err)
	}
	h := head{term: d.uvarint(), epoch: d.uvarint()}
	h.Head = d.head()
	return h, d.end("decode the head of the file")
}

func encodeOffset(through events.Sequence) []byte {
	return seal(binary.AppendUvarint([]byte{metaVersion}, uint64(through)))
}

func decodeOffset(sealed []byte) (events.Sequence, error) {
	d, err := newFields(sealed)
	if err != nil {
		return 0, fmt.Errorf("decode an offset: %w", err)
	}
	return events.Sequence(d.uvarint()), d.end("decode an offset")
}

func appendHead(v []byte, h store.Head) []byte {
	v = binary.AppendUvarint(v, uint64(h.Sequence))
	v = binary.AppendVarint(v, int64(h.Time))
	return append(v, h.Hash[:]...)
}

// seal returns v with its CRC-32C appended.
func seal(v []byte) []byte {
	return binary.LittleEndian.AppendUint32(v, crc32.Checksum(v, castagnoli))
}

// fields decodes a sealed value field by field. It remembers the first error, and end returns it.
type fields struct {
	rest []byte
	bad  bool
}

func newFields(sealed []byte) (*fields, error) { return newFieldsOf(metaVersion, sealed) }

func newFieldsOf(version byte, sealed []byte) (*fields, error) {
	d, has, err := unseal(sealed)
	if err == nil && has != version {
		return nil, fmt.Errorf("its version is %d, this program knows %d", has, version)
	}
	return d, err
}

// unseal verifies the checksum, and returns the version and a decoder of the rest.
func unseal(sealed []byte) (d *fields, version byte, err error) {
	n := len(sealed) - crc32.Size
	switch {
	case n < 1:
		return nil, 0, errFields
	case crc32.Checksum(sealed[:n], castagnoli) != binary.LittleEndian.Uint32(sealed[n:]):
		return nil, 0, errChecksum
	}
	return &fields{rest: sealed[1:n]}, sealed[0], nil
}

// newBeginning decodes the least reader version of a file or of a snapshot. It returns ErrNewer when this program's
// format is too old, whatever the version of the rest, and ErrBefore when the file is from before the first release.
func newBeginning(sealed []byte) (*fields, least, error) {
	d, version, err := unseal(sealed)
	if err != nil {
		return nil, least{}, err
	}
	if version > 0 && version < beginVersion {
		return nil, least{}, events.ErrBefore
	}
	needs := (&fields{rest: d.bytes(int(d.uvarint()))}).least()
	if err := needs.check(events.ReaderVersion{}); err != nil {
		return nil, needs, err
	}
	if d.bad || version != beginVersion {
		return nil, needs, fmt.Errorf("its version is %d, this program knows %d", version, beginVersion)
	}
	return d, needs, nil
}

// check returns ErrNewer when a program of version own, with our format, cannot read what needs l.
func (l least) check(own events.ReaderVersion) error {
	own.Format = cmp.Or(own.Format, events.Format)
	if own.Reads(l.ReaderVersion) {
		return nil
	}
	return &events.NewerError{Writer: l.writer, Needs: l.ReaderVersion, Has: own}
}

func appendLeast(v []byte, l least) []byte {
	var block []byte
	for _, n := range []uint32{l.Format, l.Rules, l.Fold} {
		block = binary.AppendUvarint(block, uint64(n))
	}
	return appendText(v, string(appendText(appendText(block, l.Program), l.writer)))
}

func (d *fields) least() least {
	l := least{ReaderVersion: events.ReaderVersion{Format: uint32(d.uvarint()), Rules: uint32(d.uvarint()), Fold: uint32(d.uvarint())}}
	l.Program, l.writer = d.text(), d.text()
	return l
}

func (d *fields) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	return v * uint64(d.take(n))
}

func (d *fields) varint() int64 {
	v, n := binary.Varint(d.rest)
	return v * int64(d.take(n))
}

// take consumes n bytes and returns 1, or returns 0 when fewer are left.
func (d *fields) take(n int) int {
	if d.bad || n <= 0 || n > len(d.rest) {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return 1
}

func (d *fields) bytes(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *fields) head() store.Head {
	h := store.Head{Sequence: events.Sequence(d.uvarint()), Time: events.Time(d.varint())}
	copy(h.Hash[:], d.bytes(hashBytes))
	return h
}

func (d *fields) end(what string) error {
	if d.bad || len(d.rest) > 0 {
		return fmt.Errorf("%s: %w", what, errFields)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errChecksum = errors.New("its checksum does not match")
	errFields   = errors.New("it is malformed")
)

func appendText(v []byte, s string) []byte {
	return append(binary.AppendUvarint(v, uint64(len(s))), s...)
}

func (d *fields) text() string { return string(d.bytes(int(d.uvarint()))) }

func (d *fields) stream() events.Stream {
	kind := d.bytes(1)
	if d.bad {
		return events.Stream{}
	}
	return events.Stream{Kind: events.StreamKind(kind[0]), ID: d.text()}
}

func putOffsets(bucket *bbolt.Bucket, offsets map[string]events.Sequence) error {
	for consumer, through := range offsets {
		if err := bucket.Put([]byte(consumer), encodeOffset(through)); err != nil {
			return err
		}
	}
	return nil
}

func (f *logFile) head() (head, error) {
	if f.told != nil {
		return *f.told, nil
	}
	v, err := f.meta(headKey)
	if err != nil {
		return head{}, err
	}
	return decodeHead(v)
}
