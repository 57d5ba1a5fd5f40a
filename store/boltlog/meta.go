package boltlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/fields"
)

// The bbolt buckets of a log file, and the two keys in metaBucket.
var (
	logBucket     = []byte("log")     // sequence of the first record → chunk (stored group of records)
	metaBucket    = []byte("meta")    // the values of beginKey and headKey
	offsetsBucket = []byte("offsets") // name of a consumer → record up to which it has read, with a checksum

	beginKey = []byte("begin") // value: the file's description, written when the file is created
	headKey  = []byte("head")  // value: the last record and its chain hash, rewritten by every commit
)

const bucketCount = 3 // buckets in every file

const metaVersion = 1 // 0 is invalid

// beginVersion is the version of two encodings: the beginning of a file and the beginning of a snapshot. Both start
// with the minimum reader version, in a form that never changes. So a program that does not know the rest can still say
// which version is needed. Versions 1 and 2 are from before the first release, with other numbers for reader versions.
//
//	1 byte  version, then uvarint length and that many bytes:
//	        uvarint format, rules, fold; text program, text writer; newer programs may append fields
//	…       the rest, in the form of the version; CRC-32C of all bytes
const beginVersion = 3

// least tells which programs can read a file: the minimum version of a reader, and the name of the program that wrote
// it.
type least struct {
	events.ReaderVersion
	writer string
}

// begin is the description at the beginning of a log file. With it, the file can be read without the files before it.
type begin struct {
	identity events.Identity // the log's ID and epoch when the file was created
	first    events.Sequence // first record of the file
	before   store.Head      // head of the log (last record, its chain hash and time) before the file
	least    least           // raised by each writer whose records need a newer reader
}

// head is the stored end of a file: its last record, and who wrote it. It is also the fence: if a commit finds another
// value than this process wrote last, another process has written the file, and the commit fails.
type head struct {
	store.Head
	term  uint64 // number of the writer's time: how often the log was opened for writing
	epoch uint64
}

func (b begin) encode() []byte {
	v := appendLeast([]byte{beginVersion}, b.least)
	v = binary.AppendUvarint(v, uint64(len(b.identity.LogID)))
	v = append(v, b.identity.LogID...)
	v = binary.AppendUvarint(v, b.identity.Epoch)
	v = binary.AppendUvarint(v, uint64(b.first))
	v = fields.AppendHead(v, b.before)
	return fields.Seal(v)
}

func decodeBegin(sealed []byte) (begin, error) {
	d, needs, err := newBeginning(sealed)
	if errors.Is(err, events.ErrBefore) {
		err = &events.BeforeError{What: "this log", Do: "keep that program to read it, and begin a new log: give --log an empty directory, and --adopt"}
	}
	if err != nil {
		return begin{}, fmt.Errorf("decode the beginning of the file: %w", err)
	}
	b := begin{least: needs, identity: events.Identity{LogID: string(d.Bytes(int(d.Uvarint()))), Epoch: d.Uvarint()}}
	b.first = events.Sequence(d.Uvarint())
	b.before = d.Head()
	return b, d.End("decode the beginning of the file")
}

func (h head) encode() []byte {
	v := []byte{metaVersion}
	v = binary.AppendUvarint(v, h.term)
	v = binary.AppendUvarint(v, h.epoch)
	return fields.Seal(fields.AppendHead(v, h.Head))
}

func decodeHead(sealed []byte) (head, error) {
	d, err := newFields(sealed)
	if err != nil {
		return head{}, fmt.Errorf("decode the head of the file: %w", err)
	}
	h := head{term: d.Uvarint(), epoch: d.Uvarint()}
	h.Head = d.Head()
	return h, d.End("decode the head of the file")
}

func encodeOffset(through events.Sequence) []byte {
	return fields.Seal(binary.AppendUvarint([]byte{metaVersion}, uint64(through)))
}

func decodeOffset(sealed []byte) (events.Sequence, error) {
	d, err := newFields(sealed)
	if err != nil {
		return 0, fmt.Errorf("decode an offset: %w", err)
	}
	return events.Sequence(d.Uvarint()), d.End("decode an offset")
}

func newFields(sealed []byte) (*fields.Decoder, error) { return fields.Versioned(metaVersion, sealed) }

// newBeginning decodes the minimum reader version of a file or snapshot. It returns ErrNewer if this program's format
// is too old, even if it does not know the rest, and ErrBefore if the file is from before the first release.
func newBeginning(sealed []byte) (*fields.Decoder, least, error) {
	d, version, err := fields.Unseal(sealed)
	if err != nil {
		return nil, least{}, err
	}
	if version > 0 && version < beginVersion {
		return nil, least{}, events.ErrBefore
	}
	needs := leastFrom(&fields.Decoder{Rest: d.Bytes(int(d.Uvarint()))})
	if err := needs.check(events.ReaderVersion{}); err != nil {
		return nil, needs, err
	}
	if d.Bad || version != beginVersion {
		return nil, needs, fmt.Errorf("its version is %d, this program knows %d", version, beginVersion)
	}
	return d, needs, nil
}

// check returns ErrNewer if a program of version own is too old to read a file that needs l. An own format of 0 means
// the format of this program.
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
	return fields.AppendText(v, string(fields.AppendText(fields.AppendText(block, l.Program), l.writer)))
}

func leastFrom(d *fields.Decoder) least {
	l := least{ReaderVersion: events.ReaderVersion{Format: uint32(d.Uvarint()), Rules: uint32(d.Uvarint()), Fold: uint32(d.Uvarint())}}
	l.Program, l.writer = d.Text(), d.Text()
	return l
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
