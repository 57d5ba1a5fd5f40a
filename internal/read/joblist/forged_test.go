package joblist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// parts are the contents of a list.
type parts struct {
	header header
	tables [3][]item // rows, streams, CronJobs
}

func partsOf(t *testing.T, l *list, id events.Identity) *parts {
	t.Helper()
	p := &parts{header: header{id: id, first: l.first, through: l.through, controller: l.controller}}
	for i, table := range []*table{&l.rows, &l.streams, &l.crons} {
		for it, err := range table.all {
			if err != nil {
				t.Fatal(err)
			}
			p.tables[i] = append(p.tables[i], item{slices.Clone(it.key), slices.Clone(it.content)})
		}
	}
	return p
}

// put writes them as a list whose checksums are right.
func (p *parts) put(t *testing.T, dir string) {
	t.Helper()
	var fill []fillTable
	for _, all := range p.tables {
		slices.SortStableFunc(all, func(a, b item) int { return bytes.Compare(a.key, b.key) })
		fill = append(fill, func(add func(key, content []byte) error) error {
			for _, it := range all {
				if err := add(it.key, it.content); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writeList(dir, p.header, fill...); err != nil {
		t.Fatal(err)
	}
}

// row changes what the first row says.
func (p *parts) row(t *testing.T, change func(s *history.Summary)) {
	t.Helper()
	r, err := decodeRow(1, p.tables[0][0].content)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	change(&s)
	p.tables[0][0].content = (&row{Summary: s}).encode()
}

// lied is a log in files that have lists, and its last file.
func lied(t *testing.T) (c Config, file store.File) {
	t.Helper()
	return liedOf(t, 3)
}

// liedOf is lied of another seed of HardCrons.
func liedOf(t *testing.T, seed uint64) (c Config, file store.File) {
	t.Helper()
	log := historytest.HardCrons(t, seed)
	files := []store.File{{First: 1}}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n := len(files) - 1; r.Kind == events.KindStateStored && r.Stream == events.Controller {
			files = append(files, store.File{First: r.Sequence})
		} else if hash, err := log.Chain(r.Sequence); err == nil {
			files[n].End, files[n].Sealed = store.Head{Sequence: r.Sequence, Time: r.Time, Hash: hash}, true
		}
	}
	files[len(files)-1].Sealed = false
	c = Config{Log: log, Files: func() ([]store.File, error) { return files, nil }, Dir: t.TempDir(), Every: 60}
	if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, files[len(files)-1]
}

// TestAListThatLies: its checksums are right. A comparison with the records says what is wrong; what cannot be read is
// not believed, and a list of something else is not used.
func TestAListThatLies(t *testing.T) {
	c, file := lied(t)
	path := listPath(c.Dir, file.First)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lists := func() (page history.ListPage, crons history.CronListPage, all []history.Summary) {
		page, err := New(c).Page(t.Context(), history.ListQuery{})
		if err == nil {
			crons, err = New(c).CronJobs(t.Context(), history.CronListQuery{})
		}
		for i := 0; i < len(page.Jobs); i += 1 + len(page.Jobs)/4 {
			one, failed := New(c).Page(t.Context(), history.ListQuery{UID: page.Jobs[i].UID})
			if err == nil {
				err = failed
			}
			all = append(all, one.Jobs...)
		}
		if err != nil {
			t.Fatal(err)
		}
		noneIsOpen(t, c.Dir, "pages")
		return page, crons, all
	}
	wantJobs, wantCrons, wantOne := lists()
	const rows, streams, crons = 0, 1, 2
	for _, row := range []struct {
		change func(p *parts)
		says   string // of a comparison
		used   bool   // and pages are what the list says
	}{
		{func(p *parts) { p.row(t, func(s *history.Summary) { s.Counts.Succeeded += 7 }) }, "is not what the records give", true},
		{func(p *parts) { p.row(t, func(s *history.Summary) { s.Namespace = "elsewhere" }) }, "is not what the records give", true},
		{func(p *parts) { p.row(t, func(s *history.Summary) { s.UID = "nobody" }) }, "but the file has no record of it", true},
		{func(p *parts) { p.tables[rows] = p.tables[rows][1:] }, "it has no row of Job default/", true},
		{func(p *parts) { p.tables[rows][0].content = nil }, "is malformed", false},
		{func(p *parts) { p.tables[rows][0].content = append(p.tables[rows][0].content, 1) }, "is malformed", false},
		{func(p *parts) { p.tables[rows][0].key = []byte{1} }, "is malformed", false},
		{func(p *parts) { p.tables[streams] = p.tables[streams][1:] }, "records of 1 Jobs that it lacks", true},
		{func(p *parts) { p.tables[streams][0].key = []byte("nobody") }, "it has Job nobody, but", true},
		{func(p *parts) {
			p.tables[streams][0].content = append(keyBytes(9999), p.tables[streams][0].content[8:]...)
		}, "what it keeps of Job", false},
		{func(p *parts) { p.tables[streams][0].content = []byte{1} }, "what it keeps of Job", false},
		{func(p *parts) { p.tables[crons] = p.tables[crons][1:] }, "records of 1 CronJobs that it lacks", true},
		{func(p *parts) { p.tables[crons][0].key = []byte("nobody") }, "it has CronJob nobody, but", true},
		{func(p *parts) { p.tables[crons][0].content = []byte("{}") }, "its row of CronJob", false},
		{func(p *parts) { p.header.controller = []byte("x") }, "the controller's state in it", true},
		{func(p *parts) { p.header.id.LogID = "other" }, "it is that of another file", false},
		{func(p *parts) { p.header.through.Sequence++ }, "it is of records that the log does not have", false},
		{func(p *parts) { p.header.through.Sequence--; p.header.through.Hash[0]++ }, "it is of other records", false},
	} {
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
		if err != nil {
			t.Fatal(err)
		}
		p := partsOf(t, l, c.Log.Identity())
		l.close()
		row.change(p)
		p.put(t, c.Dir)
		checked, err := Check(t.Context(), c)
		noneIsOpen(t, c.Dir, "a comparison, "+row.says)
		if said := fmt.Sprint(checked.Wrong, checked.Notes); err != nil || !strings.Contains(said, row.says) || len(checked.Wrong)+len(checked.Notes) != 1 {
			t.Errorf("%q is not said: %v, %v", row.says, said, err)
		}
		if row.used {
			continue
		}
		gotJobs, gotCrons, gotOne := lists()
		if d := cmp.Diff([]any{wantJobs, wantCrons, wantOne}, []any{gotJobs, gotCrons, gotOne}); d != "" {
			t.Errorf("%q, and it is believed:\n%.2000s", row.says, d)
		}
	}
}

// noneIsOpen tests that no file of the directory is open any more. A file that is left open is closed when its memory
// is collected, so that must not happen during the test.
func noneIsOpen(t *testing.T, dir, behind string) {
	t.Helper()
	const mine = "/proc/self/fd"
	all, err := os.ReadDir(mine)
	if err != nil {
		t.Skip("the open files are not known:", err)
	}
	for _, f := range all {
		if path, err := os.Readlink(filepath.Join(mine, f.Name())); err == nil && strings.HasPrefix(path, dir) {
			t.Errorf("%s is open behind %s", path, behind)
		}
	}
}

// TestAReadThatFailsBesideAListThatLies: what a list says wrong is read from the records, and if that fails, it is
// told.
func TestAReadThatFailsBesideAListThatLies(t *testing.T) {
	c, file := lied(t)
	sound, err := os.ReadFile(listPath(c.Dir, file.First))
	if err != nil {
		t.Fatal(err)
	}
	var questions []historytest.Question
	for name, change := range map[string]func(p *parts){
		"a row of nothing":      func(p *parts) { p.tables[0][0].content = nil },
		"a row without its key": func(p *parts) { p.tables[0][0].key = []byte{1} },
		"a row with more":       func(p *parts) { p.tables[0][0].content = append(p.tables[0][0].content, 1) },
		"a stream of nothing":   func(p *parts) { p.tables[1][0].content = []byte{1} },
		"a CronJob of nothing":  func(p *parts) { p.tables[2][0].content = []byte("{}") },
		"another controller":    func(p *parts) { p.header.controller = []byte("x") },
		"other records":         func(p *parts) { p.header.through.Sequence--; p.header.through.Hash[0]++ },
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(c.Dir)); err != nil {
			t.Fatal(err)
		}
		path := listPath(dir, file.First)
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openList(dir, c.Log.Identity(), file, c.Log)
		if err != nil {
			t.Fatal(err)
		}
		p := partsOf(t, l, c.Log.Identity())
		l.close()
		change(p)
		p.put(t, dir)
		ask := func(what string, of func(ctx context.Context, lists *Lists) (any, error)) {
			questions = append(questions, historytest.Question{Name: name + ": " + what, Folds: true,
				Ask: func(ctx context.Context, f *historytest.Failing, _ *store.Damage) (string, error) {
					answer, err := of(ctx, New(Config{Log: f, Files: f.Files(c.Files), Dir: dir, Every: c.Every}))
					noneIsOpen(t, dir, name)
					text, unwritten := json.Marshal(answer)
					return string(text), errors.Join(err, unwritten)
				}})
		}
		ask("jobs", func(ctx context.Context, l *Lists) (any, error) { return l.Page(ctx, history.ListQuery{}) })
		ask("cronjobs", func(ctx context.Context, l *Lists) (any, error) { return l.CronJobs(ctx, history.CronListQuery{}) })
	}
	if n := historytest.EachReadFails(t, c.Log, questions...); n < 60 {
		t.Errorf("only %d reads failed", n)
	}
}
