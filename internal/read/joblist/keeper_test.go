package joblist

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// TestAKeeperThatRuns: it makes all lists, tells once what fails, tries again, and ends with its context.
func TestAKeeperThatRuns(t *testing.T) {
	c, _ := lied(t)
	want, err := filepath.Glob(filepath.Join(c.Dir, "*.jobs"))
	if err != nil || len(want) < 3 {
		t.Fatal(want, err)
	}
	sound := c.Files
	c.Dir, c.Every = t.TempDir(), 10
	synctest.Test(t, func(t *testing.T) {
		fails := true
		c.Files = func() ([]store.File, error) {
			if fails {
				return nil, historytest.ErrRead
			}
			return sound()
		}
		var said bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		ended := false
		go func() { NewKeeper(c, slog.New(slog.NewTextHandler(&said, nil))).Run(ctx); ended = true }() // ends with ctx
		warned := func(what string, n, lists int) {
			t.Helper()
			synctest.Wait()
			got, err := filepath.Glob(filepath.Join(c.Dir, "*.jobs"))
			if told := strings.Count(said.String(), "behind"); told != n || len(got) != lists || err != nil {
				t.Errorf("%s: told %d times, want %d; %d lists, want %d: %v", what, told, n, len(got), lists, err)
			}
		}
		warned("at once", 1, 0)
		time.Sleep(3 * look)
		warned("again and again", 1, 0)
		fails = false
		time.Sleep(2 * look)
		warned("then it can be read", 1, len(want))
		fails = true
		time.Sleep(look)
		warned("and then not", 2, len(want))
		if ended {
			t.Error("it ended")
		}
		stop()
		synctest.Wait()
		if !ended {
			t.Error("it did not end")
		}
	})
}

// TestNobodyWaitsForAPage: who asked has gone, and the lists have all.
func TestNobodyWaitsForAPage(t *testing.T) {
	c, _ := lied(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, all := New(c).Page(ctx, history.ListQuery{})
	_, one := New(c).Page(ctx, history.ListQuery{UID: "0"})
	_, crons := New(c).CronJobs(ctx, history.CronListQuery{})
	for _, err := range []error{all, one, crons} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestListsOfFilesThatAreGone: they are removed, and nothing else is. Without a directory there are no lists.
func TestListsOfFilesThatAreGone(t *testing.T) {
	c, file := lied(t)
	others := []string{"notes.txt", "x.jobs", "5.jobs.tmp"}
	for _, name := range append([]string{filepath.Base(listPath("", 9999))}, others...) {
		if err := os.WriteFile(filepath.Join(c.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewKeeper(c, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(listPath(c.Dir, 9999)); err == nil {
		t.Error("the list of no file is there")
	}
	for _, path := range append([]string{listPath(c.Dir, file.First), listPath(c.Dir, 1)}, filepath.Join(c.Dir, others[0]), filepath.Join(c.Dir, others[1]), filepath.Join(c.Dir, others[2])) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	c.Dir = filepath.Join(c.Dir, "nowhere")
	if err := NewKeeper(c, nil).Finish(t.Context()); err == nil {
		t.Error("there are lists in a directory that is not there")
	}
}

// TestAListIsGoneOnFrom: the newest file's list is behind by so many records at most, and is made on from where it is.
// It ends with a batch.
func TestAListIsGoneOnFrom(t *testing.T) {
	c, file := lied(t)
	c.Files = func() ([]store.File, error) { return []store.File{file}, nil }
	n := int(file.End.Sequence - file.First + 1)
	for _, every := range []int{7, n - 1, n, n + 1} {
		c.Dir, c.Every = t.TempDir(), every
		if err := NewKeeper(c, nil).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		l, err := openList(c.Dir, c.Log.Identity(), file, c.Log)
		if err != nil {
			t.Fatal(err)
		}
		known, whole := 0, true
		if l != nil {
			known = int(l.through.Sequence - file.First + 1)
			for r, err := range c.Log.Read(t.Context(), l.through.Sequence) {
				whole = err == nil && r.Last
				break
			}
			l.close()
		}
		// The list ends with a batch, so it may know a few more than it must.
		if want := n - n%every; known < want || known > want+20 || !whole {
			t.Errorf("every %d: the list knows %d records of %d, want %d, to the end of a batch (%t)", every, known, n, want, whole)
		}
	}
}

// TestWhichListsAreGoneOnFrom: those that keep states, of the fold of this program.
func TestWhichListsAreGoneOnFrom(t *testing.T) {
	var none *list
	for want, lists := range map[bool][]*list{
		true: {{controller: []byte("x"), foldVersion: projector.FoldVersion}},
		false: {
			none, {}, {foldVersion: projector.FoldVersion}, {controller: []byte("x")},
			{controller: []byte("x"), foldVersion: projector.FoldVersion + 1},
		},
	} {
		for _, l := range lists {
			if l.goesOn() != want {
				t.Errorf("%+v is gone on from: %t", l, !want)
			}
		}
	}
}

// TestSameEnd: what records tell of a Job of which some are gone.
func TestSameEnd(t *testing.T) {
	s := func(state history.State) history.Summary {
		return history.Summary{Namespace: "ns", Name: "demo", State: state, Last: 7}
	}
	change := func(state history.State, change func(s *history.Summary)) history.Summary {
		x := s(state)
		change(&x)
		return x
	}
	for i, row := range []struct {
		own, listed history.Summary
		want        bool
	}{
		{s(history.StateRunning), s(history.StateRunning), true}, {s(history.StateRunning), s(history.StateWaiting), false},
		{s(history.StateUnseen), s(history.StateWaiting), true}, {s(history.StateDeleted), s(history.StateComplete), true},
		{s(history.StateFinished), s(history.StateComplete), true}, {s(history.StateFinished), s(history.StateFailed), true},
		{s(history.StateFinished), s(history.StateFinished), true}, {s(history.StateFinished), s(history.StateRunning), false},
		{s(history.StateComplete), s(history.StateFinished), false},
		{change(history.StateRunning, func(s *history.Summary) { s.Gone = true }), s(history.StateRunning), false},
		{change(history.StateUnseen, func(s *history.Summary) { s.Last = 8 }), s(history.StateWaiting), false},
		{change(history.StateUnseen, func(s *history.Summary) { s.Name = "other" }), s(history.StateWaiting), false},
		{change(history.StateUnseen, func(s *history.Summary) { s.Namespace = "other" }), s(history.StateWaiting), false},
		{change(history.StateUnseen, func(s *history.Summary) { s.Namespace, s.Name = "", "" }), s(history.StateWaiting), true},
	} {
		if got := sameEnd(&row.own, &row.listed); got != row.want {
			t.Errorf("row %d: %+v and %+v: %t", i, row.own, row.listed, got)
		}
	}
	past := []history.PastJob{{Created: 1, UID: "b"}, {Created: 2, UID: "a"}, {Created: 2, UID: "b"}}
	for want, x := range map[events.Time]history.Summary{
		1: {Created: 1, Finished: 5, UID: "a"}, 5: {Finished: 5, UID: "a"}, 0: {UID: "a"},
	} {
		if got := pastOf(&x); got.Created != want || got.UID != "a" {
			t.Errorf("the place of %+v is %+v", x, got)
		}
	}
	if !slices.IsSortedFunc(past, func(a, b history.PastJob) int { return comparePast(&a, &b) }) || comparePast(&past[1], &past[2]) == 0 {
		t.Error("their places are not in order")
	}
}
