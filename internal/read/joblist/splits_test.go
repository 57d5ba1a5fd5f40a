package joblist

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// interleaved is a log of four Jobs and two CronJobs. Each letter is a record of one of them; "." is of the controller.
// A capital is the first record of its object.
const interleaved = ".B.AbQqaDb.qdaPCcb.pa"

// written is that log. Each record is a batch.
func written(t *testing.T) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last, created := map[events.Stream]events.Sequence{}, map[string]events.Time{}
	for i, letter := range interleaved {
		n := events.Sequence(i + 1)
		r := events.Record{Header: events.Header{
			Sequence: n, Time: events.At(time.Date(2026, 3, 14, 12, 0, i, 0, time.UTC)), Kind: events.KindTermStarted,
			Stream: events.Controller, Last: true,
		}, Facts: &events.TermStarted{}, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2}}
		name := string(letter | 0x20)
		if created[name] == 0 {
			created[name] = r.Time
		}
		r.Evidence = events.Evidence{Namespace: "n", Name: name}
		switch {
		case n == 1:
			r.Kind, r.Facts = events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}
		case letter == '.':
		case name >= "p":
			r.Stream, r.Kind = events.CronJobStream(types.UID(name)), events.KindCronJobAdded
			r.Facts = &events.CronJobSeen{Version: uint64(n), Schedule: "0 3 * * *", Created: created[name]}
		default:
			r.Stream, r.Kind = events.JobStream(types.UID(name)), events.KindJobAdded
			r.Facts = &events.JobSeen{Version: uint64(n), Generation: 1, Managed: true, Created: created[name]}
		}
		if r.Previous = last[r.Stream]; r.Previous != 0 && r.Kind == events.KindJobAdded {
			r.Kind = events.KindJobChanged
		} else if r.Previous != 0 && r.Kind == events.KindCronJobAdded {
			r.Kind = events.KindCronJobChanged
		}
		r.Critical = r.Kind.Critical()
		last[r.Stream] = n
		c := log.Append(events.Batch{Records: []events.Record{r}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// cutAt divides a log into files that end with these records, and one with the rest, which may be empty.
func cutAt(t *testing.T, log store.Reader, ends ...events.Sequence) (files []store.File) {
	t.Helper()
	first := events.Sequence(1)
	for _, end := range append(ends, log.Head().Sequence) {
		hash, err := log.Chain(end)
		if err != nil {
			t.Fatal(err)
		}
		head := store.Head{Sequence: end, Time: events.At(time.Date(2026, 3, 14, 12, 0, int(end)-1, 0, time.UTC)), Hash: hash}
		files = append(files, store.File{First: first, End: head, Sealed: true})
		first = end + 1
	}
	files[len(files)-1].Sealed = false
	return files
}

// told is what a page tells of where an object is in the log: its first and its last record, and how many it has.
func told(uid string, first, last, records uint64) string {
	return fmt.Sprintf("%s %d-%d of %d", uid, first, last, records)
}

// expected is that of the objects that have these letters, the newest first.
func expected(from, to rune) (all []string) {
	for i, letter := range interleaved {
		if letter < from&^0x20 || letter > to&^0x20 {
			continue
		}
		uid, last, n := string(letter|0x20), i+1, 0
		for k, other := range interleaved {
			if string(other|0x20) == uid {
				last, n = k+1, n+1
			}
		}
		all = append([]string{told(uid, uint64(i+1), uint64(last), uint64(n))}, all...)
	}
	return all
}

// pagesOf returns what the pages of a query tell, one after the other.
func pagesOf(t *testing.T, l *Lists, q history.ListQuery) (all []string) {
	t.Helper()
	for {
		page, err := l.Page(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Jobs {
			all = append(all, told(j.UID, j.First, j.Last, j.Records))
		}
		if q.Before, q.Past = page.Next, page.Past; page.Next == 0 && page.Past == nil {
			return all
		}
	}
}

// listed asks for the Jobs of queries and for all CronJobs of the log of a config.
func listed(t *testing.T, c Config, what string, queries ...history.ListQuery) {
	t.Helper()
	lists := New(c)
	for _, q := range queries {
		var want []string
		for _, text := range expected('a', 'd') {
			var uid string
			var first, last, n events.Sequence
			if _, err := fmt.Sscanf(text, "%s %d-%d of %d", &uid, &first, &last, &n); err != nil {
				t.Fatal(err)
			}
			if last >= q.Since && (q.UID == "" || uid == q.UID) {
				want = append(want, text)
			}
		}
		if got := pagesOf(t, lists, q); !slices.Equal(got, want) {
			t.Errorf("%s, %+v: %q, want %q", what, q, got, want)
		}
	}
	page, err := lists.CronJobs(t.Context(), history.CronListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range page.CronJobs {
		j := &page.CronJobs[i]
		got = append(got, fmt.Sprintf("%s %d-%d", j.UID, j.First, j.Last))
	}
	crons := expected('p', 'q')
	for i, text := range crons {
		if i >= len(got) || len(got) != len(crons) || text[:len(got[i])] != got[i] {
			t.Errorf("%s: %q, want %q", what, got, crons)
			break
		}
	}
}

// TestWhereverFilesEnd: a log is divided at two of its records, in many ways. Its Jobs and CronJobs are listed once,
// whatever lists there are, and lists are made without a search for what earlier lists have.
func TestWhereverFilesEnd(t *testing.T) {
	log := written(t)
	end := log.Head().Sequence
	for one := events.Sequence(1); one < end; one++ {
		for two := one + 1; two <= end; two += 1 + (two-one)/3 {
			files := cutAt(t, log, one, two)
			searched := &watched{Reader: log}
			c := Config{Log: searched, Files: func() ([]store.File, error) { return files, nil }, Every: 5}
			look := func(what string, queries ...history.ListQuery) {
				t.Helper()
				listed(t, c, fmt.Sprintf("%s, files end with %d and %d", what, one, two), queries...)
			}
			if (one+two)%4 == 0 {
				look("without lists", history.ListQuery{}, history.ListQuery{UID: "a"}, history.ListQuery{UID: "b", Since: two})
			}
			c.Dir = t.TempDir()
			searched.searches = 0
			if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if searched.searches > 0 {
				t.Errorf("files end with %d and %d: %d streams are searched for what the lists have", one, two, searched.searches)
			}
			look("with lists", history.ListQuery{Limit: 1}, history.ListQuery{Since: one},
				history.ListQuery{Since: two, Limit: 3}, history.ListQuery{UID: "b"},
				history.ListQuery{UID: "a", Since: one})
		}
	}
}

// TestAFileIsSealedBehindItsList: the list of the newest file has all its records when a new file begins. It is written
// again without states, and says what it said, and none of the records behind the file.
func TestAFileIsSealedBehindItsList(t *testing.T) {
	c, _ := lied(t)
	whole, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	for k := range whole[:len(whole)-1] {
		c.Dir = t.TempDir()
		files := slices.Clone(whole[:k+1])
		files[k].Sealed = false
		c.Files = func() ([]store.File, error) { return files, nil }
		var said [2][]string
		for i := range said {
			if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			p := partsOf(t, opened(t, &c, files[k]), c.Log.Identity())
			if (len(p.header.controller) > 0) != (i == 0) || p.header.through != files[k].End {
				t.Errorf("file %d, sealed: %t: a state of %d bytes, through %v", k, i > 0, len(p.header.controller),
					p.header.through)
			}
			p.tables[1], p.tables[2] = withoutStates(t, p)
			said[i] = p.said(t)
			files = slices.Clone(whole[:k+2])
		}
		if d := cmp.Diff(said[0], said[1]); d != "" {
			t.Errorf("file %d (-before it was sealed +after):\n%.1000s", k, d)
		}
	}
}

// withoutStates returns the streams and the CronJobs of a list without their states.
func withoutStates(t *testing.T, p *parts) (streams, crons []item) {
	t.Helper()
	for _, it := range p.tables[1] {
		streams = append(streams, item{it.key, streamEntry(events.Sequence(0), nil, nil)})
	}
	for _, it := range p.tables[2] {
		r, err := decodeCronRow(it.content)
		if err != nil {
			t.Fatal(err)
		}
		r.state, r.names = nil, nil
		content, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		crons = append(crons, item{it.key, content})
	}
	return streams, crons
}
