package copylog_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/copylog/ins3"
)

// TestPlaces tests each kind of place against the contract of Place.
func TestPlaces(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			p, ctx := make(t), t.Context()
			read := func(name string) string {
				t.Helper()
				content, _, err := copylog.ReadAll(ctx, p, name, 100)
				if err != nil {
					t.Fatal(err)
				}
				return string(content)
			}
			put := func(name, content string) error {
				return p.Put(ctx, name, strings.NewReader(content), int64(len(content)))
			}
			const one = "files/00000000000000000001-1.db"

			if _, err := p.Get(ctx, one); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an object that is not there: %v", err)
			}
			if _, err := p.Size(ctx, one); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the size of an object that is not there: %v", err)
			}
			if err := p.Delete(ctx, one); err != nil {
				t.Errorf("an object that is not there is deleted: %v", err)
			}
			if err := put(one, "0123456789"); err != nil {
				t.Fatal(err)
			}
			if err := put(one, "other"); !errors.Is(err, copylog.ErrExists) || read(one) != "0123456789" {
				t.Errorf("a second object of the name: %v; it is %q", err, read(one))
			}
			if size, err := p.Size(ctx, one); size != 10 || err != nil {
				t.Errorf("it has %d bytes, %v", size, err)
			}
			for _, row := range []struct {
				from, n int64
				want    string
			}{{0, 3, "012"}, {8, 5, "89"}, {10, 1, ""}, {20, 1, ""}} {
				if part, err := p.Range(ctx, one, row.from, row.n); string(part) != row.want || err != nil {
					t.Errorf("%d bytes from %d: %q, %v", row.n, row.from, part, err)
				}
			}
			if _, _, err := copylog.ReadAll(ctx, p, one, 9); !errors.Is(err, copylog.ErrLarge) {
				t.Errorf("more is read than may be: %v", err)
			}
			if err := p.Delete(ctx, one); err != nil {
				t.Fatal(err)
			}
			if err := put(one, "again"); err != nil || read(one) != "again" {
				t.Errorf("it is put again: %v", err)
			}
		})
	}
}

// TestTheManifestIsReplacedByWhoReadIt: a writer that has not read the newest manifest cannot replace it.
func TestTheManifestIsReplacedByWhoReadIt(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			p, ctx := make(t), t.Context()
			if _, err := p.Replace(ctx, copylog.ManifestName, []byte("x"), "1234"); !errors.Is(err, copylog.ErrChanged) {
				t.Errorf("one that is gone is replaced: %v", err)
			}
			first, err := p.Replace(ctx, copylog.ManifestName, []byte("first"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Replace(ctx, copylog.ManifestName, []byte("x"), ""); !errors.Is(err, copylog.ErrChanged) {
				t.Errorf("a second first one: %v", err)
			}
			second, err := p.Replace(ctx, copylog.ManifestName, []byte("second"), first)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Replace(ctx, copylog.ManifestName, []byte("x"), first); !errors.Is(err, copylog.ErrChanged) {
				t.Errorf("an older one was read: %v", err)
			}
			content, tag, err := copylog.ReadAll(ctx, p, copylog.ManifestName, 100)
			if err != nil || string(content) != "second" || tag != second {
				t.Errorf("%q with tag %s is there, want second with %s, %v", content, tag, second, err)
			}
		})
	}
}

// TestTwoWritersAtOnce: of many writers that put one object, or replace the manifest, exactly one succeeds.
func TestTwoWritersAtOnce(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			p, ctx := make(t), t.Context()
			tag, err := p.Replace(ctx, copylog.ManifestName, []byte("before"), "")
			if err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			var mu sync.Mutex
			puts, replaced := 0, 0
			for i := range 8 {
				wait.Go(func() {
					content := bytes.Repeat([]byte{byte('a' + i)}, 50_000)
					put := p.Put(ctx, "tail/00000000000000000001-1.seg", bytes.NewReader(content), int64(len(content)))
					_, changed := p.Replace(ctx, copylog.ManifestName, content, tag)
					mu.Lock()
					defer mu.Unlock()
					if put == nil {
						puts++
					} else if !errors.Is(put, copylog.ErrExists) {
						t.Error(put)
					}
					if changed == nil {
						replaced++
					} else if !errors.Is(changed, copylog.ErrChanged) {
						t.Error(changed)
					}
				})
			}
			wait.Wait()
			if puts != 1 || replaced != 1 {
				t.Errorf("%d of 8 put the object, %d replaced the manifest, want one each", puts, replaced)
			}
		})
	}
}

// TestAddresses of buckets: the error says what is wrong with an address.
func TestAddresses(t *testing.T) {
	for _, row := range []struct{ address, says string }{
		{"s3://bucket", ""},
		{"s3://bucket/a/b?endpoint=https://minio:9000&region=eu", ""},
		{"s3:///prefix", "s3://BUCKET/PREFIX"},
		{"s3://id:secret@bucket/a", "no keys belong into the address"},
		{"s3://bucket?endpoint=minio:9000", "a URL such as"},
		{"s3://bucket?endpoint=https://minio/path", "a URL such as"},
		{"s3://bucket?key=1", "is unknown"},
	} {
		_, err := ins3.New(row.address, copylogtest.Keys)
		if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v, want %q", row.address, err, row.says)
		}
	}
}

// TestWhatAWriterLeftInADirectory: an old temporary file is removed. Objects stay, and so does a file that is still
// being written.
func TestWhatAWriterLeftInADirectory(t *testing.T) {
	root := t.TempDir()
	p, now := indir.New(root), time.Now()
	const one = "files/00000000000000000001-1.db"
	if err := p.Put(t.Context(), one, strings.NewReader("object"), 6); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{one + ".tmp-old": 2 * time.Hour, one + ".tmp-new": time.Minute, one: 2 * time.Hour} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Tidy(t.Context(), now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{one: true, one + ".tmp-old": false, one + ".tmp-new": true} {
		if _, err := os.Lstat(filepath.Join(root, name)); there != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
