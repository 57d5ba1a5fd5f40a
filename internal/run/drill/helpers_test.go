package drill_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/drill"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/storetest"
)

var small = store.Options{RotateBytes: 256 << 10, LogID: "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}

// changing is a log that stores some records otherwise than its writer knows.
type changing struct {
	*boltlog.Log
	change func(*events.Record)
}

func (c changing) Append(b events.Batch, soon bool) store.Commit {
	b.Records = slices.Clone(b.Records)
	for i := range b.Records {
		c.change(&b.Records[i])
	}
	return c.Log.Append(b, soon)
}

// sound is the directory of an unchanged log. Tests copy it.
var sound string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "drill")
	if err == nil {
		sound = dir
		err = write(dir, nil, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// newLog makes a log of several files of a busy cluster, with lists of its Jobs; change may change records as they
// are stored, and misread as they are read for the lists.
func newLog(t testing.TB, change, misread func(*events.Record)) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	var err error
	if change == nil && misread == nil {
		err = os.CopyFS(dir, os.DirFS(sound))
	} else {
		err = write(dir, change, misread)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes a log, packs its sealed files, and makes lists of its Jobs.
func write(dir string, change, misread func(*events.Record)) error {
	log, err := boltlog.Open(dir, small)
	if err != nil {
		return err
	}
	to := store.Log(log)
	if change != nil {
		to = changing{log, change}
	}
	if _, err := joblog.Write(to, joblog.Config{Seed: 1, Records: 6000, Running: 8, Finished: 5}); err != nil {
		return err
	}
	for first := events.Sequence(1); first != 0; {
		if first, err = log.Pack(context.Background()); err != nil {
			return err
		}
	}
	read := store.Reader(log)
	if misread != nil {
		read = misreading{log, misread}
	}
	lists := joblist.Config{Log: read, Files: store.FilesOf(log), Dir: dir, Every: 500}
	return errors.Join(joblist.NewKeeper(lists, nil).Finish(context.Background()), log.Close())
}

// misreading is a log that gives some records otherwise than they are stored.
type misreading struct {
	store.Reader
	change func(*events.Record)
}

func (m misreading) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return m.changed(m.Reader.Read(ctx, from))
}

func (m misreading) ReadStream(ctx context.Context, s events.Stream, from events.Sequence,
	dir store.Direction) iter.Seq2[events.Record, error] {
	return m.changed(m.Reader.ReadStream(ctx, s, from, dir))
}

func (m misreading) changed(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for rec, err := range records {
			if err == nil {
				m.change(&rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// grown appends the records of another cluster to a log, so that it goes on behind its copy.
func grown(t testing.TB, dir string) {
	t.Helper()
	log, err := boltlog.Open(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	storetest.NewWriter(t, log).Durable(storetest.Text("job-z", 300))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// copied is the directory of a copy of a log.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if _, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: indir.New(to), Writer: "v0"}); err != nil {
		t.Fatal(err)
	}
	return to
}

// live returns a log at rest, in the form in which a drill asks it. misread may change records as they are read.
func live(t testing.TB, dir string, misread func(*events.Record)) *drill.Live {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // it was only read
	var damage store.Damage
	read := store.Reader(log)
	if misread != nil {
		read = misreading{log, misread}
	}
	src := history.Local{Log: read, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir}),
		Damage: &damage}
	quiet := func(string) {}
	return &drill.Live{Source: src, Ask: func(ctx context.Context, q *ask.Asked[explain.Answer]) (*explain.Answer, error) {
		return q.Ask(ctx, ask.Source{Source: src, Note: quiet, Behind: quiet, Damage: &damage})
	}}
}

// shorter is a log that reports an earlier end.
type shorter struct{ history.Source }

func (s shorter) Head(ctx context.Context) (events.Identity, store.Head, error) {
	id, head, err := s.Source.Head(ctx)
	head.Sequence--
	return id, head, err
}

// another is a log that reports another identity.
type another struct{ history.Source }

func (a another) Head(ctx context.Context) (events.Identity, store.Head, error) {
	id, head, err := a.Source.Head(ctx)
	id.LogID = "other"
	return id, head, err
}

// drilled runs a drill in its own directory, and checks that nothing is left there.
func drilled(t testing.TB, place copylog.Place, change func(*drill.Config)) (*drill.Report, error) {
	t.Helper()
	around := t.TempDir()
	config := &drill.Config{Place: place, Dir: around, Jobs: 20, Version: "v1", By: "the night shift"}
	if change != nil {
		change(config)
	}
	report, err := drill.Run(t.Context(), config)
	if left, _ := os.ReadDir(around); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
	return report, err
}

// outcome returns the result of a check.
func outcome(t testing.TB, r *drill.Report, name string) drill.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c drill.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check %s: %+v", name, r.Checks)
	}
	return r.Checks[i]
}

// fails checks that one check fails with those words, and that all others hold or were not made.
func fails(t testing.TB, r *drill.Report, name, words string) {
	t.Helper()
	if r.Passed {
		t.Error("the drill passed")
	}
	for _, c := range r.Checks {
		if (c.Outcome == drill.DoesNot) != (c.Name == name) {
			t.Errorf("%s: %s: %s %q", c.Name, c.Outcome, c.Text, c.Details)
		}
	}
	if c := outcome(t, r, name); !strings.Contains(c.Text+strings.Join(c.Details, "\n"), words) {
		t.Errorf("%s says %q, %q; want %q", name, c.Text, c.Details, words)
	}
}
