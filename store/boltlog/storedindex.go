package boltlog

import (
	"encoding/binary"
	"errors"
	"os"
	"sort"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
)

// storedIndex is the index of a sealed file as it is stored: entries in order, found by binary search in two tables.
//
//	1 byte version, uvarint first, head of the file           which file this is the index of
//	streams   1 byte kind, id, count, the sequences less first: the first one, then differences
//	names     namespace, name, count, then of each bearer: 1 byte kind, id, first mention less first
//	4 bytes   place of each stream entry, then of each name entry
//	8 bytes   4 number of streams, 4 number of names
//	4 bytes   CRC-32C of all that
//
// Texts are uvarint length and bytes, numbers are uvarints, except in the tables: little endian.
type storedIndex struct {
	first   events.Sequence
	content []byte
	streams []byte // table
	names   []byte // table
}

func encodeIndex(x *index.Index, end store.Head) []byte {
	v := binary.AppendUvarint([]byte{metaVersion}, uint64(x.First()))
	v = appendHead(v, end)
	var table []byte
	streams, names := x.Streams(), x.Names()
	for _, s := range streams {
		table = binary.LittleEndian.AppendUint32(table, uint32(len(v)))
		run := x.Run(s, 0, end.Sequence)
		v = appendStream(v, s)
		v = binary.AppendUvarint(v, uint64(run.Len()))
		before := x.First()
		for i := range run.Len() {
			v = binary.AppendUvarint(v, uint64(run.At(i)-before))
			before = run.At(i)
		}
	}
	for _, n := range names {
		table = binary.LittleEndian.AppendUint32(table, uint32(len(v)))
		v = appendText(appendText(v, n.Namespace), n.Name)
		bearers := x.Bearers(n, end.Sequence)
		v = binary.AppendUvarint(v, uint64(len(bearers)))
		for _, b := range bearers {
			v = binary.AppendUvarint(appendStream(v, b.Stream), uint64(b.Since-x.First()))
		}
	}
	v = append(v, table...)
	v = binary.LittleEndian.AppendUint32(v, uint32(len(streams)))
	v = binary.LittleEndian.AppendUint32(v, uint32(len(names)))
	return seal(v)
}

func appendText(v []byte, s string) []byte {
	return append(binary.AppendUvarint(v, uint64(len(s))), s...)
}

func appendStream(v []byte, s events.Stream) []byte {
	return appendText(append(v, byte(s.Kind)), s.ID)
}

func (d *fields) text() string { return string(d.bytes(int(d.uvarint()))) }

func (d *fields) stream() events.Stream {
	kind := d.bytes(1)
	if d.bad {
		return events.Stream{}
	}
	return events.Stream{Kind: events.StreamKind(kind[0]), ID: d.text()}
}

var errOtherFile = errors.New("it is the index of another file")

// readStoredIndex reads the index of the file that begins with first and ends with that head.
func readStoredIndex(path string, first events.Sequence, end store.Head) (*storedIndex, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := newFields(content)
	if err != nil {
		return nil, err
	}
	if begins := events.Sequence(d.uvarint()); d.bad || begins != first || d.head() != end {
		return nil, errOtherFile
	}
	if len(d.rest) < 8 {
		return nil, errFields
	}
	tables := d.rest[:len(d.rest)-8]
	counts := d.rest[len(d.rest)-8:]
	streams, names := 4*int(binary.LittleEndian.Uint32(counts)), 4*int(binary.LittleEndian.Uint32(counts[4:]))
	if streams+names > len(tables) {
		return nil, errFields
	}
	tables = tables[len(tables)-streams-names:]
	return &storedIndex{first: first, content: content, streams: tables[:streams], names: tables[streams:]}, nil
}

// entry is the i-th entry of a table.
func (x *storedIndex) entry(table []byte, i int) *fields {
	at := int(binary.LittleEndian.Uint32(table[4*i:]))
	if at > len(x.content) {
		return &fields{bad: true}
	}
	return &fields{rest: x.content[at:]}
}

func (x *storedIndex) run(s events.Stream) (index.Run, error) {
	n := len(x.streams) / 4
	i := sort.Search(n, func(i int) bool {
		return index.CompareStreams(x.entry(x.streams, i).stream(), s) >= 0
	})
	if i == n {
		return index.Run{}, nil
	}
	d := x.entry(x.streams, i)
	if d.stream() != s {
		return index.Run{}, nil
	}
	var offsets []uint32
	at := uint64(0)
	for range d.uvarint() {
		if at += d.uvarint(); d.bad {
			return index.Run{}, errFields
		}
		offsets = append(offsets, uint32(at))
	}
	return index.RunOf(x.first, offsets), nil
}

func (x *storedIndex) bearers(name index.Name) ([]index.Bearer, error) {
	n := len(x.names) / 4
	read := func(d *fields) index.Name { return index.Name{Namespace: d.text(), Name: d.text()} }
	i := sort.Search(n, func(i int) bool { return index.CompareNames(read(x.entry(x.names, i)), name) >= 0 })
	if i == n {
		return nil, nil
	}
	d := x.entry(x.names, i)
	if read(d) != name {
		return nil, nil
	}
	var out []index.Bearer
	for range d.uvarint() {
		b := index.Bearer{Stream: d.stream(), Since: x.first + events.Sequence(d.uvarint())}
		if d.bad {
			return nil, errFields
		}
		out = append(out, b)
	}
	return out, nil
}
