package loop_test

import (
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// TestWhatCannotBeReadProvesNothing: the log cannot be read, so it does not tell whether a Job had gone. The turn ends
// with that error, and proves neither a rewind nor a loss of records.
func TestWhatCannotBeReadProvesNothing(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"start", "synced", "job demo", "ended demo/0 done uid=uid-demo#1", "pod demo#1 phase=Running"} {
		m.do(command)
	}
	pod := *m.pods["uid-demo#1"]
	for _, command := range []string{"gone demo", "gone demo#1", "wait 1s"} {
		m.do(command)
	}
	m.turn(loop.Input{Observation: &pod}) // the log knows the Job only from a pod
	pod.Claim = events.Claim{Epoch: 1, Job: pod.Job.UID, Ordinal: 7}
	m.unreadable = errors.New("the disk is gone")
	head := m.log.Head().Sequence
	_, err := m.loop.Turn(m.now, []loop.Input{{Observation: &pod}})
	if _, _, back := m.loop.Returned(); back || !errors.Is(err, m.unreadable) || errors.As(err, new(*loop.LossError)) {
		t.Errorf("the turn ended with %v, and proves a rewind: %t", err, back)
	}
	if now := m.log.Head().Sequence; now != head {
		t.Errorf("%d records are written", now-head)
	}
}

// TestAJobThatHadGoneProvesARewind: a cluster is restored from a backup, and its versions are beyond every version that
// the log knows. It shows a Job whose end is in the log, with pods that the log made. The controller reports no loss,
// and decides nothing until the next epoch begins. Then the Job is like any other.
func TestAJobThatHadGoneProvesARewind(t *testing.T) {
	for _, row := range []struct {
		sentence string
		before   []string
		podFirst bool
	}{
		{sentence: "the Job first", before: []string{"gone demo", "gone demo#1", "wait 1s"}},
		{sentence: "a pod first", before: []string{"gone demo", "gone demo#1", "wait 1s"}, podFirst: true},
		{sentence: "its pod is still there", before: []string{"gone demo"}},
		{sentence: "after a restart", before: []string{"gone demo", "gone demo#1", "wait 1s", "start"}},
		{sentence: "after a restart, a pod first", before: []string{"gone demo", "gone demo#1", "wait 1s", "start"}, podFirst: true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			m := newMachine(t)
			for _, command := range []string{"start", "synced", "job demo", "ended demo/0 done uid=uid-demo#1", "pod demo#1 phase=Running"} {
				m.do(command)
			}
			job, pod := m.jobs["demo"], m.pods["uid-demo#1"]
			for _, command := range row.before {
				m.do(command)
			}
			back := *job.Facts.(*events.JobSeen)
			back.Version = m.version + 7
			again := loop.Input{Observation: &events.Observation{Job: job.Job, Facts: &back, Spec: job.Spec}}
			made := loop.Input{Observation: &events.Observation{
				Job: pod.Job, Facts: pod.Facts, Claim: events.Claim{Epoch: 1, Job: job.Job.UID, Ordinal: 1}, Evidence: pod.Evidence,
			}}
			inputs := []loop.Input{again, made, made}
			if row.podFirst {
				inputs = []loop.Input{made, again, made}
			}
			m.turn(inputs...)
			life, proof, ok := m.loop.Returned()
			want := events.Rewind{Resource: events.Jobs, Known: m.version, Found: back.Version, Object: job.Job.UID}
			if row.sentence != "its pod is still there" {
				want.Known = m.version - 1 // the newest version is then that of the pod's end
			}
			if !ok || proof != want || life.Epoch != 1 {
				t.Fatalf("it proves %+v in epoch %d (%t), want %+v", proof, life.Epoch, ok, want)
			}
			head := m.log.Head().Sequence
			m.do("wait 1h")
			if now := m.log.Head().Sequence; now != head {
				t.Errorf("%d records are written before another life begins", now-head)
			}
			m.do("rewound version=500")
			m.turn(again, made)
			if _, _, ok := m.loop.Returned(); ok {
				t.Error("in the next life the same Job proves another rewind")
			}
			m.do("synced")
			j := m.loop.World().Job(events.JobStream(job.Job.UID))
			if j == nil || j.Gone || j.PodCount() != 1 || m.log.Identity().Epoch != 2 {
				t.Errorf("%s knows of the Job %+v", m.log.Identity(), j)
			}
		})
	}
}

// TestACronJobThatHadGoneProvesARewind: the versions of the restored cluster are beyond every version that the log
// knows. Its list shows a CronJob that was gone by the log. Without a new epoch this CronJob would stay gone, and would
// start nothing.
func TestACronJobThatHadGoneProvesARewind(t *testing.T) {
	for _, row := range []struct {
		sentence string
		before   []string
	}{
		{"the log still has its state", []string{"gone nightly"}},
		{"it is forgotten", []string{"gone nightly", "wait 1h"}},
		{"after a restart", []string{"gone nightly", "wait 1h", "start"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			m := newMachine(t)
			for _, command := range []string{"start cronjobs", "synced", "cronjob nightly"} {
				m.do(command)
			}
			seen := *m.crons["nightly"]
			for _, command := range row.before {
				m.do(command)
			}
			back := *seen.Facts.(*events.CronJobSeen)
			back.Version = m.version + 7
			again := seen
			again.Facts = &back
			m.turn(loop.Input{Observation: &again})
			_, proof, ok := m.loop.Returned()
			want := events.Rewind{Resource: events.CronJobs, Known: m.version, Found: back.Version, Object: seen.Job.UID}
			if !ok || proof != want {
				t.Fatalf("it proves %+v (%t), want %+v", proof, ok, want)
			}
			m.do("rewound version=500")
			m.turn(loop.Input{Observation: &again})
			m.do("synced")
			if c := m.cron("nightly"); c == nil || c.Gone || m.log.Identity().Epoch != 2 {
				t.Errorf("%s knows of the CronJob %+v", m.log.Identity(), c)
			}
		})
	}
}
