package projector_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// retire retires the Job at version 30, with a TTL in seconds.
func (f *fold) retire(ttl int32) *projector.Retired {
	f.restart(func(s *events.Settings) { s.DeleteExpired = true })
	f.ttl(30, ttl, nil)
	f.record(events.KindJobRetired, &events.JobRetired{})
	return f.retired()
}

// ttl shows the Job at a version, complete, with a TTL in seconds.
func (f *fold) ttl(version uint64, ttl int32, change func(*events.JobSeen)) {
	hash := fmt.Sprint("ttl", ttl)
	f.record(events.KindSpecStored, &events.JobSpec{Hash: hash, Template: "t", TTLSecondsAfterFinished: &ttl})
	f.see(version, func(s *events.JobSeen) {
		s.Spec, s.SpecAt = hash, f.seq
		s.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Complete, Status: "True", Since: 1e18}}}
		if change != nil {
			change(s)
		}
	})
}

func (f *fold) retired() *projector.Retired { return f.world.Retired(events.JobStream(job)) }

// followed writes what is known of the retired Job.
func (f *fold) followed() string {
	r := f.retired()
	text := fmt.Sprintf("at %d, TTL %d", r.Version, r.TTL)
	for _, is := range []struct {
		so   bool
		word string
	}{{r.Busy(), "busy"}, {r.Deleted(), "deleted"}, {r.Look(), "to be read"}} {
		if is.so {
			text += ", " + is.word
		}
	}
	if w := r.Writing(); w.Count > 0 {
		text += fmt.Sprintf(", refused %d times, until in %s", w.Count, f.in(w.Until))
	}
	return text
}

// TestWhatFollowsARetirement: records after a Job's retirement are folded, and a stored state has them.
func TestWhatFollowsARetirement(t *testing.T) {
	read := func(f *fold) events.CommandID {
		f.retire(30)
		return f.decide(&events.ReadJob{})
	}
	remove := func(f *fold) events.CommandID {
		f.retire(30)
		return f.decide(&events.DeleteJob{Job: job, Version: 30})
	}
	rows := []fact{
		{"nothing", func(f *fold) string { f.retire(30); return f.followed() }, "at 30, TTL 30"},
		{"a TTL that was raised", func(f *fold) string { f.retire(30); f.ttl(31, 60, nil); return f.followed() }, "at 31, TTL 60"},
		{"what is older says nothing", func(f *fold) string { f.retire(30); f.ttl(29, 60, nil); return f.followed() }, "at 30, TTL 30"},
		{"its deletion has begun", func(f *fold) string {
			f.retire(30)
			f.ttl(31, 30, func(s *events.JobSeen) { s.Deleted = 1e18 })
			return f.followed()
		}, "at 31, TTL 30, deleted"},
		{"its deletion had begun before", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.DeleteExpired = true })
			f.ttl(30, 30, func(s *events.JobSeen) { s.Deleted = 1e18 })
			f.record(events.KindJobRetired, &events.JobRetired{})
			return f.followed()
		}, "at 30, TTL 30, deleted"},
		{"a read is in flight", func(f *fold) string { read(f); return f.followed() }, "at 30, TTL 30, busy"},
		{"it is found by its name", func(f *fold) string {
			name := read(f)
			return fmt.Sprint(f.retired().InFlight(name) != nil, f.retired().InFlight(events.CommandID{Decided: 1}) == nil)
		}, "true true"},
		{"it found the Job", func(f *fold) string {
			f.end(read(f), func(e *events.CommandEnded) { e.UID = job })
			return f.followed()
		}, "at 30, TTL 30"},
		{"it found another Job of that name", func(f *fold) string {
			f.end(read(f), func(e *events.CommandEnded) { e.UID = "other" })
			return f.followed()
		}, "at 30, TTL 30, deleted"},
		{"it found none", func(f *fold) string { f.end(read(f), refused(events.RefusedNotFound)); return f.followed() }, "at 30, TTL 30, deleted"},
		{"it was refused", func(f *fold) string {
			f.end(read(f), refused(events.RefusedServer))
			return f.followed()
		}, "at 30, TTL 30, refused 1 times, until in 1s"},
		{"a deletion is in flight", func(f *fold) string { remove(f); return f.followed() }, "at 30, TTL 30, busy"},
		{"it was done", func(f *fold) string { f.end(remove(f), nil); return f.followed() }, "at 30, TTL 30, deleted"},
		{"it met no Job", func(f *fold) string { f.end(remove(f), refused(events.RefusedNotFound)); return f.followed() }, "at 30, TTL 30, deleted"},
		{"it met another version", func(f *fold) string {
			f.end(remove(f), refused(events.RefusedConflict))
			return f.followed()
		}, "at 30, TTL 30, to be read, refused 1 times, until in 1s"},
		{"that version is seen", func(f *fold) string {
			f.end(remove(f), refused(events.RefusedConflict))
			f.ttl(31, 30, nil)
			return f.followed()
		}, "at 31, TTL 30"},
		{"it was refused, and the newer version that is seen does not help", func(f *fold) string {
			f.end(remove(f), refused(events.RefusedServer))
			f.ttl(31, 30, nil)
			return f.followed()
		}, "at 31, TTL 30, refused 1 times, until in 1s"},
		{"the clock steps while it waits", func(f *fold) string {
			f.end(read(f), unknown)
			f.now = f.now.Add(time.Hour)
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
			return f.followed()
		}, "at 30, TTL 30, refused 1 times, until in 1s"},
		{"a restart leaves nothing in flight", func(f *fold) string { read(f); f.restart(nil); return f.followed() }, "at 30, TTL 30"},
		{"a pod makes it one that is to be seen again", func(f *fold) string {
			f.retire(30)
			f.record(events.KindPodAdded, pod(nil))
			return fmt.Sprint(f.retired() == nil, f.job().Phase())
		}, "true unknown"},
	}
	checkFacts(t, rows)
	t.Run("as stored", func(t *testing.T) {
		for _, row := range rows {
			f := newFold()
			row.of(f)
			s := events.JobStream(job)
			facts, names, _ := f.world.StreamState(s)
			w := projector.NewWorld()
			if err := w.RestoreStream(s, facts, names); err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			if again, _, _ := w.StreamState(s); !bytes.Equal(again, facts) {
				t.Errorf("%s: restored, its state is another one", row.name)
			}
		}
	})
}

// TestWhatIsSeenOfARetiredJobIsRecorded: only changes of the time at which it is to be deleted, and only if this
// program deletes Jobs.
func TestWhatIsSeenOfARetiredJobIsRecorded(t *testing.T) {
	admits := func(f *fold, change func(*events.Observation, *events.JobSeen)) string {
		ttl := f.retired().TTL
		seen := &events.JobSeen{Version: 31, Managed: true, Spec: "ttl30", Status: &events.JobStatus{
			Conditions: []events.JobCondition{{Type: status.Complete, Status: "True", Since: 1e18}},
		}}
		o := &events.Observation{
			Job: events.JobRef{Namespace: "ns", Name: "demo", UID: job}, Facts: seen,
			Spec:     &events.JobSpec{Hash: "ttl30", TTLSecondsAfterFinished: &ttl},
			Evidence: events.Evidence{Namespace: "ns", Name: "demo"},
		}
		change(o, seen)
		return f.admits(o)
	}
	raised := func(o *events.Observation, s *events.JobSeen) {
		ttl := int32(60)
		o.Spec, s.Spec = &events.JobSpec{Hash: "ttl60", TTLSecondsAfterFinished: &ttl}, "ttl60"
	}
	checkFacts(t, []fact{
		{"nothing of another version", func(f *fold) string {
			f.retire(30)
			return admits(f, func(*events.Observation, *events.JobSeen) {})
		}, ""},
		{"a TTL that was raised, with its spec", func(f *fold) string {
			f.retire(30)
			return admits(f, raised)
		}, "SpecStored in job/job, JobChanged in job/job at 31 with spec of 8 and status, 0 failed ns demo"},
		{"not of an older version", func(f *fold) string {
			f.retire(30)
			return admits(f, func(o *events.Observation, s *events.JobSeen) { raised(o, s); s.Version = 30 })
		}, ""},
		{"that it is being deleted", func(f *fold) string {
			f.retire(30)
			return admits(f, func(_ *events.Observation, s *events.JobSeen) { s.Deleted = 1e18 })
		}, "JobChanged in job/job at 31 with spec of 5 and status, 0 failed ns demo"},
		{"that it finished at another time", func(f *fold) string {
			f.retire(30)
			return admits(f, func(_ *events.Observation, s *events.JobSeen) { s.Status.Conditions[0].Since++ })
		}, "JobChanged in job/job at 31 with spec of 5 and status, 0 failed ns demo"},
		{"nothing where Jobs are not deleted", func(f *fold) string {
			f.retire(30)
			f.restart(func(s *events.Settings) { s.DeleteExpired = false })
			return admits(f, raised)
		}, ""},
	})
}

// TestADeletionOfAJobThatHasNotRetired: a finished Job with something left to do is being deleted. The fold follows
// that, and a stored state has it.
//
// T-003, T-006: its pods are not looked at, and it is deleted once.
func TestADeletionOfAJobThatHasNotRetired(t *testing.T) {
	begin := func(f *fold) events.CommandID {
		f.restart(func(s *events.Settings) { s.DeleteExpired = true })
		f.pod(nil)
		f.ttl(30, 30, nil)
		return f.decide(&events.DeleteJob{Job: job, Version: 30})
	}
	said := func(f *fold) string {
		e := f.job().Expiry()
		text := fmt.Sprintf("version %d, TTL %d, expires %t", e.Version, e.TTL, e.At != 0)
		if e.At != 0 {
			text += fmt.Sprintf(", goes %s later", e.From.Sub(e.At))
		}
		if e.Busy {
			text += ", busy"
		}
		if e.Look {
			text += ", to be read"
		}
		return text + fmt.Sprintf(", refused %d times", e.Writing.Count)
	}
	rows := []fact{
		{"it is in flight", func(f *fold) string { begin(f); return said(f) }, "version 30, TTL 30, expires true, goes 1s later, busy, refused 0 times"},
		{"it was done", func(f *fold) string { f.end(begin(f), nil); return said(f) }, "version 30, TTL 30, expires false, refused 0 times"},
		{"it met no Job", func(f *fold) string {
			f.end(begin(f), refused(events.RefusedNotFound))
			return said(f)
		}, "version 30, TTL 30, expires false, refused 0 times"},
		{"it met another version", func(f *fold) string {
			f.end(begin(f), refused(events.RefusedConflict))
			return said(f)
		}, "version 30, TTL 30, expires true, goes 1s later, to be read, refused 1 times"},
		{"that version is seen", func(f *fold) string {
			f.end(begin(f), refused(events.RefusedConflict))
			f.ttl(31, 60, nil)
			return said(f)
		}, "version 31, TTL 60, expires true, goes 1s later, refused 1 times"},
		{"its end is unknown", func(f *fold) string {
			f.end(begin(f), unknown)
			return said(f)
		}, "version 30, TTL 30, expires true, goes 1s later, refused 1 times"},
		{"a restart leaves nothing in flight", func(f *fold) string { begin(f); f.restart(nil); return said(f) }, "version 30, TTL 30, expires true, goes 1s later, refused 0 times"},
		{"it has no TTL", func(f *fold) string { begin(f); f.ttl(31, events.Unset, nil); return said(f) }, "version 31, TTL -1, expires false, busy, refused 0 times"},
		{"it retires with what is known", func(f *fold) string {
			f.end(begin(f), nil)
			f.record(events.KindJobRetired, &events.JobRetired{})
			return f.followed()
		}, "at 30, TTL 30, deleted"},
	}
	checkFacts(t, rows)
	for _, row := range rows {
		f := newFold()
		row.of(f)
		s := events.JobStream(job)
		facts, names, _ := f.world.StreamState(s)
		w := projector.NewWorld()
		w.Settings = f.world.Settings
		if err := w.RestoreStream(s, facts, names); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if again, _, _ := w.StreamState(s); !bytes.Equal(again, facts) {
			t.Errorf("%s: restored, its state is another one", row.name)
		}
	}
}
