package projector_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// named gives a pod another UID.
func named(uid types.UID, ordinal uint64) func(*events.PodSeen) {
	return func(p *events.PodSeen) { p.UID, p.Ordinal, p.Index = uid, ordinal, int32(ordinal)-1 }
}

// TestWhatIsInFlight: a command is in flight from its decision to its end, whatever else ends meanwhile.
func TestWhatIsInFlight(t *testing.T) {
	is := func(f *fold, names ...events.CommandID) string {
		text := ""
		for _, n := range names {
			if c := f.job().InFlight(n); c != nil {
				text += fmt.Sprintf("%T ", c)[len("*events."):]
			} else {
				text += "none "
			}
		}
		return text
	}
	second := func(n events.CommandID) events.CommandID { n.Place++; return n }
	checkFacts(t, []fact{
		{"a decision about what is not there changes nothing", func(f *fold) string {
			name := f.decide(&events.DropFinalizer{Pod: "no"}, &events.DeletePod{Pod: "no"}, &events.AdoptPod{Pod: "no"}, &events.ReadPod{Ordinal: 9})
			last := name
			last.Place = 3
			return is(f, name, second(name), second(second(name)), last) + fmt.Sprint(f.job().Busy(), f.job().Removing())
		}, "none none none none false false"},
		{"each is found by its name", func(f *fold) string {
			f.pod(nil)
			a := f.decide(&events.WriteStatus{Base: 10}, &events.ReadJob{})
			b := f.decide(&events.FindGroup{}, &events.CreatePod{Ordinal: 2, Index: 1, Template: "t"})
			c := f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"})
			d := f.decide(&events.ReleasePod{Pod: "pod"})
			return is(f, a, second(a), b, second(b), c, second(c), d, second(d))
		}, "WriteStatus ReadJob FindGroup CreatePod DropFinalizer DeletePod ReleasePod none "},
		{"the end of one is not the end of another", func(f *fold) string {
			f.pod(nil)
			a := f.decide(&events.WriteStatus{Base: 10}, &events.ReadJob{})
			b := f.decide(&events.FindGroup{}, &events.CreatePod{Ordinal: 2, Index: 1, Template: "t"})
			c := f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true}, &events.DeletePod{Pod: "pod"})
			d := f.decide(&events.AdoptPod{Pod: "pod", Version: 20})
			all := func() string { return is(f, a, second(a), b, second(b), c, second(c), d) + "\n" }
			text := ""
			f.end(d, refused(events.RefusedServer))
			text += all()
			f.end(second(c), done("pod", 0))
			text += all()
			f.end(c, done("pod", 21))
			text += all()
			f.end(second(a), done(job, 10))
			text += all()
			f.end(b, done("", 0))
			text += all()
			f.end(second(b), refused(events.RefusedNameTaken))
			text += all()
			f.end(a, refused(events.RefusedServer))
			return text + all() + fmt.Sprint(f.job().Busy(), f.job().Removing())
		}, `WriteStatus ReadJob FindGroup CreatePod DropFinalizer DeletePod none 
WriteStatus ReadJob FindGroup CreatePod DropFinalizer none none 
WriteStatus ReadJob FindGroup CreatePod none none none 
WriteStatus none FindGroup CreatePod none none none 
WriteStatus none none CreatePod none none none 
WriteStatus none none none none none none 
none none none none none none none 
false false`},
		{"an end that comes twice changes nothing", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10}), refused(events.RefusedInvalid))
			f.see(11, nil)
			f.end(events.CommandID{Decided: f.seq - 2}, refused(events.RefusedInvalid))
			return fmt.Sprint(f.job().Look, f.job().Writing().Count)
		}, "false 1"},
		{"J-091: a pod whose finalizer was to go before it ended is not counted, though a restart came first", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			f.restart(nil)
			f.pod(both(failed, version(21)))
			return fmt.Sprint(f.job().FailedCount(), f.job().Pod("pod").Stage() == projector.Released, f.job().Tally().NeverCounted)
		}, "0 true 1"},
		{"J-073: a surplus pod goes for its own reason: nothing waits for it as for one that is not to be counted", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true})
			p := f.job().Pod("pod")
			return fmt.Sprint(p.Surplus, p.NeverCounted, f.job().Tally().NeverCounted, f.job().Tally().Surplus)
		}, "true false 0 1"},
		{"J-073: once surplus it stays so, though its finalizer is removed for another reason", func(f *fold) string {
			f.pod(nil)
			f.decide(&events.DropFinalizer{Pod: "pod", ThenDelete: true})
			f.restart(nil)
			f.decide(&events.DropFinalizer{Pod: "pod"})
			return fmt.Sprint(f.job().Pod("pod").Surplus)
		}, "true"},
		{"after a restart what was asked of a pod is asked again", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DeletePod{Pod: "pod"})
			f.now += 5e9
			f.restart(nil)
			p := f.job().Pod("pod")
			return is(f, name) + fmt.Sprint(p.Delete() == nil, f.job().Removing(), f.job().Tally().Idle)
		}, "none true false 1"},
		{"what stands refused about a pod stands after a restart", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DeletePod{Pod: "pod"})
			f.end(name, refused(events.RefusedServer))
			f.restart(nil)
			return is(f, name) + fmt.Sprint(len(f.job().AllRetrying()))
		}, "DeletePod 1"},
		{"what stands is named in the order in which it was decided", func(f *fold) string {
			for i := range uint64(12) {
				f.pod(named(types.UID(fmt.Sprint("p", i)), i+1))
			}
			var names []events.CommandID
			for i := range 4 {
				var commands []events.Command
				for k := range 3 {
					commands = append(commands, &events.DeletePod{Pod: types.UID(fmt.Sprint("p", 3*i+k))})
				}
				name := f.decide(commands...)
				names = append(names, name, second(name), second(second(name)))
			}
			for _, n := range names {
				f.end(n, refused(events.RefusedServer))
			}
			return fmt.Sprint(fmt.Sprint(f.job().AllRetrying()) == fmt.Sprint(names))
		}, "true"},
		{"the group's command goes on when one about a pod ends", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.FindGroup{}, &events.DeletePod{Pod: "pod"})
			f.end(second(name), refused(events.RefusedNotFound))
			return is(f, name, second(name))
		}, "FindGroup none "},
	})
}

// TestHowACommandAboutAPodEnds: the ends of the removal of its finalizer, and of its deletion.
func TestHowACommandAboutAPodEnds(t *testing.T) {
	shown := func(f *fold) string {
		p := f.job().Pod("pod")
		text := ""
		for _, is := range []struct {
			so   bool
			word string
		}{
			{p.Drop() != nil, "dropping "}, {p.Delete() != nil, "deleting "}, {p.DroppedIn != 0, "dropped "}, {p.DeleteDone, "deleted "},
			{p.Vanished, "vanished "}, {p.Stale != 0, "stale "}, {len(f.job().AllRetrying()) > 0, "retrying "},
		} {
			if is.so {
				text += is.word
			}
		}
		return text
	}
	drop := func(f *fold) events.CommandID { return f.decide(&events.DropFinalizer{Pod: "pod"}) }
	del := func(f *fold) events.CommandID { return f.decide(&events.DeletePod{Pod: "pod"}) }
	ends := func(seen func(*events.PodSeen), command func(*fold) events.CommandID, how func(*events.CommandEnded)) func(*fold) string {
		return func(f *fold) string {
			f.pod(seen)
			f.end(command(f), how)
			return shown(f)
		}
	}
	going := func(p *events.PodSeen) { p.Deleted = 1e18 }
	checkFacts(t, []fact{
		{"the finalizer is gone", ends(failed, drop, done("pod", 21)), "dropped "},
		{"a finalizer that was seen gone before needs no remembering", ends(both(failed, func(p *events.PodSeen) { p.Tracked = false }), drop, done("pod", 21)), ""},
		{"the pod is deleted", ends(nil, del, done("pod", 0)), "deleted "},
		{"one that was seen going needs no remembering", ends(going, del, done("pod", 0)), ""},
		{"J-095: a removal that is refused stands", ends(failed, drop, refused(events.RefusedForbidden)), "dropping retrying "},
		{"a removal that finds no pod: it has vanished", ends(failed, drop, refused(events.RefusedNotFound)), "vanished "},
		{"a deletion that finds no pod: it has vanished", ends(nil, del, refused(events.RefusedNotFound)), "vanished "},
		{"so has one whose name another pod has", ends(nil, del, refused(events.RefusedConflict)), "vanished "},
		{"a removal that names no version and meets a conflict stands", ends(failed, drop, refused(events.RefusedConflict)), "dropping retrying "},
		{"one that names a version is overtaken, and waits for the newer one", ends(failed, func(f *fold) events.CommandID {
			return f.decide(&events.DropFinalizer{Pod: "pod", Version: 20})
		}, refused(events.RefusedConflict)), "stale "},
		{"but refused for something else it stands", ends(failed, func(f *fold) events.CommandID {
			return f.decide(&events.DropFinalizer{Pod: "pod", Version: 20})
		}, refused(events.RefusedServer)), "dropping retrying "},
		{"and of unknown end too", ends(failed, func(f *fold) events.CommandID {
			return f.decide(&events.DropFinalizer{Pod: "pod", Version: 20})
		}, unknown), "dropping retrying "},
		{"a removal of unknown end stands", ends(failed, drop, unknown), "dropping retrying "},
		{"a deletion of unknown end stands", ends(nil, del, unknown), "deleting retrying "},
		{"a deletion that is refused stands", ends(nil, del, refused(events.RefusedServer)), "deleting retrying "},
		{"one that was not sent is over", ends(nil, del, withdrawn), ""},
		{"a removal that was not sent is over", ends(failed, drop, withdrawn), ""},
		{"a deletion of unknown end is over when the pod goes", func(f *fold) string {
			f.pod(nil)
			f.end(del(f), unknown)
			f.pod(both(going, version(21)))
			return shown(f)
		}, ""},
		{"the deletion of a pod that ended by itself stands until it is withdrawn", func(f *fold) string {
			f.pod(nil)
			name := del(f)
			f.end(name, refused(events.RefusedServer))
			f.pod(both(failed, version(21)))
			before := fmt.Sprint(shown(f), f.job().Tally().Pointless, f.job().PodsInDoubt(), " ")
			f.decide(&events.Withdraw{Command: name})
			before += fmt.Sprint(shown(f), f.job().GaveUp(name), f.job().Tally().Pointless, f.job().PodsInDoubt(), " ")
			f.end(name, withdrawn)
			return before + fmt.Sprint(shown(f), f.job().PodsInDoubt())
		}, "deleting retrying 1 true deleting true 0 true false"},
		{"so does that of one which is the Job's no longer", func(f *fold) string {
			f.pod(nil)
			f.end(del(f), refused(events.RefusedServer))
			f.pod(both(version(21), func(p *events.PodSeen) { p.Selected = false }))
			return shown(f) + fmt.Sprint(f.job().Tally().Pointless, len(f.job().Unremoved()))
		}, "deleting retrying 1 1"},
		{"of a Job that is gone nobody withdraws it: it ends by itself", func(f *fold) string {
			f.pod(nil)
			f.end(del(f), refused(events.RefusedServer))
			f.record(events.KindJobDeleted, &events.JobGone{Version: 50})
			f.pod(both(failed, version(51)))
			return shown(f)
		}, ""},
		{"a deletion that stands ends when somebody else deletes the pod", func(f *fold) string {
			f.pod(nil)
			f.end(del(f), refused(events.RefusedServer))
			f.pod(both(version(21), going))
			return shown(f)
		}, ""},
		{"a removal that stands ends when somebody else removes the finalizer", func(f *fold) string {
			f.pod(failed)
			f.end(drop(f), refused(events.RefusedServer))
			f.pod(both(failed, version(21), func(p *events.PodSeen) { p.Tracked = false }))
			return shown(f)
		}, ""},
		{"J-082: of a Job that somebody finished nothing is deleted", func(f *fold) string {
			f.pod(nil)
			f.pod(named("other", 2))
			f.end(f.decide(&events.DropFinalizer{Pod: "other", ThenDelete: true}), refused(events.RefusedServer))
			f.end(del(f), refused(events.RefusedServer))
			f.see(12, func(s *events.JobSeen) {
				s.Status = &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Failed, Status: "True"}}}
			})
			return shown(f) + fmt.Sprint(" ", f.job().Pod("other").Drop() != nil)
		}, "retrying  true"},
	})
}

// TestWhenARefusedCommandIsAskedAgain: a refused command stands. It is asked again without a record, and its next
// record says how often.
//
// J-017: each wait is twice as long as the one before, up to a minute.
func TestWhenARefusedCommandIsAskedAgain(t *testing.T) {
	retrying := func(f *fold) events.CommandID {
		f.pod(nil)
		name := f.decide(&events.DeletePod{Pod: "pod"})
		f.end(name, refused(events.RefusedServer))
		return name
	}
	next := func(f *fold, name events.CommandID, at events.Time) string {
		_, r := f.job().Retrying(name)
		t, n := r.Next(&f.world.Settings, at)
		return fmt.Sprintf("%d tries, then in %s", n, t.Sub(at))
	}
	checkFacts(t, []fact{
		{"before its time it was not asked", func(f *fold) string { return next(f, retrying(f), f.now) }, "0 tries, then in 1s"},
		{"at its time it is", func(f *fold) string { return next(f, retrying(f), f.now+1e9) }, "1 tries, then in 2s"},
		{"and then twice as long", func(f *fold) string { return next(f, retrying(f), f.now+4e9) }, "2 tries, then in 3s"},
		{"up to the longest wait", func(f *fold) string { return next(f, retrying(f), f.now+63e9) }, "6 tries, then in 1m0s"},
		{"which stays the same", func(f *fold) string { return next(f, retrying(f), f.now+63e9+3600e9-1) }, "65 tries, then in 1ns"},
		{"whatever the log says, it is not asked all the time", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.APIBackoff = 0 })
			return next(f, retrying(f), f.now+5e6)
		}, "6 tries, then in 1ms"},
		{"a news counts the tries that had none", func(f *fold) string {
			name := retrying(f)
			f.now += 7e9
			f.end(name, refused(events.RefusedForbidden))
			_, r := f.job().Retrying(name)
			return fmt.Sprintf("%d tries of which the first %s, now %s, again in %s", r.Count, f.in(r.Since), r.Class, f.in(r.Until))
		}, "4 tries of which the first -7s, now Forbidden, again in 8s"},
		{"news before its time are not counted", func(f *fold) string {
			name := retrying(f)
			f.now += 5e8
			f.end(name, refused(events.RefusedForbidden))
			_, r := f.job().Retrying(name)
			return fmt.Sprint(r.Count)
		}, "1"},
		{"a clock that is set changes nothing of it", func(f *fold) string {
			name := retrying(f)
			f.now += 1e9
			f.end(name, refused(events.RefusedForbidden))
			f.now += 5e8
			f.at(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Hour})
			_, r := f.job().Retrying(name)
			return fmt.Sprintf("first %s, newest %s, again in %s", f.in(r.Since.Add(-time.Hour)), f.in(r.Noted.Add(-time.Hour)), f.in(r.Until.Add(-time.Hour)))
		}, "first -1.5s, newest -500ms, again in 1.5s"},
		{"a shorter wait does not undo a longer one that the server asked for", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DeletePod{Pod: "pod"})
			f.end(name, func(e *events.CommandEnded) {
				e.Ending, e.Class, e.RetryAfter = events.Refused, events.RefusedTooManyRequests, time.Minute
			})
			f.now += 1e9
			f.end(name, refused(events.RefusedServer))
			_, r := f.job().Retrying(name)
			return fmt.Sprint(f.in(r.Until))
		}, "59s"},
		{"J-005: of a Job that is another's now nothing is asked again", func(f *fold) string {
			name := retrying(f)
			f.see(12, func(s *events.JobSeen) { s.ManagedBy, s.Managed = "example.com/other", false })
			flight, r := f.job().Retrying(name)
			return fmt.Sprint(flight, r)
		}, "<nil> <nil>"},
		{"but of a pod whose Job was never seen it is", func(f *fold) string {
			s := events.JobStream("late")
			f.at(s, events.KindPodAdded, pod(func(p *events.PodSeen) { p.Owner = "late" }))
			f.restart(func(s *events.Settings) { s.Mode = events.ModeDelegated })
			f.at(s, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{&events.DropFinalizer{Pod: "pod"}}}}})
			name := events.CommandID{Decided: f.seq}
			f.at(s, events.KindCommandEnded, &events.CommandEnded{Command: name, Ending: events.Refused, Class: events.RefusedServer, Sent: true})
			flight, _ := f.world.Job(s).Retrying(name)
			return fmt.Sprint(flight != nil)
		}, "true"},
		{"what was not refused is not asked again", func(f *fold) string {
			f.pod(nil)
			name := f.decide(&events.DeletePod{Pod: "pod"})
			flight, r := f.job().Retrying(name)
			return fmt.Sprint(flight, r, len(f.job().AllRetrying()))
		}, "<nil> <nil> 0"},
		{"and a create that is on its way is not given up", func(f *fold) string {
			return fmt.Sprint(f.job().GaveUp(f.creates(1)[0]))
		}, "false"},
		{"the group's command stands for itself", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.GangScheduling = true })
			f.pod(nil)
			name := f.decide(&events.FindGroup{}, &events.WriteStatus{Base: 10})
			f.end(name, refused(events.RefusedServer))
			group, r := f.job().Retrying(name)
			name.Place++
			write, _ := f.job().Retrying(name)
			return fmt.Sprint(group != nil, r.Count, write)
		}, "true 1 <nil>"},
		{"J-243, J-244: the objects that were made are known by their names", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.GangScheduling = true })
			g := &f.job().Group
			f.end(f.decide(&events.CreateWorkload{}), nil)
			text := fmt.Sprintf("%v %q %q then ", g.Stage == projector.GroupHalf, g.Workload, g.PodGroup)
			f.end(f.decide(&events.CreatePodGroup{}), nil)
			return text + fmt.Sprintf("%v %q %q", g.Stage == projector.GroupReady, g.Workload, g.PodGroup)
		}, `true "demo-0" "" then true "demo-0" "demo-0"`},
		{"J-240: it is over when the Job's pods are to run one after the other", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.GangScheduling = true })
			f.end(f.decide(&events.FindGroup{}), refused(events.RefusedServer))
			before := f.job().Busy()
			one := int32(1)
			f.record(events.KindSpecStored, &events.JobSpec{Hash: "one", Parallelism: &one, Completions: &one, CompletionMode: "Indexed"})
			f.see(12, func(s *events.JobSeen) { s.Spec, s.SpecAt = "one", f.seq })
			return fmt.Sprint(before, f.job().Busy())
		}, "true false"},
	})
}
