package projector_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// TestAStatusWriteHoldsWhatItAccountsFor: a pod goes while a status write that accounts for it is in flight. It stays
// counted until the write ends, because the write may be stored already. Once the write is confirmed, pods may be let
// go.
func TestAStatusWriteHoldsWhatItAccountsFor(t *testing.T) {
	succeeded := func(p *events.PodSeen) { p.Phase, p.Finished = events.PodSucceeded, 1e18 }
	condition := func(kind, status string) events.StatusChange {
		return events.StatusChange{Conditions: []events.JobCondition{{Type: kind, Status: status}}}
	}
	// during returns the counts while the write is in flight and the pod is gone, and those after the write was
	// refused.
	during := func(seen func(*events.PodSeen), c events.StatusChange) func(*fold) string {
		return func(f *fold) string {
			f.pod(seen)
			name := f.decide(&events.WriteStatus{Base: 10, Change: c})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30})
			text := fmt.Sprint(f.job().SucceededCount(), f.job().FailedCount())
			f.end(name, refused(events.RefusedServer))
			return text + fmt.Sprint(" then ", f.job().SucceededCount(), f.job().FailedCount())
		}
	}
	confirmed := func(seen func(*events.PodSeen), c events.StatusChange) func(*fold) string {
		return func(f *fold) string {
			f.pod(seen)
			before := f.job().ReleasedLen()
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: c}), done(job, 11))
			return fmt.Sprint(before, f.job().ReleasedLen(), f.job().UnlistedLen(), f.job().Tally().Countable)
		}
	}
	checkFacts(t, []fact{
		{"one that makes the Job Failed accounts for all", during(failed, condition(status.Failed, "True")), "0 1 then 0 0"},
		{"so does one that makes it Complete", during(failed, condition(status.Complete, "True")), "0 1 then 0 0"},
		{"one that only says how it will end does not", during(failed, condition(status.FailureTarget, "True")), "0 0 then 0 0"},
		{"nor does a condition that is not true", during(failed, condition(status.Failed, "False")), "0 0 then 0 0"},
		{"J-039: one that names its index accounts for a pod that succeeded", during(succeeded, events.StatusChange{CompleteIndexes: "0"}), "1 0 then 0 0"},
		{"J-039: not for one of another index", during(succeeded, events.StatusChange{CompleteIndexes: "1"}), "0 0 then 0 0"},
		{"J-039: nor for one that failed", during(failed, events.StatusChange{CompleteIndexes: "0"}), "0 0 then 0 0"},
		{"one that says nothing of pods accounts for none", during(failed, events.StatusChange{InitUncounted: true}), "0 0 then 0 0"},
		{"J-039: when the index is published the pod may be let go", confirmed(succeeded, events.StatusChange{CompleteIndexes: "0"}), "0 1 0 0"},
		{"when it is listed as failed too", confirmed(failed, events.StatusChange{AddFailed: []types.UID{"pod"}}), "0 1 0 0"},
		{"when it is listed as succeeded", confirmed(failed, events.StatusChange{AddSucceeded: []types.UID{"pod"}}), "0 1 0 0"},
		{"a pod that is listed and was never seen waits for nothing", confirmed(failed, events.StatusChange{AddFailed: []types.UID{"no"}}), "0 0 1 1"},
		{"so does one that is listed as succeeded", confirmed(failed, events.StatusChange{AddSucceeded: []types.UID{"no"}}), "0 0 1 1"},
		{"once it is moved to the counters it is forgotten", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{AddFailed: []types.UID{"no"}}}), done(job, 11))
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{Counted: []types.UID{"no"}}}), done(job, 12))
			return fmt.Sprint(f.job().Tally().Countable)
		}, "0"},
		{"J-039: when the index is published, every pod that succeeded with it may be let go", func(f *fold) string {
			f.pod(succeeded)
			name := f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{CompleteIndexes: "0"}})
			f.pod(both(succeeded, func(p *events.PodSeen) { p.UID = "other" }))
			f.end(name, done(job, 11))
			return fmt.Sprint(f.job().ReleasedLen(), f.job().UnlistedLen())
		}, "2 0"},
		{"J-091: and one that is being let go already is one that was counted", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.UID, p.Selected = "other", false })
			f.decide(&events.DropFinalizer{Pod: "other"})
			f.pod(both(succeeded, version(21), func(p *events.PodSeen) { p.UID = "other" }))
			f.pod(succeeded)
			before := f.job().Tally().NeverCounted
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{CompleteIndexes: "0"}}), done(job, 11))
			return fmt.Sprint(before, f.job().Tally().NeverCounted)
		}, "1 0"},
		{"J-117: indexes that are published as failed are, though the pods that failed are gone by then", func(f *fold) string {
			f.perIndex(0)
			f.pod(failed)
			f.pod(both(failed, named("other", 2)))
			name := f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{SetFailedIndexes: true, FailIndexes: "0,1"}})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30})
			f.record(events.KindPodDeleted, &events.PodGone{UID: "other", Version: 31})
			before := f.job().FailedIndexes().Text()
			f.end(name, done(job, 12))
			return fmt.Sprintf("%q then %q, free %v", before, f.job().FailedIndexes().Text(), f.job().FreeIndexes(1))
		}, `"" then "0,1", free [2]`},
		{"J-117: and a pod that succeeded with it meanwhile may be let go", func(f *fold) string {
			f.perIndex(0)
			f.pod(failed)
			name := f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{SetFailedIndexes: true, FailIndexes: "0"}})
			f.pod(both(succeeded, named("other", 1)))
			before := f.job().Pod("other").Stage()
			f.end(name, done(job, 12))
			return fmt.Sprint(before == projector.Unlisted, f.job().Pod("other").Stage() == projector.Released)
		}, "true true"},
		{"J-118: when the index is published as completed no pod of it is held back, though the one that succeeded says another by then", func(f *fold) string {
			f.perIndex(1)
			f.pod(both(succeeded, named("other", 1)))
			name := f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{CompleteIndexes: "0"}})
			f.pod(both(succeeded, named("other", 1), at(1), version(21)))
			f.pod(failed)
			before := f.job().Held(0) != nil
			f.end(name, done(job, 12))
			return fmt.Sprint(before, f.job().Held(0) != nil)
		}, "true false"},
		{"a create in flight is not touched by it", func(f *fold) string {
			f.creates(1)
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{CompleteIndexes: "2"}}), done(job, 11))
			return f.shown()
		}, "#1 in flight sent 0s; 0 stand"},
		{"a write that accounts for nothing is in no doubt, whatever one before it accounted for", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), refused(events.RefusedServer))
			f.end(f.decide(&events.WriteStatus{Base: 11}), unknown)
			return fmt.Sprint(f.in(f.job().EndInDoubt))
		}, "0s"},
		{"one that the watch confirms forgets what was learnt from refusals", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10}), refused(events.RefusedServer))
			f.now += 1e9
			name := f.decide(&events.WriteStatus{Base: 10})
			f.see(11, func(s *events.JobSeen) { s.Confirms = name })
			return fmt.Sprint(f.job().Writing().Count, f.job().Busy())
		}, "0 false"},
		{"J-189: what confirms another write confirms nothing of this one", func(f *fold) string {
			seven := int32(7)
			name := f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{Ready: &seven}})
			f.see(11, func(s *events.JobSeen) { s.Confirms = events.CommandID{Decided: 1} })
			return fmt.Sprint(f.job().Base.Ready, f.job().InFlight(name) != nil)
		}, "-1 true"},
		{"J-189: what was seen at the very version of the write is what is published", func(f *fold) string {
			seven := int32(7)
			name := f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{Ready: &seven}})
			f.see(11, func(s *events.JobSeen) { s.Status = &events.JobStatus{Ready: 3} })
			f.end(name, done(job, 11))
			return fmt.Sprint(f.job().Base.Ready, f.job().Busy())
		}, "3 false"},
	})
}

// TestEndsThatMeetOthers: two commands about one pod may be in flight. The end of one says nothing about the other.
func TestEndsThatMeetOthers(t *testing.T) {
	second := func(n events.CommandID) events.CommandID { n.Place++; return n }
	checkFacts(t, []fact{
		{"a deletion that ends while the pod is being adopted", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.AdoptPod{Pod: "pod", Version: 20}, &events.DeletePod{Pod: "pod"})
			f.end(second(name), done("pod", 0))
			return fmt.Sprint(f.job().Tally().Adopting, f.job().Pod("pod").DeleteDone, f.job().Claiming("pod").Count)
		}, "1 true 0"},
		{"J-073: a removal in conflict while the deletion is in flight: the pod has not vanished", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"})
			f.end(name, refused(events.RefusedConflict))
			return fmt.Sprint(f.job().Pod("pod").Vanished, len(f.job().AllRetrying()))
		}, "false 1"},
		{"J-073: a removal of unknown end while the deletion is in flight: the finalizer is in doubt", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"})
			f.end(name, unknown)
			return fmt.Sprint(f.in(f.job().Pod("pod").DropDoubt))
		}, "1m0s"},
		{"J-073: but not when it is the deletion that ends unknown", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"})
			f.end(second(name), unknown)
			return fmt.Sprint(f.job().Pod("pod").DropDoubt)
		}, "0"},
		{"J-176: a read of the Job that ends while its group is looked for", func(f *fold) string {
			name := f.decide(&events.FindGroup{}, &events.ReadJob{})
			f.end(second(name), done(job, 10))
			return fmt.Sprint(f.job().Confirmed == f.now, f.job().InFlight(name) != nil)
		}, "true true"},
		{"J-017: a read that was decided with a write that was refused is one try with it, however long it took", func(f *fold) string {
			name := f.decide(&events.WriteStatus{Base: 10}, &events.ReadJob{})
			f.end(name, refused(events.RefusedServer))
			f.now += 2e9
			f.end(second(name), refused(events.RefusedServer))
			return fmt.Sprint(f.job().Writing().Count)
		}, "1"},
		{"J-060: a create that is done, of a pod from which its mark was taken", func(f *fold) string {
			name := f.creates(1)[0]
			f.pod(both(failed, func(p *events.PodSeen) { p.Ordinal = 0 }))
			f.end(name, done("pod", 19))
			return fmt.Sprint(f.job().Pod("pod").Phase, f.job().PodCount(), f.job().Tally().Active, len(f.job().Creates()))
		}, "Failed 1 0 0"},
		{"J-164: a create whose pod is being looked for is not on its way: there is nothing to withdraw", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.decide(&events.ReadPod{Ordinal: 1, Index: 0})
			return fmt.Sprint(f.job().Creates()[0].OnItsWay())
		}, "false"},
		{"J-060: an end that comes late, of a create that is asked again by now", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, unknown)
			again := f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
			f.end(name, refused(events.RefusedNameTaken))
			return f.shown() + fmt.Sprint(" ", f.job().InFlight(again) != nil)
		}, "#1 in flight in doubt sent 0s; 0 stand true"},
		{"J-057: a refusal closes the window again", func(f *fold) string {
			names := f.creates(3)
			f.end(names[0], done("a", 19))
			f.end(names[1], done("b", 19))
			open := f.job().Window
			f.end(names[2], refused(events.RefusedQuota))
			return fmt.Sprint(open, f.job().Window)
		}, "3 1"},
		{"J-014: one that stands, and whose template is not there any more, ends", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.end(name, refused(events.RefusedTemplate))
			return f.shown()
		}, "0 stand"},
		{"J-091: a pod that is not to be counted is not, though its finalizer was to go again while the Job did not select it", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.restart(nil)
			f.pod(both(disowned, version(21)))
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.restart(nil)
			f.pod(both(failed, version(22)))
			return fmt.Sprint(f.job().FailedCount())
		}, "0"},
		{"a pod that has moved to another stream is at home there", func(f *fold) string {
			f.pod(orphan)
			f.at(events.JobStream("other"), events.KindPodAdded, pod(func(p *events.PodSeen) { p.Owner = "other" }))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 20, Moved: true})
			in := intake.Intake{World: f.world}
			drafts := in.Admit(&events.Observation{Facts: &events.PodGone{UID: "pod", Version: 31}}, f.seq+1)
			if len(drafts) != 1 {
				return fmt.Sprint(len(drafts), " records")
			}
			return drafts[0].Stream.String()
		}, "job/other"},
	})
}
