package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
)

// damaged is the result of a restore of a damaged copy.
type damaged int

const (
	named    damaged = iota // the object is named, and what is before it can be had
	noted                   // it can be made again, and is left out
	refused                 // the manifest is named
	shorter                 // the copy is one of an earlier head: harmless, and an outside head tells
	harmless                // nothing is missing
)

// copied is a log and its copy in a directory.
type copied struct {
	dir, root string
	older     string // the copy as it was when the log was shorter
	other     string // a copy of another log
	names     []string
	records   []string
}

func newCopied(t *testing.T) copied {
	t.Helper()
	c := copied{dir: newLog(t, 150), root: filepath.Join(t.TempDir(), "copy"), other: filepath.Join(t.TempDir(), "other")}
	backUp(t, c.dir, indir.New(c.root))
	c.older = copyDir(t, c.root)
	grown(t, c.dir, 150)
	backUp(t, c.dir, indir.New(c.root))
	grown(t, c.dir, 5)
	backUp(t, c.dir, indir.New(c.root))
	backUp(t, newLog(t, 300), indir.New(c.other))
	plan, err := restore.Make(t.Context(), &restore.Config{Place: indir.New(c.root), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range plan.Copy.Objects() {
		c.names = append(c.names, o.Name)
	}
	for _, f := range plan.Copy.Files {
		for _, o := range f.Derived {
			c.names = append(c.names, o.Name)
		}
	}
	c.records = stored(t, c.dir)
	return c
}

// harm changes an object of a copy in a directory.
type harm struct {
	sentence string
	change   func(t *testing.T, c copied, root, name string) bool // false where it does not apply
}

func harms() []harm {
	edit := func(change func(content []byte) []byte) func(*testing.T, copied, string, string) bool {
		return func(t *testing.T, _ copied, root, name string) bool {
			t.Helper()
			write(t, root, name, change(read(t, root, name)))
			return true
		}
	}
	return []harm{
		{"missing", func(t *testing.T, _ copied, root, name string) bool {
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
			return true
		}},
		{"empty", edit(func([]byte) []byte { return nil })},
		{"cut", edit(func(b []byte) []byte { return b[:len(b)/2] })},
		{"longer", edit(func(b []byte) []byte { return append(b, 0) })},
		{"a bit flipped at its beginning", edit(func(b []byte) []byte { b[0] ^= 4; return b })},
		{"a bit flipped in its middle", edit(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })},
		{"a bit flipped at its end", edit(func(b []byte) []byte { b[len(b)-1] ^= 128; return b })},
		{"a page of zeros", edit(func(b []byte) []byte { clear(b[len(b)/3 : min(len(b), len(b)/3+4096)]); return b })},
		{"swapped with another of its kind", func(t *testing.T, c copied, root, name string) bool {
			for _, other := range c.names {
				if other != name && filepath.Ext(other) == filepath.Ext(name) {
					a, b := read(t, root, name), read(t, root, other)
					write(t, root, name, b)
					write(t, root, other, a)
					return true
				}
			}
			return false
		}},
		{"that of another log", func(t *testing.T, c copied, root, name string) bool {
			for other, content := range objects(t, c.other) {
				if filepath.Dir(other) == filepath.Dir(name) && filepath.Ext(other) == filepath.Ext(name) {
					write(t, root, name, []byte(content))
					return true
				}
			}
			return false
		}},
		{"a directory", func(t *testing.T, _ copied, root, name string) bool {
			if err := errors.Join(os.Remove(filepath.Join(root, name)), os.Mkdir(filepath.Join(root, name), 0o700)); err != nil {
				t.Fatal(err)
			}
			return true
		}},
	}
}

func read(t *testing.T, root, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, root, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestADamagedCopy damages each object of a copy in each way. Either the object is named and the records before it are
// restored, or nothing is missing and the result says so. Wrong records are never restored.
func TestADamagedCopy(t *testing.T) {
	c := newCopied(t)
	n := 0
	for i, name := range c.names {
		for j, h := range harms() {
			if (i+j)%effort.Step(6) != 0 {
				continue // each name and each harm in turn
			}
			root := copyDir(t, c.root)
			if !h.change(t, c, root, name) {
				continue
			}
			n++
			want := named
			if ext := filepath.Ext(name); ext == ".idx" || ext == ".jobs" {
				want = noted
			}
			if err := c.check(t, root, name, want); err != nil {
				t.Errorf("%s: %s: %v", name, h.sentence, err)
			}
		}
	}
	t.Logf("%d damages", n)
}

// check restores a copy with one damaged object, and returns what is wrong with the result.
func (c copied) check(t *testing.T, root, name string, want damaged) error {
	t.Helper()
	place, out := indir.New(root), filepath.Join(t.TempDir(), "out")
	result, err := restoreInto(t.Context(), place, out, nil)
	var bad *restore.DamageError
	if want == noted {
		if err != nil || len(result.Notes) == 0 || !strings.Contains(strings.Join(result.Notes, "\n"), name) {
			return fmt.Errorf("it is not noted: %+v, %w", result, err)
		}
		isWhole(t, out, c.dir)
		return nil
	}
	if !errors.As(err, &bad) || !c.same(bad.Name, name) {
		return fmt.Errorf("it is not named: %w", err)
	}
	if bad.Through == 0 {
		return nil
	}
	again, err := restoreInto(t.Context(), place, out, func(r *restore.Config) { r.Through = bad.Through })
	if err != nil {
		return fmt.Errorf("what is before it is not restored: %w", err)
	}
	if got := stored(t, out); again.Head.Sequence != bad.Through || !slices.Equal(got, c.records[:bad.Through]) {
		return fmt.Errorf("record %d is the last that is restored, and not %d", again.Head.Sequence, bad.Through)
	}
	return nil
}

// same reports whether two names are of objects that were swapped: a restore names the first of them in the log.
func (c copied) same(got, harmed string) bool {
	return got == harmed || filepath.Ext(got) == filepath.Ext(harmed) && slices.Index(c.names, got) < slices.Index(c.names, harmed)
}

// TestADamagedManifest: it is torn, older or newer than the objects, of another log, or has a flipped bit.
func TestADamagedManifest(t *testing.T) {
	c := newCopied(t)
	whole := read(t, c.root, copylog.ManifestName)
	type row struct {
		sentence string
		content  []byte
		want     damaged
	}
	rows := []row{
		{"empty", nil, refused},
		{"cut", whole[:len(whole)/2], refused},
		{"of another log", read(t, c.other, copylog.ManifestName), named},
		{"an older one", read(t, c.older, copylog.ManifestName), shorter},
		{"as it was", whole, harmless},
	}
	for at := 0; at < len(whole); at += 53 {
		flipped := slices.Clone(whole)
		flipped[at] ^= 16
		rows = append(rows, row{fmt.Sprintf("byte %d is another", at), flipped, refused})
	}
	for _, r := range rows {
		root := copyDir(t, c.root)
		write(t, root, copylog.ManifestName, r.content)
		out := filepath.Join(t.TempDir(), "out")
		result, err := restoreInto(t.Context(), indir.New(root), out, nil)
		var bad *restore.DamageError
		switch r.want {
		case refused:
			if !errors.Is(err, copylog.ErrDamaged) || !strings.Contains(err.Error(), "--manifest") {
				t.Errorf("%s: %v", r.sentence, err)
			}
			if _, err := backup.Run(t.Context(), &backup.Config{Dir: c.dir, Place: indir.New(root)}); !errors.Is(err, copylog.ErrDamaged) {
				t.Errorf("%s: a backup writes it over: %v", r.sentence, err)
			}
			if kept := c.kept(t); kept != "" {
				earlier := filepath.Join(t.TempDir(), "earlier")
				if _, err := restoreInto(t.Context(), indir.New(root), earlier, func(r *restore.Config) { r.Manifest = kept }); err != nil {
					t.Errorf("%s: the manifest of the day is not restored: %v", r.sentence, err)
				}
			}
		case named:
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v", r.sentence, err)
			}
		default:
			if err != nil {
				t.Fatalf("%s: %v", r.sentence, err)
			}
			if got := stored(t, out); !slices.Equal(got, c.records[:result.Head.Sequence]) || (len(got) == len(c.records)) != (r.want == harmless) {
				t.Errorf("%s: %d records are restored", r.sentence, len(got))
			}
		}
	}
	newer := copyDir(t, c.older)
	write(t, newer, copylog.ManifestName, whole)
	var bad *restore.DamageError
	if _, err := restoreInto(t.Context(), indir.New(newer), filepath.Join(t.TempDir(), "out"), nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("the manifest is newer than the objects: %v", err)
	}
}

// kept returns the name of the day's manifest.
func (c copied) kept(t *testing.T) string {
	t.Helper()
	for name := range objects(t, c.root) {
		if strings.HasPrefix(name, "manifests/") {
			return name
		}
	}
	return ""
}
