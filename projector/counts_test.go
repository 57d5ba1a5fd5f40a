package projector_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestAsWhatAPodCounts: a pod counts from its end until a status has it by its UID or its index, and no more once it
// has lost its finalizer before.
func TestAsWhatAPodCounts(t *testing.T) {
	ended := func(f *fold, phase events.PodPhase, version uint64, change func(*events.PodSeen)) {
		f.pod(func(p *events.PodSeen) {
			if p.Phase, p.Version = phase, version; change != nil {
				change(p)
			}
		})
	}
	counts := func(f *fold) string {
		failed, succeeded, stored := f.job().Counts(f.job().Pod("pod"))
		return fmt.Sprintf("failed %t succeeded %t stored %t", failed, succeeded, stored)
	}
	const nothing = "failed false succeeded false stored false"
	checkFacts(t, []fact{
		{"it runs", func(f *fold) string { f.pod(nil); return counts(f) }, nothing},
		{"it failed", func(f *fold) string { ended(f, events.PodFailed, 21, nil); return counts(f) }, "failed true succeeded false stored false"},
		{"it succeeded", func(f *fold) string { ended(f, events.PodSucceeded, 21, nil); return counts(f) }, "failed false succeeded true stored false"},
		{"of an index that the Job does not have", func(f *fold) string {
			ended(f, events.PodSucceeded, 21, func(p *events.PodSeen) { p.Index = 3 })
			return counts(f)
		}, nothing},
		{"without an index", func(f *fold) string {
			f.plain()
			ended(f, events.PodSucceeded, 21, func(p *events.PodSeen) { p.Index = events.NoIndex })
			return counts(f)
		}, "failed false succeeded true stored false"},
		{"a status lists it as failed", func(f *fold) string {
			ended(f, events.PodFailed, 21, nil)
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, HasUncounted: true, UncountedFailed: []types.UID{"pod"}}
			})
			return counts(f)
		}, "failed true succeeded false stored true"},
		{"as succeeded", func(f *fold) string {
			f.plain()
			ended(f, events.PodSucceeded, 21, nil)
			f.see(12, func(s *events.JobSeen) {
				s.Spec, s.SpecAt = "p", f.seq-2
				s.Status = &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, HasUncounted: true, UncountedSucceeded: []types.UID{"pod"}}
			})
			return counts(f)
		}, "failed false succeeded true stored true"},
		{"a status has its index", func(f *fold) string {
			ended(f, events.PodSucceeded, 21, nil)
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, Succeeded: 1, CompletedIndexes: "0"}
			})
			return counts(f)
		}, "failed false succeeded false stored true"},
		{"it lost its finalizer", func(f *fold) string {
			ended(f, events.PodFailed, 21, nil)
			ended(f, events.PodFailed, 22, func(p *events.PodSeen) { p.Tracked = false })
			return counts(f)
		}, nothing},
		{"it is held back until its replacement is seen", func(f *fold) string {
			f.perIndex(1)
			ended(f, events.PodFailed, 21, nil)
			return counts(f)
		}, "failed true succeeded false stored false"},
	})
}
