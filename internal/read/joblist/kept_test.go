package joblist

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// pruned is a log from its k-th file on, with the lists of the whole log.
func pruned(t *testing.T, c Config, k int) Config {
	t.Helper()
	all, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	c.Log = historytest.Pruned{Reader: c.Log, First: all[k].First}
	c.Files = func() ([]store.File, error) { return all[k:], nil }
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	c.Dir = dir
	return c
}

// answers are all that lists answer, as text.
func answers(t *testing.T, c *Config) (all []string) {
	t.Helper()
	for _, name := range []string{"jobs", "some", "of a UID", "cronjobs"} {
		answer, err := asked[name](t.Context(), New(*c))
		if err != nil {
			t.Fatal(name, err)
		}
		all = append(all, name, text(t, answer))
	}
	return all
}

// TestListsOfBeforeAPrune are not wrong: their rows say more than the records that are kept. A row that says something
// else is found all the same.
func TestListsOfBeforeAPrune(t *testing.T) {
	whole, _ := lied(t)
	all, err := whole.Files()
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k < len(all); k += 2 {
		c := pruned(t, whole, k)
		checked, err := Check(t.Context(), c)
		if err != nil || len(checked.Wrong)+len(checked.Notes) > 0 || checked.Rows == 0 {
			t.Errorf("from file %d on: %d rows, %v, %v, %v", k, checked.Rows, checked.Wrong, checked.Notes, err)
		}
		l := opened(t, &c, all[k])
		p := partsOf(t, l, c.Log.Identity())
		for i := range p.tables[0] {
			forged := partsOf(t, l, c.Log.Identity())
			r, err := decodeRow(1, p.tables[0][i].content)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.summary()
			if err != nil {
				t.Fatal(err)
			}
			s.Last++
			forged.tables[0][i].content = (&row{Summary: s}).encode()
			forged.put(t, c.Dir)
			checked, err := Check(t.Context(), c)
			if err != nil || len(checked.Wrong) != 1 || !strings.Contains(checked.Wrong[0].Error(), s.Name) {
				t.Errorf("from file %d on, %s is forged: %v, %v", k, s.Name, checked.Wrong, err)
			}
			if i > 2 {
				break
			}
		}
		p.put(t, c.Dir)
	}
}

// TestListsBesideDamage: a list that is not compared is noted, with the damage.
func TestListsBesideDamage(t *testing.T) {
	c, file := lied(t)
	sound := c.Log
	for _, at := range []events.Sequence{file.First + 2, file.End.Sequence - 2} {
		c.Log = &historytest.Failing{Reader: sound, Bad: func(r events.Sequence) error {
			if r == at {
				return &store.CorruptError{Path: "a.db", At: at, Next: at + 1}
			}
			return nil
		}}
		checked, err := Check(t.Context(), c)
		if err != nil || len(checked.Wrong) > 0 || len(checked.Notes) == 0 ||
			!strings.Contains(fmt.Sprint(checked.Notes), "was not compared") {
			t.Errorf("record %d is damaged: %v, %v, %v", at, checked.Wrong, checked.Notes, err)
		}
	}
}

// TestAPrunedListThatLies: a row of a Job that began before the kept records is malformed. The records tell.
func TestAPrunedListThatLies(t *testing.T) {
	whole, _ := lied(t)
	all, err := whole.Files()
	if err != nil {
		t.Fatal(err)
	}
	k, tried := len(all)/2, 0
	c := pruned(t, whole, k)
	bare := c
	bare.Dir = ""
	want := answers(t, &bare)
	if got := answers(t, &c); !slices.Equal(got, want) {
		t.Errorf("with lists of before (-without lists +with them):\n%.1500s", cmp.Diff(want, got))
	}
	for i := range all[k:] {
		file := all[k+i]
		l := opened(t, &c, file)
		for at := range partsOf(t, l, c.Log.Identity()).tables[0] {
			p := partsOf(t, l, c.Log.Identity())
			if string(p.tables[0][at].key) >= string(keyBytes(all[k].First)) {
				break
			}
			if tried++; tried%3 != 0 {
				continue
			}
			sound := p.tables[0][at].content
			for _, content := range [][]byte{nil, append(slices.Clone(sound), 1)} {
				p.tables[0][at].content = content
				p.put(t, c.Dir)
				if got := answers(t, &c); !slices.Equal(got, want) {
					t.Errorf("row %d of file %d is malformed:\n%.1500s", at, k+i, cmp.Diff(want, got))
				}
			}
			p.tables[0][at].content = sound
			p.put(t, c.Dir)
		}
	}
	if tried < 6 {
		t.Errorf("only %d Jobs had begun before", tried)
	}
}

// TestAFileWhoseEndIsNotKnown is read up to the next file, or to the end of the log.
func TestAFileWhoseEndIsNotKnown(t *testing.T) {
	c, _ := lied(t)
	all, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	want := answers(t, &c)
	for k := range all {
		files := slices.Clone(all)
		files[k].End = store.Head{}
		c.Files = func() ([]store.File, error) { return files, nil }
		if got := answers(t, &c); !slices.Equal(got, want) {
			t.Errorf("of file %d:\n%.1500s", k, cmp.Diff(want, got))
		}
	}
}

// TestAListGoesOnOverWhatConcernsAll: a start of the controller, a step of its clock or a new epoch lies behind the
// records of a list. The list that goes on over it is the one that is made at once.
func TestAListGoesOnOverWhatConcernsAll(t *testing.T) {
	log := historytest.Hard(t, 2)
	c, files := Config{Log: log}, []store.File{{First: 1, End: log.Head()}}
	tried := map[string]int{}
	batch := events.Sequence(0) // the end of the batch before
	for r, err := range c.Log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Facts.(type) {
		case *events.ControllerStarted, *events.ClockStepped, *events.EpochChanged:
			if what := fmt.Sprintf("%T", r.Facts); batch > 20 && tried[what] < 3 {
				tried[what]++
				goesOn(t, c, files, batch)
			}
		}
		if r.Last {
			batch = r.Sequence
		}
	}
	if len(tried) == 0 {
		t.Error("no file has such a record behind others")
	}
}

// goesOn compares the last list of some files, made at once, with one that went on from a record.
func goesOn(t *testing.T, c Config, files []store.File, from events.Sequence) {
	t.Helper()
	last := len(files) - 1
	hash, err := c.Log.Chain(from)
	if err != nil {
		t.Fatal(err)
	}
	short, whole := slices.Clone(files), slices.Clone(files)
	short[last].End.Sequence, short[last].End.Hash, short[last].Sealed = from, hash, false
	whole[last].Sealed = false
	c.Every = 1 << 20
	var said [2][]string
	for i, steps := range [][][]store.File{{whole}, {short, whole}} {
		c.Dir = t.TempDir()
		for _, now := range steps {
			c.Files = func() ([]store.File, error) { return now, nil }
			if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		said[i] = partsOf(t, opened(t, &c, whole[last]), c.Log.Identity()).said(t)
	}
	if d := cmp.Diff(said[0], said[1]); d != "" {
		t.Errorf("from %d on (-at once +in parts):\n%.1500s", from, d)
	}
}

// TestWhereACronJobIsKnownFrom is the list of the file that has its record before: that of this file with its state, or
// one of an earlier file without. A list that does not have it knows nothing.
func TestWhereACronJobIsKnownFrom(t *testing.T) {
	c, file := lied(t)
	l := opened(t, &c, file)
	with := events.Stream{}
	for it, err := range l.crons.all {
		if err != nil {
			t.Fatal(err)
		}
		if r, err := decodeCronRow(it.content); err == nil && len(r.state) > 0 {
			with = events.Stream{Kind: events.StreamCronJob, ID: string(it.key)}
		}
	}
	for _, row := range []struct {
		of                string
		base, earlier     *list
		previous          events.Sequence
		asked, ok, states bool
	}{
		{with.ID, l, nil, file.First, false, true, true}, {with.ID, l, l, file.First - 1, true, true, false},
		{with.ID, l, nil, file.First - 1, true, false, false}, {with.ID, nil, l, file.First + 1, true, true, false},
		{"none", l, l, file.First, false, false, false}, {"none", l, l, file.First - 1, true, false, false},
		{"", l, l, file.First, false, false, false},
	} {
		asked := false
		p := &part{log: c.Log, file: file, base: row.base, earlier: func(events.Sequence) (*list, error) {
			asked = true
			return row.earlier, nil
		}}
		s := events.Stream{Kind: events.StreamCronJob, ID: row.of}
		k, ok, err := p.cronBefore(&events.Record{Header: events.Header{Stream: s, Previous: row.previous}})
		if err != nil || asked != row.asked || ok != row.ok || (len(k.state) > 0) != row.states {
			t.Errorf("%+v: earlier lists are asked: %t, known: %t with a state of %d bytes, %v", row, asked, ok,
				len(k.state), err)
		}
	}
	if with.ID == "" {
		t.Error("no CronJob of the list has a state")
	}
	none := Config{Log: c.Log, Files: func() ([]store.File, error) { return nil, nil }}
	page, err := New(none).CronJobs(t.Context(), history.CronListQuery{Settle: func([]history.CronSummary) {
		t.Error("nothing is brought to the present")
	}})
	if err != nil || len(page.CronJobs) > 0 {
		t.Errorf("of no files: %v, %v", page, err)
	}
}

// TestThePastIsInTheOrderOfCreation: CronJobs whose first record is no longer kept come behind the others, the newest
// creation first, on each page. Jobs and CronJobs are there once.
func TestThePastIsInTheOrderOfCreation(t *testing.T) {
	log := written(t)
	place := func(uid string) int { return strings.Index(interleaved, strings.ToUpper(uid)) + 1 }
	for first := events.Sequence(2); first <= log.Head().Sequence; first++ {
		c := Config{Log: historytest.Pruned{Reader: log, First: first}, Files: func() ([]store.File, error) {
			return []store.File{{First: first, End: log.Head()}}, nil
		}}
		for _, limit := range []int{0, 1, 2} {
			var jobs, crons []string
			q := history.ListQuery{Limit: limit}
			for more := true; more; more = q.Before != 0 || q.Past != nil {
				page, err := New(c).Page(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, j := range page.Jobs {
					jobs = append(jobs, j.UID)
					if want := place(j.UID); (j.First == 0) != (want < int(first)) || j.First != 0 && int(j.First) != want {
						t.Errorf("from %d on, %s begins at %d, want %d", first, j.UID, j.First, want)
					}
				}
				q.Before, q.Past = page.Next, page.Past
			}
			of := history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Limit: limit}}
			for more := true; more; more = of.Before != 0 {
				page, err := New(c).CronJobs(t.Context(), of)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.CronJobs {
					crons = append(crons, page.CronJobs[i].UID)
				}
				of.Before = page.Next
			}
			if !slices.IsSortedFunc(crons, func(a, b string) int { return place(b) - place(a) }) || len(crons) > 2 {
				t.Errorf("from %d on, pages of %d: %v", first, limit, crons)
			}
			if slices.Sort(jobs); len(slices.Compact(slices.Clone(jobs))) != len(jobs) {
				t.Errorf("from %d on, pages of %d: %v", first, limit, jobs)
			}
		}
	}
}
