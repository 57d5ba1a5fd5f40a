package projector_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// spec gives the Job a changed spec.
func (f *fold) spec(change func(*events.JobSpec)) {
	six, three := int32(6), int32(3)
	s := &events.JobSpec{
		Hash: fmt.Sprint("h", f.seq), Parallelism: &three, Completions: &three, CompletionMode: "Indexed", BackoffLimit: &six, Template: "t",
	}
	change(s)
	f.record(events.KindSpecStored, s)
	f.see(11, func(seen *events.JobSeen) { seen.Spec, seen.SpecAt = s.Hash, f.seq })
}

func (f *fold) ignoring(s *events.JobSpec) {
	s.PodFailurePolicy = `{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[7]}}]}`
}

func exited(code int32) func(*events.PodSeen) {
	return func(p *events.PodSeen) {
		failed(p)
		p.Exits = []events.ContainerExit{{Name: "main", Code: code}}
	}
}

// said returns a status with one condition that is true.
func said(condition string) *events.JobStatus {
	return &events.JobStatus{
		Ready: events.Unset, Terminating: events.Unset, Conditions: []events.JobCondition{{Type: condition, Status: "True"}},
	}
}

func at(index int32) func(*events.PodSeen) { return func(p *events.PodSeen) { p.Index = index } }

// TestWhatAPodCountsFor: whether a pod counts in the numbers on which decisions rest.
func TestWhatAPodCountsFor(t *testing.T) {
	untracked := func(p *events.PodSeen) { p.Tracked = false }
	newer := func(p *events.PodSeen) { p.Version++ }
	checkFacts(t, []fact{
		{"J-173: one that is no longer the Job's fails it no more", func(f *fold) string {
			f.spec(func(s *events.JobSpec) {
				s.PodFailurePolicy = `{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[9]}}]}`
			})
			f.pod(exited(9))
			_, _, before := f.job().FailJobMatch()
			f.pod(both(exited(9), newer, disowned))
			_, _, after := f.job().FailJobMatch()
			return fmt.Sprint(before, after)
		}, "true false"},
		{"J-131: one that has not failed fails it only while it is failing", func(f *fold) string {
			f.spec(func(s *events.JobSpec) {
				s.PodFailurePolicy = `{"rules":[{"action":"FailJob","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]}`
			})
			f.pod(func(p *events.PodSeen) {
				p.Conditions = []events.PodCondition{{Type: "DisruptionTarget", Status: "True"}}
			})
			told := ""
			for i, condition := range []string{status.FailureTarget, "Other"} {
				f.see(uint64(12+i), func(s *events.JobSeen) {
					s.Spec, s.SpecAt, s.Status = f.job().Spec.Hash, f.job().SpecAt, said(condition)
				})
				_, _, ok := f.job().FailJobMatch()
				told += fmt.Sprint(ok, " ")
			}
			return told
		}, "true false "},
		{"one that is being deleted is not there to be deleted", func(f *fold) string {
			f.pod(nil)
			before := f.job().Tally().Idle
			f.decide(&events.DeletePod{Pod: "pod"})
			return fmt.Sprint(before, f.job().Tally().Idle)
		}, "1 0"},
		{"of a Job that is not Indexed pods hold no index, whatever they say", func(f *fold) string {
			f.plain()
			f.pod(at(0))
			f.pod(both(named("other", 2), at(0)))
			return fmt.Sprint(f.job().Crowded(), len(f.job().Occupants(0)))
		}, "[] 0"},
		{"nor do they complete one", func(f *fold) string {
			f.plain()
			f.pod(func(p *events.PodSeen) { p.Phase = events.PodSucceeded })
			return fmt.Sprint(f.job().Completed().Text())
		}, ""},
		{"nor does its published status", func(f *fold) string {
			f.plain()
			f.see(12, func(s *events.JobSeen) {
				s.Spec, s.SpecAt, s.Status = "p", 5, &events.JobStatus{CompletedIndexes: "0-1", Ready: events.Unset, Terminating: events.Unset}
			})
			return f.job().Completed().Text()
		}, ""},
		{"J-071: nobody holds an index that is none of the Job's", func(f *fold) string {
			f.pod(at(5))
			f.pod(both(named("other", 2), at(5)))
			return fmt.Sprint(f.job().Crowded(), len(f.job().Occupants(5)), len(f.job().Misplaced()))
		}, "[] 0 2"},
		{"J-035: one whose index has become valid is where it belongs", func(f *fold) string {
			f.pod(at(5))
			f.spec(func(s *events.JobSpec) { s.Completions, s.Parallelism = s.BackoffLimit, s.BackoffLimit })
			return fmt.Sprint(len(f.job().Misplaced()), len(f.job().Occupants(5)))
		}, "0 1"},
		{"J-035: the Job waits for the finalizer of one without a valid index", func(f *fold) string {
			f.pod(both(failed, at(5)))
			f.decide(&events.DropFinalizer{Pod: "pod"})
			return fmt.Sprint(f.job().Tally().NeverCounted, f.job().PodsInDoubt())
		}, "1 true"},
		{"J-142: one without a valid index is let go once its Job succeeds, though it runs", func(f *fold) string {
			f.pod(at(5))
			before := f.job().ReleasedLen()
			f.see(11, func(s *events.JobSeen) { s.Status = said(status.SuccessCriteriaMet) })
			return fmt.Sprint(before, f.job().ReleasedLen())
		}, "0 1"},
		{"J-142: or would fail it", func(f *fold) string {
			f.spec(func(s *events.JobSpec) {
				s.PodFailurePolicy = `{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[9]}}]}`
			})
			f.pod(both(exited(9), at(5)))
			before := f.job().ReleasedLen()
			f.see(12, func(s *events.JobSeen) {
				s.Spec, s.SpecAt, s.Status = f.job().Spec.Hash, f.job().SpecAt, said(status.SuccessCriteriaMet)
			})
			return fmt.Sprint(before, f.job().ReleasedLen())
		}, "0 1"},
		{"J-173: not for that of one that is no longer the Job's", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			before := f.job().Tally().NeverCounted
			f.pod(both(newer, disowned))
			return fmt.Sprint(before, f.job().Tally().NeverCounted)
		}, "1 0"},
		{"J-173: one that was seen before its Job is not let go before it is known whether that selects it", func(f *fold) string {
			other := events.JobStream("other")
			f.at(other, events.KindPodAdded, pod(func(p *events.PodSeen) { p.Owner, p.Selected = "other", false }))
			f.at(other, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
			return fmt.Sprint(f.world.Job(other).ReleasedLen(), f.world.Job(other).DisownedLen())
		}, "0 0"},
		{"J-039: an index that one pod completed is open again, though another one of it has failed", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.Phase = events.PodSucceeded })
			f.pod(both(named("other", 2), failed))
			before := f.job().Completed().Text()
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30})
			return fmt.Sprintf("%q %q", before, f.job().Completed().Text())
		}, `"0" ""`},
		{"J-087: a UID that the published status no longer lists is not to be counted", func(f *fold) string {
			f.see(11, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{UncountedFailed: []types.UID{"gone"}, Ready: events.Unset, Terminating: events.Unset}
			})
			before := f.job().Tally().Countable
			f.see(12, func(s *events.JobSeen) { s.Status = &events.JobStatus{Ready: events.Unset, Terminating: events.Unset} })
			return fmt.Sprint(before, f.job().Tally().Countable)
		}, "1 0"},
		{"J-114: one whose failure is ignored counts not, though it is held back for its index", func(f *fold) string {
			f.spec(func(s *events.JobSpec) {
				one := int32(1)
				s.BackoffLimitPerIndex = &one
				f.ignoring(s)
			})
			f.pod(exited(7))
			held := f.job().Held(0) != nil
			return fmt.Sprint(held, f.job().FailedCount(), f.job().Tally().HeldFailed)
		}, "true 0 0"},
		{"J-053: one that is held back for its index makes the next one wait", func(f *fold) string {
			f.spec(func(s *events.JobSpec) {
				one := int32(1)
				s.BackoffLimitPerIndex = &one
			})
			f.pod(exited(1))
			n, _ := f.job().Failures()
			return fmt.Sprint(f.job().Held(0).Ended() == 1e18, n)
		}, "true 1"},
		{"J-105: one whose failure is ignored does, while it carries the finalizer", func(f *fold) string {
			f.spec(f.ignoring)
			f.pod(exited(7))
			n, _ := f.job().Failures()
			return fmt.Sprint(n)
		}, "1"},
		{"J-105: not one that was let go before this log began", func(f *fold) string {
			f.spec(f.ignoring)
			f.pod(both(exited(7), untracked))
			n, _ := f.job().Failures()
			return fmt.Sprint(n)
		}, "0"},
	})
}

// TestUntilWhenAPodMayBeMadeOnceMore: a late try of a pod's create can make the pod again once its name is free
// (J-009).
func TestUntilWhenAPodMayBeMadeOnceMore(t *testing.T) {
	create := &events.CreatePod{Ordinal: 1, Index: 0, Template: "t"}
	twice := func(f *fold) {
		f.end(f.decide(create), unknown)
		f.decide(create)
	}
	late := func(f *fold) string { return fmt.Sprint(f.in(f.job().LatePod)) }
	goes := func(f *fold) { f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30}) }
	leaves := func(p *events.PodSeen) { p.Version, p.Deleted = 21, 1e18 }
	checkFacts(t, []fact{
		{"not while it is there", func(f *fold) string {
			twice(f)
			f.pod(nil)
			return late(f)
		}, "0s"},
		{"when it is on its way out", func(f *fold) string {
			twice(f)
			f.pod(nil)
			f.pod(leaves)
			return late(f)
		}, "1m0s"},
		{"when it is gone", func(f *fold) string {
			twice(f)
			f.pod(nil)
			goes(f)
			return late(f)
		}, "1m0s"},
		{"when it is gone before the watch has shown it", func(f *fold) string {
			twice(f)
			f.end(events.CommandID{Decided: f.seq}, done("pod", 20))
			goes(f)
			return late(f)
		}, "1m0s"},
		{"though another one that was tried once goes later", func(f *fold) string {
			twice(f)
			f.pod(nil)
			goes(f)
			f.pod(named("other", 2))
			f.pod(both(named("other", 2), leaves))
			on := late(f)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "other", Version: 30})
			return on + " " + late(f)
		}, "1m0s 1m0s"},
		{"for as long as the latest of several", func(f *fold) string {
			twice(f)
			f.pod(nil)
			goes(f)
			f.now = f.now.Add(time.Second)
			second := &events.CreatePod{Ordinal: 2, Index: 1, Template: "t"}
			f.end(f.decide(second), unknown)
			f.decide(second)
			f.pod(named("pod", 2))
			goes(f)
			return late(f)
		}, "1m0s"},
		{"not of one that was asked for once before a restart", func(f *fold) string {
			f.decide(create)
			f.restart(nil)
			f.pod(nil)
			goes(f)
			return late(f)
		}, "0s"},
		{"of one that was asked for twice before a restart", func(f *fold) string {
			twice(f)
			f.restart(nil)
			f.pod(nil)
			goes(f)
			return late(f)
		}, "1m0s"},
		{"of one that stood refused at a restart, and is asked for again as it is", func(f *fold) string {
			f.end(f.decide(create), refused(events.RefusedQuota))
			f.restart(nil)
			f.pod(nil)
			goes(f)
			return late(f)
		}, "1m0s"},
	})
}
