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
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/fields"
	"github.com/jobledger/jobledger/store/internal/streamindex"
	"github.com/jobledger/jobledger/store/regular"
)

// A log that has lost its end looks like a log that never had it. Witnesses, files beside the log that name a late
// record, reveal the loss: HEAD, with the last record as of a few seconds ago; CLOSED, with the last record at the last
// Close; a snapshot or an index of later records; the offset of a consumer (up to which record it has read). Each
// witness became durable only after the record that it names. So a log with fewer records has lost some. No writer
// continues it, because its next records would reuse the lost sequences.

const (
	headName  = "HEAD" // name of the file with the last durable record, at most a few seconds old
	headEvery = 5 * time.Second
)

// witnessVersion is the version byte of the files HEAD and CLOSED, which name the last record. It is followed by log
// ID, uvarint epoch, head and CRC-32C. Versions 1 and 2 are from before the first release.
const witnessVersion = 3

// mostWitness limits how much is read of the file HEAD or CLOSED; longer content is an error.
const mostWitness = 4 << 10

// noteHeads writes the last durable record to the file HEAD every 5 seconds, until the log accepts nothing more. While
// a loss of records is known, HEAD stays unchanged, because it proves the loss.
func (l *Log) noteHeads() {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	var noted store.Head
	told := false
	for {
		now, err := l.noteHead(noted)
		// Warn only once, not every 5 s: HEAD only serves to detect a later loss, and a full disk may stay full for
		// long.
		if err != nil && !told {
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

// noteHead writes the last durable record to the file HEAD, unless it equals noted, which HEAD has already. It returns
// what HEAD has now.
func (l *Log) noteHead(noted store.Head) (store.Head, error) {
	l.noting.Lock()
	defer l.noting.Unlock()
	id, now := l.Durable()
	if now == noted || now.Sequence == 0 || len(l.Losses()) > 0 {
		return noted, nil
	}
	return now, writeWitness(filepath.Join(l.dir, headName), id, now)
}

// Durable implements store.Opened: it returns the durable head and the identity of the log there. Publish this
// identity, not the result of Identity. That may have an epoch which is not durable yet; after a crash, such an epoch
// would seem to prove a loss.
func (l *Log) Durable() (events.Identity, store.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return events.Identity{LogID: l.identity.LogID, Epoch: l.durableEpoch}, l.durable
}

func writeWitness(path string, id events.Identity, head store.Head) error {
	v := binary.AppendUvarint(fields.AppendText([]byte{witnessVersion}, id.LogID), id.Epoch)
	return disk.WriteFile(path, fields.Seal(fields.AppendHead(v, head)))
}

// readWitness returns the last record that a file HEAD or CLOSED names, if it belongs to the log id. If the file is
// missing, unreadable or of another log, it returns the zero Loss. A file from before the first release is an error,
// because someone may have put it there in the belief that it belongs to this log.
func readWitness(path string, id events.Identity) (events.Loss, error) {
	w, err := openWitness(path)
	return w.of(id), err
}

// witness is the content of a file beside the log that tells which record the log once had: HEAD, CLOSED, or a .jobs
// file.
type witness struct {
	logID string // empty if the file has no usable content
	epoch uint64
	head  store.Head
}

// openWitness reads the file HEAD or CLOSED. A missing or damaged file gives the zero witness.
func openWitness(path string) (w witness, err error) {
	content, err := regular.Read(path, mostWitness)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, regular.ErrOdd) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	d, version, err := fields.Unseal(content)
	if err == nil && version > 0 && version < witnessVersion {
		return w, &events.BeforeError{What: path, Do: "it is no file of this log: move it away"}
	}
	if err != nil || version != witnessVersion {
		return w, nil //nolint:nilerr // see above
	}
	said := witness{logID: d.Text(), epoch: d.Uvarint(), head: d.Head()}
	if d.End("decode the witness") != nil {
		return w, nil //nolint:nilerr // see above
	}
	return said, nil
}

// of returns the record that the witness (file that tells how far a log had got) names, as a Loss; zero if the witness
// belongs to another log than id.
func (w witness) of(id events.Identity) events.Loss {
	if w.logID == "" || w.logID != id.LogID {
		return events.Loss{}
	}
	return witnessed(w.epoch, w.head)
}

func witnessed(epoch uint64, head store.Head) events.Loss {
	return events.Loss{Witness: events.WitnessFiles, Epoch: epoch, Sequence: head.Sequence, Hash: head.Hash}
}

// wentBack returns proofs that the log once had records after end, its last record now. Each proof is an error. tail is
// the first record of its last file, offsets are the records up to which consumers have read. A witness (file that
// tells how far the log had got) of an earlier epoch proves nothing, because the log was continued without the lost
// records, as an EpochChanged record says.
func wentBack(dir string, id events.Identity, tail events.Sequence, end store.Head, offsets map[string]events.Sequence) ([]error, error) {
	b, err := seenBeside(dir, tail)
	if err != nil {
		return nil, err
	}
	return b.ahead(dir, id, end, offsets), nil
}

// beside is the content of all files beside a log that tell how far it had got: CLOSED, HEAD, snapshots, indexes, and
// .jobs files (indexes of the Jobs in one log file).
type beside struct {
	closed, noted witness
	snapshots     []events.Sequence
	indexed       []store.Head // last records that the indexes of the last log file and later ones cover
	lists         []witness    // last records that the .jobs files cover, which have no epoch
}

// seenBeside reads the files beside the log that tell how far it had got: HEAD, CLOSED, snapshots, indexes and .jobs
// files. tail is the first record of the log's last file.
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

// ahead returns an error for each proof that the log id had records after its last record, end. offsets are the records
// up to which consumers have read.
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
	// An offset (record up to which a consumer has read) becomes durable only after that record. So an offset after
	// the end of the log proves that records were lost.
	for _, consumer := range slices.Sorted(maps.Keys(offsets)) {
		through := store.Head{Sequence: offsets[consumer]}
		ahead(witnessed(id.Epoch, through), strings.ReplaceAll(fmt.Sprintf("the consumer %q had got through record", consumer), "%", "%%")+" %d")
	}
	return all
}

// lost returns the error for a log that ends with record end, although it once had the later record l, or a record of a
// later epoch. says tells how that is known.
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

// newestLoss returns, of several errors about lost records, the one about the newest record.
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

// Losses implements store.Opened: it returns the records that the log once had and now lacks; none after GoOn.
func (l *Log) Losses() []events.Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.losses
}

// GoOn implements store.Opened: it ends the handling of a loss, after the record of the new epoch is durable. It
// overwrites or removes the files that prove the loss, because they belong to an ended epoch.
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

// tidyLists removes .jobs files (indexes of the Jobs in one log file) that cover records after end, because those are
// lost.
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

// tidySnapshots removes snapshots that include lost records, that is, records after end of an earlier epoch than id's.
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

// indexEnd returns the last record that an index on disk covers; zero when it cannot be read.
func indexEnd(path string) store.Head {
	file, err := regular.Open(path)
	if err != nil {
		return store.Head{}
	}
	defer func() { _ = file.Close() }()
	d, version, _, err := streamindex.FooterOf(file)
	if err != nil || version != streamindex.Version {
		return store.Head{}
	}
	d.Uvarint() // skip the first record
	if head := d.Head(); !d.Bad {
		return head
	}
	return store.Head{}
}

// listEnd returns the ID of the log to which a .jobs file (index of the Jobs in one log file) belongs, and the last
// record that it covers; zero when it cannot be read. The footers of all versions begin with these two.
func listEnd(path string) (logID string, end store.Head) {
	file, err := regular.Open(path)
	if err != nil {
		return "", store.Head{}
	}
	defer func() { _ = file.Close() }()
	d, _, _, err := streamindex.FooterOf(file)
	if err != nil {
		return "", store.Head{}
	}
	logID = d.Text()
	d.Uvarint() // skip the first record of the file
	if end = d.Head(); d.Bad {
		return "", store.Head{}
	}
	return logID, end
}
