package streamindex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/fields"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/regular"
)

// Index is an open index on disk. A query reads at most one block of it. For nearly all streams that are not in the
// file, it reads no block, because the filter, which is kept in memory, excludes them. It is safe for concurrent use.
//
//	blocks    of streams, then of names: entries, CRC-32C
//	footer    1 byte version, uvarint first, head of the file    identify the file of the index
//	          youngest                                           creation time of the youngest object in it: varint
//	          streams, filter                                    number of streams, and the bytes of the filter
//	          for streams, then for names: count, lengths        of the blocks
//	          CRC-32C
//	8 bytes   offset of the footer, little endian
//
//	entry     length, then
//	stream    1 byte kind, id, count, sequences minus first: the first one, then differences
//	name      namespace, name, count, then for each stream: 1 byte kind, id, first mention minus first
//
// With n blocks, block i has the entries whose hashes are in the i-th of n equal parts of all hashes. Texts are uvarint
// length and bytes, numbers are uvarints.
type Index struct {
	file     *os.File
	first    events.Sequence
	Youngest events.Time // latest creation time of all objects in this file and earlier ones
	filter   filter
	tables   [tables]table
}

// table tells where in the index file the blocks of one kind are: those with streams, or those with names.
type table struct {
	at   uint64   // offset of the first block
	ends []uint32 // end of each block, relative to at
}

const (
	streamTable = iota
	nameTable
	tables
)

const (
	// Version is the only version that can be read. 2 is from before the first release.
	Version     = 3
	blockBytes  = 3 << 10 // approximate size of a block's entries; larger blocks are not split
	footerPlace = 8
	maxFooter   = 64 << 20
)

// entry is a stream or name that is to be written to an index, with its hash.
type entry struct {
	hash    uint64
	content []byte
}

func Encode(x *index.Index, end store.Head, youngest events.Time) []byte {
	names := x.Names()
	// The index covers records up to end. So leave out streams whose first record comes later.
	streams := slices.DeleteFunc(x.Streams(), func(s events.Stream) bool { return x.Run(s, 0, end.Sequence).Len() == 0 })
	f := newFilter(len(streams))
	all := make([]entry, 0, len(streams))
	for _, s := range streams {
		run := x.Run(s, 0, end.Sequence)
		v := binary.AppendUvarint(fields.AppendStream(nil, s), uint64(run.Len()))
		before := x.First()
		for i := range run.Len() {
			v = binary.AppendUvarint(v, uint64(run.At(i)-before))
			before = run.At(i)
		}
		hash := streamHash(s)
		f.add(hash)
		all = append(all, entry{hash, v})
	}
	out, streamLengths := appendBlocks(nil, all)
	all = all[:0]
	for _, n := range names {
		namedStreams := x.Bearers(n, end.Sequence)
		if len(namedStreams) == 0 {
			continue
		}
		v := binary.AppendUvarint(fields.AppendText(fields.AppendText(nil, n.Namespace), n.Name), uint64(len(namedStreams)))
		for _, b := range namedStreams {
			v = binary.AppendUvarint(fields.AppendStream(v, b.Stream), uint64(b.Since-x.First()))
		}
		all = append(all, entry{nameHash(n), v})
	}
	out, nameLengths := appendBlocks(out, all)

	footer := binary.AppendUvarint([]byte{Version}, uint64(x.First()))
	footer = fields.AppendHead(footer, end)
	footer = binary.AppendVarint(footer, int64(youngest))
	footer = binary.AppendUvarint(footer, uint64(len(streams)))
	footer = append(binary.AppendUvarint(footer, uint64(len(f))), f...)
	for _, lengths := range [tables][]int{streamLengths, nameLengths} {
		footer = binary.AppendUvarint(footer, uint64(len(lengths)))
		for _, n := range lengths {
			footer = binary.AppendUvarint(footer, uint64(n))
		}
	}
	place := uint64(len(out))
	return binary.LittleEndian.AppendUint64(append(out, fields.Seal(footer)...), place)
}

// appendBlocks sorts the entries by hash and appends them to out in blocks. It returns the lengths of the blocks.
func appendBlocks(out []byte, all []entry) ([]byte, []int) {
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	size := 0
	for _, e := range all {
		size += len(e.content)
	}
	lengths := make([]int, size/blockBytes+1)
	for i := range lengths {
		var block []byte
		for len(all) > 0 && part(all[0].hash, len(lengths)) == i {
			block = binary.AppendUvarint(block, uint64(len(all[0].content)))
			block = append(block, all[0].content...)
			all = all[1:]
		}
		block = fields.Seal(block)
		out, lengths[i] = append(out, block...), len(block)
	}
	return out, lengths
}

// part returns which of n blocks contains a hash. The range of all hashes is divided into n equal parts.
func part(hash uint64, n int) int {
	i, _ := bits.Mul64(hash, uint64(n))
	return int(i)
}

var errOtherFile = errors.New("it is the index of another file")

// Open opens the index of the log file that begins with record first and ends with head end. If the index is of another
// file, it returns an error. Blocks are verified only when they are read.
func Open(path string, first events.Sequence, end store.Head) (*Index, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	x := &Index{file: file, first: first}
	if err := x.open(end); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), file.Close())
	}
	return x, nil
}

// FooterOf reads the footer of an index, or of a .jobs file (index of the Jobs in one log file). It returns a decoder
// for its fields, its version, and `at`, its offset in the file.
func FooterOf(file *os.File) (d *fields.Decoder, version byte, at uint64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	var place [footerPlace]byte
	size := info.Size() - footerPlace
	if size < 0 {
		return nil, 0, 0, fields.ErrFields
	}
	if _, err := file.ReadAt(place[:], size); err != nil {
		return nil, 0, 0, err
	}
	at = binary.LittleEndian.Uint64(place[:])
	if at > uint64(size) || uint64(size)-at > maxFooter {
		return nil, 0, 0, fields.ErrFields
	}
	footer := make([]byte, uint64(size)-at)
	if _, err := file.ReadAt(footer, int64(at)); err != nil {
		return nil, 0, 0, err
	}
	d, version, err = fields.Unseal(footer)
	return d, version, at, err
}

func (x *Index) open(end store.Head) error {
	d, version, at, err := FooterOf(x.file)
	switch {
	case err != nil:
		return err
	case version != Version:
		return fmt.Errorf("its version is %d, this program knows %d", version, Version)
	}
	if begins := events.Sequence(d.Uvarint()); d.Bad || begins != x.first || d.Head() != end {
		return errOtherFile
	}
	x.Youngest = events.Time(d.Varint())
	d.Uvarint() // skip the number of streams
	x.filter = slices.Clone(filter(d.Bytes(int(d.Uvarint()))))
	next := uint64(0)
	for i := range x.tables {
		t := &x.tables[i]
		n := d.Uvarint()
		if n > at {
			return fields.ErrFields
		}
		t.at, t.ends = next, make([]uint32, 0, n)
		for range n {
			length := d.Uvarint()
			if length > at {
				return fields.ErrFields
			}
			if next += length; next-t.at > math.MaxUint32 {
				return fields.ErrFields
			}
			t.ends = append(t.ends, uint32(next-t.at))
		}
	}
	if next != at || len(x.filter) == 0 {
		return fields.ErrFields
	}
	return d.End("decode the footer")
}

// Load copies all of the index on disk into an index in memory.
func (x *Index) Load(into *index.Index) error {
	for i := range x.tables {
		for j := range x.tables[i].ends {
			block, err := x.blockAt(&x.tables[i], j)
			if err != nil {
				return err
			}
			for d := (&fields.Decoder{Rest: block}); len(d.Rest) > 0; {
				e := &fields.Decoder{Rest: d.Bytes(int(d.Uvarint()))}
				if d.Bad {
					return fields.ErrFields
				}
				if err := x.take(i, e, into); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// take copies one entry of a table into the index `into`: a stream with its records, or a name with its streams.
func (x *Index) take(table int, e *fields.Decoder, into *index.Index) error {
	if table == streamTable {
		s := e.Stream()
		offsets, err := offsetsOf(e)
		into.Take(s, offsets)
		return err
	}
	name := index.Name{Namespace: e.Text(), Name: e.Text()}
	namedStreams, err := namedStreamsOf(e, x.first)
	into.TakeName(name, namedStreams)
	return err
}

// Close closes the file.
func (x *Index) Close() error { return x.file.Close() }

// Streams returns the approximate number of streams in the index, computed from the size of the filter.
func (x *Index) Streams() int { return 8 * len(x.filter) / filterBits }

// Bytes returns how much memory the index takes.
func (x *Index) Bytes() int {
	n := len(x.filter)
	for _, t := range x.tables {
		n += 4 * len(t.ends)
	}
	return n
}

// block reads the block of table t that contains entries with this hash; nil if the table has no blocks.
func (x *Index) block(t *table, hash uint64) ([]byte, error) {
	if len(t.ends) == 0 {
		return nil, nil
	}
	return x.blockAt(t, part(hash, len(t.ends)))
}

func (x *Index) blockAt(t *table, i int) ([]byte, error) {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	if t.ends[i]-from < crc32.Size {
		return nil, fields.ErrFields
	}
	block := make([]byte, t.ends[i]-from)
	if _, err := x.file.ReadAt(block, int64(t.at+uint64(from))); err != nil {
		if errors.Is(err, io.EOF) {
			err = fields.ErrFields
		}
		return nil, err
	}
	n := len(block) - crc32.Size
	if crc32.Checksum(block[:n], fields.Castagnoli) != binary.LittleEndian.Uint32(block[n:]) {
		return nil, fields.ErrChecksum
	}
	return block[:n], nil
}

// find returns what an entry of the table stores after its key; nil if there is no such entry. `is` reports whether the
// key is the wanted one.
func (x *Index) find(table int, hash uint64, is func(*fields.Decoder) bool) (*fields.Decoder, error) {
	block, err := x.block(&x.tables[table], hash)
	if err != nil {
		return nil, err
	}
	for d := (&fields.Decoder{Rest: block}); len(d.Rest) > 0; {
		content := d.Bytes(int(d.Uvarint()))
		if d.Bad {
			return nil, fields.ErrFields
		}
		if e := (&fields.Decoder{Rest: content}); is(e) {
			return e, nil
		}
	}
	return nil, nil
}

// Run returns the records of the stream (Job or CronJob) in the file.
func (x *Index) Run(s events.Stream) (index.Run, error) {
	hash := streamHash(s)
	if !x.filter.has(hash) {
		return index.Run{}, nil
	}
	d, err := x.find(streamTable, hash, func(d *fields.Decoder) bool { return d.Stream() == s && !d.Bad })
	if err != nil || d == nil {
		return index.Run{}, err
	}
	offsets, err := offsetsOf(d)
	return index.RunOf(x.first, offsets), err
}

func offsetsOf(d *fields.Decoder) ([]uint32, error) {
	var offsets []uint32
	at := uint64(0)
	for range d.Uvarint() {
		if at += d.Uvarint(); d.Bad {
			return nil, fields.ErrFields
		}
		offsets = append(offsets, uint32(at))
	}
	return offsets, nil
}

// NamedStreams returns the streams (Jobs, CronJobs) whose object has this name, each with the first record that tells
// the name.
func (x *Index) NamedStreams(name index.Name) ([]index.NamedStream, error) {
	d, err := x.find(nameTable, nameHash(name), func(d *fields.Decoder) bool {
		return index.Name{Namespace: d.Text(), Name: d.Text()} == name && !d.Bad
	})
	if err != nil || d == nil {
		return nil, err
	}
	return namedStreamsOf(d, x.first)
}

func namedStreamsOf(d *fields.Decoder, first events.Sequence) (out []index.NamedStream, err error) {
	for range d.Uvarint() {
		b := index.NamedStream{Stream: d.Stream(), Since: first + events.Sequence(d.Uvarint())}
		if d.Bad {
			return nil, fields.ErrFields
		}
		out = append(out, b)
	}
	return out, nil
}
