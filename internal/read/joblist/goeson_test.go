package joblist

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// behind is a log whose newest file is longer than its list: the list ends with the first batch behind so many records.
func behind(t *testing.T, seed uint64, after int) (c Config, file store.File) {
	t.Helper()
	c, file = liedOf(t, seed)
	whole, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	cut := slices.Clone(whole)
	end := &cut[len(cut)-1].End
	for r, err := range c.Log.Read(t.Context(), file.First+events.Sequence(after)) {
		if err != nil {
			t.Fatal(err)
		}
		if hash, err := c.Log.Chain(r.Sequence); err == nil && r.Last {
			*end = store.Head{Sequence: r.Sequence, Time: r.Time, Hash: hash}
			break
		}
	}
	if end.Sequence >= file.End.Sequence {
		t.Fatalf("the list ends with the log, at %d", end.Sequence)
	}
	c.Dir = t.TempDir()
	c.Files = func() ([]store.File, error) { return cut, nil }
	if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Files = func() ([]store.File, error) { return whole, nil }
	return c, file
}

func opened(t *testing.T, c *Config, file store.File) *list {
	t.Helper()
	l, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
	if err != nil || l == nil {
		t.Fatalf("the list from %d on is %v: %v", file.First, l, err)
	}
	t.Cleanup(l.close)
	return l
}

// said is what the entries say, one a line, with the states of their objects.
func (p *parts) said(t *testing.T) (all []string) {
	t.Helper()
	for _, it := range p.tables[0] {
		all = append(all, fmt.Sprintf("row %x %q", it.key, it.content))
	}
	for _, it := range p.tables[1] {
		d := decoder{rest: it.content}
		all = append(all, fmt.Sprintf("stream %s %x, %s", it.key, d.bytes(8), stated(t, d.text(), d.text())))
	}
	for _, it := range p.tables[2] {
		r, err := decodeCronRow(it.content)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(&r.CronSummary)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("cronjob %s %d %s, %s", it.key, r.key, text, stated(t, r.state, r.names)))
	}
	return all
}

// stated is a state, and the names in it.
func stated(t *testing.T, state, names []byte) string {
	t.Helper()
	var s pb.JobState
	var n pb.StateNames
	if err := errors.Join(proto.Unmarshal(state, &s), proto.Unmarshal(names, &n)); err != nil {
		t.Fatal(err)
	}
	text := func(m proto.Message) string {
		return strings.ReplaceAll(prototext.MarshalOptions{}.Format(m), "  ", " ")
	}
	return text(&s) + ", names " + text(&n)
}

// TestAListThatGoesOnIsTheSame: a list that was made in two parts has what one has that was made at once, whether its
// file goes on or is whole. An entry that cannot be added ends the list with its error, and nothing comes behind it.
func TestAListThatGoesOnIsTheSame(t *testing.T) {
	for _, row := range [][2]int{{4, 3}, {9, 30}, {11, 5}} {
		after := row[1]
		c, file := behind(t, uint64(row[0]), after)
		base := opened(t, &c, file)
		if !base.goesOn() {
			t.Fatal("it does not go on")
		}
		p := newPart(c.Log, file, base, func(events.Sequence) (*list, error) { return nil, nil })
		if err := p.advance(t.Context(), file.End.Sequence); err != nil {
			t.Fatal(err)
		}
		rows := p.rows()
		for _, states := range []bool{true, false} {
			for i, merge := range []func(add func(key, content []byte) error) error{
				func(add func(key, content []byte) error) error { return p.mergeRows(rows, add) },
				func(add func(key, content []byte) error) error { return p.mergeStreams(rows, states, add) },
				func(add func(key, content []byte) error) error { return p.mergeCrons(states, add) },
			} {
				var keys []string
				if err := merge(func(key, _ []byte) error { keys = append(keys, string(key)); return nil }); err != nil {
					t.Fatal(err)
				}
				if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) || len(keys) < 2 {
					t.Errorf("table %d has the keys %q", i, keys)
				}
				for fails := range keys {
					n := 0
					err := merge(func([]byte, []byte) error {
						if n++; n == fails+1 {
							return errFull
						}
						return nil
					})
					if !errors.Is(err, errFull) || n != fails+1 {
						t.Errorf("table %d, entry %d cannot be added: %v, and %d are tried", i, fails, err, n)
					}
				}
			}
		}
		for _, sealed := range []bool{false, true} {
			last, parts := file, map[string]*parts{}
			last.Sealed = sealed
			for name, dir := range map[string]string{"in parts": c.Dir, "at once": t.TempDir()} {
				config := c
				if config.Dir = t.TempDir(); name == "in parts" {
					if err := os.CopyFS(config.Dir, os.DirFS(dir)); err != nil {
						t.Fatal(err)
					}
				}
				config.Every = 1 << 20
				config.Files = func() ([]store.File, error) {
					all, err := c.Files()
					return append(slices.Clone(all[:len(all)-1]), last), err
				}
				if err := NewKeeper(config, nil).Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
				parts[name] = partsOf(t, opened(t, &config, last), config.Log.Identity())
			}
			if d := cmp.Diff(parts["at once"].said(t), parts["in parts"].said(t)); d != "" {
				t.Errorf("seed %d, after %d, sealed %t (-at once +in parts):\n%.1500s", row[0], after, sealed, d)
			}
			for name, p := range parts {
				if (len(p.header.controller) == 0) != sealed {
					t.Errorf("after %d, %s, sealed %t: the state of the controller has %d bytes", after, name, sealed, len(p.header.controller))
				}
			}
		}
	}
}

// TestAListThatLiesAndGoesOn: its checksums are right, an entry is malformed, and the file has more records than the
// list. Pages have what the records tell. The Keeper removes the list where it meets the entry, and the next one is
// right.
func TestAListThatLiesAndGoesOn(t *testing.T) {
	c, file := behind(t, 9, 30)
	lists := func() string {
		jobs, err1 := New(c).Page(t.Context(), history.ListQuery{})
		one, err2 := New(c).Page(t.Context(), history.ListQuery{UID: jobs.Jobs[0].UID})
		crons, err3 := New(c).CronJobs(t.Context(), history.CronListQuery{})
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{jobs, one, crons})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := lists()
	path := listPath(c.Dir, file.First)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	removed := map[int]int{}
	whole := partsOf(t, opened(t, &c, file), c.Log.Identity())
	for table, all := range whole.tables {
		for k := 0; k < len(all); k += 1 + len(all)/3 {
			content := all[k].content
			forged := [][]byte{nil, content[:len(content)/2], content[:len(content)-1]}
			if table > 0 { // a state that nobody can read
				d := decoder{rest: content[8:]}
				if len(d.text()) > 0 {
					rest := content[len(content)-len(d.rest):]
					forged = append(forged, append(appendText(slices.Clone(content[:8]), "\xff\xff"), rest...))
				}
			}
			for i, bad := range forged {
				if err := os.WriteFile(path, sound, 0o600); err != nil {
					t.Fatal(err)
				}
				p := partsOf(t, opened(t, &c, file), c.Log.Identity())
				p.tables[table][k].content = bad
				p.put(t, c.Dir)
				what := fmt.Sprintf("entry %d of table %d, forged in way %d", k, table, i)
				if d := cmp.Diff(want, lists()); d != "" {
					t.Errorf("%s, and it is believed:\n%.1500s", what, d)
				}
				if err := NewKeeper(c, nil).Finish(t.Context()); errors.Is(err, errMalformed) {
					removed[table]++
					if _, err := os.Stat(path); err == nil {
						t.Errorf("%s: the list is still there", what)
					}
				} else if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
					t.Errorf("%s, at the next try: %v", what, err)
				}
				if d := cmp.Diff(want, lists()); d != "" {
					t.Errorf("%s, made again:\n%.1500s", what, d)
				}
			}
		}
	}
	if removed[1] == 0 || removed[2] == 0 {
		t.Errorf("lists are removed for entries of the tables %v", removed)
	}
}

// TestAFooterThatIsCut is that of no list, wherever it is cut, and so is one with a byte more.
func TestAFooterThatIsCut(t *testing.T) {
	c, file := lied(t)
	withoutCrons := partsOf(t, opened(t, &c, file), c.Log.Identity())
	withoutCrons.tables[2] = nil
	for _, p := range []*parts{partsOf(t, opened(t, &c, file), c.Log.Identity()), withoutCrons} {
		p.put(t, c.Dir)
		l := opened(t, &c, file)
		footer, at, err := readFooter(l.file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(l.file.Name())
		if err != nil {
			t.Fatal(err)
		}
		behind := text[len(text)-8:]
		for n := range len(footer) + 2 {
			cut := slices.Clone(append(slices.Clone(footer), 0)[:n])
			if err := os.WriteFile(l.file.Name(), slices.Concat(text[:at], seal(cut), behind), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
			if whole := n == len(footer); whole != (err == nil) || whole != (got != nil) {
				t.Errorf("of %d bytes of the footer %d are a list: %v", len(footer), n, err)
			}
			got.close()
		}
	}
}

// TestWhichFilesHaveLists: those with a record, were it one, and not those without. A list that is sound stays the same
// file at the check of the next process, and one that is damaged is removed.
func TestWhichFilesHaveLists(t *testing.T) {
	c, file := lied(t)
	all, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	for end, want := range map[events.Sequence]bool{0: false, file.First - 1: false, file.First: true, file.First + 1: true} {
		files := slices.Clone(all)
		last := &files[len(files)-1]
		last.End = store.Head{Sequence: end}
		config := c
		config.Dir, config.Files = t.TempDir(), func() ([]store.File, error) { return files, nil }
		if err := NewKeeper(config, nil).Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(listPath(config.Dir, file.First)); (err == nil) != want {
			t.Errorf("a file from %d to %d has a list: %t", file.First, end, !want)
		}
	}
	before := map[string]os.FileInfo{}
	for _, f := range all {
		if before[listPath(c.Dir, f.First)], err = os.Stat(listPath(c.Dir, f.First)); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, was := range before {
		if is, err := os.Stat(path); err != nil || !os.SameFile(was, is) {
			t.Errorf("%s was sound, and is written again: %v", path, err)
		}
	}
	for _, f := range []store.File{all[0], file} {
		path := listPath(c.Dir, f.First)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, len(text) / 3} {
			bad := slices.Clone(text)
			bad[at] ^= 1
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			k := NewKeeper(c, nil)
			for _, other := range all {
				k.checked[other.First] = other.First != f.First
			}
			if more, err := k.step(t.Context(), 1); !more || err != nil {
				t.Errorf("a damaged list is checked, and there is more: %t, %v", more, err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s is damaged at %d, and is still there", path, at)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := c
	config.Files = func() ([]store.File, error) { return nil, historytest.ErrRead }
	if more, err := NewKeeper(config, nil).step(t.Context(), 1); more || !errors.Is(err, historytest.ErrRead) {
		t.Errorf("without a word of which files there are: %t, %v", more, err)
	}
}
