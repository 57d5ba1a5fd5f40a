package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// nightslog writes the log of some nights: nightslog DIR. See nights.
func nightslog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nightslog DIR")
	}
	writeNights(failing{ts: ts}, ts.MkAbs(args[0]))
}

// writeNights writes that log into a directory.
func writeNights(t testing.TB, dir string) {
	t.Helper()
	told := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	nights(t, told)
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	copyRecords(t, told, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// copyRecords writes the records of a log into another one, batch by batch.
func copyRecords(t testing.TB, from store.Reader, to store.Log) {
	t.Helper()
	var batch events.Batch
	for r, err := range from.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if batch.Records = append(batch.Records, r); r.Last {
			to.Append(batch, false)
			batch = events.Batch{}
		}
	}
}

// march is a moment of March 2026, in UTC. Berlin is an hour ahead until the 29th.
func march(day int, clock string) time.Time {
	at, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 3, day, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// nights tells of some CronJobs, which the loop runs. It ends at 02:10 UTC on 27 March:
//
//	prod/etl      each night at 3 in Berlin, Forbid. Two runs succeeded, one failed and was made again by hand, one succeeded. That of the
//	              25th hangs: that of the 26th was held back, and merged into that of the 27th, which is held back
//	prod/report   each quarter of an hour, to be started within 2 minutes. On the 26th no controller watched for an hour, and later
//	              somebody suspended it for another one; then alice asked for a run
//	prod/mail     each hour. Since the 27th its Jobs are refused: the quota is used up
//	web/ping      every 10 minutes, suspended from the beginning
//	web/never     on 31 February
//	web/old       was deleted
func nights(t testing.TB, log store.Log) {
	c := newCronCluster(t, log, events.At(march(20, "08:00:00")))
	etl := c.addCron("prod", "etl", "0 3 * * *", "Europe/Berlin", func(s *events.CronJobSeen) { s.Policy = "Forbid" })
	c.addCron("web", "ping", "*/10 * * * *", "", func(s *events.CronJobSeen) { s.Suspend = true })
	c.addCron("web", "never", "0 0 31 2 *", "", func(*events.CronJobSeen) {})
	old := c.addCron("web", "old", "@daily", "", func(*events.CronJobSeen) {})
	c.until(march(20, "09:00:00"))
	c.deleteCron(old)

	for _, day := range []int{21, 22} {
		c.until(march(day, "02:00:01"))
		c.run(etl, 41*time.Minute, 0, "")
	}
	c.until(march(23, "02:00:01"))
	c.run(etl, 36*time.Second, 3, "cannot open /data\x1b[31m: no such file")
	c.until(march(23, "09:12:00"))
	c.byHand(etl, "etl-rerun")
	c.run(etl, 40*time.Minute, 0, "")
	c.until(march(24, "02:00:01"))
	c.run(etl, 42*time.Minute, 0, "")
	c.until(march(25, "02:00:01"))
	c.start(c.running(etl)) // it hangs

	c.until(march(26, "09:07:00"))
	report := c.addCron("prod", "report", "*/15 * * * *", "", func(s *events.CronJobSeen) { s.Deadline = new(int64(120)) })
	quarters := func(until time.Time) {
		for at := c.now.Go().Truncate(15 * time.Minute).Add(15 * time.Minute); at.Before(until); at = at.Add(15 * time.Minute) {
			c.until(at.Add(time.Second))
			c.run(report, time.Minute, 0, "")
		}
		c.until(until)
	}
	quarters(march(26, "10:07:00"))
	c.away(63 * time.Minute)
	quarters(march(26, "12:05:00"))
	c.change(report, "kubectl-patch", func(s *events.CronJobSeen) { s.Suspend = true })
	c.until(march(26, "13:05:00"))
	c.change(report, "kubectl-patch", func(s *events.CronJobSeen) { s.Suspend = false })
	quarters(march(26, "13:20:00"))
	c.change(report, "jobledger-trigger", func(s *events.CronJobSeen) {
		s.Trigger = &events.RunTrigger{Value: "2026-03-26T13:19:59.000Z 1 alice", Asked: events.At(march(26, "13:19:59")), By: "alice by jobledger-trigger"}
	})
	c.run(report, time.Minute, 0, "")
	quarters(march(26, "14:01:00"))
	c.change(report, "kubectl-edit", func(s *events.CronJobSeen) { s.Schedule = "0 0 1 * *" })

	mail := c.addCron("prod", "mail", "0 * * * *", "", func(*events.CronJobSeen) {})
	for hour := 15; hour < 24; hour++ {
		c.until(march(26, fmt.Sprintf("%d:00:01", hour)))
		c.run(mail, time.Minute, 0, "")
	}
	c.refused = &events.TaskResult{
		Ended:    events.CommandEnded{Ending: events.Refused, Class: events.RefusedQuota},
		Evidence: events.Evidence{Message: `jobs.batch %q is forbidden: exceeded quota: objects, requested: count/jobs.batch=1`},
	}
	c.until(march(27, "02:10:00"))
	c.durable()
}
