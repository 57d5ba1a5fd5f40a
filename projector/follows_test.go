package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// starts folds a start in that mode.
func (f *fold) starts(mode events.Mode) {
	settings := f.world.Settings
	settings.Mode = mode
	f.at(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, FoldVersion: projector.FoldVersion, Settings: settings})
}

// TestAJobThatIsGoneIsFollowed: garbage collection takes the pods of a Job whose object is gone. The Job is kept until
// they have ended, so that the log tells how.
func TestAJobThatIsGoneIsFollowed(t *testing.T) {
	free := func(p *events.PodSeen) { p.Tracked = false }
	going := func(p *events.PodSeen) { p.Tracked, p.Version, p.Deleted = false, 32, 1e18 }
	ended := func(p *events.PodSeen) { p.Tracked, p.Version, p.Deleted, p.Phase = false, 33, 1e18, events.PodFailed }
	gone := func(f *fold) { f.record(events.KindJobDeleted, &events.JobGone{Version: 30}) }
	held := func(steps ...func(*fold)) func(*fold) string {
		return func(f *fold) string {
			f.starts(events.ModeDelegated)
			var said []string
			for _, step := range steps {
				step(f)
				what := "forgotten"
				if j := f.job(); j != nil {
					what = j.Phase().String()
				}
				said = append(said, what)
			}
			return strings.Join(said, " ")
		}
	}
	seen := func(change func(*events.PodSeen)) func(*fold) { return func(f *fold) { f.pod(change) } }
	object := func(f *fold) { f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 34}) }
	moved := func(f *fold) { f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 34, Moved: true}) }
	checkFacts(t, []fact{
		{"until its pod has ended", held(seen(nil), gone, seen(free), seen(going), seen(ended)), "seen gone gone gone forgotten"},
		{"or the pod's object is gone", held(seen(free), gone, seen(going), object), "seen gone gone forgotten"},
		{"or the pod is another's, or nobody's", held(seen(free), gone, moved), "seen gone forgotten"},
		{"not when its pod had ended", held(seen(ended), gone), "seen forgotten"},
	})
}

// TestAnEndThatAnotherControllerHasCounted: J-104, for Jobs that another controller runs. A status that counts a pod
// may be seen before the pod's end. That end belongs to the backoff record, as it does in the other controller.
func TestAnEndThatAnotherControllerHasCounted(t *testing.T) {
	failures := func(mode events.Mode, steps ...func(*fold)) func(*fold) string {
		return func(f *fold) string {
			f.starts(mode)
			f.plain()
			f.pod(nil)
			for _, step := range steps {
				step(f)
			}
			n, _ := f.job().Failures()
			return fmt.Sprint(n)
		}
	}
	counts := func(failed, succeeded []types.UID) func(*fold) {
		return func(f *fold) {
			f.see(40, func(s *events.JobSeen) {
				s.Spec, s.SpecAt = "p", f.job().SpecAt
				s.Status = &events.JobStatus{UncountedFailed: failed, UncountedSucceeded: succeeded}
			})
		}
	}
	ends := func(phase events.PodPhase) func(*fold) {
		return func(f *fold) { f.pod(both(version(41), func(p *events.PodSeen) { p.Phase, p.Finished = phase, 1e18 })) }
	}
	first := func(f *fold) {
		f.record(events.KindPodAdded, pod(both(failed, version(30), func(p *events.PodSeen) { p.UID, p.Ordinal = "first", 2 })))
	}
	fails, succeeds := ends(events.PodFailed), ends(events.PodSucceeded)
	listed, done := counts([]types.UID{"pod"}, nil), counts(nil, []types.UID{"pod"})
	checkFacts(t, []fact{
		{"a failure, status first", failures(events.ModeObserve, listed, fails), "1"},
		{"a failure, pod first", failures(events.ModeObserve, fails, listed), "1"},
		{"a success forgets the failures before it", failures(events.ModeObserve, first, done, succeeds), "0"},
		{"one that still runs by what was seen has not ended", failures(events.ModeObserve, listed), "0"},
		{"of our own Job nobody else counts", failures(events.ModeAll, listed, fails), "0"},
	})
}

// TestWhenAPodEndedThatIsDeletedAfterwards: J-110, for Jobs that another controller runs. Pod garbage collection stores
// that a pod failed, and then its deletion, which has a time. The other controller looks later than we do, so the later
// time counts while the pod has its finalizer.
func TestWhenAPodEndedThatIsDeletedAfterwards(t *testing.T) {
	last := func(mode events.Mode, steps ...func(*fold)) func(*fold) string {
		return func(f *fold) string {
			f.starts(mode)
			f.plain()
			f.now += 60e9
			f.pod(nil)
			for _, step := range steps {
				step(f)
			}
			n, last := f.job().Failures()
			return fmt.Sprint(n, " after ", last.Sub(1e18))
		}
	}
	ended := func(n uint64, uid types.UID, at events.Time) func(*fold) {
		return func(f *fold) {
			f.pod(both(failed, version(n), func(p *events.PodSeen) { p.UID, p.Ordinal, p.Finished = uid, n, 1e18+at*1e9 }))
		}
	}
	released := func(f *fold) {
		f.pod(both(failed, version(40), func(p *events.PodSeen) { p.Tracked, p.Finished = false, 1e18 }))
	}
	checkFacts(t, []fact{
		{"the deletion says when", last(events.ModeObserve, ended(30, "pod", 0), ended(31, "pod", 50)), "1 after 50s"},
		{"of two that failed at one time the one", last(events.ModeObserve, ended(29, "other", 0), ended(30, "pod", 0), ended(31, "pod", 50)), "2 after 50s"},
		{"no time goes back", last(events.ModeObserve, ended(30, "pod", 20), ended(31, "pod", 10)), "1 after 20s"},
		{"not once its finalizer is gone", last(events.ModeObserve, ended(30, "pod", 0), released, func(f *fold) {
			f.pod(both(failed, version(41), func(p *events.PodSeen) { p.Tracked, p.Finished = false, 1e18+50e9 }))
		}), "1 after 0s"},
		{"of our own Job the first time counts: we decided by it", last(events.ModeAll, ended(30, "pod", 0), ended(31, "pod", 50)), "1 after 0s"},
	})
}
