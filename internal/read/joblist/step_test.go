package joblist

import (
	"context"
	"errors"
	"iter"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// TestEachStepOfAKeeper extends one list, the oldest that needs it, by so many records and up to the end of their
// batch. A list of an earlier process is checked once. Steps end when nothing is left to do.
func TestEachStepOfAKeeper(t *testing.T) {
	c, last := lied(t)
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	through := func() (all []events.Sequence) {
		for _, f := range files {
			l, err := openList(c.Dir, c.Log.Identity(), f, c.Log)
			if err != nil || l == nil {
				all = append(all, f.First-1)
				continue
			}
			all = append(all, l.through.Sequence)
			l.close()
		}
		return all
	}
	c.Dir, c.Every = t.TempDir(), 60
	k, before, steps := NewKeeper(c, nil), through(), 0
	for more := true; more; steps++ {
		if more, err = k.step(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		after, extended := through(), 0
		for i := range after {
			switch n := int(after[i] - before[i]); {
			case n < 0 || n > 60+20 || n > 0 && n < 60 && after[i] != files[i].End.Sequence:
				t.Errorf("step %d: list %d has %d records more", steps, i, n)
			case n > 0:
				extended++
			}
			if i > 0 && after[i] > before[i] && after[i-1] != files[i-1].End.Sequence {
				t.Errorf("step %d: list %d is extended before list %d is whole", steps, i, i-1)
			}
		}
		if extended > 1 || !more && extended > 0 {
			t.Errorf("step %d: %d lists are extended, and there is more: %t", steps, extended, more)
		}
		if before = after; steps > 1000 {
			t.Fatal("there is always more")
		}
	}
	for i, at := range before {
		if at != files[i].End.Sequence {
			t.Errorf("list %d ends at %d, want %d", i, at, files[i].End.Sequence)
		}
	}
	for _, f := range files {
		l, err := openList(c.Dir, c.Log.Identity(), f, c.Log)
		if err != nil {
			t.Fatal(err)
		}
		if l.goesOn() == f.Sealed {
			t.Errorf("the list from %d on keeps states: %t", f.First, l.goesOn())
		}
		l.close()
	}
	again := NewKeeper(c, nil)
	for i := range len(files) + 1 {
		more, err := again.step(t.Context(), 1)
		if err != nil || more != (i < len(files)) {
			t.Fatalf("step %d of the next process: there is more: %t, %v", i, more, err)
		}
	}
	if len(again.checked) != len(files) || last.Sealed {
		t.Errorf("%d of %d lists are checked", len(again.checked), len(files))
	}
}

// unreadable is a log whose records cannot be read. It counts the tries.
type unreadable struct {
	store.Reader
	tries int
}

func (u *unreadable) Read(context.Context, events.Sequence) iter.Seq2[events.Record, error] {
	u.tries++
	return func(yield func(events.Record, error) bool) { yield(events.Record{}, historytest.ErrRead) }
}

// TestAKeeperThatFailsWaits for its next look, and does not try again at once.
func TestAKeeperThatFailsWaits(t *testing.T) {
	c, _ := lied(t)
	log := &unreadable{Reader: c.Log}
	c.Dir, c.Log = t.TempDir(), log
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		go NewKeeper(c, nil).Run(ctx) // ends with ctx
		for i := range 4 {
			synctest.Wait()
			if log.tries != i+1 {
				t.Errorf("after %d looks it has tried %d times", i+1, log.tries)
			}
			time.Sleep(look)
		}
		stop()
		synctest.Wait()
	})
}

// TestWhereAJobIsKnownFrom is the list of the file that has its record before: that of this file with its state, or one
// of an earlier file without. A damaged list of an earlier file knows nothing.
func TestWhereAJobIsKnownFrom(t *testing.T) {
	c, file := lied(t)
	l, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var with *events.Stream
	for it, err := range l.streams.all {
		if err != nil {
			t.Fatal(err)
		}
		s := events.Stream{Kind: events.StreamJob, ID: string(it.key)}
		if k, ok, err := l.job(s); err != nil || !ok {
			t.Fatal(err)
		} else if len(k.state) > 0 {
			with = &s
		}
	}
	if with == nil {
		t.Fatal("no Job of the list has a state")
	}
	for _, row := range []struct {
		name        string
		base        *list
		previous    events.Sequence
		earlier     *list
		fails       error
		asked, ok   bool
		state, told bool
	}{
		{"this file", l, file.First, nil, nil, false, true, true, false},
		{"an earlier file", l, file.First - 1, l, nil, true, true, false, false},
		{"an earlier file without a list", l, file.First - 1, nil, nil, true, false, false, false},
		{"this file without a list", nil, file.First, nil, nil, true, false, false, false},
		{"a list that fails", l, file.First - 1, l, historytest.ErrRead, true, false, false, true},
	} {
		asked := false
		p := &part{log: c.Log, file: file, base: row.base, earlier: func(at events.Sequence) (*list, error) {
			asked = at == row.previous
			return row.earlier, row.fails
		}}
		k, ok, err := p.before(&events.Record{Header: events.Header{Stream: *with, Previous: row.previous}})
		if asked != row.asked || ok != row.ok || (len(k.state) > 0) != row.state || (err != nil) != row.told {
			t.Errorf("%s: an earlier list is asked: %t, known: %t with a state of %d bytes, %v", row.name, asked, ok, len(k.state), err)
		}
	}
	if _, ok, err := (&part{file: file, earlier: func(events.Sequence) (*list, error) { return l, nil }}).before(&events.Record{
		Header: events.Header{Stream: events.JobStream("none"), Previous: 5},
	}); ok || err != nil {
		t.Errorf("a Job that no list has is known: %t, %v", ok, err)
	}
	text, err := os.ReadFile(l.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(text)*3/4; i += 7 { // not its end, which says where the tables are
		text[i] ^= 0x55
	}
	if err := os.WriteFile(l.file.Name(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	torn, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer torn.close()
	p := &part{file: file, earlier: func(events.Sequence) (*list, error) { return torn, nil }}
	if _, ok, err := p.before(&events.Record{Header: events.Header{Stream: *with, Previous: 5}}); ok || err != nil {
		t.Errorf("of a damaged list: %t, %v", ok, err)
	}
	p.base = torn
	if _, _, err := p.before(&events.Record{Header: events.Header{Stream: *with, Previous: file.First}}); !errors.Is(err, errMalformed) {
		t.Errorf("of this file's list, damaged: %v", err)
	}
}

// TestWhereAFileEnds is before the next file, or with the log.
func TestWhereAFileEnds(t *testing.T) {
	c, last := lied(t)
	m := &merge{config: &c, files: []store.File{{First: 1}, {First: 10}, {First: 20}}}
	for first, want := range map[events.Sequence]events.Sequence{1: 9, 10: 19, 20: last.End.Sequence} {
		if got := m.endOf(store.File{First: first}); got != want {
			t.Errorf("the file from %d on ends at %d, want %d", first, got, want)
		}
	}
}
