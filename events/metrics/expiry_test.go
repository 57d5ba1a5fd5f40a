package metrics

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
)

const deletions = "ttl_after_finished_controller_job_deletion_duration_seconds"

// T-062: how late a deletion was is observed once for each that was carried out.
func TestDeletionsOfExpiredJobs(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(s *script)
		want string
	}{
		{"one that is done", func(s *script) {
			s.now = s.now.Add(40 * time.Second)
			s.deleted(events.Done)
		}, "1 in 40s"},
		{"one that is refused, and then done", func(s *script) {
			s.deleted(events.Refused)
			s.deleted(events.OutcomeUnknown)
			s.now = s.now.Add(1500 * time.Millisecond)
			s.deleted(events.Done)
		}, "1 in 1.5s"},
		{"one whose Job is gone before it is answered", func(s *script) {
			name := s.decide(s.deletion())
			s.add(demoStream, events.KindJobDeleted, &events.JobGone{})
			s.end()
			s.ended(name, 0, events.Done)
		}, "0 in 0s"},
		{"one of a Job that has not retired", func(s *script) {
			s.open()
			s.deleted(events.Done)
		}, "1 in 0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, plain())
			s.retire()
			tt.run(s)
			s.expect(deletions, deletions+"{} "+tt.want)
			if len(s.consumer.deletions) != 0 {
				t.Errorf("%d deletions are remembered", len(s.consumer.deletions))
			}
		})
	}
}

// T-062: the buckets are those of the built-in TTL controller: fourteen, from 0.1 s to 819.2 s.
func TestBucketsOfDeletions(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(New())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != deletions {
			continue
		}
		buckets := family.GetMetric()[0].GetHistogram().GetBucket()
		first, last := buckets[0].GetUpperBound(), buckets[len(buckets)-1].GetUpperBound()
		if len(buckets) != 14 || first != 0.1 || math.Abs(last-819.2) > 1e-6 {
			t.Errorf("%d buckets from %g to %g", len(buckets), first, last)
		}
		return
	}
	t.Errorf("there is no %s", deletions)
}

// TestARetiredJobIsNotRememberedAgain: records of a retired Job before its object is gone cost no memory, and count as
// no sync.
func TestARetiredJobIsNotRememberedAgain(t *testing.T) {
	s := newScript(t, plain())
	s.retire()
	before := lines(t, s.metrics, "job_syncs_total")
	for i := range 3 * maxUnused {
		hash := fmt.Sprint("ttl", i)
		s.add(demoStream, events.KindSpecStored, &events.JobSpec{Hash: hash})
		s.add(demoStream, events.KindJobChanged, &events.JobSeen{Version: uint64(i) + 2, Managed: true, Spec: hash, SpecAt: s.next - 1})
		s.end()
	}
	s.add(demoStream, events.KindTimerFired, &events.TimerFired{})
	s.ended(s.decide(&events.ReadJob{}), 0, events.Done)
	s.deleted(events.Refused)
	if n, specs := len(s.consumer.jobs), len(s.consumer.specs); n != 0 || specs > 2*maxUnused {
		t.Errorf("%d Jobs and %d specs are remembered", n, specs)
	}
	if after := lines(t, s.metrics, "job_syncs_total"); !slices.Equal(after, before) {
		t.Errorf("syncs were counted: %q, and before %q", after, before)
	}
}

// retire has the Job finish and retire.
func (s *script) retire() {
	s.add(demoStream, events.KindJobRetired, &events.JobRetired{})
	s.end()
}

// open adds a pod that opens the Job again.
func (s *script) open() {
	s.add(demoStream, events.KindPodAdded, podOf("p", events.PodSucceeded))
	s.end()
}

// deletion returns the deletion of the Job. Its TTL had passed an hour after the beginning.
func (s *script) deletion() events.Command {
	return &events.DeleteJob{Job: demo, Version: 2, Expired: events.Time(time.Hour)}
}

// deleted decides on a deletion, which ends in that way.
func (s *script) deleted(how events.Ending) {
	s.ended(s.decide(s.deletion()), 0, how)
}
