package joblist

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// TestWhileListsAreMade: after each step of a Keeper the Jobs and CronJobs of the log are listed once, as they are. An
// older file may have a list of its first records alone.
func TestWhileListsAreMade(t *testing.T) {
	log := written(t)
	for end := events.Sequence(2); end < log.Head().Sequence; end++ {
		files := cutAt(t, log, end)
		c := Config{Log: log, Files: func() ([]store.File, error) { return files, nil }, Dir: t.TempDir(), Every: 3}
		k := NewKeeper(c, nil)
		for n := 0; ; n++ {
			listed(t, c, fmt.Sprintf("a file ends with %d, step %d", end, n), history.ListQuery{}, history.ListQuery{UID: "b"})
			more, err := k.step(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
		}
	}
}

// TestAPageIsOfItsFiles: records that the log got since are not in it.
func TestAPageIsOfItsFiles(t *testing.T) {
	log := written(t)
	for end := events.Sequence(1); end < log.Head().Sequence; end++ {
		file := cutAt(t, log, end)[0]
		file.Sealed = false
		page, err := New(Config{Log: log, Files: func() ([]store.File, error) { return []store.File{file}, nil }}).
			Page(t.Context(), history.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Jobs {
			if want := strings.LastIndexAny(strings.ToLower(interleaved[:end]), j.UID) + 1; j.Last != uint64(want) {
				t.Errorf("of %d records: %s has %d-%d, want one that ends with %d", end, j.UID, j.First, j.Last, want)
			}
		}
	}
}

// TestWhatIsKeptForTheNextPage is of the file and the list of which it was made. The list is gone at the next page, is
// there, or has more; or a new file is empty.
func TestWhatIsKeptForTheNextPage(t *testing.T) {
	log := written(t)
	head := log.Head().Sequence
	for end := events.Sequence(3); end < head; end += 2 {
		var files []store.File
		c := Config{Log: log, Files: func() ([]store.File, error) { return files, nil }, Dir: t.TempDir(), Keep: true}
		short, whole := cutAt(t, log, end)[:1], cutAt(t, log, head)[:1]
		rotated := []store.File{whole[0], {First: head + 1, End: whole[0].End}}
		short[0].Sealed, whole[0].Sealed = false, false
		path := listPath(c.Dir, 1)
		list := func(of []store.File) func() {
			return func() {
				files = of
				if err := errors.Join(os.RemoveAll(path), NewKeeper(c, nil).Finish(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
		}
		none := func() { _ = os.Remove(path) }
		steps := map[string]func(){"no list": none, "a short list": list(short), "a whole list": list(whole)}
		for before, first := range steps {
			for after, second := range steps {
				l := New(c)
				for n, step := range []func(){first, first, second, none, second} {
					step()
					for _, files = range [][]store.File{whole, rotated} {
						var got []string
						page, err := l.CronJobs(t.Context(), history.CronListQuery{})
						if err != nil {
							t.Fatal(err)
						}
						for _, j := range page.CronJobs {
							got = append(got, fmt.Sprintf("%s-%d", j.UID, j.Last))
						}
						got = append(got, pagesOf(t, l, history.ListQuery{})...)
						got = append(got, pagesOf(t, l, history.ListQuery{UID: "b"})...)
						want := append([]string{"p-20", "q-12"}, append(expected('a', 'd'), expected('b', 'b')...)...)
						if !slices.Equal(got, want) {
							t.Errorf("%s, then %s, page %d, of %d files:\n%q, want\n%q", before, after, n, len(files), got, want)
						}
					}
				}
			}
		}
	}
}

// TestHowManyThereAreIsNotBelieved: a row that says that it has very many labels, and a table that has very many
// blocks, end with their bytes.
func TestHowManyThereAreIsNotBelieved(t *testing.T) {
	many := "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	content := (&row{key: 7, Summary: history.Summary{Name: "n", UID: "u"}}).encode()
	r, err := decodeRow(7, append(content[:len(content)-1], many...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.summary(); !errors.Is(err, errMalformed) {
		t.Errorf("a row with many labels: %v", err)
	}
	d := &decoder{rest: []byte(many)}
	if table, _ := openTable(nil, 0, d); !d.bad || len(table.blocks) > 1 {
		t.Errorf("a table has %d blocks", len(table.blocks))
	}
}

// TestWhichFailedReadsEndAList are those that may be right the next time.
func TestWhichFailedReadsEndAList(t *testing.T) {
	for err, ends := range map[error]bool{
		nil: false, store.ErrPruned: false, store.ErrCorrupt: false, &store.CorruptError{At: 3}: false, historytest.ErrRead: true,
	} {
		if got := failedRead(err); (got != nil) != ends || ends && !errors.Is(got, err) {
			t.Errorf("%v ends a list: %v, want %t", err, got, ends)
		}
	}
}

// TestAStateThatCannotBeReadBehindWhatConcernsAll: a list has one, and its file goes on with a record for which all
// states are needed. The list is removed and made again, and pages have what the records tell.
func TestAStateThatCannotBeReadBehindWhatConcernsAll(t *testing.T) {
	for name, facts := range ofAll {
		for k, log := range map[events.Sequence]store.Reader{
			8: podsAnd(t, 9, facts), 4: historytest.Played(t, historytest.With(historytest.Scenes[1].Steps, 4, facts)),
		} {
			short, whole := cutAt(t, log, k)[0], cutAt(t, log, log.Head().Sequence)[0]
			short.Sealed, whole.Sealed = false, false
			file := short
			c := Config{Log: log, Files: func() ([]store.File, error) { return []store.File{file}, nil }, Dir: t.TempDir()}
			if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			p := partsOf(t, opened(t, &c, file), log.Identity())
			for table, all := range p.tables[1:] {
				for i := range all {
					d := decoder{rest: all[i].content[8:]}
					if len(d.text()) > 0 {
						rest := all[i].content[len(all[i].content)-len(d.rest):]
						p.tables[1+table][i].content = append(appendText(slices.Clone(all[i].content[:8]), "\xff\xff"), rest...)
					}
				}
			}
			p.put(t, c.Dir)
			file = whole
			plain := c
			plain.Dir = ""
			for _, ask := range asked {
				got, err := ask(t.Context(), New(c))
				want, failed := ask(t.Context(), New(plain))
				if err := errors.Join(err, failed); err != nil || text(t, got) != text(t, want) {
					t.Errorf("%s: %v, %s, want %s", name, err, text(t, got), text(t, want))
				}
			}
			if err := NewKeeper(c, nil).Finish(t.Context()); !errors.Is(err, errMalformed) {
				t.Errorf("%s behind %d: the list goes on: %v", name, k, err)
			}
			if _, err := os.Stat(listPath(c.Dir, 1)); err == nil {
				t.Errorf("%s behind %d: the list is still there", name, k)
			}
		}
	}
}
