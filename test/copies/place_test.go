package copies

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/child"
)

// place is where a copy lies.
type place struct {
	address string   // as flags name it
	env     []string // what a process needs to reach it
	root    string   // directory that has each object as a file: the place itself, or what the S3 server keeps
}

// newPlaces gives places: directories in make test; at length buckets of a server, and each third one a directory.
func newPlaces(t *testing.T) func(t *testing.T, dir string, row int) *place {
	t.Helper()
	inDir := func(_ *testing.T, dir string, _ int) *place {
		root := filepath.Join(dir, "copy")
		return &place{address: root, root: root}
	}
	if !long {
		return inDir
	}
	s := newServer(t)
	return func(t *testing.T, dir string, row int) *place {
		t.Helper()
		if row/3%3 == 2 { // rows are of three kinds
			return inDir(t, dir, row)
		}
		return s.bucket(t, fmt.Sprintf("row-%d", row))
	}
}

// server is an S3 server that keeps objects as files.
type server struct{ url, dir string }

const (
	accessKey = "copies"
	secretKey = "copies-secret"
	inBucket  = "jobledger/one" // where in its bucket a copy lies
)

// newServer starts a server that ends with the test.
func newServer(t *testing.T) *server {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	programs, err := binaries.Ensure(ctx, binaries.Config{Programs: binaries.Buckets})
	if err != nil {
		t.Fatal(err)
	}
	address := free(t)
	s := &server{url: "http://" + address, dir: t.TempDir()}
	said, err := os.Create(filepath.Join(t.TempDir(), "versitygw.txt"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(programs.Path(binaries.VersityGW), "--access", accessKey, "--secret", secretKey, "--port", address,
		"--health", "/health", "--quiet", "posix", s.dir)
	cmd.Stdout, cmd.Stderr = said, said
	ended, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { // ends with the process
		<-ended //nolint:errcheck // it is killed
		close(over)
	}()
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Kill(), said.Close()); err != nil {
			t.Error(err)
		}
		<-over
	})
	err = patience.Until(ctx, 20*time.Millisecond, over, func() (bool, error) {
		answer, err := http.Get(s.url + "/health")
		if err != nil {
			return false, nil // it does not listen yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		text, _ := os.ReadFile(said.Name())
		t.Fatalf("the S3 server does not start: %v\n%s", err, text)
	}
	return s
}

// free is an address on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// bucket makes a bucket and gives a place in it.
func (s *server) bucket(t *testing.T, name string) *place {
	t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	return &place{
		address: "s3://" + name + "/" + inBucket,
		env: []string{
			"AWS_ENDPOINT_URL=" + s.url, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		},
		root: filepath.Join(s.dir, name, filepath.FromSlash(inBucket)),
	}
}

// manifest reads what the copy says of itself; nil while there is no copy.
func (p *place) manifest(t *testing.T) *copylog.Manifest {
	t.Helper()
	content, _, err := copylog.ReadAll(t.Context(), indir.New(p.root), copylog.ManifestName, copylog.MostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := copylog.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// objects are all objects but the manifest and those that a process tries a place with, each with its hash.
func (p *place) objects() (map[string][32]byte, error) {
	all := map[string][32]byte{}
	for _, below := range []string{"files", "tail", "manifests"} {
		entries, err := os.ReadDir(filepath.Join(p.root, below))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := below + "/" + e.Name()
			if strings.Contains(name, ".tmp") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(p.root, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			all[name] = sha256.Sum256(content)
		}
	}
	return all, nil
}

// guard looks at the objects until the test calls the returned function, which fails the test for each one that was
// overwritten, and gives how many there were.
func (p *place) guard(t *testing.T) (end func() int) {
	t.Helper()
	stop, seen := make(chan struct{}), map[string][32]byte{}
	var failed error
	var ended sync.WaitGroup
	look := func() {
		now, err := p.objects()
		failed = cmp.Or(failed, err)
		for name, sum := range now {
			if was, is := seen[name]; is && was != sum {
				failed = cmp.Or(failed, fmt.Errorf("%s was overwritten", name))
			}
			seen[name] = sum
		}
	}
	ended.Go(func() { // ends with end
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			look()
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	return func() int {
		t.Helper()
		close(stop)
		ended.Wait()
		if look(); failed != nil {
			t.Error(failed)
		}
		return len(seen)
	}
}
