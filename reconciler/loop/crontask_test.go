package loop_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// C-171: a task of a CronJob has the newest known version of the CronJob. A live read that finds an older one proves
// that the cluster went back.
func TestATaskOfACronJobSaysItsVersion(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"at 2026-03-02T08:10", "start cronjobs", "run demo-1 started", "cronjob demo", "synced"} {
		m.do(command)
	}
	tasks, _ := m.loop.Durable(m.log.Head().Sequence)
	version := m.crons["demo"].Facts.(*events.CronJobSeen).Version
	if len(tasks) != 1 || tasks[0].Base != version || version == 0 {
		t.Fatalf("version %d, tasks %+v", version, tasks)
	}
	if _, reads := tasks[0].Command.(*events.ReadCronJob); !reads {
		t.Errorf("the task is to %s", events.Describe(tasks[0].Command))
	}
}
