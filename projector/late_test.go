package projector_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestAPodThatMayBeMadeOnceMore: a create was sent more than once, and one of the tries made the pod. The server may
// act on the other tries later. Until then they may make the pod again when its name is free.
//
// J-009: so long the Job must not finish, or a finished Job could get such a pod.
func TestAPodThatMayBeMadeOnceMore(t *testing.T) {
	create := &events.CreatePod{Ordinal: 1, Index: 0, Template: "t"}
	late := func(f *fold) string { return fmt.Sprint(f.in(f.job().LatePod)) }
	gone := func(f *fold) { f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 30}) }
	going := func(p *events.PodSeen) { p.Version, p.Deleted = 22, 1e18 }
	again := func(f *fold) events.CommandID {
		f.end(f.creates(1)[0], unknown)
		f.now += 5e9
		return f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
	}
	twice := func(f *fold) { f.end(again(f), done("pod", 19)) }
	checkFacts(t, []fact{
		{"one that was sent once has made its pod", func(f *fold) string {
			f.end(f.creates(1)[0], done("pod", 19))
			gone(f)
			return late(f)
		}, "0s"},
		{"while the pod is there its name is taken", func(f *fold) string {
			twice(f)
			f.pod(nil)
			return late(f)
		}, "0s"},
		{"when it is gone it is free, as long as the last try may take", func(f *fold) string {
			twice(f)
			f.now += 10e9
			gone(f)
			return late(f)
		}, "50s"},
		{"and when it is going", func(f *fold) string {
			twice(f)
			f.pod(going)
			return late(f)
		}, "1m0s"},
		{"or its deletion is certain", func(f *fold) string {
			twice(f)
			f.end(f.decide(&events.DeletePod{Pod: "pod"}), done("pod", 0))
			return late(f)
		}, "1m0s"},
		{"also when the watch showed it before the create was answered", func(f *fold) string {
			again(f)
			f.pod(nil)
			gone(f)
			return late(f)
		}, "1m0s"},
		{"and when it was going already", func(f *fold) string {
			again(f)
			f.pod(going)
			return late(f)
		}, "1m0s"},
		{"also when both showed it", func(f *fold) string {
			twice(f)
			f.pod(nil)
			f.pod(version(21))
			gone(f)
			return late(f)
		}, "1m0s"},
		{"also when its mark was taken, and it is known before the create is done", func(f *fold) string {
			name := again(f)
			f.pod(func(p *events.PodSeen) { p.Ordinal = 0 })
			f.end(name, done("pod", 19))
			gone(f)
			return late(f)
		}, "1m0s"},
		{"and going before", func(f *fold) string {
			name := again(f)
			f.pod(func(p *events.PodSeen) { p.Ordinal, p.Deleted = 0, 1e18 })
			f.end(name, done("pod", 19))
			return late(f)
		}, "1m0s"},
		{"one that was looked for and found was not sent again", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.end(f.decide(&events.ReadPod{Ordinal: 1, Index: 0}), done("pod", 25))
			gone(f)
			return late(f)
		}, "0s"},
		{"nor one that was found after a restart", func(f *fold) string {
			f.creates(1)
			f.restart(nil)
			f.pod(nil)
			gone(f)
			return late(f)
		}, "0s"},
		{"one that stood refused when the process started may have been sent just before, and is sent again", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.now += 5e9
			f.restart(nil)
			f.now += 5e9
			f.end(name, done("pod", 19))
			gone(f)
			return late(f)
		}, "55s"},
		{"sent again before that, it stays so", func(f *fold) string {
			again(f)
			f.now += 5e9
			f.restart(nil)
			f.now += 5e9
			f.pod(nil)
			gone(f)
			return late(f)
		}, "55s"},
		{"of several pods the last is waited for", func(f *fold) string {
			f.decide(create, &events.CreatePod{Ordinal: 2, Index: 1, Template: "t"})
			for n := range uint64(2) {
				f.now += 5e9
				f.decide(&events.CreatePod{Ordinal: n + 1, Index: int32(n), Template: "t", Again: true})
			}
			f.pod(named("other", 2))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "other", Version: 30})
			f.pod(nil)
			gone(f)
			return late(f)
		}, "1m0s"},
		{"whichever goes first", func(f *fold) string {
			f.decide(create, &events.CreatePod{Ordinal: 2, Index: 1, Template: "t"})
			for n := range uint64(2) {
				f.now += 5e9
				f.decide(&events.CreatePod{Ordinal: n + 1, Index: int32(n), Template: "t", Again: true})
			}
			f.pod(nil)
			f.pod(going)
			f.pod(named("other", 2))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "other", Version: 30})
			return late(f)
		}, "1m0s"},
		{"another that is going, and was sent once, ends no wait", func(f *fold) string {
			twice(f)
			gone(f)
			f.pod(both(named("other", 2), func(p *events.PodSeen) { p.Deleted = 1e18 }))
			return late(f)
		}, "1m0s"},
		{"one that goes while a status write accounts for it is no other", func(f *fold) string {
			f.plain()
			twice(f)
			f.pod(both(failed, version(21)))
			f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}})
			gone(f)
			return late(f)
		}, "1m0s"},
		{"a clock that is set changes nothing of the wait", func(f *fold) string {
			twice(f)
			f.now += 3600e9
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
			gone(f)
			before := late(f)
			f.now -= 3600e9
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: -time.Hour})
			return before + " " + late(f)
		}, "1m0s 1m0s"},
	})
}
