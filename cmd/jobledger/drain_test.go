package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestDrainedIsWhenNothingGoesOn: a drain waits for Jobs that run and for finalizers, and not for suspended Jobs.
func TestDrainedIsWhenNothingGoesOn(t *testing.T) {
	log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	t.Cleanup(func() { _ = log.Close() })
	c := newCluster(t, log)
	drained := 0
	d := &controller.Drain{Log: slog.New(slog.DiscardHandler), Drained: func() { drained++ }}
	now := time.Now()
	expect := func(when string, want, left, suspended int) {
		t.Helper()
		now = now.Add(time.Minute)
		d.Look(c.loop.World(), now)
		l, s := controller.Undone(c.loop.World())
		if drained != want || len(l) != left || len(s) != suspended {
			t.Errorf("%s: drained %d times, %d are left, %d suspended; want %d, %d, %d", when, drained, len(l), len(s), want, left, suspended)
		}
	}
	expect("while the cluster is listed", 0, 0, 0)
	c.settle()
	job := c.addJob("batch", "demo", 1, func(*events.JobSpec) {})
	paused := c.addJob("batch", "paused", 2, func(s *events.JobSpec) { s.Suspend = true })
	c.settle()
	c.start(job)
	expect("while a pod runs", 0, 1, 1)
	c.hold = true // the finalizer stays
	c.finish(job, c.pods(job)[0], 0, "")
	c.carryOut() // the status write
	c.settle()
	if j := c.loop.World().Job(events.JobStream(job.ref.UID)); j == nil || !j.Finished() {
		t.Fatal("the Job has not finished")
	}
	expect("while a pod holds the finalizer of a Job that has finished", 0, 1, 1)
	c.hold = false
	c.settle()
	expect("when all has ended", 1, 0, 1)
	expect("a minute later", 1, 0, 1)
	paused.spec.Suspend, paused.spec.Hash = false, "spec-resumed"
	paused.seen.Spec, paused.seen.Version = "spec-resumed", c.next()
	c.showJob(paused)
	c.settle()
	expect("when a suspended Job is resumed", 1, 1, 0)
}
