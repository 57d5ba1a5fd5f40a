package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

const demo = types.UID("demo")

var demoStream = events.JobStream(demo)

// script writes a log, one batch after another, and has it counted.
type script struct {
	t        *testing.T
	log      *memlog.Log
	metrics  *Metrics
	consumer *Consumer
	next     events.Sequence
	last     map[events.Stream]events.Sequence
	now      events.Time
	batch    []events.Record
}

// newScript begins a log with a listing that is over and a Job with that spec.
func newScript(t *testing.T, spec *events.JobSpec) *script {
	s := emptyScript(t)
	s.listed()
	spec.Hash = "h"
	if spec.PodFailurePolicy != "" { // another Job of the namespace has stored it
		spec.Policies = "p"
		at := s.add(events.JobStream("before"), events.KindPoliciesStored, &events.JobPolicies{Hash: "p", PodFailurePolicy: spec.PodFailurePolicy})
		s.end()
		s.add(demoStream, events.KindSpecStored, spec.Apart())
		s.batch[0].Causes = []events.Sequence{at}
	} else {
		s.add(demoStream, events.KindSpecStored, spec)
	}
	s.add(demoStream, events.KindJobAdded, &events.JobSeen{
		Version: 1, Managed: true, Spec: "h", SpecAt: s.next - 1, Status: &events.JobStatus{},
	})
	s.end()
	return s
}

func emptyScript(t *testing.T) *script {
	s := &script{
		t: t, log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), metrics: New(), next: 1,
		last: map[events.Stream]events.Sequence{}, now: events.Time(time.Hour),
	}
	s.add(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format})
	s.consumer = Follow(s.log, projector.NewWorld(), s.metrics)
	return s
}

func (s *script) listed() {
	s.add(events.Controller, events.KindSynced, &events.Synced{
		Resources: []events.Resource{events.Jobs, events.Pods}, Versions: []uint64{1, 1},
	})
	s.end()
}

func (s *script) add(stream events.Stream, kind events.Kind, facts events.Facts) events.Sequence {
	rec := events.Record{
		Header: events.Header{
			Sequence: s.next, Time: s.now, Stream: stream, Previous: s.last[stream], Kind: kind, Critical: kind.Critical(),
		},
		Facts: facts, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
	}
	s.batch = append(s.batch, rec)
	s.last[stream] = s.next
	s.next++
	return rec.Sequence
}

// end closes the batch, and has it counted.
func (s *script) end() {
	s.t.Helper()
	s.batch[len(s.batch)-1].Last = true
	commit := s.log.Append(events.Batch{Records: s.batch}, true)
	<-commit.Done()
	if err := commit.Err(); err != nil {
		s.t.Fatal(err)
	}
	s.batch = nil
	if err := s.consumer.CatchUp(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// pass lets time pass between batches.
func (s *script) pass(d time.Duration) { s.now = s.now.Add(d) }

// job is a batch in which the Job's object was seen.
func (s *script) job(seen events.JobSeen) {
	s.t.Helper()
	if seen.Version == 0 {
		seen.Version = uint64(s.next)
	}
	if seen.Spec == "" {
		seen.Spec = "h"
	}
	seen.Managed = true
	s.add(demoStream, events.KindJobChanged, &seen)
	s.end()
}

// pod is a batch in which a pod of the Job was seen.
func (s *script) pod(uid types.UID, phase events.PodPhase, change ...func(*events.PodSeen)) {
	s.t.Helper()
	s.add(demoStream, events.KindPodChanged, podOf(uid, phase, change...))
	s.end()
}

func podOf(uid types.UID, phase events.PodPhase, change ...func(*events.PodSeen)) *events.PodSeen {
	p := &events.PodSeen{UID: uid, Phase: phase, Tracked: true, Owner: demo, Selected: true, Index: events.NoIndex}
	for _, c := range change {
		c(p)
	}
	return p
}

func leaving(p *events.PodSeen)   { p.Deleted = 1 }
func untracked(p *events.PodSeen) { p.Tracked = false }
func exits(code int32) func(*events.PodSeen) {
	return func(p *events.PodSeen) { p.Exits = []events.ContainerExit{{Name: "main", Code: code}} }
}

// decide is a batch in which a wait was served and a decision made.
func (s *script) decide(commands ...events.Command) events.Sequence {
	s.t.Helper()
	s.add(demoStream, events.KindTimerFired, &events.TimerFired{})
	at := s.add(demoStream, events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: commands}}})
	s.end()
	return at
}

// ended is a batch in which a command ended. What the answer leads to is decided later.
func (s *script) ended(decided events.Sequence, place uint32, ending events.Ending, change ...func(*events.CommandEnded)) {
	s.t.Helper()
	f := &events.CommandEnded{Command: events.CommandID{Decided: decided, Place: place}, Ending: ending, Sent: true}
	if ending == events.Done {
		f.Version = uint64(s.next)
	}
	for _, c := range change {
		c(f)
	}
	s.add(demoStream, events.KindCommandEnded, f)
	s.end()
}

func class(c events.RefusalClass) func(*events.CommandEnded) {
	return func(f *events.CommandEnded) { f.Class = c }
}

// status writes a status, confirmed at once.
func (s *script) status(change events.StatusChange) {
	s.t.Helper()
	s.ended(s.decide(&events.WriteStatus{Change: change}), 0, events.Done)
}

func condition(kind, reason string) events.JobCondition {
	return events.JobCondition{Type: kind, Status: "True", Reason: reason}
}

// expect compares the metrics with such a prefix to lines such as `jobs_finished_total{reason="x"} 1`. A histogram has
// its count and its sum.
func (s *script) expect(prefix string, want ...string) {
	s.t.Helper()
	if got := lines(s.t, s.metrics, prefix); !slices.Equal(got, want) {
		s.t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func lines(t *testing.T, m *Metrics, prefix string) []string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), Namespace+"_")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			value := fmt.Sprint(metric.GetCounter().GetValue())
			if h := metric.GetHistogram(); h != nil {
				value = fmt.Sprintf("%d in %gs", h.GetSampleCount(), h.GetSampleSum())
			}
			out = append(out, fmt.Sprintf("%s{%s} %s", name, strings.Join(labels, ","), value))
		}
	}
	return out
}
