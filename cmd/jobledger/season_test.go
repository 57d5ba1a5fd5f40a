package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// seasonKey is the key of the log that season writes.
var seasonKey = events.Key{1, 2, 3, 4, 5, 6, 7, 8, 9}

// seasonJobs are enough for several files, packed and not.
const seasonJobs = 34

// smallFiles make a log of several files of little work.
var smallFiles = store.Options{LogID: testLogID, RotateBytes: 64 << 10}

// season writes a log: that many Jobs of the namespace default, job-00 and so on, one after the other; of every fifth a
// pod fails first. Every eighth is followed by a snapshot. Between, if not nil, is called behind each Job.
func season(t testing.TB, log store.Log, jobs int, between func(n int)) {
	t.Helper()
	c := newKeyedCluster(t, log, seasonKey.ID())
	c.settle()
	for n := range jobs {
		job := c.addJob("default", fmt.Sprintf("job-%02d", n), 1+n, func(*events.JobSpec) {})
		c.settle()
		c.start(job)
		if n%5 == 4 {
			c.finish(job, c.pods(job)[0], 3, "no such file")
			c.pass(12 * time.Second)
			c.start(job)
		}
		c.finish(job, c.pods(job)[0], 0, "")
		if err := log.SetOffset("nats", log.Head().Sequence); err != nil {
			t.Fatal(err)
		}
		if n%8 == 7 {
			c.snapshot()
		}
		if between != nil {
			between(n)
		}
	}
	c.durable()
}

// snapshot saves a snapshot of all there is.
func (c *fakeCluster) snapshot() {
	c.t.Helper()
	c.durable()
	c.loop.Snapshot()
	s, ok := c.loop.TakeSnapshot()
	if !ok {
		c.t.Fatal("there is no snapshot")
	}
	if err := c.log.SaveSnapshot(context.Background(), s); err != nil {
		c.t.Fatal(err)
	}
}

// eachDurable is a log that commits each batch by itself, so its files are always the same. How many batches otherwise
// share a commit depends on the load of the machine, and decides which page of a file holds what.
type eachDurable struct{ store.Log }

func (l eachDurable) Append(b events.Batch, _ bool) store.Commit {
	commit := l.Log.Append(b, true)
	<-commit.Done()
	return commit
}

// makeSeason writes a season's log to a directory, packs the older half of its files and stops in good order. Older, if
// not empty, gets a copy as it was halfway.
func makeSeason(t testing.TB, dir, older string, jobs int) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "KEY"), seasonKey[:], 0o600)); err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.Open(dir, smallFiles)
	if err != nil {
		t.Fatal(err)
	}
	season(t, eachDurable{log}, jobs, func(n int) {
		if n == jobs/2 && older != "" {
			poll(t, "the indexes of sealed files", func() bool { // they are stored in the background
				sealed, err := filepath.Glob(filepath.Join(dir, "*.db"))
				indexes, bad := filepath.Glob(filepath.Join(dir, "*.idx"))
				if err = errors.Join(err, bad); err != nil {
					t.Fatal(err)
				}
				return len(indexes) == len(sealed)-1
			})
			copyLog(t, dir, older)
			trim(t, older)
		}
	})
	sealed, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for range len(sealed) / 2 { // the older half of them
		if _, err := log.Pack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err = boltlog.Open(dir, smallFiles); err == nil { // which notes HEAD
		storetest.NewWriter(t, log).Durable(storetest.Item{
			Stream: events.Controller, Kind: events.KindControllerStopped, Facts: &events.ControllerStopped{},
		})
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	trim(t, dir)
}

// trim removes most of the space that the newest file holds ahead, so copies are small.
func trim(t testing.TB, dir string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(all[len(all)-1])
	if err == nil {
		used := len(bytes.TrimRight(content, "\x00"))
		err = os.Truncate(all[len(all)-1], int64(min(len(content), (used/boltPage+8)*boltPage)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyLog(t testing.TB, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	err = errors.Join(err, os.MkdirAll(to, 0o700))
	for _, e := range entries {
		content, bad := os.ReadFile(filepath.Join(from, e.Name()))
		err = errors.Join(err, bad, os.WriteFile(filepath.Join(to, e.Name()), content, 0o600)) // no other user may read KEY
	}
	if err != nil {
		t.Fatal(err)
	}
}

// typed is the result of a command.
type typed struct {
	out, err string
	code     int
	panicked any
}

// command runs a command in this process.
func command(args ...string) (r typed) {
	var out, err bytes.Buffer
	defer func() {
		r.panicked = recover()
		r.out, r.err = out.String(), err.String()
	}()
	c := &cli.CLI{Out: &out, Err: &err, Getenv: func(string) string { return "" }}
	r.code = execute(context.Background(), c, append([]string{"jobledger"}, args...))
	return r
}
