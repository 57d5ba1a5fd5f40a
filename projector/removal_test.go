package projector_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestARemovalThatIsRefused: the removal of a surplus pod is in backoff, so the pod is active as any other. When the
// removal is given up, its end decides whether the pod is counted (J-073, J-074, J-179).
func TestARemovalThatIsRefused(t *testing.T) {
	surplus := func(f *fold) events.CommandID {
		f.pod(nil)
		return f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true})
	}
	shown := func(f *fold) string {
		p, c := f.job().Pod("pod"), f.job().Tally()
		return fmt.Sprintf("active %d idle %d removing %d refused %d pointless %d spared %d doomed %v fresh %d surplus %d doubt %v",
			c.Active, c.Idle, c.Removing, c.Refused, c.Pointless, c.Spared, p.Surplus, f.job().UnlistedLen(), f.job().SurplusLen(), f.job().PodsInDoubt())
	}
	given := func(seen func(*events.PodSeen), how func(*events.CommandEnded)) func(*fold) string {
		return func(f *fold) string {
			name := surplus(f)
			f.end(name, refused(events.RefusedForbidden))
			if seen != nil {
				f.pod(both(seen, version(21)))
			}
			f.decide(&events.Withdraw{Command: name})
			f.end(name, how)
			return shown(f)
		}
	}
	untracked := func(p *events.PodSeen) { p.Tracked = false }
	checkFacts(t, []fact{
		{"while its end is awaited nothing else is begun", func(f *fold) string {
			surplus(f)
			return shown(f)
		}, "active 1 idle 0 removing 1 refused 0 pointless 0 spared 0 doomed true fresh 0 surplus 0 doubt true"},
		{"J-074: refused, it is active and holds up nobody", func(f *fold) string {
			f.end(surplus(f), refused(events.RefusedForbidden))
			return shown(f)
		}, "active 1 idle 0 removing 0 refused 1 pointless 0 spared 0 doomed true fresh 0 surplus 0 doubt true"},
		{"it has ended: its removal has nothing to ask for, and it is not counted yet", func(f *fold) string {
			f.end(surplus(f), refused(events.RefusedForbidden))
			f.pod(both(failed, version(21)))
			return shown(f)
		}, "active 0 idle 0 removing 0 refused 0 pointless 1 spared 0 doomed true fresh 0 surplus 0 doubt true"},
		{"given up, the end of its newest try is awaited", func(f *fold) string {
			name := surplus(f)
			f.end(name, refused(events.RefusedForbidden))
			f.decide(&events.Withdraw{Command: name})
			stands, _ := f.job().Retrying(name)
			return shown(f) + fmt.Sprint(" ", stands == nil, f.job().GaveUp(name), f.job().InFlight(name) != nil)
		}, "active 1 idle 0 removing 0 refused 0 pointless 0 spared 1 doomed true fresh 0 surplus 0 doubt true true true true"},
		{"it goes on as it was before", given(nil, withdrawn),
			"active 1 idle 1 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 0 surplus 0 doubt false"},
		{"also when that try was refused", given(nil, refused(events.RefusedForbidden)),
			"active 1 idle 1 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 0 surplus 0 doubt false"},
		{"J-179: when that try was done, it goes on without the finalizer", given(nil, done("pod", 30)),
			"active 1 idle 1 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 0 surplus 0 doubt false"},
		{"J-031: that has ended is to be counted", given(failed, withdrawn),
			"active 0 idle 0 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 1 surplus 0 doubt false"},
		{"J-073: that has ended without the finalizer is not", given(failed, done("pod", 30)),
			"active 0 idle 0 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 0 surplus 0 doubt false"},
		{"when nobody knows what came of that try, the removal goes on", given(failed, unknown),
			"active 0 idle 0 removing 0 refused 0 pointless 1 spared 0 doomed true fresh 0 surplus 0 doubt true"},
		{"the finalizer that is seen gone ends a removal that is given up", func(f *fold) string {
			name := surplus(f)
			f.end(name, refused(events.RefusedForbidden))
			f.decide(&events.Withdraw{Command: name})
			f.pod(both(untracked, version(21)))
			return shown(f)
		}, "active 1 idle 1 removing 0 refused 0 pointless 0 spared 0 doomed false fresh 0 surplus 0 doubt false"},
		{"and one that is not goes on with the deletion", func(f *fold) string {
			f.end(surplus(f), refused(events.RefusedForbidden))
			f.pod(both(untracked, version(21)))
			return shown(f)
		}, "active 1 idle 0 removing 1 refused 0 pointless 0 spared 0 doomed true fresh 0 surplus 1 doubt true"},
		{"J-073: one that ends without the finalizer is done with", func(f *fold) string {
			f.end(surplus(f), done("pod", 21))
			f.pod(both(failed, untracked, version(22)))
			return shown(f)
		}, "active 0 idle 0 removing 0 refused 0 pointless 0 spared 0 doomed true fresh 0 surplus 0 doubt false"},
		{"J-073: and is not counted though the finalizer is given back", func(f *fold) string {
			f.end(surplus(f), done("pod", 21))
			f.pod(both(failed, untracked, version(22)))
			f.pod(both(failed, version(23)))
			return shown(f)
		}, "active 0 idle 0 removing 1 refused 0 pointless 0 spared 0 doomed true fresh 0 surplus 1 doubt true"},
		{"a process that starts asks again for what was given up, and nobody knows what came of it", func(f *fold) string {
			name := surplus(f)
			f.end(name, refused(events.RefusedForbidden))
			f.decide(&events.Withdraw{Command: name})
			f.restart(nil)
			return shown(f) + fmt.Sprint(" ", f.job().GaveUp(name), f.in(f.job().Pod("pod").DropDoubt))
		}, "active 1 idle 0 removing 0 refused 1 pointless 0 spared 0 doomed true fresh 0 surplus 0 doubt true false 1m0s"},
		{"the finalizer of a pod that is counted is in no such doubt", func(f *fold) string {
			f.pod(failed)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), unknown)
			return fmt.Sprint(f.job().Pod("pod").DropDoubt)
		}, "0"},
	})
}
