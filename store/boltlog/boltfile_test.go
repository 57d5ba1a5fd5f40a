package boltlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/store/internal/boltfile"
)

// TestBboltReadsWhatWeWrite compares bbolt's reading of our files with the records that were written, checks every
// page, and lets bbolt write on in them.
func TestBboltReadsWhatWeWrite(t *testing.T) {
	for _, keys := range []int{0, 1, 5, 400, 60_000} {
		t.Run(fmt.Sprint(keys, " keys"), func(t *testing.T) {
			want := map[string][]byte{}
			path := writeBoltFile(t, keys, want)
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			p, err := boltfile.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			if p.Torn || p.Truncated() || p.CheckBuckets(bucketCount) != nil {
				t.Errorf("torn %v, truncated %v, buckets %v", p.Torn, p.Truncated(), p.CheckBuckets(bucketCount))
			}
			tree, err := p.Bucket(logBucket)
			if err != nil {
				t.Fatal(err)
			}
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			err = db.View(func(tx *bbolt.Tx) error {
				for err := range tx.Check() {
					t.Error(err)
				}
				compareCursors(t, &boltCursor{tx.Bucket(logBucket).Cursor()}, tree.Cursor(), rand.New(rand.NewPCG(2, 3)), keys)
				n := 0
				return tx.Bucket(logBucket).ForEach(func(k, v []byte) error {
					if n++; !bytes.Equal(v, want[string(k)]) || n > len(want) {
						t.Fatalf("key %x is not what was put in", k)
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bbolt.Tx) error {
				return tx.Bucket(logBucket).Put(binary.BigEndian.AppendUint64(nil, 1<<40), []byte("behind"))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func writeBoltFile(t *testing.T, keys int, want map[string][]byte) (path string) {
	path = filepath.Join(t.TempDir(), "x.db")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := boltfile.NewWriter(file, os.Getpagesize())
	random := rand.New(rand.NewPCG(1, uint64(keys)))
	var buckets []boltfile.Item
	for _, name := range [][]byte{logBucket, metaBucket, offsetsBucket} {
		bucket := b.NewBucket()
		for n := range keys {
			key := binary.BigEndian.AppendUint64(nil, uint64(3*n+5))
			value := bytes.Repeat([]byte{byte(n)}, random.IntN(60))
			if n%97 == 0 && keys < 1000 {
				value = bytes.Repeat([]byte{byte(n)}, 30_000)
			}
			if err := bucket.Add(key, value); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(name, logBucket) {
				want[string(key)] = value
			}
		}
		value, err := bucket.End()
		if err != nil {
			t.Fatal(err)
		}
		buckets = append(buckets, boltfile.Item{Key: name, Value: value})
	}
	if err := b.End(buckets, 17); err != nil {
		t.Fatal(err)
	}
	return path
}
