package boltlog

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// A log that lost its end looks like one that never had it. What stands beside it tells: the head that is noted there every few
// seconds, the head at the last Close, a snapshot or an index of records that are not there, a consumer that had got further. Each of
// these was durable only after the records were. So a log that has less went back, and is not gone on with: its next records would have
// the numbers of those that are lost.

const (
	headName  = "HEAD" // the newest head, as it was a few seconds ago at the latest
	headEvery = 5 * time.Second
)

// noteHeads notes the durable head beside the log, now and then, until the log accepts nothing more.
func (l *Log) noteHeads() {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	var noted store.Head
	told := false
	for {
		l.mu.Lock()
		id, now := l.identity, l.durable
		l.mu.Unlock()
		if now != noted && now.Sequence > 0 {
			err := writeWitness(filepath.Join(l.dir, headName), id, now)
			if err != nil && !told { // only a witness, and the disk may be full for long
				l.options.Logger.Warn("the newest head is not noted beside the log", slog.Any("error", err))
			}
			noted, told = now, err != nil
		}
		select {
		case <-l.committed:
			return
		case <-tick.C:
		}
	}
}

func writeWitness(path string, id events.Identity, head store.Head) error {
	return writeFile(path, seal(appendHead(appendText([]byte{metaVersion}, id.LogID), head)))
}

// readWitness is the head that a witness speaks of; the zero Head when there is none, it cannot be read or is another log's: it says
// nothing then.
func readWitness(path string, id events.Identity) store.Head {
	content, err := os.ReadFile(path)
	if err != nil {
		return store.Head{}
	}
	return decodeClosed(content, id)
}

// wentBack says how it shows that the log, whose last file begins with that record, had records after its end; nil when it does not.
func wentBack(dir string, id events.Identity, tail events.Sequence, end store.Head, offsets map[string]events.Sequence) error {
	if err := checkClosed(dir, id, end); err != nil {
		return err
	}
	if h := readWitness(filepath.Join(dir, headName), id); h.Sequence > end.Sequence {
		return lost(dir, end.Sequence, h.Sequence, "the log had record %d, as the file HEAD beside it says")
	}
	snapshots, err := listFiles(dir, snapshotSuffix)
	if err != nil {
		return err
	}
	for _, at := range slices.Backward(snapshots) {
		if at <= end.Sequence {
			break
		}
		s, err := readSnapshot(filepath.Join(dir, fileName(at, snapshotSuffix)), events.ReaderVersion{})
		if err == nil && s.Identity.LogID == id.LogID && s.Head.Sequence > end.Sequence {
			return lost(dir, end.Sequence, s.Head.Sequence, "there is a snapshot of record %d")
		}
	}
	indexes, err := listFiles(dir, indexSuffix)
	if err != nil {
		return err
	}
	for _, first := range indexes {
		if first < tail {
			continue
		}
		if through := indexThrough(filepath.Join(dir, fileName(first, indexSuffix))); through > end.Sequence {
			return lost(dir, end.Sequence, through, "there is an index of a file that ended with record %d")
		}
	}
	return offsetsAhead(dir, end, offsets)
}

// offsetsAhead: a consumer's offset is stored after the records through it are.
func offsetsAhead(dir string, end store.Head, offsets map[string]events.Sequence) error {
	for _, consumer := range slices.Sorted(maps.Keys(offsets)) {
		if through := offsets[consumer]; through > end.Sequence {
			return lost(dir, end.Sequence, through, fmt.Sprintf("the consumer %q had got through record %%d", consumer))
		}
	}
	return nil
}

// indexThrough is the last record of the file that a stored index is of; 0 when it cannot be read.
func indexThrough(path string) events.Sequence {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	d, _, err := footerOf(file)
	if err != nil {
		return 0
	}
	d.uvarint() // the first record
	if head := d.head(); !d.bad {
		return head.Sequence
	}
	return 0
}
