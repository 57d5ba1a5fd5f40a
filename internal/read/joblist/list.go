package joblist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/regular"
)

// list is an open list: the .jobs index file of one log file. A fold (a read of records into states) can continue after
// the last record of the list, if the list has the state of the controller. The format on disk:
//
//	rows      table: key 8 bytes, big endian: the Job's first record, or the one before the first not pruned; a row
//	streams   table: the Job's UID; 8 bytes, the key of its row; to continue a fold: state and names of an active Job
//	cronjobs  table: the CronJob's UID; 8 bytes, its first record that the log holds; to continue a fold: state and
//	          names of an existing CronJob; its summary as JSON
//	footer    1 byte version, log ID, first record of the file, head that the list covers, fold version of the states,
//	          state of the controller; positions of the blocks of each table; CRC-32C
//	8 bytes   position of the footer, little endian
//
// A head names the last record that the list covers: a uvarint sequence, a varint time and a chain value (hash over all
// records so far) of 32 bytes. Texts and states are a uvarint length and bytes.
type list struct {
	file    *os.File
	first   events.Sequence
	through store.Head

	foldVersion uint64
	controller  []byte // encoded state of the controller; nil if a fold cannot continue from the list
	rows        table
	streams     table
	crons       table
}

const (
	listVersion = 4 // versions up to 3 are older than the first release
	placeBytes  = 8
	maxFooter   = 64 << 20
	suffix      = ".jobs"
	tempSuffix  = ".tmp" // ending of files that are being written; a controller removes those that a crash left
)

func listPath(dir string, first events.Sequence) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", uint64(first), suffix))
}

// openList opens the list of log file f. It returns nil if there is no list. It returns an error if the list cannot be
// used: it is damaged, of another version, or of other records than those of the log.
func openList(dir string, id events.Identity, f store.File, log store.Reader) (*list, error) {
	file, err := regular.Open(listPath(dir, f.First))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &list{file: file}
	if err := l.open(id, f, log); err != nil {
		l.close()
		return nil, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	return l, nil
}

func (l *list) close() {
	if l != nil {
		_ = l.file.Close() // the file was only read, so nothing can be lost
	}
}

func (l *list) open(id events.Identity, f store.File, log store.Reader) error {
	content, at, err := readFooter(l.file)
	if err != nil {
		return err
	}
	d := &decoder{rest: content}
	if v := d.bytes(1); d.bad || v[0] != listVersion {
		return errors.New("it is of another version")
	}
	logID := string(d.text())
	l.first = events.Sequence(d.uvarint())
	l.through = store.Head{Sequence: events.Sequence(d.uvarint()), Time: events.Time(d.varint())}
	copy(l.through.Hash[:], d.bytes(uint64(len(l.through.Hash))))
	l.foldVersion, l.controller = d.uvarint(), d.text()
	var end int64
	l.rows, end = openTable(l.file, 0, d)
	l.streams, end = openTable(l.file, end, d)
	l.crons, end = openTable(l.file, end, d)
	switch {
	case d.bad || len(d.rest) > 0 || end != at:
		return errMalformed
	case logID != id.LogID || l.first != f.First:
		return errors.New("it is that of another file")
	case l.through.Sequence > f.End.Sequence && f.End.Sequence != 0:
		return errors.New("it is of records that the log does not have")
	case l.through == f.End:
		return nil
	}
	hash, err := log.Chain(l.through.Sequence)
	if err == nil && hash != l.through.Hash {
		err = errors.New("it is of other records")
	}
	return err
}

// readFooter returns the footer of a list (the tables' positions and what the list covers), and the footer's position
// in the file.
func readFooter(file *os.File) ([]byte, int64, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	var place [placeBytes]byte
	size := info.Size() - placeBytes
	if size < 0 {
		return nil, 0, errMalformed
	}
	if _, err := file.ReadAt(place[:], size); err != nil {
		return nil, 0, err
	}
	at := binary.LittleEndian.Uint64(place[:])
	if at > uint64(size) || uint64(size)-at > maxFooter {
		return nil, 0, errMalformed
	}
	footer := make([]byte, uint64(size)-at)
	if _, err := file.ReadAt(footer, int64(at)); err != nil {
		return nil, 0, err
	}
	content, err := unseal(footer)
	return content, int64(at), err
}

// goesOn reports whether a fold can continue from the list: the list has the states of the objects, and they are in the
// format of this program.
func (l *list) goesOn() bool {
	return l != nil && len(l.controller) > 0 && l.foldVersion == projector.FoldVersion
}

// known is what a list knows about one Job: its row, and its state if the Job is active.
type known struct {
	row   row
	state []byte // encoded state; nil for a Job that is over, and in the finished list of a sealed file
	names []byte
}

// job returns what the list knows about the Job with stream s (its records in the log). ok is false if the list lacks
// the Job. If the list is malformed, the error is errMalformed.
func (l *list) job(s events.Stream) (k known, ok bool, err error) {
	content, ok, err := l.streams.find([]byte(s.ID))
	if !ok {
		return k, false, err
	}
	d := decoder{rest: content}
	key := d.bytes(8)
	k.state, k.names = d.text(), d.text()
	if d.bad {
		return k, false, errMalformed
	}
	content, ok, err = l.rows.find(key)
	if !ok {
		return k, false, errors.Join(err, errMalformed)
	}
	k.row.key = events.Sequence(binary.BigEndian.Uint64(key))
	r, err := decodeRow(k.row.key, content)
	if err != nil {
		return k, false, err
	}
	k.row.Summary, err = r.summary()
	return k, true, err
}

func keyBytes(key events.Sequence) []byte { return binary.BigEndian.AppendUint64(nil, uint64(key)) }

// streamEntry returns the content of an entry in the table streams: the key of the Job's row, and the Job's state.
func streamEntry(key events.Sequence, state, names []byte) []byte {
	return appendText(appendText(keyBytes(key), state), names)
}

// header has the fields of a list's footer, except the positions of the tables.
type header struct {
	id         events.Identity
	first      events.Sequence
	through    store.Head
	controller []byte
}

// writeList writes the list of a log file: it writes a temporary file, and renames it. It does not fsync, because a
// list can be made again from the log: readers ignore a list that a power cut damaged, and the next Keeper writes it
// again.
func writeList(dir string, h header, tables ...fillTable) (err error) {
	path := listPath(dir, h.first)
	file, err := regular.OpenFile(path+tempSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	err = h.write(out, tables)
	if err = errors.Join(err, out.Flush(), file.Close()); err == nil {
		err = os.Rename(path+tempSuffix, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path+tempSuffix))
	}
	return nil
}

// fillTable is a function that writes one table of a list: it calls add for each entry, in the order of the keys.
type fillTable func(add func(key, content []byte) error) error

func (h *header) write(out *bufio.Writer, tables []fillTable) error {
	footer := appendText([]byte{listVersion}, h.id.LogID)
	footer = binary.AppendUvarint(footer, uint64(h.first))
	footer = binary.AppendUvarint(footer, uint64(h.through.Sequence))
	footer = binary.AppendVarint(footer, int64(h.through.Time))
	footer = append(footer, h.through.Hash[:]...)
	footer = appendText(binary.AppendUvarint(footer, projector.FoldVersion), h.controller)
	at := int64(0)
	for _, fill := range tables {
		w := &tableWriter{out: out}
		if err := fill(w.add); err != nil {
			return err
		}
		where, err := w.end()
		if err != nil {
			return err
		}
		footer, at = append(footer, where...), at+w.bytes
	}
	if _, err := out.Write(seal(footer)); err != nil {
		return err
	}
	_, err := out.Write(binary.LittleEndian.AppendUint64(nil, uint64(at)))
	return err
}
