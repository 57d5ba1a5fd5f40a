package kube

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func waitingJobs(from, to int) (jobs []events.JobRef) {
	for i := from; i < to; i++ {
		name := fmt.Sprintf("job-%d", i)
		jobs = append(jobs, events.JobRef{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)})
	}
	return jobs
}

// TestJobsHearThatTheDiskIsFull: each Job gets one Event, at most a hundred Jobs an hour, and another one if the disk
// is still full an hour later.
func TestJobsHearThatTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		alarm := NewAlarm(newAppender(t).log, s.client(), slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { alarm.Run(ctx); close(ended) }()
		tell := func(jobs []events.JobRef) int {
			before := s.calls
			alarm.Tell(jobs)
			synctest.Wait()
			return s.calls - before
		}
		if n := tell(waitingJobs(0, 2)); n != 2 {
			t.Errorf("of 2 Jobs %d were told", n)
		}
		if n := tell(waitingJobs(0, 3)); n != 1 {
			t.Errorf("of 3 Jobs, 2 of which had been told, %d were told", n)
		}
		if n := alarm.Wants(); n != roomEvents-3 {
			t.Errorf("%d more may be told, want %d", n, roomEvents-3)
		}
		if n := tell(waitingJobs(3, 500)); n != roomEvents-3 {
			t.Errorf("of 497 more Jobs %d were told, want %d", n, roomEvents-3)
		}
		if n := tell(waitingJobs(500, 600)); n != 0 {
			t.Errorf("beyond the cap %d were told", n)
		}
		time.Sleep(roomAgain)
		if n := tell(waitingJobs(0, 1)); n != 1 {
			t.Errorf("an hour later %d of 1 was told", n)
		}
		if told := s.take(); len(told) != roomEvents {
			t.Errorf("there are %d Events, want %d: one that is told again is counted up", len(told), roomEvents)
		}
		stop()
		<-ended
	})
}

// TestARestartTellsNobodyTwice: the Event's name depends on the Job and on the end of the log, which does not change
// while there is no room.
func TestARestartTellsNobodyTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := newServer(), newAppender(t).log
		for range 2 {
			alarm := NewAlarm(log, s.client(), slog.New(slog.DiscardHandler))
			ctx, stop := context.WithCancel(t.Context())
			go alarm.Run(ctx)
			alarm.Tell(waitingJobs(0, 1))
			synctest.Wait()
			stop()
			synctest.Wait()
		}
		if told := s.take(); len(told) != 1 || !strings.HasPrefix(told[0], LogDiskFull+" ") {
			t.Errorf("told: %q", told)
		}
	})
}
