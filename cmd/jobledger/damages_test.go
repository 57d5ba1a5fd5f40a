package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

const boltPage = 4096

// allFiles is the name of the damaged file when the whole directory was replaced.
const allFiles = "all"

// patient is a copy of a log that is to be damaged.
type patient struct {
	t       *testing.T
	dir     string
	r       *rand.Rand
	records []events.Record // as they were
	older   string          // the log as it was halfway
	other   string          // another log
	hurt    string          // the file that was damaged, when it is one of the log's files
	forged  bool            // a record was changed and all checksums with it
}

// files are the paths of the log's files, oldest first.
func (p *patient) files() []string {
	all, err := filepath.Glob(filepath.Join(p.dir, "*.db"))
	if err != nil || len(all) < 4 {
		p.t.Fatalf("the log has the files %v, %v", all, err)
	}
	return all
}

func (p *patient) first() string  { return p.files()[0] }
func (p *patient) packed() string { return p.files()[1] }
func (p *patient) plain() string  { all := p.files(); return all[len(all)-2] }
func (p *patient) tail() string   { all := p.files(); return all[len(all)-1] }

func (p *patient) read(path string) []byte {
	content, err := os.ReadFile(path)
	p.must(err)
	return content
}

// write replaces a file.
func (p *patient) write(path string, content []byte) {
	if strings.HasSuffix(path, ".db") {
		p.hurt = filepath.Base(path)
	}
	p.must(os.WriteFile(path, content, 0o600))
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) remove(path string) {
	if strings.HasSuffix(path, ".db") {
		p.hurt = filepath.Base(path)
	}
	p.must(os.Remove(path))
}

func (p *patient) beside(pattern string) []string {
	all, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil || len(all) == 0 {
		p.t.Fatalf("there is no %s: %v", pattern, err)
	}
	return all
}

// flip turns one bit, anywhere in [from, to) of a file.
func (p *patient) flip(path string, from, to int) {
	content := p.read(path)
	content[from+p.r.IntN(to-from)] ^= 1 << p.r.IntN(8)
	p.write(path, content)
}

// pages returns the places of a file's data pages: branches and leaves, in use or left from an earlier commit. They are
// ordered by content, because bbolt may write the pages of one commit in any order.
func (p *patient) pages(path string) (at []int) {
	content := p.read(path)
	for page := 2 * boltPage; page+boltPage <= len(content); page += boltPage {
		if kind := binary.LittleEndian.Uint16(content[page+8:]); kind == 1 || kind == 2 {
			at = append(at, page)
		}
	}
	slices.SortFunc(at, func(a, b int) int {
		return bytes.Compare(content[a+8:a+boltPage], content[b+8:b+boltPage]) // behind the page's number
	})
	return at
}

func (p *patient) page(path string) int { all := p.pages(path); return all[p.r.IntN(len(all))] }

// flips are turned bits of a region of a file.
func flips(file func(*patient) string, region string) func(*patient) {
	return func(p *patient) {
		path := file(p)
		switch region {
		case "meta":
			page := p.r.IntN(2) * boltPage
			p.flip(path, page+16, page+80)
		case "header":
			page := p.page(path)
			p.flip(path, page, page+16)
		case "content":
			page := p.page(path)
			p.flip(path, page+16, page+boltPage)
		case "unused":
			content := p.read(path)
			p.flip(path, len(bytes.TrimRight(content, "\x00")), len(content))
		}
	}
}

func cutTo(file func(*patient) string, part func(size int) int) func(*patient) {
	return func(p *patient) { content := p.read(file(p)); p.write(file(p), content[:part(len(content))]) }
}

func zeroed(file func(*patient) string) func(*patient) {
	return func(p *patient) {
		content := p.read(file(p))
		clear(content[p.page(file(p)):][:boltPage])
		p.write(file(p), content)
	}
}

func gone(file func(*patient) string) func(*patient) { return func(p *patient) { p.remove(file(p)) } }

func swappedPages(p *patient) {
	content := p.read(p.plain())
	all := p.pages(p.plain())
	i := p.r.IntN(len(all) - 1)
	a, b := bytes.Clone(content[all[i]:][:boltPage]), bytes.Clone(content[all[i+1]:][:boltPage])
	copy(content[all[i]:], b)
	copy(content[all[i+1]:], a)
	p.write(p.plain(), content)
}

func swappedFiles(p *patient) {
	all := p.files()
	a, b := p.read(all[1]), p.read(all[2])
	p.write(all[2], a)
	p.write(all[1], b)
	p.hurt += " " + filepath.Base(all[2])
}

// stray adds a file where none belongs: its name is a record within the middle file.
func stray(content func(*patient) []byte) func(*patient) {
	return func(p *patient) {
		var first int
		_, err := fmt.Sscanf(filepath.Base(p.plain()), "%d.db", &first)
		p.must(err)
		p.must(os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("%020d.db", first+3)), content(p), 0o600))
	}
}

func foreign(p *patient) []byte {
	all, err := filepath.Glob(filepath.Join(p.other, "*.db"))
	p.must(err)
	return p.read(all[0])
}

// sideFile damages the files beside the log's: flipped, cut, or gone.
func sideFile(pattern, how string) func(*patient) {
	return func(p *patient) {
		for _, path := range p.beside(pattern) {
			switch content := p.read(path); how {
			case "flipped":
				p.flip(path, 0, len(content))
			case "cut":
				p.write(path, content[:len(content)/2])
			case "gone":
				p.remove(path)
			}
		}
	}
}

// swapped exchanges two of the files beside the log's.
func swapped(pattern string) func(*patient) {
	return func(p *patient) {
		all := p.beside(pattern)
		a, b := p.read(all[0]), p.read(all[1])
		p.write(all[0], b)
		p.write(all[1], a)
	}
}

// rewritten changes a byte of a record in a plain file and corrects its checksum.
func rewritten(file func(*patient) string) func(*patient) {
	return func(p *patient) {
		content := p.read(file(p))
		table := crc32.MakeTable(crc32.Castagnoli)
		for i := len(p.records) - 1; i > 0; i-- {
			stored, err := events.AppendRecord(nil, &p.records[i])
			p.must(err)
			name := bytes.LastIndex(stored, []byte("job-"))
			if at := bytes.Index(content, stored); at >= 4 && name >= 0 {
				for ; at >= 4; at = bytes.Index(content, stored) { // also where bbolt left an older copy of the page
					content[at+name] = 'J'
					binary.LittleEndian.PutUint32(content[at-4:], crc32.Checksum(content[at:at+len(stored)], table))
				}
				p.write(file(p), content)
				return
			}
		}
		p.t.Fatal("no record of the file names a Job")
	}
}

// rewrittenBlock changes a byte of records in blocks of a packed file, and corrects the checksum. It does so for some
// of the records that name a Job.
func rewrittenBlock(p *patient) {
	db, err := bbolt.Open(p.packed(), 0o600, nil)
	p.must(err)
	p.must(db.Update(func(tx *bbolt.Tx) error {
		log := tx.Bucket([]byte("log"))
		key, value := log.Cursor().First()
		block, err := changedBlock(value, p.r)
		return errors.Join(err, log.Put(key, block))
	}))
	p.must(db.Close())
	p.hurt, p.forged = filepath.Base(p.packed()), true
}

// changedBlock is a block (docs/format.md) in which one record names another Job.
func changedBlock(value []byte, r *rand.Rand) ([]byte, error) {
	size, n := binary.Uvarint(value[1:])
	head := 1 + n
	if value[0]&0x80 != 0 {
		head += len(events.Hash{})
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	records, err := decoder.DecodeAll(value[head:len(value)-4], nil)
	if err != nil || value[0]&0x7f != 4 || uint64(len(records)) != size {
		return nil, fmt.Errorf("no block: version %d, %d of %d bytes: %w", value[0], len(records), size, err)
	}
	var names []int
	for at := range records {
		if bytes.HasPrefix(records[at:], []byte("job-")) {
			names = append(names, at)
		}
	}
	records[names[r.IntN(len(names))]] = 'J'
	encoder, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<10))
	if err != nil {
		return nil, err
	}
	changed := encoder.EncodeAll(records, bytes.Clone(value[:head]))
	return binary.LittleEndian.AppendUint32(changed, crc32.Checksum(changed, crc32.MakeTable(crc32.Castagnoli))), encoder.Close()
}

// forged replaces the log by one in which pods ran on another node, and all else fits. The old files that keep names
// stay beside it.
func forged(keep ...string) func(*patient) {
	return func(p *patient) {
		kept := map[string][]byte{}
		for _, name := range keep {
			kept[name] = p.read(filepath.Join(p.dir, name))
		}
		p.must(os.RemoveAll(p.dir))
		p.hurt = allFiles
		log, err := boltlog.Open(p.dir, smallFiles)
		p.must(err)
		var batch events.Batch
		var last store.Commit
		for _, r := range p.records {
			if r.Evidence.Node != "" {
				r.Evidence.Node = "node-9"
			}
			if batch.Records = append(batch.Records, r); r.Last {
				last = log.Append(batch, true)
				<-last.Done()
				p.must(last.Err())
				batch = events.Batch{}
			}
		}
		p.must(log.Close())
		for name, content := range kept {
			p.must(os.WriteFile(filepath.Join(p.dir, name), content, 0o600))
		}
	}
}

// back replaces the log by an older copy of it. The newer files that keep names stay beside it.
func back(keep ...string) func(*patient) {
	return func(p *patient) {
		kept := map[string][]byte{}
		for _, pattern := range keep {
			for _, path := range p.beside(pattern) {
				kept[path] = p.read(path)
			}
		}
		p.must(os.RemoveAll(p.dir))
		p.hurt = allFiles
		copyLog(p.t, p.older, p.dir)
		for path, content := range kept {
			p.must(os.WriteFile(path, content, 0o600))
		}
	}
}

// crashed makes the log look as if it had not been closed, and damages the newest meta page.
func crashed(p *patient) {
	for _, name := range []string{"CLOSED", "HEAD"} {
		p.remove(filepath.Join(p.dir, name))
	}
	newestMeta(p)
}

func newestMeta(p *patient) {
	content := p.read(p.tail())
	page := 0
	if number(content[boltPage:]) > number(content) {
		page = 1
	}
	p.flip(p.tail(), page*boltPage+16+8, page*boltPage+16+64)
}

// number is that of the commit that a meta page is of.
func number(page []byte) uint64 { return binary.LittleEndian.Uint64(page[16+48:]) }

// offset sets a consumer's offset beyond the log's end.
func offset(p *patient) {
	log, err := boltlog.Open(p.dir, smallFiles)
	p.must(err)
	p.must(log.SetOffset("nats", log.Head().Sequence+1000))
	p.must(log.Close())
}

func flippedOffset(p *patient) {
	content := p.read(p.tail())
	for at := bytes.Index(content, []byte("nats")); at >= 0; {
		content[at+6] ^= 4 // of its checksum or number
		next := bytes.Index(content[at+4:], []byte("nats"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	p.write(p.tail(), content)
}
