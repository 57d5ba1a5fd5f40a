package boltlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/regular"
)

// A log that lost its end looks like one that never had it. What stands beside it tells: the head that is noted there
// every few seconds, the head at the last Close, a snapshot or an index of records that are not there, a consumer that
// had got further. Each of these was durable only after the records were. So a log that has less went back, and is not
// gone on with: its next records would have the numbers of those that are lost.

const (
	headName  = "HEAD" // the newest head, as it was a few seconds ago at the latest
	headEvery = 5 * time.Second
)

// witnessVersion is that of HEAD and CLOSED: log ID, uvarint epoch, head; CRC-32C. 1 and 2 were used before the first
// release.
const witnessVersion = 3

// mostWitness is more bytes than any witness has, whatever the log's ID.
const mostWitness = 4 << 10

// noteHeads notes the durable head beside the log, now and then, until the log accepts nothing more. While it is known
// that records are lost, what tells of them stays as it is.
func (l *Log) noteHeads() {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	var noted store.Head
	told := false
	for {
		now, err := l.noteHead(noted)
		if err != nil && !told { // only a witness, and the disk may be full for long
			l.options.Logger.Warn("the newest head is not noted beside the log", slog.Any("error", err))
		}
		noted, told = now, err != nil
		select {
		case <-l.committed:
			return
		case <-tick.C:
		}
	}
}

// noteHead notes the durable head, unless that is the one that was noted, and returns it.
func (l *Log) noteHead(noted store.Head) (store.Head, error) {
	l.noting.Lock()
	defer l.noting.Unlock()
	id, now := l.Durable()
	if now == noted || now.Sequence == 0 || len(l.Losses()) > 0 {
		return noted, nil
	}
	return now, writeWitness(filepath.Join(l.dir, headName), id, now)
}

// Durable is the durable head with the identity that the log had there. Whoever tells others of the head says this one:
// that of an EpochChanged which is not durable yet could be proof, after a crash, of a loss that never was.
func (l *Log) Durable() (events.Identity, store.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return events.Identity{LogID: l.identity.LogID, Epoch: l.durableEpoch}, l.durable
}

func writeWitness(path string, id events.Identity, head store.Head) error {
	v := binary.AppendUvarint(appendText([]byte{witnessVersion}, id.LogID), id.Epoch)
	return writeFile(path, seal(appendHead(v, head)))
}

// readWitness is what a witness says of a log; the zero Loss when there is none, it cannot be read or is another log's:
// it says nothing then. One of before the first release is an error: whoever put it there believes that it belongs to
// the log.
func readWitness(path string, id events.Identity) (events.Loss, error) {
	w, err := openWitness(path)
	return w.of(id), err
}

// witness is what a file says of how far a log had come.
type witness struct {
	logID string // empty when it says nothing
	epoch uint64
	head  store.Head
}

// openWitness reads a witness. One that is missing or damaged says nothing.
func openWitness(path string) (w witness, err error) {
	content, err := regular.Read(path, mostWitness)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	d, version, err := unseal(content)
	if err == nil && version > 0 && version < witnessVersion {
		return w, &events.BeforeError{What: path, Do: "it is no file of this log: move it away"}
	}
	if err != nil || version != witnessVersion {
		return w, nil //nolint:nilerr // see above
	}
	said := witness{logID: d.text(), epoch: d.uvarint(), head: d.head()}
	if d.end("decode the witness") != nil {
		return w, nil //nolint:nilerr // see above
	}
	return said, nil
}

// of is what a witness says of a log; the zero Loss when it is another's.
func (w witness) of(id events.Identity) events.Loss {
	if w.logID == "" || w.logID != id.LogID {
		return events.Loss{}
	}
	return witnessed(w.epoch, w.head)
}

func witnessed(epoch uint64, head store.Head) events.Loss {
	return events.Loss{Witness: events.WitnessFiles, Epoch: epoch, Sequence: head.Sequence, Hash: head.Hash}
}

// wentBack says how it shows that the log, whose last file begins with that record, had records after its end; none
// when it does not. What tells of an epoch before the log's own proves nothing: the log went on without those records,
// and says so.
func wentBack(dir string, id events.Identity, tail events.Sequence, end store.Head, offsets map[string]events.Sequence) ([]error, error) {
	b, err := seenBeside(dir, tail)
	if err != nil {
		return nil, err
	}
	return b.ahead(dir, id, end, offsets), nil
}

// beside is what stood beside a log at one moment and tells how far it had come.
type beside struct {
	closed, noted witness
	snapshots     []events.Sequence
	indexed       []store.Head // ends of the files that indexes are of, from the last file on
	lists         []witness    // what lists of Jobs say; they name no epoch
}

// seenBeside reads it. The last file begins with that record.
func seenBeside(dir string, tail events.Sequence) (b beside, err error) {
	if b.closed, err = openWitness(filepath.Join(dir, closedName)); err != nil {
		return b, err
	}
	if b.noted, err = openWitness(filepath.Join(dir, headName)); err != nil {
		return b, err
	}
	if b.snapshots, err = listFiles(dir, snapshotSuffix); err != nil {
		return b, err
	}
	indexes, err := listFiles(dir, indexSuffix)
	for _, first := range indexes {
		if first >= tail {
			b.indexed = append(b.indexed, indexEnd(filepath.Join(dir, fileName(first, indexSuffix))))
		}
	}
	if err != nil {
		return b, err
	}
	lists, err := listFiles(dir, listSuffix)
	for _, first := range lists {
		logID, head := listEnd(filepath.Join(dir, fileName(first, listSuffix)))
		b.lists = append(b.lists, witness{logID: logID, head: head})
	}
	return b, err
}

// ahead says what of it tells of records behind the end of the log.
func (b *beside) ahead(dir string, id events.Identity, end store.Head, offsets map[string]events.Sequence) (all []error) {
	ahead := func(l events.Loss, says string) {
		if l.Epoch > id.Epoch || l.Epoch == id.Epoch && l.Sequence > end.Sequence {
			all = append(all, lost(dir, end.Sequence, l, fmt.Sprintf(says, l.Sequence)))
		}
	}
	for _, w := range []struct {
		witness
		says string
	}{
		{b.closed, "the log was closed with record %d"},
		{b.noted, "the log had record %d, as the file HEAD beside it says"},
	} {
		if l := w.of(id); l.Sequence > 0 {
			ahead(l, w.says)
		}
	}
	for _, at := range slices.Backward(b.snapshots) {
		if at <= end.Sequence {
			break
		}
		s, err := readSnapshot(filepath.Join(dir, fileName(at, snapshotSuffix)), events.ReaderVersion{})
		if err == nil && s.Identity.LogID == id.LogID && s.Head.Sequence > end.Sequence {
			ahead(witnessed(s.Identity.Epoch, s.Head), "there is a snapshot of record %d")
		}
	}
	for _, head := range b.indexed {
		ahead(witnessed(id.Epoch, head), "there is an index of a file that ended with record %d")
	}
	for _, l := range b.lists {
		if l.logID == id.LogID {
			ahead(witnessed(id.Epoch, l.head), "there is a list of Jobs as of record %d")
		}
	}
	for _, consumer := range slices.Sorted(maps.Keys(offsets)) { // an offset is stored after the records through it are
		through := store.Head{Sequence: offsets[consumer]}
		ahead(witnessed(id.Epoch, through), strings.ReplaceAll(fmt.Sprintf("the consumer %q had got through record", consumer), "%", "%%")+" %d")
	}
	return all
}

// lost is for a log that ends before a record that it had, or is in an epoch before that of the record.
func lost(path string, end events.Sequence, l events.Loss, says string) error {
	if l.Sequence > end {
		says += fmt.Sprintf(", and it ends with record %d now", end)
	} else {
		says += fmt.Sprintf(" in epoch %d, and it has not come to that epoch", l.Epoch)
	}
	return &store.CorruptError{
		Path: path, At: end + 1, Cause: &store.LossError{Loss: l, Says: says},
		Hint: "its end is damaged or lost, or an older copy was put in its place; records through the end can be read",
	}
}

// newestLoss is the error whose record is the newest.
func newestLoss(all []error) error {
	return slices.MaxFunc(all, func(a, b error) int {
		x, y := lossOf(a), lossOf(b)
		return cmp.Or(cmp.Compare(x.Epoch, y.Epoch), cmp.Compare(x.Sequence, y.Sequence))
	})
}

func lossOf(err error) (l events.Loss) {
	var loss *store.LossError
	if errors.As(err, &loss) {
		l = loss.Loss
	}
	return l
}

// Losses are the records that the log is known to have had and does not have, as far as what stands beside it tells.
// There are none unless Options.AcceptLoss let it be opened, and none after GoOn.
func (l *Log) Losses() []events.Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.losses
}

// GoOn is called once the EpochChanged is durable with which the log goes on after a loss. What tells of the records
// that are lost is replaced or removed: they are of an epoch that has ended.
func (l *Log) GoOn() error {
	l.noting.Lock()
	defer l.noting.Unlock()
	id, end := l.Durable()
	for _, loss := range l.Losses() {
		if loss.Epoch >= id.Epoch {
			return fmt.Errorf("go on with log %s: %s, which is no epoch before this one", id, loss)
		}
	}
	if err := writeWitness(filepath.Join(l.dir, headName), id, end); err != nil {
		return fmt.Errorf("note the head of the new epoch: %w", err)
	}
	if err := os.Remove(filepath.Join(l.dir, closedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.mu.Lock()
	l.losses = nil
	tail := l.files[len(l.files)-1].first
	l.mu.Unlock()
	return errors.Join(tidySnapshots(l.dir, id, end), tidyIndexes(l.dir), os.RemoveAll(filepath.Join(l.dir, fileName(tail, indexSuffix))),
		tidyLists(l.dir, id, end))
}

// tidyLists removes the lists of Jobs as of records that are lost.
func tidyLists(dir string, id events.Identity, end store.Head) error {
	all, err := listFiles(dir, listSuffix)
	errs := []error{err}
	for _, first := range all {
		path := filepath.Join(dir, fileName(first, listSuffix))
		if of, head := listEnd(path); of == id.LogID && head.Sequence > end.Sequence {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// tidySnapshots removes those of records that are lost: they are of an epoch that has ended.
func tidySnapshots(dir string, id events.Identity, end store.Head) error {
	all, err := listFiles(dir, snapshotSuffix)
	errs := []error{err}
	for _, at := range slices.Backward(all) {
		path := filepath.Join(dir, fileName(at, snapshotSuffix))
		s, err := readSnapshot(path, events.ReaderVersion{})
		if err == nil && s.Identity.LogID == id.LogID && s.Identity.Epoch < id.Epoch && s.Head.Sequence > end.Sequence {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// indexEnd is the head of the file that a stored index is of; zero when it cannot be read.
func indexEnd(path string) store.Head {
	file, err := regular.Open(path)
	if err != nil {
		return store.Head{}
	}
	defer func() { _ = file.Close() }()
	d, version, _, err := footerOf(file)
	if err != nil || version != indexVersion {
		return store.Head{}
	}
	d.uvarint() // the first record
	if head := d.head(); !d.bad {
		return head
	}
	return store.Head{}
}

// listEnd is the log that a list of Jobs is of, and the head as of which it was made; none when it cannot be read. The
// footers of all versions begin with these.
func listEnd(path string) (logID string, end store.Head) {
	file, err := regular.Open(path)
	if err != nil {
		return "", store.Head{}
	}
	defer func() { _ = file.Close() }()
	d, _, _, err := footerOf(file)
	if err != nil {
		return "", store.Head{}
	}
	logID = d.text()
	d.uvarint() // the first record of the file
	if end = d.head(); d.bad {
		return "", store.Head{}
	}
	return logID, end
}
