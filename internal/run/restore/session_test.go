package restore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/storetest"
)

// Chain makes the log one in the own process.
func (a asked) Chain(at events.Sequence) (events.Hash, error) { return a.log.Chain(at) }

func session(log *boltlog.Log, dir string, place copylog.Place) *backup.Session {
	return backup.NewSession(&backup.Config{Dir: dir, Place: place, Live: asked{log}, Temp: dir})
}

// more appends batches, and packs nothing.
func more(t testing.TB, log *boltlog.Log, batches int) {
	t.Helper()
	w := storetest.NewWriter(t, log)
	if log.Head().Sequence == 0 {
		w.Create()
	}
	for n := range batches {
		w.Append(false, storetest.Pod("job-a", n), storetest.Text("job-c", 300))
	}
	w.Durable(storetest.Pod("job-a", batches))
}

func packAll(t testing.TB, log *boltlog.Log) {
	t.Helper()
	for {
		first, err := log.Pack(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			return
		}
	}
}

func pass(t testing.TB, s *backup.Session) backup.Result {
	t.Helper()
	result, err := s.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func manifest(t testing.TB, place copylog.Place) *copylog.Manifest {
	t.Helper()
	content, _, err := copylog.ReadAll(t.Context(), place, copylog.ManifestName, copylog.MostManifest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := copylog.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestASessionFollowsItsLog: after each pass the copy has the durable head, also while sealed files are not packed or
// not uploaded yet. A restore of it gives the log.
func TestASessionFollowsItsLog(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			place, dir := make(t), t.TempDir()
			log := openLog(t, dir, small)
			s := session(log, dir, place)
			if r := pass(t, s); r.Objects != 0 || r.Head.Sequence != 0 {
				t.Errorf("an empty log is copied: %+v", r)
			}
			for i := range 30 {
				more(t, log, 5+i*5)
				if r := pass(t, s); r.Head != log.Head() {
					t.Fatalf("the copy ends with record %d, and the log with %d", r.Head.Sequence, log.Head().Sequence)
				}
				if r := pass(t, s); r.Objects != 0 {
					t.Fatalf("nothing is new, and %d objects are put", r.Objects)
				}
			}
			if m := manifest(t, place); len(m.Partial) < 10 {
				t.Fatalf("%d files are there as segments, %d whole, and none is packed", len(m.Partial), len(m.Files))
			}
			if _, r := restored(t, place); r.Head != log.Head() || r.First != 1 {
				t.Fatalf("restored from segments: %+v", r)
			}
			packAll(t, log)
			for first := events.Sequence(1); first != 0; {
				var err error
				if first, err = s.Upload(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			pass(t, s)
			firsts, err := boltlog.Firsts(dir)
			if m := manifest(t, place); err != nil || len(m.Partial) != 0 || len(m.Files) != len(firsts)-1 || m.Head != log.Head() {
				t.Fatalf("%d files are there as segments, %d whole, want 0 and %d, %v", len(m.Partial), len(m.Files), len(firsts)-1, err)
			}
			closeLog(t, log)
			whole, _ := restored(t, place)
			isWhole(t, whole, dir)
		})
	}
}

// TestSmallSegmentsBecomeOne: a log that was copied every few seconds can be restored without reading thousands of
// objects.
func TestSmallSegmentsBecomeOne(t *testing.T) {
	dir, place := t.TempDir(), indir.New(filepath.Join(t.TempDir(), "copy"))
	log := openLog(t, dir, store.Options{})
	s := session(log, dir, place)
	for range 200 {
		more(t, log, 2)
		pass(t, s)
	}
	m := manifest(t, place)
	if n := len(m.Segments()); n > 2*8 {
		t.Errorf("200 passes leave %d segments", n)
	}
	if len(m.Leaving) < 180 {
		t.Errorf("%d objects are to be deleted", len(m.Leaving))
	}
	closeLog(t, log)
	out, _ := restored(t, place)
	isWhole(t, out, dir)
}

// taking is a place where the writer of a fork left an object with the name of the first merged segment.
type taking struct {
	copylog.Place
	content []byte // nil once it is there
	name    string
}

func (p *taking) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	if strings.Count(name, "-") == 2 && p.content != nil {
		if err := p.Place.Put(ctx, name, bytes.NewReader(p.content), int64(len(p.content))); err != nil {
			return err
		}
		p.content, p.name = nil, name
	}
	return p.Place.Put(ctx, name, content, size)
}

// TestANameThatAForkHasTaken: the writer of a fork put a segment, and was refused before a manifest named it. The log
// that goes on merges segments with the same first and last record. It leaves that object as it is, and is not taken for
// the wrong log.
func TestANameThatAForkHasTaken(t *testing.T) {
	other := indir.New(filepath.Join(t.TempDir(), "other"))
	backUp(t, newLog(t, 3), other)
	content, _, err := copylog.ReadAll(t.Context(), other, manifest(t, other).Segments()[0].Object.Name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	dir, place := t.TempDir(), &taking{Place: indir.New(filepath.Join(t.TempDir(), "copy")), content: content}
	log := openLog(t, dir, store.Options{})
	s := session(log, dir, place)
	for range 20 {
		more(t, log, 2)
		pass(t, s)
	}
	if n := len(manifest(t, place).Segments()); n > 2*8 || place.name == "" {
		t.Errorf("20 passes leave %d segments; the name that was taken is %q", n, place.name)
	}
	if now, _, err := copylog.ReadAll(t.Context(), place, place.name, 1<<20); err != nil || !bytes.Equal(now, content) {
		t.Errorf("%s was overwritten, %v", place.name, err)
	}
	closeLog(t, log)
	out, _ := restored(t, place)
	isWhole(t, out, dir)
}

// TestNamesThatAForkHasTaken: the writer of a fork put files and segments, and no manifest. It has taken each name that
// an object of the log may have, but the last. The log is copied beside them, and each object of the fork stays.
func TestNamesThatAForkHasTaken(t *testing.T) {
	dir, fork := newLog(t, 230), copylogtest.Bucket(t)
	backUp(t, newLog(t, 230), fork)
	want, theirs := copylogtest.Bucket(t), manifest(t, fork)
	backUp(t, dir, want)
	place, last, left := copylogtest.Bucket(t), map[string]bool{}, map[string][]byte{}
	take := func(names []string, o *copylog.Object) {
		content, _, err := copylog.ReadAll(t.Context(), fork, o.Name, 1<<30)
		for _, name := range names[:len(names)-1] {
			if left[name] = content; err == nil {
				err = place.Put(t.Context(), name, bytes.NewReader(content), int64(len(content)))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		last[names[len(names)-1]] = true
	}
	ours := manifest(t, want)
	for i := range ours.Files {
		take(ours.Files[i].FileNames(), &theirs.Files[i].Object)
	}
	for _, s := range ours.Segments() {
		take(s.SegmentNames(), &theirs.Segments()[0].Object)
	}
	backUp(t, dir, place)
	for name, content := range left {
		if now, _, err := copylog.ReadAll(t.Context(), place, name, 1<<30); err != nil || !bytes.Equal(now, content) {
			t.Errorf("%s was overwritten, %v", name, err)
		}
	}
	out, _ := restored(t, place)
	isWhole(t, out, dir)
	got := manifest(t, place)
	for i := range got.Files {
		if name := got.Files[i].Object.Name; !last[name] {
			t.Errorf("a file is named %s", name)
		}
	}
	for _, s := range got.Segments() {
		if !last[s.Object.Name] {
			t.Errorf("a segment is named %s", s.Object.Name)
		}
	}
	if len(got.Files) == 0 || len(got.Segments()) == 0 {
		t.Errorf("the copy has %d files and %d segments", len(got.Files), len(got.Segments()))
	}
}

// TestASessionGoesOnAfterAnother: the earlier session ended at any moment, as at a change of the leader, or the log was
// restored.
func TestASessionGoesOnAfterAnother(t *testing.T) {
	dir, place := t.TempDir(), copylogtest.Bucket(t)
	for i := range 5 {
		log := openLog(t, dir, small)
		s := session(log, dir, place)
		more(t, log, 50+i)
		pass(t, s)
		packAll(t, log)
		if _, err := s.Upload(t.Context()); err != nil {
			t.Fatal(err)
		}
		closeLog(t, log)
		out, _ := restored(t, place)
		isLog(t, out, dir)
		dir = out
	}
	result := backUp(t, dir, place)
	out, _ := restored(t, place)
	isWhole(t, out, dir)
	if m := manifest(t, place); len(m.Partial) > 0 || m.Head != result.Head {
		t.Errorf("behind a backup %d files are there as segments", len(m.Partial))
	}
}

// watched is a place in which no object may change except MANIFEST.
type watched struct {
	copylog.Place
	mu  *sync.Mutex
	put map[string][32]byte
	bad *[]string
}

func (w watched) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	err := w.Place.Put(ctx, name, content, size)
	if err == nil {
		all, readErr := io.ReadAll(io.NewSectionReader(content, 0, size))
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, had := w.put[name]; had || readErr != nil {
			*w.bad = append(*w.bad, name)
		}
		w.put[name] = sha256.Sum256(all)
	}
	return err
}

func (w watched) Delete(ctx context.Context, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.bad = append(*w.bad, "deleted "+name)
	return w.Place.Delete(ctx, name)
}

// TestTwoForksAndOnePlace: two logs with the same beginning are copied to one place at the same time. One of them is
// refused with AheadError, nothing is overwritten, and a restore gives the other one.
func TestTwoForksAndOnePlace(t *testing.T) {
	for round := 0; round < 50; round += effort.Step(5) {
		for name, make := range copylogtest.Places {
			if name == "in a bucket" && round%10 != 0 {
				continue
			}
			twoForks(t, make(t), round)
		}
	}
}

func twoForks(t *testing.T, place copylog.Place, round int) {
	t.Helper()
	base := newLog(t, 3+round)
	if round%3 != 0 {
		backUp(t, base, place)
	}
	w := watched{Place: place, mu: &sync.Mutex{}, put: map[string][32]byte{}, bad: &[]string{}}
	dirs := []string{base, copyDir(t, base)}
	refused, heads := make([]error, 2), make([]store.Head, 2)
	var wait sync.WaitGroup
	for i, dir := range dirs {
		log := openLog(t, dir, small)
		more(t, log, 1+(round*7+i*5)%11) // each has records of its own
		wait.Go(func() {
			s := session(log, dir, w)
			for n := 0; n < 6 && refused[i] == nil; n++ {
				more(t, log, 3)
				var ahead *backup.AheadError
				if _, err := s.Pass(context.Background()); errors.As(err, &ahead) {
					refused[i] = err
				} else if err != nil && !errors.Is(err, copylog.ErrChanged) {
					t.Errorf("round %d: %v", round, err)
				}
			}
			heads[i] = log.Head()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if (refused[0] == nil) == (refused[1] == nil) {
		t.Fatalf("round %d: refused are %v", round, refused)
	}
	if len(*w.bad) > 0 {
		t.Fatalf("round %d: objects were written twice or deleted: %v", round, *w.bad)
	}
	for name, sum := range w.put {
		content, _, err := copylog.ReadAll(t.Context(), place, name, 1<<30)
		if err != nil || sha256.Sum256(content) != sum {
			t.Fatalf("round %d: %s is not what was put, %v", round, name, err)
		}
	}
	right := slices.IndexFunc(refused, func(err error) bool { return err == nil })
	if m := manifest(t, place); m.Head != heads[right] {
		t.Fatalf("round %d: the copy ends with record %d, hash %s, and the log that was not refused with %d, hash %s", round, m.Head.Sequence, m.Head.Hash,
			heads[right].Sequence, heads[right].Hash)
	}
	if round%5 == 0 {
		out, _ := restored(t, place)
		isWhole(t, out, dirs[right])
	}
}
