package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

const testLogID = "0123456789abcdef0123456789abcdef"

// makelog writes a log: makelog DIR, or makelog DIR altered for one whose first decision is not the one that was made,
// or makelog DIR split for one of several files; makelog DIR short has its first 40 records, and makelog DIR season
// tells of 24 Jobs in several files (season). Otherwise it tells of one morning:
//
//	default/demo      two of two pods succeed after one failed with exit 3 and a rude message; then it is deleted
//	batch/hopeless    its pod fails, and no failure is allowed
//	batch/steps       an Indexed Job that runs: index 0 succeeded, 1 and 2 run, 3 is to come
//	default/demo      again, another Job of the name: the server refuses its pod (quota), so it waits
//	batch/asked       its first command is in flight
//
// makelog DIR teams writes another one: that of some Jobs with labels and with names that are like each other. makelog
// DIR night writes that of one night (night).
func makelog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: makelog DIR [altered|short|split|teams|night]")
	}
	var t testing.TB = failing{ts: ts}
	options := store.Options{LogID: testLogID}
	if slices.Contains(args, "split") {
		options.RotateBytes = 32 << 10
	}
	if slices.Contains(args, "season") {
		makeSeason(t, ts.MkAbs(args[0]), "", 24)
		return
	}
	log, err := boltlog.Open(ts.MkAbs(args[0]), options)
	ts.Check(err)
	if slices.Contains(args, "altered") {
		rewrite(t, log, func(all []events.Record) []events.Record { return altered(all, 1) })
	} else if slices.Contains(args, "short") {
		rewrite(t, log, func(all []events.Record) []events.Record {
			last := 40
			for !all[last-1].Last {
				last--
			}
			return all[:last]
		})
	} else if slices.Contains(args, "teams") {
		teams(t, log)
	} else if slices.Contains(args, "night") {
		told := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
		night(t, told)
		copyRecords(t, told, log)
	} else {
		morning(t, log)
	}
	ts.Check(log.Close())
}

// rewrite writes the morning with changed records: such a log is whole, and does not replay.
func rewrite(t testing.TB, log store.Log, change func([]events.Record) []events.Record) {
	original := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	morning(t, original)
	var records []events.Record
	for r, err := range original.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	var batch events.Batch
	for _, r := range change(records) {
		if batch.Records = append(batch.Records, r); r.Last {
			log.Append(batch, false)
			batch = events.Batch{}
		}
	}
}

func morning(t testing.TB, log store.Log) {
	n := func(v int32) *int32 { return &v }
	c := newCluster(t, log)
	c.settle()

	demo := c.addJob("default", "demo", 1, func(s *events.JobSpec) { s.Completions, s.Parallelism = n(2), n(2) })
	c.settle()
	c.start(demo)
	c.finish(demo, c.pods(demo)[0], 3, "cannot open \x1b[31m/data\x1b[0m\nno such file")
	c.pass(12 * time.Second)
	c.start(demo)
	for len(c.pods(demo)) > 0 {
		c.finish(demo, c.pods(demo)[0], 0, "")
	}
	c.deleteJob(demo)
	c.settle()

	hopeless := c.addJob("batch", "hopeless", 2, func(s *events.JobSpec) { s.BackoffLimit = n(0) })
	c.settle()
	c.start(hopeless)
	c.finish(hopeless, c.pods(hopeless)[0], 1, "")

	steps := c.addJob("batch", "steps", 3, func(s *events.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = "Indexed", n(4), n(2)
	})
	c.settle()
	c.start(steps)
	c.finish(steps, c.pods(steps)[0], 0, "")
	c.start(steps)
	c.pass(2 * time.Second)

	c.refuse = &events.TaskResult{
		Ended:    events.CommandEnded{Ending: events.Refused, Class: events.RefusedQuota, Sent: true},
		Evidence: events.Evidence{Message: `pods "demo-x" is forbidden: exceeded quota: small`},
	}
	c.addJob("default", "demo", 4, func(s *events.JobSpec) { *s = demo.spec })
	c.settle()
	c.pass(1500 * time.Millisecond)
	c.refuse, c.hold = nil, true

	c.addJob("batch", "asked", 5, func(s *events.JobSpec) {
		d := int64(3600)
		s.ActiveDeadlineSeconds, s.Redacted = &d, "redacted-asked"
		s.PodFailurePolicy, s.Policies = `{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]}`, "policies-asked"
	})
	c.settle()
	c.durable()
}

// failing lets a script's command use what wants a testing.TB.
type failing struct {
	testing.TB
	ts *testscript.TestScript
}

func (f failing) Helper()                   {}
func (f failing) Cleanup(last func())       { f.ts.Defer(last) }
func (f failing) Context() context.Context  { return context.Background() }
func (f failing) Fatal(args ...any)         { f.ts.Fatalf("%v", args) }
func (f failing) Fatalf(s string, a ...any) { f.ts.Fatalf(s, a...) }

// damage flips a bit of a text in a log: damage DIR TEXT.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage DIR TEXT")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.db"))
	ts.Check(err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		ts.Check(err)
		if at := bytes.Index(content, []byte(args[1])); at >= 0 {
			content[at] ^= 1
			ts.Check(os.WriteFile(file, content, 0o600))
			return
		}
	}
	ts.Fatalf("no file of %s holds %q", args[0], args[1])
}

// holdlog opens a log to write, as a controller does, until the script ends: holdlog DIR. It answers readers, and sets
// SERVER_URL to where; with "holdlog DIR silent" it does not answer, and with "holdlog DIR lost" it left a wrong
// address.
func holdlog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: holdlog DIR [silent|lost]")
	}
	dir := ts.MkAbs(args[0])
	log, err := boltlog.Open(dir, store.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(log.Close()) })
	if len(args) > 1 && args[1] == "silent" {
		return
	}
	server := httptest.NewServer(serve.Guard(serve.Handler(serve.Config{Log: log, Lists: joblist.New(joblist.Config{Log: log}), PID: os.Getpid(), Version: "v0.0.0-test"})))
	ts.Defer(server.Close)
	ts.Setenv("SERVER_URL", server.URL)
	address := server.URL
	if len(args) > 1 {
		address = "http://127.0.0.1:1" // a port that no process listens on
	}
	ts.Check(os.WriteFile(filepath.Join(dir, serve.AddressFile), []byte(address+"\n"), 0o600))
}
