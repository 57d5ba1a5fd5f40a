package boltlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

const (
	packSlice = 1 << 20 // bytes written between two syncs, or read between two pauses
	packRest  = 4       // a pause is 4 times as long as the work before it
)

// packer writes a packed file: the records of one sealed file in compressed blocks. It serves one call.
type packer struct {
	ctx     context.Context
	file    *os.File
	bolt    *boltfile.Writer
	log     boltfile.Bucket
	blocks  *chunk.BlockWriter
	small   [2][]boltfile.Item // keys and values of the buckets meta and offsets, which have no records
	before  events.Hash        // chain value (hash over all records so far) before the file
	synced  int64
	resumed time.Time // end of the last pause
	hurried bool      // make no pauses
}

// writePacked writes the content of a sealed file, compressed, to a temporary file. It then reads the new file back and
// verifies it. If a crash leaves the temporary file behind, the next Open removes it.
func writePacked(ctx context.Context, f *logFile) (packed *logFile, err error) {
	p := &packer{ctx: ctx, resumed: time.Now()}
	return p.pack(f, f.path+disk.TempSuffix)
}

func (p *packer) pack(f *logFile, temp string) (packed *logFile, err error) {
	end, err := f.sealedHead()
	if err == nil {
		err = p.read(f)
	}
	if err != nil {
		return nil, err
	}
	p.file, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	written, err := p.write(f, end)
	if err = errors.Join(err, p.file.Close()); err == nil {
		packed, err = p.readBack(f.first, end, temp, written)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	return packed, nil
}

// smallBuckets are the two buckets that hold no records, in the order in which they are written.
var smallBuckets = [2][]byte{metaBucket, offsetsBucket}

// read copies into p the content of the two buckets that hold no records.
func (p *packer) read(f *logFile) (err error) {
	for i, name := range smallBuckets {
		if p.small[i], err = f.items(name); err != nil {
			return f.explain(f.first, err)
		}
	}
	return nil
}

// write writes the packed file: the records of f in compressed blocks. It returns the hash of the records (recordSum).
// end is the last record of f.
func (p *packer) write(f *logFile, end head) (sum events.Hash, err error) {
	f.mu.RLock()
	pageSize, transaction := f.sealed.PageSize, f.sealed.Transaction
	f.mu.RUnlock()
	p.bolt = boltfile.NewWriter(p.file, int(pageSize))
	p.log = p.bolt.NewBucket()
	if p.blocks, err = chunk.NewBlockWriter(); err != nil {
		return sum, err
	}
	if p.before, err = f.hashBefore(); err != nil {
		return sum, f.explain(f.first, err)
	}
	records := newRecordSum(p.before)
	err = f.chained(end.Head, func(l events.Label, stored []byte, after events.Hash) error {
		records.add(stored)
		p.blocks.Add(l.Sequence, stored)
		switch {
		case l.Last && p.blocks.Bytes() >= chunk.BlockRecords || l.Sequence == end.Sequence:
			return p.block(&after)
		case p.blocks.Bytes() >= chunk.BlockLimit:
			return p.block(nil)
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	if err := p.end(uint64(transaction)); err != nil {
		return sum, err
	}
	return records.end(end.Hash), p.file.Sync()
}

// block ends the current block of records and writes it to the file. hash is the chain value (hash over all records so
// far) if a batch ends with the block, otherwise nil.
func (p *packer) block(hash *events.Hash) error {
	c := p.blocks.End(hash)
	if err := p.log.Add(chunk.Key(c.First), c.Value); err != nil {
		return err
	}
	if p.bolt.Bytes()-p.synced >= packSlice {
		p.synced = p.bolt.Bytes()
		if err := p.file.Sync(); err != nil { // one large sync at the end would delay commits
			return err
		}
	}
	return p.rest()
}

// rest sleeps, for packRest times as long as the work since the last pause took, so that packing uses a fifth of the
// time. It does not sleep if the packer is hurried. It returns an error if ctx has ended.
func (p *packer) rest() error {
	if p.hurried {
		return context.Cause(p.ctx)
	}
	pause := time.NewTimer(packRest * time.Since(p.resumed))
	defer pause.Stop()
	select {
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	case <-pause.C:
		p.resumed = time.Now()
		return nil
	}
}

// end writes what follows the records: the buckets meta and offsets, the root page and bbolt's meta pages. transaction
// is the bbolt transaction number that the file gets.
func (p *packer) end(transaction uint64) error {
	log, err := p.log.End()
	if err != nil {
		return err
	}
	buckets := []boltfile.Item{{Key: logBucket, Value: log}}
	for i, name := range smallBuckets {
		b := p.bolt.NewBucket()
		for _, e := range p.small[i] {
			if err := b.Add(e.Key, e.Value); err != nil {
				return err
			}
		}
		value, err := b.End()
		if err != nil {
			return err
		}
		buckets = append(buckets, boltfile.Item{Key: name, Value: value})
	}
	return p.bolt.End(buckets, transaction+1)
}

// items returns the keys and values of a sealed file's bucket that holds no records (meta or offsets).
func (f *logFile) items(bucket []byte) (all []boltfile.Item, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.ended != nil {
		return nil, f.ended
	}
	t, err := f.sealed.Bucket(bucket)
	if err != nil {
		return nil, err
	}
	c := t.Cursor()
	k, v, err := c.Floor(nil)
	for ; err == nil && k != nil; k, v, err = c.Next() {
		all = append(all, boltfile.Item{Key: bytes.Clone(k), Value: bytes.Clone(v)})
	}
	return all, err
}

func sameItem(a, b boltfile.Item) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

var errReadBack = errors.New("what was packed is not what is read back")

// readBack opens the packed file at temp, and checks that its records have the hash want, and that it ends with head
// end. first is its first record.
func (p *packer) readBack(first events.Sequence, end head, temp string, want events.Hash) (packed *logFile, err error) {
	packed = &logFile{path: temp, first: first}
	if err := packed.openPages(); err != nil {
		return nil, err
	}
	if err := p.compare(packed, end, want); err != nil {
		if errors.Is(err, store.ErrCorrupt) {
			err = fmt.Errorf("%w: %v", errReadBack, err) //nolint:errorlint // the plain file is intact
		}
		return nil, errors.Join(err, packed.endRecords(store.ErrClosed))
	}
	return packed, nil
}

func (p *packer) compare(packed *logFile, end head, want events.Hash) error {
	if err := disk.Forget(packed.file); err != nil {
		return err
	}
	if err := packed.sealed.CheckBuckets(bucketCount); err != nil {
		return err
	}
	for i, name := range smallBuckets {
		is, err := packed.items(name)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(p.small[i], is, sameItem) {
			return fmt.Errorf("%w: bucket %q", errReadBack, name)
		}
	}
	records, read := newRecordSum(p.before), 0
	err := packed.chained(end.Head, func(_ events.Label, stored []byte, _ events.Hash) error {
		records.add(stored)
		if read += len(stored); read < packSlice {
			return nil
		}
		read = 0
		return p.rest()
	})
	if err == nil {
		err = packed.checkEnd(end.Head)
	}
	if err == nil && records.end(end.Hash) != want {
		err = fmt.Errorf("%w: its records", errReadBack)
	}
	return err
}

// recordSum computes a hash over the stored records of a file, and over the chain values (hash over all records so far)
// before the first and after the last one. A plain file and its packed (compressed) form have the same recordSum,
// because it does not depend on pages. The chain value alone would not do, because it does not cover every byte of a
// record.
//
//	SHA-256( chain before ‖ 8 bytes length, big endian ‖ record ‖ … ‖ chain after )
type recordSum struct{ hash.Hash }

func newRecordSum(before events.Hash) recordSum {
	s := recordSum{sha256.New()}
	_, _ = s.Write(before[:]) // a hash never returns an error, also not in the writes below
	return s
}

func (s recordSum) add(stored []byte) {
	var length [8]byte
	_, _ = s.Write(binary.BigEndian.AppendUint64(length[:0], uint64(len(stored))))
	_, _ = s.Write(stored)
}

func (s recordSum) end(behind events.Hash) (sum events.Hash) {
	_, _ = s.Write(behind[:])
	s.Sum(sum[:0])
	return sum
}

// recordsHash returns the hash of a sealed file's records (recordSum). It reads the whole file and verifies its chain
// values. It returns ErrCorrupt when the file is damaged.
func (f *logFile) recordsHash(ctx context.Context) (events.Hash, error) {
	before, err := f.hashBefore()
	if err != nil {
		return events.Hash{}, f.explain(f.first, err)
	}
	end, err := f.sealedHead()
	if err != nil {
		return events.Hash{}, err
	}
	sum := newRecordSum(before)
	err = f.chained(end.Head, func(_ events.Label, stored []byte, _ events.Hash) error {
		sum.add(stored)
		return ctx.Err()
	})
	if err != nil {
		return events.Hash{}, err
	}
	return sum.end(end.Hash), nil
}

// chained calls fn for each record of a sealed file with the chain value (hash over all records so far) after it. It
// compares these values with the chain values that the file stores.
func (f *logFile) chained(end store.Head, fn func(l events.Label, stored []byte, after events.Hash) error) error {
	hash, err := f.hashBefore()
	if err != nil {
		return f.explain(f.first, err)
	}
	at := f.first - 1
	err = f.scan(end.Sequence, func(l events.Label, stored []byte) error {
		next, err := hash.Next(stored)
		if err != nil {
			return f.corrupt(l.Sequence, err)
		}
		hash, at = next, l.Sequence
		return fn(l, stored, hash)
	}, func(stored events.Hash) error {
		if stored != hash {
			return f.corrupt(at, fmt.Errorf("the chain value behind record %d is %s, the records give %s", at, stored, hash))
		}
		return nil
	})
	if err == nil && hash != end.Hash {
		err = f.corrupt(at, fmt.Errorf("the records end with hash %s, the head says %s", hash, end.Hash))
	}
	return err
}
