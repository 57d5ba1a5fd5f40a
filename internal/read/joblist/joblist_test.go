package joblist_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// records is how many records the log has at least: in make test half of them, in as many files.
var records = events.Sequence(8_000 / effort.Step(2))

// written is the directory of the log of a busy cluster in many files.
var written string

func TestMain(m *testing.M) {
	var err error
	if written, err = write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := os.RemoveAll(written); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

func write() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "joblist"); err != nil {
		return "", err
	}
	log, err := boltlog.Open(dir, store.Options{RotateBytes: int64(256 << 10 / effort.Step(2))})
	if err != nil {
		return dir, err
	}
	_, err = joblog.Write(log, joblog.Config{Seed: 7, Records: int(records), Running: 20, Finished: 30, Waiting: 10, Single: 950})
	return dir, errors.Join(err, log.Close())
}

// busy is that log, for one test, and what a fold of the whole of it says of its Jobs, the newest first.
func busy(t *testing.T) (*boltlog.ReadOnly, joblist.Config, []history.Summary) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(written)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log, joblist.Config{Log: log, Files: log.Files, Dir: t.TempDir(), Every: 500, Keep: true}, wholeFold(t, log)
}

func wholeFold(t *testing.T, log store.Reader) []history.Summary {
	t.Helper()
	fold := history.NewFold()
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fold.Apply(&r)
	}
	var out []history.Summary
	for _, a := range slices.Backward(fold.Accounts()) {
		out = append(out, history.SummaryOf(a))
	}
	if len(out) < 4 {
		t.Fatalf("only %d Jobs", len(out))
	}
	return out
}

// pages puts the pages of a query together.
func pages(t *testing.T, lists *joblist.Lists, q history.ListQuery) (all []history.Summary, n int) {
	t.Helper()
	for {
		page, err := lists.Page(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		more := page.Next != 0 || page.Past != nil
		if q.Limit > 0 && (len(page.Jobs) > q.Limit || more && len(page.Jobs) < q.Limit) {
			t.Fatalf("a page of %d Jobs, with a next one at %d, want %d", len(page.Jobs), page.Next, q.Limit)
		}
		all, n = append(all, page.Jobs...), n+1
		if q.Before, q.Past = page.Next, page.Past; !more {
			return all, n
		}
	}
}

func same(t *testing.T, what string, want, got []history.Summary) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s: %d Jobs, want %d (-whole fold +pages):\n%.3000s", what, len(got), len(want), d)
	}
}

// TestPagesAreWhatAFoldOfTheWholeLogGives: however far the lists have come, and whichever of them are missing.
func TestPagesAreWhatAFoldOfTheWholeLogGives(t *testing.T) {
	_, config, want := busy(t)
	lists := joblist.New(config)
	all, _ := pages(t, lists, history.ListQuery{})
	same(t, "without lists", want, all)

	keeper := joblist.NewKeeper(config, nil)
	if err := keeper.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, _ = pages(t, lists, history.ListQuery{})
	same(t, "with lists", want, all)
	for _, limit := range []int{1, 7, len(want) - 1, len(want), len(want) + 1} {
		all, n := pages(t, lists, history.ListQuery{Limit: limit})
		same(t, fmt.Sprintf("in %d pages of %d", n, limit), want, all)
		if wanted := (len(want) + limit - 1) / limit; n != wanted {
			t.Errorf("%d pages of %d, want %d", n, limit, wanted)
		}
	}
	if err := keeper.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d lists, error %v", len(files), err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		gone := files[rng.IntN(len(files))]
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		all, _ = pages(t, lists, history.ListQuery{Limit: 100})
		same(t, "without "+filepath.Base(gone), want, all)
		if err := keeper.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, _ = pages(t, lists, history.ListQuery{Limit: 100})
		same(t, "made again", want, all)
	}
}

// TestOnlyWhatAQueryWantsIsThere: filters hold, and those of a page that ends with them too.
func TestOnlyWhatAQueryWantsIsThere(t *testing.T) {
	log, config, want := busy(t)
	if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	since := log.Head().Sequence - records/4
	name := want[len(want)/2].Name[:4]
	for what, row := range map[string]struct {
		query history.ListQuery
		keep  func(history.Summary) bool
	}{
		"of a namespace":         {history.ListQuery{Namespace: "team-3"}, func(s history.Summary) bool { return s.Namespace == "team-3" }},
		"of one state":           {history.ListQuery{States: []history.State{history.StateFailed}}, func(s history.Summary) bool { return s.State == history.StateFailed }},
		"of no namespace":        {history.ListQuery{Namespace: "nowhere"}, func(history.Summary) bool { return false }},
		"of names that begin so": {history.ListQuery{Name: name}, func(s history.Summary) bool { return strings.HasPrefix(s.Name, name) }},
		"with a record since":    {history.ListQuery{Since: since}, func(s history.Summary) bool { return s.Last >= uint64(since) }},
	} {
		kept := []history.Summary{}
		for _, s := range want {
			if row.keep(s) {
				kept = append(kept, s)
			}
		}
		for _, limit := range []int{0, 3, len(kept)} {
			row.query.Limit = limit
			all, _ := pages(t, joblist.New(config), row.query)
			same(t, what, kept, append([]history.Summary{}, all...))
		}
	}
}

// TestUIDsAreFoundByHowTheyBegin: whatever lists there are, and in one page.
func TestUIDsAreFoundByHowTheyBegin(t *testing.T) {
	_, config, want := busy(t)
	find := func(what, prefix string, limit int) {
		t.Helper()
		kept := []history.Summary{}
		for _, s := range want {
			if strings.HasPrefix(s.UID, prefix) {
				kept = append(kept, s)
			}
		}
		page, err := joblist.New(config).Page(t.Context(), history.ListQuery{UID: prefix, Limit: limit})
		if err != nil || page.Next != 0 {
			t.Fatal(err, page.Next)
		}
		if limit > 0 && len(kept) > limit { // which of them is not promised
			if len(page.Jobs) != limit {
				t.Errorf("%s: %d Jobs begin with %q, want %d", what, len(page.Jobs), prefix, limit)
			}
			return
		}
		same(t, what+": "+prefix, kept, page.Jobs)
	}
	keeper := joblist.NewKeeper(config, nil)
	for _, what := range []string{"without lists", "with lists", "with all lists"} {
		switch what {
		case "with lists":
			if err := keeper.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		case "with all lists":
			if err := keeper.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []int{0, len(want) / 3, len(want) - 1} {
			uid := want[at].UID
			find(what, uid, 0)
			find(what, uid[:len(uid)-1], 0)
			find(what, uid[:1], 0)
			find(what, uid[:1], 3)
		}
		find(what, "no such", 0)
		find(what, "~", 0)
	}
}

// counted is a log that counts the records that are read.
type counted struct {
	store.Reader
	read int
}

func (c *counted) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range c.Reader.Read(ctx, from) {
			if c.read++; !yield(r, err) {
				return
			}
		}
	}
}

// TestAPageCostsWhatIsOnIt: with the lists of a controller that was killed, so many records are read as a list may be
// behind, at most.
func TestAPageCostsWhatIsOnIt(t *testing.T) {
	log, config, want := busy(t)
	if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &counted{Reader: log}
	config.Log = c
	for _, q := range []history.ListQuery{{Limit: 50}, {}, {Namespace: "nowhere"}} {
		c.read = 0
		page, err := joblist.New(config).Page(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if c.read > config.Every+50 { // and some specs
			t.Errorf("%d records were read for a page of %d of %d Jobs", c.read, len(page.Jobs), len(want))
		}
	}
}

// TestAllPagesCostWhatOneCosts: what is behind a list is folded for the first page, and kept for those that follow, of
// Jobs, of one Job and of CronJobs. They say what they say without that.
func TestAllPagesCostWhatOneCosts(t *testing.T) {
	log, config, want := busy(t)
	if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &counted{Reader: log}
	config.Log = c
	lists := joblist.New(config)
	first, err := lists.Page(t.Context(), history.ListQuery{Limit: 10})
	if err != nil || c.read == 0 {
		t.Fatalf("%d records were read for the first page (%v): none are behind the list", c.read, err)
	}
	c.read = 0
	all, n := pages(t, lists, history.ListQuery{Limit: 10})
	same(t, "the pages", want, all)
	one, err := lists.Page(t.Context(), history.ListQuery{UID: first.Jobs[0].UID})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "one Job", first.Jobs[:1], one.Jobs)
	if _, err := lists.CronJobs(t.Context(), history.CronListQuery{}); err != nil || n < 3 || c.read != 0 {
		t.Errorf("%d more records were read for %d pages (%v)", c.read, n, err)
	}
}

// TestADamagedListIsNeverBelieved: whichever byte of a list is another, the pages are right.
func TestADamagedListIsNeverBelieved(t *testing.T) {
	log, config, want := busy(t)
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := log.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []store.File{files[1], files[len(files)-1]} {
		path := filepath.Join(config.Dir, fmt.Sprintf("%020d.jobs", uint64(f.First)))
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 60; n += effort.Step(5) {
			at := n * (len(content) - 1) / 59
			bad := slices.Clone(content)
			bad[at] ^= 1 << (n % 8)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			all, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 200})
			same(t, fmt.Sprintf("with byte %d of %s changed", at, filepath.Base(path)), want, all)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornListsAreMadeAgain: nobody waits for the disk when a list is written, so a power cut leaves lists with blocks
// of zeros, and others not at all. Readers fold what they need, and the next Keeper makes the lists anew.
func TestTornListsAreMadeAgain(t *testing.T) {
	log, config, want := busy(t)
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := log.Files()
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string][]byte{}
	for i, f := range files {
		path := filepath.Join(config.Dir, fmt.Sprintf("%020d.jobs", uint64(f.First)))
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole[path] = slices.Clone(content)
		footer := binary.LittleEndian.Uint64(content[len(content)-8:])
		if clear(content[:footer]); i%2 == 0 {
			err = os.WriteFile(path, content, 0o600)
		} else {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 200})
	same(t, "with every other list torn, and none between", want, all)
	for range 2 { // the second has nothing to do
		if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		for path, content := range whole {
			again, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(again, content) {
				t.Errorf("%s is made again with %d bytes, it had %d: %v", path, len(again), len(content), err)
			}
		}
	}
}
