package projector_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector/intake"
)

func disowned(p *events.PodSeen) { p.Selected = false }

// TestHowAClaimEnds: the knowledge of a pod after the Job asked to adopt it, or to release it.
//
// J-017: each pod has its own backoff.
func TestHowAClaimEnds(t *testing.T) {
	adopt := func(f *fold) events.CommandID { return f.decide(&events.AdoptPod{Pod: "pod", Version: 20}) }
	release := func(f *fold) events.CommandID { return f.decide(&events.ReleasePod{Pod: "pod", Version: 20}) }
	shown := func(f *fold) string {
		p, r, t := f.job().Pod("pod"), f.job().Claiming("pod"), f.job().Tally()
		text := fmt.Sprintf("owner %q selected %v tracked %v version %d; in flight %d+%d; to adopt %d, to release %d, active %d",
			p.Owner, p.Selected, p.Held(), p.Version, t.Adopting, t.Releasing, f.job().OrphanedLen(), f.job().DisownedLen(), t.Active)
		if p.Vanished {
			text += ", vanished"
		}
		if r.Count > 0 {
			text += fmt.Sprintf("; %d tries, again in %s", r.Count, f.in(r.Until))
		}
		return text
	}
	untracked := func(p *events.PodSeen) { p.Tracked = false }
	free := both(orphan, untracked)
	checkFacts(t, []fact{
		{"J-171: of unknown end, and the pod goes to another Job: it may be this one's nevertheless", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), unknown)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 20, Moved: true})
			return fmt.Sprint(f.in(f.job().LatePod) == f.world.Settings.RequestTimeout)
		}, "true"},
		{"J-171: refused, it is not", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 20, Moved: true})
			return fmt.Sprint(f.job().LatePod)
		}, "0"},
		{"J-175: while a pod is being adopted it is not to be adopted again", func(f *fold) string {
			f.pod(free)
			adopt(f)
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 1+0; to adopt 0, to release 0, active 0`},
		{"J-174: nor released while it is being released", func(f *fold) string {
			f.pod(disowned)
			release(f)
			return shown(f)
		}, `owner "job" selected false tracked true version 20; in flight 0+1; to adopt 0, to release 0, active 0`},
		{"J-175: adopted, it is the Job's before it is seen so", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), done("pod", 21))
			return shown(f)
		}, `owner "job" selected true tracked true version 21; in flight 0+0; to adopt 0, to release 0, active 1`},
		{"J-175: one that was accounted for is adopted without the finalizer", func(f *fold) string {
			f.pod(both(free, failed))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20, Spent: true}), done("pod", 21))
			return shown(f)
		}, `owner "job" selected true tracked false version 21; in flight 0+0; to adopt 0, to release 0, active 0`},
		{"J-174: released, it is nobody's", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), done("pod", 21))
			return shown(f)
		}, `owner "" selected false tracked false version 21; in flight 0+0; to adopt 0, to release 0, active 0`},
		{"J-189: a newer version than the one that was adopted is what is known", func(f *fold) string {
			f.pod(free)
			name := adopt(f)
			f.pod(both(free, version(25)))
			f.end(name, done("pod", 21))
			return shown(f)
		}, `owner "" selected false tracked false version 25; in flight 0+0; to adopt 1, to release 0, active 0`},
		{"J-175: a pod that is seen with its owner is adopted, and what was learnt is forgotten", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedServer))
			f.now += 1e9
			adopt(f)
			f.pod(version(21))
			return shown(f)
		}, `owner "job" selected true tracked true version 21; in flight 0+0; to adopt 0, to release 0, active 1`},
		{"J-175: with another owner it is not", func(f *fold) string {
			f.pod(free)
			adopt(f)
			f.pod(func(p *events.PodSeen) { p.Version, p.Owner, p.Selected = 21, "other", false })
			return shown(f)
		}, `owner "other" selected false tracked true version 21; in flight 1+0; to adopt 0, to release 0, active 0`},
		{"J-174: seen without an owner it is released", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), refused(events.RefusedServer))
			f.now += 1e9
			release(f)
			f.pod(both(version(21), func(p *events.PodSeen) { p.Owner, p.Selected, p.Tracked = "", false, false }))
			return shown(f)
		}, `owner "" selected false tracked false version 21; in flight 0+0; to adopt 0, to release 0, active 0`},
		{"J-017: refused, it is tried again when its time has come", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 0+0; to adopt 1, to release 0, active 0; 1 tries, again in 1s`},
		{"J-017: and of unknown end", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), unknown)
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 0+0; to adopt 1, to release 0, active 0; 1 tries, again in 1s`},
		{"J-017: refused again it waits longer", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.now += 1e9
			f.end(adopt(f), refused(events.RefusedForbidden))
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 0+0; to adopt 1, to release 0, active 0; 2 tries, again in 2s`},
		{"J-175: a pod that is not there has vanished", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedNotFound))
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 0+0; to adopt 0, to release 0, active 0, vanished`},
		{"J-174: so has one that was to be released", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), refused(events.RefusedNotFound))
			return shown(f)
		}, `owner "job" selected false tracked false version 20; in flight 0+0; to adopt 0, to release 0, active 0, vanished`},
		{"what was not sent taught nothing", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), withdrawn)
			return shown(f)
		}, `owner "" selected false tracked false version 20; in flight 0+0; to adopt 1, to release 0, active 0`},
		{"J-017: a conflict waits for the newer version", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedConflict))
			before := f.in(f.job().Claiming("pod").Until)
			f.pod(both(free, version(21)))
			return fmt.Sprint(before, f.in(f.job().Claiming("pod").Until))
		}, "1s 0s"},
		{"J-017: which may have come before", func(f *fold) string {
			f.pod(free)
			name := adopt(f)
			f.pod(both(free, version(21)))
			f.end(name, refused(events.RefusedConflict))
			return fmt.Sprint(f.job().Claiming("pod").Count, f.in(f.job().Claiming("pod").Until))
		}, "1 0s"},
		{"J-017: another refusal waits, whatever has come", func(f *fold) string {
			f.pod(free)
			name := adopt(f)
			f.pod(both(free, version(21)))
			f.end(name, refused(events.RefusedForbidden))
			f.pod(both(free, version(22)))
			return fmt.Sprint(f.in(f.job().Claiming("pod").Until))
		}, "1s"},
		{"J-017: a release in conflict likewise", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), refused(events.RefusedConflict))
			before := f.in(f.job().Claiming("pod").Until)
			f.pod(both(disowned, version(21)))
			return fmt.Sprint(before, f.in(f.job().Claiming("pod").Until))
		}, "1s 0s"},
		{"J-017: whose newer version may have come before", func(f *fold) string {
			f.pod(disowned)
			name := release(f)
			f.pod(both(disowned, version(21)))
			f.end(name, refused(events.RefusedConflict))
			return fmt.Sprint(f.job().Claiming("pod").Count, f.in(f.job().Claiming("pod").Until))
		}, "1 0s"},
		{"J-017: what was learnt of a release says nothing about an adoption", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), refused(events.RefusedServer))
			f.now += 1e9
			f.end(release(f), refused(events.RefusedServer))
			f.now += 10e9
			f.pod(both(free, version(21)))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 21}), refused(events.RefusedServer))
			return fmt.Sprint(f.job().Claiming("pod").Count)
		}, "1"},
		{"J-176: a read of the Job is good for one decision", func(f *fold) string {
			f.pod(free)
			f.end(f.decide(&events.ReadJob{}), done(job, 10))
			before := f.job().Confirmed == f.now
			adopt(f)
			return fmt.Sprint(before, f.job().Confirmed)
		}, "true 0"},
		{"J-017: a pod that is gone is forgotten", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 22})
			return fmt.Sprint(f.job().Claiming("pod").Count)
		}, "0"},
		{"J-017: one that has gone elsewhere is not, so that it does not come back before its time", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 22, Moved: true})
			return fmt.Sprint(f.job().Claiming("pod").Count)
		}, "1"},
		{"J-017: but one that was to be released is", func(f *fold) string {
			f.pod(disowned)
			f.end(release(f), refused(events.RefusedForbidden))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 22, Moved: true})
			return fmt.Sprint(f.job().Claiming("pod").Count)
		}, "0"},
		{"J-017: of one that has gone elsewhere it is remembered for an hour", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 22, Moved: true})
			again := func() uint32 {
				f.pod(both(free, func(p *events.PodSeen) { p.UID = "another" }))
				f.end(f.decide(&events.AdoptPod{Pod: "another", Version: 20}), refused(events.RefusedForbidden))
				return f.job().Claiming("pod").Count
			}
			f.now += 3600e9
			hour := again()
			f.now++
			return fmt.Sprint(hour, again(), f.job().Claiming("another").Count)
		}, "1 0 1"},
		{"J-017: of one that is here, for good", func(f *fold) string {
			f.pod(free)
			f.end(adopt(f), refused(events.RefusedForbidden))
			f.now += 7200e9
			f.pod(both(free, func(p *events.PodSeen) { p.UID = "another" }))
			f.end(f.decide(&events.AdoptPod{Pod: "another", Version: 20}), refused(events.RefusedForbidden))
			return fmt.Sprint(f.job().Claiming("pod").Count)
		}, "1"},
		{"J-017: the next that is tried again is the one whose time comes first, of those that are here", func(f *fold) string {
			for _, wait := range []int{9, 3, 6} {
				uid := types.UID(fmt.Sprint("in ", wait))
				f.pod(both(free, func(p *events.PodSeen) { p.UID = uid }))
				f.end(f.decide(&events.AdoptPod{Pod: uid, Version: 20}), func(e *events.CommandEnded) {
					e.Ending, e.Class, e.RetryAfter = events.Refused, events.RefusedForbidden, time.Duration(wait)*time.Second
				})
			}
			text := ""
			for range 4 {
				next := f.in(f.job().NextClaim(f.now).Until)
				text += fmt.Sprint(next, " ")
				f.now = f.now.Add(next)
				if next == 3*time.Second && text == "3s " {
					f.record(events.KindPodDeleted, &events.PodGone{UID: "in 6", Version: 22, Moved: true})
				}
			}
			return text
		}, "3s 6s 0s 0s "},
	})
}

// TestWhichPodsAreToBeClaimed: the pods that a Job is to adopt and to release, and the streams that keep pods without
// an owner.
func TestWhichPodsAreToBeClaimed(t *testing.T) {
	count := func(f *fold) string { return fmt.Sprint(f.job().OrphanedLen(), f.job().DisownedLen()) }
	intake := func(f *fold, s events.Stream) string {
		in := intake.Intake{World: f.world}
		text := ""
		for _, d := range in.Follow(s) {
			text += fmt.Sprintf("%s in %s; ", d.Kind, d.Stream)
		}
		return text
	}
	later := func(uid types.UID) func(*events.PodSeen) {
		return func(p *events.PodSeen) {
			p.UID, p.Ordinal, p.Owner, p.Selected, p.Tracked, p.Candidates = uid, 0, "", false, false, []types.UID{"late"}
		}
	}
	waiting := func(f *fold, uids ...types.UID) {
		for _, uid := range uids {
			f.at(events.NamespaceStream("ns"), events.KindPodAdded, pod(later(uid)))
		}
	}
	comes := func(f *fold) events.Stream {
		s := events.JobStream("late")
		f.at(s, events.KindJobAdded, &events.JobSeen{Version: 30, Managed: true, Spec: "h", SpecAt: 2, Status: &events.JobStatus{}})
		return s
	}
	counted := func(changes ...func(*events.PodSeen)) func(*fold) string {
		return func(f *fold) string {
			for i, c := range changes {
				f.pod(both(c, version(uint64(20+i))))
			}
			return fmt.Sprint(f.job().Pod("pod").Counted)
		}
	}
	untracked := func(p *events.PodSeen) { p.Tracked = false }
	made := func(p *events.PodSeen) { p.Maker = job }
	checkFacts(t, []fact{
		{"J-005: a Job that is another's adopts and releases nothing", func(f *fold) string {
			f.see(11, func(s *events.JobSeen) { s.Managed = false })
			f.pod(orphan)
			f.pod(both(disowned, func(p *events.PodSeen) { p.UID = "other" }))
			return count(f)
		}, "0 0"},
		{"J-175: nor does one that is gone", func(f *fold) string {
			f.pod(orphan)
			f.pod(both(disowned, func(p *events.PodSeen) { p.UID = "other" }))
			f.record(events.KindJobDeleted, &events.JobGone{Version: 30})
			return count(f)
		}, "0 0"},
		{"J-175: a pod that something else controls is not adopted", func(f *fold) string {
			f.pod(both(orphan, func(p *events.PodSeen) { p.Foreign = true }))
			return count(f)
		}, "0 0"},
		{"J-178: nor one that is on its way out", func(f *fold) string {
			f.pod(both(orphan, func(p *events.PodSeen) { p.Deleted = 1e18 }))
			return count(f)
		}, "0 0"},
		{"J-178: or may be: its deletion has been asked for", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DeletePod{Pod: "pod"})
			f.pod(both(orphan, version(21)))
			return count(f)
		}, "0 0"},
		{"J-174: a pod whose deletion has been asked for is not released", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DeletePod{Pod: "pod"})
			f.pod(both(disowned, version(21)))
			return count(f)
		}, "0 0"},
		{"J-174: nor one whose finalizer is going", func(f *fold) string {
			f.pod(failed)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.pod(both(failed, disowned, version(21)))
			return count(f)
		}, "0 0"},
		{"a pod that ended and was let go is accounted for, whoever owns it later", counted(both(failed, untracked), both(failed, untracked, orphan)), "true"},
		{"so is one that this Job made, though nobody owned it when it was seen", counted(both(failed, untracked, orphan, made)), "true"},
		{"one that another Job made is not", counted(both(failed, untracked, orphan)), "false"},
		{"nor one that runs", counted(untracked), "false"},
		{"nor one that still carries the finalizer", counted(failed), "false"},
		{"but one that the status lists is", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), done(job, 12))
			f.pod(both(failed, version(21)))
			return fmt.Sprint(f.job().Pod("pod").Counted, f.job().Pod("pod").Held())
		}, "true true"},
		{"J-095: an adoption brings the finalizer back that was confirmed gone", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 20))
			f.pod(both(orphan, version(21), func(p *events.PodSeen) { p.Tracked = false }))
			f.decide(&events.AdoptPod{Pod: "pod", Version: 21})
			before := f.job().Pod("pod").Held()
			f.pod(version(22))
			return fmt.Sprint(before, f.job().Pod("pod").Held())
		}, "false true"},
		{"J-095: also before it is seen so", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.DropFinalizer{Pod: "pod"}), done("pod", 20))
			f.pod(both(orphan, version(21)))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 21}), done("pod", 22))
			return fmt.Sprint(f.job().Pod("pod").Held())
		}, "true"},
		{"J-017: a Job that is gone adopts nothing, and what was learnt is forgotten", func(f *fold) string {
			f.pod(orphan)
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), refused(events.RefusedForbidden))
			before := f.job().Claiming("pod").Count
			f.record(events.KindJobDeleted, &events.JobGone{Version: 11})
			return fmt.Sprint(before, f.job().Claiming("pod").Count)
		}, "1 0"},
		{"J-017: an adoption that is done at last forgets what was learnt", func(f *fold) string {
			f.pod(orphan)
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), refused(events.RefusedServer))
			f.now += 1e9
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), done("pod", 21))
			return fmt.Sprint(f.job().Claiming("pod").Count, f.job().NextClaim(0).Count)
		}, "0 0"},
		{"J-175: pods that nobody owns wait in their namespace for the Job that is to come", func(f *fold) string {
			waiting(f, "a", "b")
			return intake(f, comes(f))
		}, "PodDeleted in namespace/ns; PodAdded in job/late; PodDeleted in namespace/ns; PodAdded in job/late; "},
		{"J-175: not those that went meanwhile", func(f *fold) string {
			waiting(f, "a", "b")
			f.at(events.NamespaceStream("ns"), events.KindPodDeleted, &events.PodGone{UID: "a", Version: 22})
			return intake(f, comes(f))
		}, "PodDeleted in namespace/ns; PodAdded in job/late; "},
		{"J-175: nor those that nobody might adopt any more", func(f *fold) string {
			waiting(f, "a")
			f.at(events.NamespaceStream("ns"), events.KindPodChanged, pod(both(later("a"), version(21), func(p *events.PodSeen) {
				p.Candidates, p.Tracked = nil, true
			})))
			return intake(f, comes(f))
		}, ""},
		{"pods that nobody owns leave the stream of a Job that has finished", func(f *fold) string {
			f.pod(both(orphan, untracked))
			f.pod(both(orphan, untracked, func(p *events.PodSeen) { p.UID = "other" }))
			before := intake(f, events.JobStream(job))
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Failed, Status: "True"}}}
			})
			return before + "then " + intake(f, events.JobStream(job))
		}, "then PodDeleted in job/job; PodDeleted in job/job; "},
		{"J-173: those that it adopted stay", func(f *fold) string {
			f.pod(both(orphan, untracked))
			f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), done("pod", 21))
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Failed, Status: "True"}}}
			})
			return intake(f, events.JobStream(job))
		}, ""},
		{"J-175: another Job may adopt a pod first whose adoption was refused here", func(f *fold) string {
			return adopter(f, false, events.RefusedForbidden)
		}, "job/other"},
		{"J-175: not because somebody was faster", func(f *fold) string {
			return adopter(f, false, events.RefusedConflict)
		}, "job/job"},
		{"J-175: nor because a release was refused", func(f *fold) string {
			return adopter(f, true, events.RefusedForbidden)
		}, "job/job"},
	})
}

// adopter returns the stream of a pod that two Jobs may adopt. The older Job was refused its adoption, or its release.
func adopter(f *fold, release bool, class events.RefusalClass) string {
	f.at(events.JobStream("other"), events.KindJobAdded, &events.JobSeen{
		Version: 10, Managed: true, Spec: "h", SpecAt: 2, Created: 9, Status: &events.JobStatus{},
	})
	free := both(orphan, func(p *events.PodSeen) { p.Tracked, p.Candidates = false, []types.UID{job, "other"} })
	if release {
		f.pod(disowned)
		f.end(f.decide(&events.ReleasePod{Pod: "pod", Version: 20}), refused(class))
	} else {
		f.pod(free)
		f.end(f.decide(&events.AdoptPod{Pod: "pod", Version: 20}), refused(class))
	}
	in := intake.Intake{World: f.world}
	for _, d := range in.Admit(&events.Observation{Facts: pod(both(free, version(25))), Evidence: events.Evidence{Namespace: "ns", Name: "x"}}, f.seq+1) {
		if d.Kind != events.KindPodDeleted {
			return d.Stream.String()
		}
	}
	return "nowhere"
}

// TestWhatWasLearntOfClaimsIsStored: design §2, invariant 5: nothing is kept in memory alone.
//
// J-017: the backoff of each pod survives a restart.
func TestWhatWasLearntOfClaimsIsStored(t *testing.T) {
	f := newFold()
	uids := []types.UID{"c", "a", "d", "b", "e"}
	for i, uid := range uids {
		f.pod(both(orphan, func(p *events.PodSeen) { p.UID = uid }))
		if i == 2 {
			f.pod(both(disowned, version(21), func(p *events.PodSeen) { p.UID = uid }))
			f.end(f.decide(&events.ReleasePod{Pod: uid, Version: 21}), refused(events.RefusedForbidden))
			continue
		}
		f.end(f.decide(&events.AdoptPod{Pod: uid, Version: 20}), refused(events.RefusedServer))
	}
	facts, names, _ := f.world.StreamState(events.JobStream(job))
	g := newFold()
	if err := g.world.RestoreStream(events.JobStream(job), facts, names); err != nil {
		t.Fatal(err)
	}
	for _, uid := range uids {
		if was, is := f.job().Claiming(uid), g.job().Claiming(uid); was != is || is.Count != 1 {
			t.Errorf("of pod %s %+v was known, now %+v", uid, was, is)
		}
	}
	for range 5 { // the state has a fixed order, not that of a map
		if again, _, _ := g.world.StreamState(events.JobStream(job)); !bytes.Equal(again, facts) {
			t.Fatal("a state that is stored again is another")
		}
	}
	for _, w := range []*fold{f, g} { // d was refused its release before, a its adoption
		w.seq, w.now = f.seq, f.now+10e9
		w.pod(both(disowned, version(31), func(p *events.PodSeen) { p.UID = "d" }))
		w.end(w.decide(&events.ReleasePod{Pod: "d", Version: 31}), refused(events.RefusedServer))
		w.pod(both(disowned, version(31), func(p *events.PodSeen) { p.UID = "a" }))
		w.end(w.decide(&events.ReleasePod{Pod: "a", Version: 31}), refused(events.RefusedServer))
		if d, a := w.job().Claiming("d").Count, w.job().Claiming("a").Count; d != 2 || a != 1 {
			t.Errorf("releases in a row that were refused: %d and %d, want 2 and 1", d, a)
		}
	}
}

// TestAPodIsSpentAfterARestoreAsItWasBefore: a pod without an owner succeeded, and then the Job published its index for
// another pod. The stray pod's own records do not change with that, so a restore must not judge it anew. Otherwise the
// decision would differ from that of the records (design §2, invariant 3, J-177).
func TestAPodIsSpentAfterARestoreAsItWasBefore(t *testing.T) {
	f := newFold()
	succeeded := func(p *events.PodSeen) { p.Phase = events.PodSucceeded }
	f.pod(both(orphan, succeeded, func(p *events.PodSeen) { p.UID, p.Tracked, p.Ordinal = "stray", false, 0 }))
	f.pod(succeeded)
	write := f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{CompleteIndexes: "0"}})
	f.end(write, func(e *events.CommandEnded) { e.Version = 30 })
	facts, names, _ := f.world.StreamState(events.JobStream(job))
	g := newFold()
	if err := g.world.RestoreStream(events.JobStream(job), facts, names); err != nil {
		t.Fatal(err)
	}
	if was, is := f.job().Pod("stray").Counted, g.job().Pod("stray").Counted; was != is {
		t.Errorf("the stray pod was counted: %t, after a restore: %t", was, is)
	}
}
