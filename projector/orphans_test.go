package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// TestWhereAPodThatNobodyOwnsIs: docs/design/0004-claiming-pods.md has the table.
func TestWhereAPodThatNobodyOwnsIs(t *testing.T) {
	nobodys := func(p *events.PodSeen) { p.Version, p.Owner, p.Selected = 21, "", false }
	seen := func(f *fold, change ...func(*events.PodSeen)) string {
		return strings.ReplaceAll(f.admits(listedPod(both(append(change, nobodys)...))), " at 21", "")
	}
	wanted := func(by ...types.UID) func(*events.PodSeen) {
		return func(p *events.PodSeen) { p.Tracked, p.Candidates = false, by }
	}
	comes := func(f *fold, uid types.UID, change func(*events.JobSeen)) {
		s := &events.JobSeen{Version: 30, Managed: true, Created: 10, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}}
		change(s)
		f.at(events.JobStream(uid), events.KindJobAdded, s)
	}
	checkFacts(t, []fact{
		{"where a deletion of it is in flight", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.Tracked = false })
			f.decide(&events.DeletePod{Pod: "pod"})
			return seen(f, wanted())
		}, "PodChanged in job/job demo-0 node-1"},
		{"nowhere, when nothing is in flight", func(f *fold) string {
			f.pod(func(p *events.PodSeen) { p.Tracked = false })
			return seen(f, wanted())
		}, "PodDeleted in job/job missed false moved true ns demo-0 node-1"},
		{"J-098: with the finalizer, at the Job that it was", func(f *fold) string {
			f.pod(nil)
			return seen(f)
		}, "PodChanged in job/job demo-0 node-1"},
		{"J-005: but not at one that is another's now, which lets nothing go", func(f *fold) string {
			f.pod(nil)
			f.see(30, func(s *events.JobSeen) { s.Managed = false })
			return seen(f)
		}, "PodDeleted in job/job missed false moved true ns demo-0 node-1, PodAdded in namespace/ns ns demo-0 node-1"},
		{"J-098: unless that one is gone, for which everything is let go", func(f *fold) string {
			f.pod(nil)
			f.see(30, func(s *events.JobSeen) { s.Managed = false })
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			return seen(f)
		}, "PodChanged in job/job demo-0 node-1"},
		{"J-098: likewise at one that nobody has seen", func(f *fold) string {
			f.at(events.JobStream("other"), events.KindPodAdded, pod(func(p *events.PodSeen) { p.Owner = "other" }))
			return seen(f)
		}, "PodChanged in job/other demo-0 node-1"},
		{"J-175: at the Job that is to adopt it", func(f *fold) string {
			return seen(f, wanted(job))
		}, "PodAdded in job/job ns demo-0 node-1"},
		{"J-006: which is none that the mode in force leaves to others", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.Mode = events.ModeDelegated })
			return seen(f, wanted(job))
		}, ""},
		{"at one that is another controller's, and is looked at", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.Mode, s.ObserveOthers = events.ModeDelegated, true })
			return seen(f, wanted(job))
		}, "PodAdded in job/job ns demo-0 node-1"},
		{"J-100: but not with our finalizer, which nobody would remove there", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.Mode, s.ObserveOthers = events.ModeDelegated, true })
			return seen(f, wanted(job), func(p *events.PodSeen) { p.Tracked = true })
		}, "PodAdded in namespace/ns ns demo-0 node-1"},
		{"J-100: nor when it was that one's pod", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.Mode, s.ObserveOthers = events.ModeDelegated, true })
			f.pod(nil)
			return seen(f)
		}, "PodDeleted in job/job missed false moved true ns demo-0 node-1, PodAdded in namespace/ns ns demo-0 node-1"},
		{"at the oldest of several, whatever its UID", func(f *fold) string {
			comes(f, "a", func(s *events.JobSeen) { s.Created = 20 })
			comes(f, "z", func(s *events.JobSeen) { s.Created = 10 })
			comes(f, "b", func(s *events.JobSeen) { s.Created = 20 })
			return seen(f, wanted("a", "z", "b"))
		}, "PodAdded in job/z ns demo-0 node-1"},
		{"of those as old at the one with the lowest UID", func(f *fold) string {
			for _, uid := range []types.UID{"b", "a", "c"} {
				comes(f, uid, func(*events.JobSeen) {})
			}
			return seen(f, wanted("b", "a", "c"))
		}, "PodAdded in job/a ns demo-0 node-1"},
	})
}

// TestPodsThatNobodyOwnsFollow: such a pod belongs elsewhere after a change that is not its own, for example when its
// Job comes. It moves there.
func TestPodsThatNobodyOwnsFollow(t *testing.T) {
	follow := func(f *fold, s events.Stream) string {
		in := intake.Intake{World: f.world}
		var said []string
		for _, d := range in.Follow(s) {
			if d.Kind == events.KindPodAdded {
				said = append(said, fmt.Sprint(d.Facts.(*events.PodSeen).UID))
			}
		}
		return strings.Join(said, " ")
	}
	late := events.JobStream("late")
	stray := func(f *fold, kind events.Kind, uid types.UID, candidates ...types.UID) {
		f.at(events.NamespaceStream("ns"), kind, pod(func(p *events.PodSeen) {
			p.UID, p.Ordinal, p.Owner, p.Selected, p.Candidates = uid, 0, "", false, candidates
		}))
	}
	comes := func(f *fold) {
		f.at(late, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
	}
	checkFacts(t, []fact{
		{"those that wait for the Job, after a restart too", func(f *fold) string {
			stray(f, events.KindPodAdded, "a", "late", "other")
			stray(f, events.KindPodAdded, "b", "other")
			stray(f, events.KindPodAdded, "c", "late")
			stray(f, events.KindPodChanged, "c", "other")
			stray(f, events.KindPodAdded, "d", "late")
			f.at(events.NamespaceStream("ns"), events.KindPodDeleted, &events.PodGone{UID: "d", Version: 40})
			stray(f, events.KindPodAdded, "e")
			stray(f, events.KindPodChanged, "e", "late")
			var all []projector.StreamAt
			for _, s := range f.world.Streams() {
				facts, names, _ := f.world.StreamState(s)
				all = append(all, projector.StreamAt{Stream: s, AsOf: f.world.Head, Facts: facts, Names: names})
			}
			all = append(all, projector.StreamAt{Stream: events.Controller, AsOf: f.world.Head, Facts: f.world.ControllerState()})
			restored, _, err := projector.Restore(all)
			if err != nil {
				t.Fatal(err)
			}
			restored.Recovered()
			comes(f)
			before := follow(f, late)
			g := &fold{world: restored, seq: f.seq, now: f.now}
			comes(g)
			return before + "; " + follow(g, late)
		}, "a e; a e"},
		{"in the order in which they came", func(f *fold) string {
			for _, uid := range strings.Fields("m f x c k a t b z d y e") {
				f.at(events.NamespaceStream("ns"), events.KindPodAdded, pod(func(p *events.PodSeen) {
					p.UID, p.Ordinal, p.Owner, p.Selected, p.Tracked, p.Candidates = types.UID(uid), 0, "", false, false, []types.UID{"late"}
				}))
			}
			late := events.JobStream("late")
			f.at(late, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
			return follow(f, late)
		}, "m f x c k a t b z d y e"},
		{"but not those that the server did not find: the watch is yet to tell their end", func(f *fold) string {
			f.pod(both(orphan, func(p *events.PodSeen) { p.Tracked = true }))
			f.pod(both(orphan, func(p *events.PodSeen) { p.UID = "other" }))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), refused(events.RefusedNotFound))
			f.see(30, func(s *events.JobSeen) { s.Managed = false })
			return follow(f, events.JobStream(job))
		}, "other"},
	})
}
